"""Parts from text: ``huber:0.5``, ``l1:5``, ``head-start``, ``exact``; and batches, ``1%``.

The ``spec`` of a class that ``rcmd.conjugates`` or ``rcmd.oracles`` exports says how it is written;
the types of its fields say what each word may be: a number, a shape, a file. Classes in the user's
own files are loaded by ``rcmd.model.user_code``.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import numpy as np

from rcmd import conjugates, oracles
from rcmd.conjugates.base import SeparableConjugate
from rcmd.model.constants import Constants
from rcmd.model.prox import BregmanProx, ConjugateProx, EuclideanProx, ExactProx
from rcmd.model.schedules import (
    HeadStart,
    LinearSchedule,
    Schedule,
    ShortStep,
    SublinearSchedule,
    UnitStepSchedule,
    default_schedule,
)
from rcmd.model.user_code import is_file, load, load_own
from rcmd.oracles import base
from rcmd.oracles.base import LinearMinOracle
from rcmd.rows.matrix_files import is_number, read_numbers
from rcmd.rows.validation import Array, FileError, check_kind

Shape = tuple[int, int]


@dataclass(frozen=True)
class Waiting:
    """An object that can be made only when the number of variables is known.

    ``finish(p, shape)`` makes it; the shape is that of the matrix β, ``None`` for vectors.
    """

    finish: Callable[[int, Shape | None], Any]


@dataclass(frozen=True)
class Kind:
    """A kind of word: the function that reads it, and what is expected, for messages.

    ``shown`` replaces the parameter's name where specs are listed; a word that ``takes_rest``
    may contain colons. A reader may return several arguments, in a dict.
    """

    reader: Callable[[str], Any]
    expected: str
    shown: str = ""
    takes_rest: bool = False

    def read(self, word: str, owner: str, name: str) -> Any:
        """The value of ``word``, the parameter ``name`` of ``owner``."""
        try:
            return self.reader(word)
        except Unread:
            raise ValueError(
                f"{owner} holds {word!r}; expected {self.expected} (its {name})"
            ) from None
        except FileError as fault:
            raise ValueError(f"{name} of {owner}: {fault}") from fault


class Unread(Exception):
    """The word is of another kind."""


class Spec:
    """How an object of the class ``makes`` is written: its ``spec``, with the types of its fields.

    A field ``p`` that the spec does not name is the number of variables.

    Examples
    --------
    >>> spec = Spec(oracles.Ridge)
    >>> spec.name, spec.text, list(spec.parameters), spec.required
    ('ridge', 'ridge:STRENGTH[:RADIUS]', ['strength', 'radius'], 1)
    """

    def __init__(self, makes: Any) -> None:
        self.makes = makes
        self.name, *words = makes.spec.replace("[", "").replace("]", "").split(":")
        self.required = makes.spec.partition("[")[0].count(":")
        hints = get_type_hints(makes if is_dataclass(makes) else makes.__init__, None, None, True)
        accepted = inspect.signature(makes).parameters
        names = {name.upper(): name for name in accepted}
        unknown = [word for word in words if word not in names]
        if unknown:
            raise TypeError(
                f"spec of {makes.__name__} is {makes.spec!r}, and {unknown[0]} is none of its "
                f"arguments; expected some of {', '.join(names)}"
            )
        kinds = {names[word]: hints.get(names[word]) for word in words}
        self.parameters: dict[str, Kind] = {
            name: KINDS.get(hint) or KINDS.get(get_origin(hint), NUMBER)
            for name, hint in kinds.items()
        }
        self.text = makes.spec
        for name, kind in self.parameters.items():
            self.text = self.text.replace(f":{name.upper()}", f":{_word(name, kind)}")
        self.waits = "p" in accepted and "p" not in self.parameters

    def parse(self, text: str, owner: str) -> Any:
        """The object that ``text`` describes; a ``Waiting`` one where an argument is."""
        words, kinds = text.split(":")[1:], list(self.parameters.items())
        if kinds and kinds[-1][1].takes_rest and len(words) >= len(kinds):
            words[len(kinds) - 1 :] = [":".join(words[len(kinds) - 1 :])]
        if not self.required <= len(words) <= len(kinds):
            raise ValueError(f"{owner} has {len(words)} parameter(s); expected {self.text}")
        arguments: dict[str, Any] = {}
        for (name, kind), word in zip(kinds, words, strict=False):
            value = kind.read(word, owner, _word(name, kind))
            arguments |= value if isinstance(value, dict) else {name: value}
        if self.waits:
            arguments["p"] = Waiting(lambda p, shape: p)
        if not any(isinstance(value, Waiting) for value in arguments.values()):
            return self.makes(**arguments)
        return Waiting(
            lambda p, shape: self.makes(
                **{name: for_columns(value, p, shape) for name, value in arguments.items()}
            )
        )


def for_columns(part: Any, p: int, shape: Shape | None = None) -> Any:
    """``part`` for p variables, which are a matrix of that shape if one is given."""
    return part.finish(p, shape) if isinstance(part, Waiting) else part


def parse_loss(text: str, fields: Iterable[str] = ()) -> SeparableConjugate:
    """A loss as name[:number…], such as ``logistic`` or ``huber:0.5``.

    Also ``expression:FORMULA``, a formula in s, y and the names of ``fields``, and
    ``FILE.py:CLASS``, a class of your own, with numbers in parentheses if it takes any.

    >>> parse_loss("logistic"), parse_loss("quantile:0.9")
    (Logistic(), SmoothedQuantile(level=0.9, width=1.0))
    """
    if text.startswith(EXPRESSION):
        formula = text.removeprefix(EXPRESSION)
        return SeparableConjugate.from_expression(formula, fields=tuple(fields))
    if is_file(text):
        return load_own("loss", text, SeparableConjugate)  # type: ignore[type-abstract]
    named: SeparableConjugate = _named("loss", text, LOSSES)
    return named


def parse_oracle(text: str) -> LinearMinOracle | Waiting:
    """An oracle as name:parameter:…, such as ``l1:5`` or ``nuclear:50x40:30``.

    Also ``FILE.py:CLASS``, a class of your own, with numbers in parentheses if it takes any. Where
    a parameter depends on the data it is ``Waiting``, until ``for_columns`` finishes it.

    >>> parse_oracle("ridge:0.1")
    Ridge(strength=0.1, radius=None)
    >>> parse_oracle("scaled:2:l1:5")
    Scaled(oracle=L1Ball(radius=5.0), factor=2.0)
    >>> for_columns(parse_oracle("group-l2:2:1"), p=4).groups
    array([0, 0, 1, 1])
    """
    if is_file(text):
        return load_own("oracle", text, LinearMinOracle)  # type: ignore[type-abstract]
    oracle: LinearMinOracle | Waiting = _named("oracle", text, ORACLES)
    return oracle


def as_loss(loss: Any) -> SeparableConjugate:
    """The loss, or the one that a string names."""
    loss = parse_loss(loss) if isinstance(loss, str) else loss
    expected = 'a SeparableConjugate, such as Logistic(), or its name, "logistic"'
    check_kind("loss", loss, SeparableConjugate, expected)
    return loss


def as_oracle(oracle: Any) -> LinearMinOracle | Waiting:
    """The oracle, or the one that a string names."""
    oracle = parse_oracle(oracle) if isinstance(oracle, str) else oracle
    expected = 'a LinearMinOracle, such as L1Ball(5.0), or its name, "l1:5"'
    check_kind("oracle", oracle, LinearMinOracle | Waiting, expected)
    return oracle


def parse_prox(name: str) -> BregmanProx:
    """The prox of that name.

    >>> parse_prox("conjugate")
    ConjugateProx()
    """
    return _known("prox", name, PROXES)()


def schedule_class(name: str) -> type[Schedule]:
    """The schedule of that name, which waits for the numbers of a problem."""
    return _known("schedule", name, SCHEDULES)


def schedule_for(makes: type[Schedule], constants: Constants) -> Schedule:
    """A schedule with the ``blocks`` and ``sigma`` of a problem, where it has these parameters.

    Its ``averages`` are those of the theorem's own schedule.

    >>> from rcmd import Box, LeastSquares, Problem
    >>> constants = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0)).constants()
    >>> bool(schedule_for(schedule_class("head-start"), constants) == HeadStart(blocks=2.0))
    True
    """
    numbers: dict[str, Any] = {"blocks": constants.blocks, "averages": default_schedule(constants)}
    if constants.mu > 0:
        numbers["sigma"] = constants.sigma
    wanted = [
        name
        for name, one in inspect.signature(makes).parameters.items()
        if name in (*numbers, "sigma") or one.default is one.empty
    ]
    for name in wanted:
        if name not in numbers:
            why = "R has μ = 0" if name == "sigma" else "a problem has no such number"
            raise ValueError(
                f"schedule {makes.__name__} needs {name}, while {why}; expected a strongly convex "
                f"R for one that needs sigma, or an object with its numbers, {makes.__name__}(…)"
            )
    return makes(**{name: numbers[name] for name in wanted})


def parse_batch(text: str) -> int | float:
    """Rows per step: ``32``, or a share of all rows, ``1%``.

    >>> parse_batch("1%"), parse_batch("32")
    (0.01, 32)
    """
    if text.endswith("%"):
        percent: float = NUMBER.read(text[:-1], f"batch {text!r}", "share")
        if not 0 < percent <= 100:
            raise ValueError(
                f"batch {text!r} is not a share of all rows; expected above 0%, at most 100%"
            )
        return percent / 100
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"batch {text!r} is neither a whole number of rows nor a percentage such as 1%"
        ) from None


def _named(what: str, text: str, known: Mapping[str, Spec]) -> Any:
    """The object that ``text`` describes; ``what`` is its kind in messages."""
    name, owner = text.partition(":")[0], f"{what} {text!r}"
    if name not in known:
        near = OTHER_NAMES.get(name) or get_close_matches(name, known, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(known[n].text for n in near)}? " if near else ""
        plural = "losses" if what == "loss" else f"{what}s"
        raise ValueError(f"{owner} is unknown; {meant}`rcmd list {plural}` shows all of them")
    return known[name].parse(text, owner)


def _known(what: str, name: str, known: Mapping[str, Any]) -> Any:
    """What ``known`` has under that name."""
    if name not in known:
        raise ValueError(
            f"{what} {name!r} is unknown; expected {', '.join(known)}, or one of your own: an "
            "object, on the command line FILE.py:CLASS"
        )
    return known[name]


def _word(name: str, kind: Kind) -> str:
    return kind.shown or name.upper()


def _number(word: str, kind: Callable[[str], Any] = float) -> Any:
    try:
        return kind(word)
    except ValueError:
        raise Unread from None


def _shape(word: str) -> Shape | Waiting:
    if word == "auto":
        return Waiting(_shape_of_data)
    sides = re.fullmatch(r"(\d+)[x×](\d+)", word)
    if sides is None:
        raise Unread
    return int(sides[1]), int(sides[2])


def _shape_of_data(p: int, shape: Shape | None) -> Shape:
    if shape is None:
        raise ValueError(
            f"SHAPE is auto, but the data are {p} features and not a matrix; expected a shape "
            "such as 50x40, or --rows entries"
        )
    return shape


def _matrix(word: str) -> Array:
    """The numbers of a file; a plain number is not taken for a missing file."""
    if not Path(word).is_file() and is_number(word):
        raise Unread
    return read_numbers(word)


def _vector(word: str) -> Array:
    array = _matrix(word)
    if 1 not in array.shape:
        raise FileError(
            f"{word} holds {array.shape[0]} × {array.shape[1]} numbers; expected one column of them"
        )
    return array.ravel()


def _diagonal_or_matrix(word: str) -> Array:
    array = _matrix(word)
    return array.ravel() if 1 in array.shape else array


def _number_or_vector(word: str) -> float | Array:
    return float(word) if is_number(word) else _vector(word)


def _pairs(word: str) -> Array:
    array = _matrix(word)
    # Numbers that are not whole are left as they are, for the oracle to refuse.
    whole = np.isfinite(array).all() and (array == np.round(array)).all()
    return array.astype(int) if whole else array


def _groups(word: str) -> Any:
    if not is_number(word):
        return _labels(word)
    size = _number(word, int)
    if size < 1:
        raise Unread
    return Waiting(lambda p, shape: np.arange(p) // size)


def _labels(word: str) -> list[str]:
    """One label per variable, between white space or commas."""
    if word.endswith(".npy"):
        return [str(label) for label in _vector(word)]
    try:
        text = Path(word).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise FileError(f"{word} cannot be read: {reason}") from None
    return re.findall(r"[^\s,]+", text)


def _function(word: str) -> Any:
    if not re.fullmatch(r".+\.py:\w+", word):
        raise Unread
    function = load(word)
    if not callable(function):
        raise Unread

    def form(beta: Any) -> Any:
        try:
            return function(beta)
        except Exception as fault:  # whatever the user's function raises
            name = getattr(function, "__name__", "the function")
            raise ValueError(f"{name} raises {type(fault).__name__}: {fault}") from fault

    return form


def _parts(text: str) -> dict[str, Any]:
    """SIZE:ORACLE,…, as the fields of a ``Product``."""
    found: list[tuple[int, LinearMinOracle]] = []
    for part in text.split(","):
        word, _, oracle = part.partition(":")
        size = WHOLE.read(word, f"part {part!r}", "SIZE")
        found.append((size, for_columns(parse_oracle(oracle), size)))
    sizes, parts = zip(*found, strict=True)
    return {"oracles": parts, "sizes": sizes}


NUMBER = Kind(_number, "a number")
WHOLE = Kind(partial(_number, kind=int), "a whole number")
SHAPE = Kind(_shape, "rows x columns, such as 50x40, or auto for those of the data")
VECTOR = Kind(_vector, "a file of numbers")
GROUPS = Kind(_groups, "a file with a label for each variable, or the size of all groups")

ORACLE = Kind(parse_oracle, "an oracle", takes_rest=True)

KINDS: dict[Any, Kind] = {
    int: WHOLE,
    tuple[int, int]: SHAPE,
    base.Vector: VECTOR,
    base.Matrix: Kind(_matrix, "a file of numbers"),
    base.DiagonalOrMatrix: Kind(_diagonal_or_matrix, "a file of numbers"),
    base.NumberOrVector: Kind(_number_or_vector, "a number or a file of numbers"),
    base.Pairs: Kind(_pairs, "a file of pairs"),
    base.Groups: GROUPS,
    Callable: Kind(_function, "a function of a Python file", "FILE.py:NAME", takes_rest=True),
    LinearMinOracle: ORACLE,
    tuple[LinearMinOracle, ...]: Kind(
        _parts, "parts", "SIZE:ORACLE,SIZE:ORACLE,…", takes_rest=True
    ),
}
"""The kind of word for a field, by its type; a number for all others."""


def _exported(package: Any, base: type) -> list[Any]:
    """The classes with a spec of their own that the package exports, in its order."""
    classes = (getattr(package, name) for name in package.__all__)
    return [cls for cls in classes if issubclass(cls, base) and vars(cls).get("spec")]


EXPRESSION = "expression:"

OTHER_NAMES = {
    "lasso": ("l1", "l1-penalty"), "l2-penalty": ("ridge",), "tikhonov": ("ridge",),
    "trace-norm": ("nuclear", "nuclear-penalty"), "permutahedron": ("birkhoff", "owl"),
    "mse": ("least-squares",), "squared": ("least-squares",), "ols": ("least-squares",),
    "logit": ("logistic",), "svm": ("smoothed-hinge", "squared-hinge"), "pinball": ("quantile",),
}  # fmt: skip
"""What others call some of these losses and oracles."""

PROXES = {"conjugate": ConjugateProx, "euclidean": EuclideanProx, "exact": ExactProx}

SCHEDULES: dict[str, Any] = {
    "sublinear": SublinearSchedule,
    "head-start": HeadStart,
    "linear": LinearSchedule,
    "unit": UnitStepSchedule,
    "short-step": ShortStep,
}

ORACLES = {spec.name: spec for spec in map(Spec, _exported(oracles, LinearMinOracle))}
LOSSES = {spec.name: spec for spec in map(Spec, _exported(conjugates, SeparableConjugate))}
