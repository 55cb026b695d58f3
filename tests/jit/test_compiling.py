"""From a class to machine code: never stale, never required, compiled once."""

import importlib
import math
import os
import pkgutil
import subprocess
import sys
import types
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import caching as numba_caching
from numba.core import errors

import rcmd
from rcmd import RCMD, Corrected, L1Ball, LeastSquares, Problem, solve
from rcmd.jit import scalars
from rcmd.jit.caching import KERNEL_OPTIONS, cached, fingerprint
from rcmd.jit.scalars import CannotCompile, method_scalar

ROOT = Path(__file__).parents[2]

# ---- the fingerprint ----------------------------------------------------------------------------


def test_globals_that_only_share_a_name_with_an_attribute_do_not_count() -> None:
    """In a notebook ``width = 0.5`` must not change what reads ``self.width``."""

    def make(scope: dict[str, Any]) -> Any:
        exec("def derivative(self, s): return s * self.width", scope)
        return scope["derivative"]

    assert fingerprint(make({})) == fingerprint(make({"width": 0.5}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("1", 1),
        (None, 0),
        ((1, 2), (2, 1)),
        ((1, (2,)), (1, 2)),
        (np.float32(1), np.float64(1)),
        (np.int64(1), np.int64(2)),
        (np.arange(3), np.arange(3.0)),
        (np.arange(3), np.arange(3)[::-1]),
        ({1, 2}, {1, 3}),
    ],
)
def test_values_that_differ_have_different_fingerprints(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


# ---- the cache, across processes ----------------------------------------------------------------


def run(folder: Path, code: str, script: bool = False) -> str:
    """What Python code prints in a process of its own, in a folder with a cache of its own."""
    own = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    if script:
        (folder / "script.py").write_text(code)
    command = [sys.executable, "-W", "error", *(["script.py"] if script else ["-c", code])]
    options: Any = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run(command, cwd=folder, env=environment, **options)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).strip()


PARTS = """
import numba
NUMBER = {number}
def half(s): return {half}
@numba.njit
def called(x): return {called}
"""

# This file stays as it is, so that nothing but fingerprints can see the edits.
MINE = """
from dataclasses import dataclass
from parts import NUMBER, called, half
from rcmd.jit.caching import kernel

class Base:
    def derivative(self, s, y): raise NotImplementedError

@dataclass(frozen=True)
class Untouched(Base):
    width: float = 2.0
    def derivative(self, s, y): return self.width * s

@dataclass(frozen=True)
class Edited(Base):
    def derivative(self, s, y): return half(s) + y

@dataclass(frozen=True)
class Number(Base):
    weight = NUMBER
    def derivative(self, s, y): return self.weight * s

@kernel
def untouched(x): return x * 2.0
@kernel
def edited(x): return called(x)
"""

USE = """
import importlib, shutil
import parts, mine
from rcmd.jit.scalars import method_scalar

def use():
    for kind in mine.Base.__subclasses__():
        scalar = method_scalar(kind(), "derivative")
        plain, compiled = kind().derivative(4.0, 3.0), float(scalar(4.0, 3.0)[0])
        print(kind.__name__, plain, compiled, bool(scalar._compiled.cache_hits))
    for kernel in (mine.untouched, mine.edited):
        print(kernel.__name__, kernel.py_func(3.0), kernel(3.0), bool(kernel.stats.cache_hits))
use()
"""

EDIT = """
print()
shutil.copy("edited.py", "parts.py")
importlib.reload(parts)
importlib.reload(mine)
use()
"""


def test_edits_reach_what_is_cached_and_the_unedited_stays(tmp_path: Path) -> None:
    """At first, in a new process again, and there after all edits."""
    begun = {"number": "2.0", "half": "s / 2.0", "called": "x + 1.0"}
    edited = {"number": "4.0", "half": "s / 3.0", "called": "x + 2.0"}
    (tmp_path / "parts.py").write_text(PARTS.format(**begun))
    (tmp_path / "edited.py").write_text(PARTS.format(**edited))
    (tmp_path / "mine.py").write_text(MINE)
    first = run(tmp_path, USE)
    # numba adds to an index without a lock, and processes that share one may swap code.
    for kind in ("nbi", "nbc"):
        assert len(list((tmp_path / "cache").rglob(f"*entry*.{kind}"))) == 3
    outputs = [first, *run(tmp_path, USE + EDIT).split("\n\n")]
    for rows in zip(*(output.splitlines() for output in outputs), strict=True):
        (name, value, *new), again, (_, plain, compiled, hit) = (row.split() for row in rows)
        assert new == [value, "False"], name
        assert again == [name, value, value, "True"]
        assert compiled == plain, name
        assert (plain == value) == (name.lower() == "untouched"), name
        # A number of the class travels as a parameter: new value, same code.
        assert (hit == "True") == (name.lower() != "edited"), name


def test_ten_parameter_values_are_one_compilation() -> None:
    @dataclass(frozen=True)
    class Sloped(LeastSquares):
        width: float = 2.0

        def derivative(self, s: Any, y: Any) -> Any:
            return self.width * s

    compiled = scalars._compile.cache_info().misses
    widths = np.linspace(1, 2, 10)
    sweep = [method_scalar(Sloped(width), "derivative") for width in widths]
    assert scalars._compile.cache_info().misses == compiled + 1
    assert len({scalar.address for scalar in sweep}) == 1
    assert [scalar(3.0, 0.0)[0] / 3.0 for scalar in sweep] == pytest.approx(widths)


# ---- classes that live in no file ---------------------------------------------------------------

PROMPT = """
import math
from dataclasses import dataclass
from rcmd import SeparableConjugate

@dataclass(frozen=True)
class Soft(SeparableConjugate):
    width: float = 2.0
    @property
    def gamma(self): return 1.0 / self.width
    def value(self, s, y): return self.width * (math.sqrt(1.0 + ((s - y) / self.width) ** 2) - 1.0)
    def derivative(self, s, y): return (s - y) / math.sqrt(self.width ** 2 + (s - y) ** 2)
    def conjugate(self, w, y):
        return w * y + self.width * (1.0 - math.sqrt(1.0 - w * w)) if abs(w) <= 1.0 else math.inf
    def conjugate_derivative(self, w, y): return y + self.width * w / math.sqrt(1.0 - w * w)
    def conjugate_domain(self, y): return (-1.0, 1.0)
"""

ASK = """
from rcmd.jit.scalars import method_scalar
scalar = method_scalar(Soft(), "derivative")
assert abs(scalar(3.0, 1.0)[0] - Soft().derivative(3.0, 1.0)) < 1e-15
print(bool(scalar._compiled.cache_hits))
"""


def test_classes_without_a_file(tmp_path: Path) -> None:
    """``exec``, a prompt, ``python -c`` and a script: one code, compiled once for all."""
    at_prompt = f"exec(compile({PROMPT!r}, '<stdin>', 'exec'))"
    everywhere = [f"exec({PROMPT!r})", at_prompt, PROMPT]
    assert run(tmp_path, "".join(where + ASK for where in everywhere)) == "False\nTrue\nTrue"
    assert run(tmp_path, "# further down\n" + PROMPT + ASK, script=True) == "True"


def test_nowhere_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any) -> None:
        raise OSError("read-only file system")

    locators = [kind for name, kind in vars(numba_caching).items() if name.endswith("Locator")]
    locators = [kind for kind in locators if hasattr(kind, "ensure_cache_path")]
    assert len(locators) > 2
    for kind in locators:
        monkeypatch.setattr(kind, "ensure_cache_path", refuse)

    @dataclass(frozen=True)
    class Homeless(LeastSquares):
        def derivative(self, s: Any, y: Any) -> Any:
            return 3.0 * s

    scalar = method_scalar(Homeless(), "derivative")
    assert scalar(2.0, 0.0)[0] == 6.0
    assert isinstance(scalar._compiled._cache, numba_caching.NullCache)


@pytest.mark.parametrize("kept", [0, 30, -1])
@pytest.mark.parametrize("file", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("signature", [(), ("float64(float64)",)])
def test_a_cache_that_was_cut_short_is_made_again(
    signature: Any, file: str, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def compiled() -> Any:
        def half(x: float) -> float:
            return x / 2.0

        done = cached(numba.cfunc if signature else numba.njit, *signature)(half)
        assert (done.ctypes if signature else done)(3.0) == 1.5
        return done

    compiled()
    (cut,) = tmp_path.rglob(file)
    cut.write_bytes(cut.read_bytes()[:kept])
    compiled()
    again = compiled()
    assert again.cache_hits if signature else again.stats.cache_hits


# ---- kernels ------------------------------------------------------------------------------------


def shipped_kernels() -> dict[str, Any]:
    """All kernels of rcmd, by their names."""
    found = {}
    for module in pkgutil.walk_packages(rcmd.__path__, "rcmd."):
        spec = module.module_finder.find_spec(module.name, None)
        assert spec is not None
        assert spec.origin is not None
        if "@kernel" in Path(spec.origin).read_text():
            members = vars(importlib.import_module(module.name))
            found |= {f"{module.name}.{n}": v for n, v in members.items() if hasattr(v, "py_func")}
    return found


def test_a_fingerprint_knew_all_that_its_kernel_names() -> None:
    """What is defined below a kernel would be missing from its cached name."""
    stamped = 0
    for name, dispatcher in shipped_kernels().items():
        _, dot, stamp = dispatcher.py_func.__qualname__.rpartition(".")
        if dot:
            options = sorted(KERNEL_OPTIONS.items())
            assert stamp == fingerprint(dispatcher.py_func, options), name
            stamped += 1
    assert stamped > 20


# ---- what changes within a process --------------------------------------------------------------

NOTEBOOK = """
from dataclasses import dataclass
FACTOR = 1.0
def scaled(s): return FACTOR * s
"""

CELL = """
@dataclass(frozen=True)
class Mine:
    def derivative(self, s, y): return scaled(s) + y
"""


def test_what_changes_is_not_ignored() -> None:
    """numba would go on with the old number, and cache that under the new fingerprint."""
    scope: dict[str, Any] = {"__name__": "notebook"}

    def slope() -> Any:
        return method_scalar(scope["Mine"](), "derivative")(4.0, 0.0)[0]

    def check_refused(words: str) -> None:
        with pytest.raises(CannotCompile, match=words):
            slope()

    exec(NOTEBOOK + CELL, scope)
    assert slope() == 4.0
    scope["FACTOR"] = 2.0
    check_refused("has changed since it was compiled")
    exec(CELL, scope)  # the class anew, but not its helper
    check_refused("scaled reads or calls has changed")
    exec(NOTEBOOK.replace("1.0", "2.0") + CELL, scope)
    assert slope() == 8.0
    exec("def scaled(s): return 5.0 * s", scope)
    check_refused("has changed")
    exec(CELL, scope)
    assert slope() == 20.0
    scope["Mine"].derivative = lambda self, s, y: s
    check_refused("has changed")


REACHED = """
import enum
import math
import numba
import numpy as np
import helpers
from numba.extending import intrinsic
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import by_type

FACTOR, WHOLE, TABLE = 2.0, np.int64(2), np.zeros(2)
class Mode(enum.Enum):
    A = 1
def inner(s): return math.exp(s) * FACTOR
def outer(s): return inner(s) + 1.0
def of_whole(s): return s * WHOLE
def of_member(s): return s * Mode.A.value
def of_array(s): return TABLE[0] + s
def of_module(s): return helpers.half(s)
def of_constants(s): return s * sum([t * t for t in (1.0, 2.0)])
def of_lambda(s): return (lambda t: t * FACTOR)(s)
def with_default(s, extra=1.0): return s + extra
def closed_over(extra):
    def add(s): return s + extra
    return add
added = closed_over(1.0)
def of_both(s): return with_default(added(s))
@numba.njit
def deep(x): return x * FACTOR
@numba.njit
def jitted(x): return deep(x) + 1.0
@by_type(inline="always")
def resolved(x): return lambda x: x + 1.0
def build(builder, x): return builder.fadd(x, x)
@intrinsic
def instruction(typing_context, x):
    def generate(context, builder, signature, arguments):
        return build(builder, arguments[0])
    return x(x), generate
@kernel
def own(x): return resolved(x) + instruction(x) + jitted(x)
"""


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("outer", "FACTOR = 3.0"),
        ("outer", "def inner(s): return s"),
        ("outer", "inner.__code__ = outer.__code__"),
        ("outer", "inner.__defaults__ = (1.0,)"),
        ("of_whole", "WHOLE = np.int64(3)"),
        ("of_member", "class Mode(enum.Enum): A = 2"),
        ("of_array", "TABLE[0] = 1.0"),
        ("of_module", "helpers.half = math.sqrt"),
        ("of_constants", "def of_constants(s): return s * sum([t * t for t in (1.0, 3.0)])"),
        ("of_constants", "def of_constants(s): return s * sum([t + t for t in (1.0, 2.0)])"),
        ("of_lambda", "FACTOR = 3.0"),
        ("of_both", "def with_default(s, extra=2.0): return s + extra"),
        ("of_both", "added = closed_over(2.0)"),
        ("own", "FACTOR = 3.0"),
        ("own", "@numba.njit\ndef deep(x): return x"),
        ("own", "@numba.njit(inline='always')\ndef deep(x): return x * FACTOR"),
        ("own", "@by_type(inline='always')\ndef resolved(x): return lambda x: x + 2.0"),
        ("own", "def build(builder, x): return builder.fmul(x, x)"),
        ("own", "@kernel\ndef own(x): return resolved(x) + instruction(x)"),
    ],
)
def test_changes_of_what_a_function_reaches(
    name: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers = types.ModuleType("helpers")
    exec("def half(s): return s / 2", vars(helpers))
    monkeypatch.setitem(sys.modules, "helpers", helpers)
    scope: dict[str, Any] = {"__name__": "notebook"}
    exec(REACHED, scope)
    before = fingerprint(scope[name])
    exec("unrelated = 1", scope)
    assert fingerprint(scope[name]) == before
    exec(change, scope)
    assert fingerprint(scope[name]) != before


# ---- classes that cannot be compiled ------------------------------------------------------------


@dataclass(frozen=True)
class WithTable(LeastSquares):
    table: dict[str, float] = field(default_factory=lambda: {"one": 1.0}, hash=False)

    def derivative(self, s: Any, y: Any) -> Any:
        return (s - y) * self.table["one"]


def recursive(s: Any) -> Any:
    return s if s < 1e9 else recursive(s / 2)


@dataclass(frozen=True)
class WithRecursion(LeastSquares):
    def derivative(self, s: Any, y: Any) -> Any:
        return recursive(s) - y


def decorated(method: Any) -> Any:
    def wrapper(*arguments: Any) -> Any:
        return method(*arguments)

    return wrapper


@dataclass(frozen=True)
class WithDecorator(LeastSquares):
    @decorated
    def derivative(self, s: Any, y: Any) -> Any:
        return s - y


class Callable_:
    def __get__(self, instance: Any, owner: Any) -> Any:
        return self

    def __call__(self, s: Any, y: Any) -> Any:
        return s - y


@dataclass(frozen=True)
class WithObject(LeastSquares):
    derivative = Callable_()


@dataclass(frozen=True)
class WithStatic(LeastSquares):
    @staticmethod
    def difference(a: Any, b: Any) -> Any:
        return a - b

    def derivative(self, s: Any, y: Any) -> Any:
        return self.difference(s, y)


CANNOT = {
    WithTable: "table of WithTable is",
    WithRecursion: "WithRecursion does not compile",
    WithObject: "derivative of WithObject is no plain method",
    WithStatic: "WithStatic does not compile: TypingError: too many positional arguments",
}


def test_a_wrapper_of_any_arguments_compiles() -> None:
    compiled = method_scalar(WithDecorator(), "derivative")
    assert compiled(np.array([3.0, 1.0]), np.array([1.0, 1.5])).tolist() == [2.0, -0.5]


@pytest.mark.parametrize("kind", CANNOT, ids=lambda kind: kind.__name__)
def test_what_cannot_be_compiled_runs_on_the_reference_path(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 3)), rng.standard_normal(8)
    problem, options = Problem(X, y, kind(), L1Ball(1.0)), {"max_iterations": 30, "tol": 0}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = solve(problem, **options)
    assert [warning.category for warning in told] == [RuntimeWarning]
    assert "running on the slower reference engine, because" in str(told[0].message)
    assert CANNOT[kind] in str(told[0].message)
    assert told[0].filename == __file__
    shipped = Problem(X, y, LeastSquares(), L1Ball(1.0))
    plain = solve(shipped, method=Corrected(RCMD(engine="reference")), **options)
    assert result.gap == pytest.approx(plain.gap, abs=1e-12)
    with pytest.raises(CannotCompile, match=CANNOT[kind]):
        solve(problem, method=Corrected(RCMD(engine="compiled")), **options)


def test_reasons_come_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """numba writes them into its messages where colorama is installed."""

    def coloured(message: str) -> str:
        return f"\x1b[1m\x1b[31m{message}\x1b[0m"

    shades = ("code", "errmsg", "filename", "indicate", "highlight", "reset")
    scheme = types.SimpleNamespace(**dict.fromkeys(shades, coloured))
    monkeypatch.setattr(errors, "_termcolor_inst", scheme)

    @dataclass(frozen=True)
    class Bright(WithStatic):
        pass

    with pytest.raises(CannotCompile, match="Bright does not compile: TypingError: too many pos"):
        method_scalar(Bright(), "derivative")


def test_whole_arrays() -> None:
    value = method_scalar(LeastSquares(), "value")
    s, y = np.linspace(-1.0, 1.0, 7), np.arange(7.0)
    np.testing.assert_array_equal(value(s, y), (s - y) ** 2 / 2)
    np.testing.assert_array_equal(value(s[::2], 1.0), (s[::2] - 1.0) ** 2 / 2)
    assert math.isnan(value(math.nan, 1.0)[0])


def test_a_branch_that_returns_nothing_is_refused() -> None:
    @dataclass(frozen=True)
    class Forgetful(LeastSquares):
        def derivative(self, s: Any, y: Any) -> Any:
            if s < 0.8:
                return s - y
            return None

    with pytest.raises(CannotCompile, match="a branch returns nothing"):
        method_scalar(Forgetful(), "derivative")


def test_processes_that_add_at_once_do_not_swap_their_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sees an index without the other's entry: code for floats ran on float32 data."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba_caching.IndexDataCacheFile, "_load_index", lambda self: {})
    twice = cached(numba.njit)(lambda x: x + x)
    assert (twice(1.5), twice(2)) == (3.0, 4)
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
