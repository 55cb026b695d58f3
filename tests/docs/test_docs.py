"""The documentation: complete, with examples, its commands run, and it builds without a warning."""

import ast
import doctest
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import rcmd
from proofs_check.__main__ import _parser as ledger_parser
from rcmd.cli.main import main, parse
from rcmd.rows.validation import DISTRIBUTION

DOCS = Path(rcmd.__file__).parent / "docs"
ROOT = DOCS.parents[1]
OPTIONAL = ["rcmd.sklearn"] if find_spec("sklearn") else []
PACKAGES = (
    "rcmd", "rcmd.conjugates", "rcmd.datasets", "rcmd.lab.demos", "rcmd.distributed",
    "rcmd.conjugates.expressions", "rcmd.methods", "rcmd.oracles", "rcmd.plotting",
    "rcmd.theory", "rcmd.theory.replicates", "rcmd.rows", "rcmd.testing",
    "rcmd.theory.proof_trace", "rcmd.applications.from_cvxpy", "rcmd.model.bounds", *OPTIONAL,
)  # fmt: skip
"""Public packages, whose ``__all__`` is documented."""

MODULES = (
    "rcmd.applications.completion",
    "rcmd.applications.cur",
    "rcmd.applications.nonsmooth",
    "rcmd.model.schedules",
    "rcmd.model.truth",
)
"""Public modules, whose classes and functions are."""

INTERNAL = {"rcmd.engine", "rcmd.model.specs", "rcmd.testing.fuzzing"}
"""Packages whose ``__all__`` is for the rest of rcmd."""

EXAMPLES = {
    "rcmd.certify": "Certificate",
    "rcmd.load_result": "FileError",
    "rcmd.path": "SolutionPath",
    "rcmd.iterate": "State",
    "rcmd.model.bounds.Bound": "Verdict",
    "rcmd.model.schedules.Schedule": "StepState",
    "rcmd.model.truth.solve": "Truth",
    "rcmd.applications.completion.complete": "Completion",
    "rcmd.applications.cur.factorize": "CurFactorization factorization problem",
    "rcmd.applications.nonsmooth.minimize": "Minimum",
    "rcmd.conjugates.expressions.loss_from_expression": "ExpressionError ExpressionLoss",
    "rcmd.datasets.open_rows": "RowsWriter StoredData",
    "rcmd.datasets.read_libsvm": "LibsvmData",
    "rcmd.datasets.read_table": "Table TableData",
    "rcmd.distributed.rehearse": "Group SharedError",
    "rcmd.methods.AwayStep": "BlendedPairwise Pairwise",
    "rcmd.methods.Method": "Progress",
    "rcmd.methods.Sdca": "Apcg Quartz",
    "rcmd.methods.method_named": (
        "OnlineFrankWolfe SCGM SCGS SFW STORC SVRF SagFrankWolfe SarahFrankWolfe"
    ),
    "rcmd.SparseAtom": "Atom",
    "rcmd.plotting.drawn": "Line Panel",
    "rcmd.from_cvxpy": "applications.from_cvxpy.CvxpyReading",
    "rcmd.replicate": "theory.replicates.AgainstBound theory.replicates.Replicates",
    "rcmd.sweep": "theory.replicates.Sweep",
    "rcmd.rows.as_rows": "DenseRows DiskRows Rows SparseRows",
    "rcmd.testing.check_conjugate": "ContractError",
    "rcmd.testing.inspect_conjugate": "Failure Report inspect_prox",
    "rcmd.theory.hunt": "Catch",
    "rcmd.theory.verify": "Verification",
    "rcmd.theory.worst_case": "WorstCase",
    "rcmd.trace": "theory.proof_trace.Entry theory.proof_trace.Trace",
}
SHOWN_AT = {
    f"{place.rpartition('.')[0]}.{name}": place
    for place, names in EXAMPLES.items()
    for name in names.split()
}
"""Contracts, exceptions and what functions return: their example is where they are made."""

WITHOUT = {
    "rcmd.lab.demos.write_all": "writes files; tests of the demos write every page",
    "rcmd.lab.demos.write_page": "writes files; tests of the demos write every page",
    "rcmd.distributed.world": "needs mpirun",
}


def public():
    """Every public object by its shortest name."""
    names = {}
    for module in (*PACKAGES, *MODULES):
        found = import_module(module)
        own = [
            name
            for name, value in vars(found).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module
            if inspect.isclass(value) or inspect.isfunction(value)
        ]
        for name in getattr(found, "__all__", own):
            value = getattr(found, name)
            if not inspect.ismodule(value) and not any(value is other for other in names.values()):
                names[f"{module}.{name}"] = value
    return names


def documented(text):
    """The names that a page of the reference describes."""
    module, names = "", []
    for line in import_module("rcmd.docs.conf").with_entries(text).splitlines():
        if place := re.match(r"\.\. (?:currentmodule|automodule):: (\S+)", line):
            module = place[1]
        elif entry := re.match(r"\.\. auto(?:class|function|exception|data):: (\w+)", line):
            names.append(f"{module}.{entry[1]}")
    return names


def faults(name, value):
    """What a docstring lacks."""
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return []
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    if not text or not text.strip().splitlines()[0].strip():
        return ["no summary"]
    shown = re.search(r"^ *Examples\n *-{8}\n(.|\n)*?>>>", inspect.cleandoc(text), re.MULTILINE)
    return [] if shown or name in SHOWN_AT or name in WITHOUT else ["no example"]


PAGES = sorted((DOCS / "api").glob("*.rst"))
GUIDE = sorted((DOCS / "guide").glob("*.rst"))


def test_every_public_name_is_on_one_page_of_the_reference():
    entries = [name for page in PAGES for name in documented(page.read_text(encoding="utf-8"))]
    assert len(entries) == len(set(entries))
    found = set(entries) if find_spec("sklearn") else {e for e in entries if "sklearn" not in e}
    assert set(public()) - found == set()
    for name in found:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name
    assert documented(".. currentmodule:: rcmd\n.. autoclass:: SolutionPath") == [
        "rcmd.SolutionPath"
    ]


def test_every_public_docstring_has_a_summary_and_an_example():
    assert {name: lacks for name, value in public().items() if (lacks := faults(name, value))} == {}


def test_examples_that_are_elsewhere_are_there():
    names = public()
    assert set(SHOWN_AT) | set(WITHOUT) <= set(names)
    for place in SHOWN_AT.values():
        assert place not in SHOWN_AT
        assert faults(place, names[place]) == []


def test_faults_of_docstrings_are_seen():
    def bare(): ...

    assert faults("x", bare) == ["no summary"]
    bare.__doc__ = "A summary."
    assert faults("x", bare) == ["no example"]
    bare.__doc__ = "A summary.\n\nExamples\n--------\n>>> 1 + 1\n2"
    assert faults("x", bare) == []


def listing_packages(root):
    """All packages below ``root``, at any depth, that say by ``__all__`` what is public."""
    files = [file for file in root.rglob("__init__.py") if "__all__ =" in file.read_text("utf-8")]
    return {".".join(file.parent.relative_to(root.parent).parts) for file in files}


def test_packages_are_public_or_named_as_internal(tmp_path):
    packages = {name for name in (*PACKAGES, "rcmd.sklearn") if name != "rcmd.theory.replicates"}
    assert listing_packages(DOCS.parent) - INTERNAL == packages
    deep = tmp_path / "rcmd" / "room" / "cupboard"
    deep.mkdir(parents=True)
    (deep / "__init__.py").write_text("__all__ = []\n")
    assert listing_packages(tmp_path / "rcmd") == {"rcmd.room.cupboard"}


def test_the_map_of_the_rooms_is_the_order_that_lint_imports_holds():
    linted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [layer.split(" | ") for layer in linted["contracts"][0]["layers"]]
    page = (DOCS / "contributing.rst").read_text("utf-8")
    rooms = re.findall(r"^``rcmd\.(\w+)``\n   \S", page, re.MULTILINE)
    assert sorted(rooms) == sorted(path.parent.name for path in DOCS.parent.glob("*/__init__.py"))
    for layer in reversed(layers):
        assert sorted(rooms[: len(layer)]) == sorted(layer)
        del rooms[: len(layer)]


def test_the_distribution_has_one_name():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert settings["name"] == DISTRIBUTION
    extras = settings["optional-dependencies"]
    own = [name for wanted in extras.values() for name in wanted if name.startswith("rcmd")]
    assert len(own) == 2
    files = [*ROOT.glob("rcmd/**/*.py"), *ROOT.glob("proofs_check/**/*.py"), *DOCS.rglob("*.rst")]
    text = "\n".join([*own, *(file.read_text("utf-8") for file in files)])
    asked = re.findall(r"pip\s+install\s+'([\w-]+)\[([\w,]+)\]'", text)
    asked += re.findall(r"^([\w-]+)\[([\w,]+)\]$", text, re.MULTILINE)
    asked += [(DISTRIBUTION, extra) for extra in re.findall(r"\{pip_install\('(\w+)'\)\}", text)]
    assert len(asked) >= 16
    for name, wanted in asked:
        assert name == DISTRIBUTION
        assert set(wanted.split(",")) <= set(extras)


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_pages_go_from_mathematics_to_class_to_code(page):
    text = page.read_text(encoding="utf-8")
    if page.stem == "index":
        listed = re.findall(r"^   (\w+)$", text, re.MULTILINE)
        assert sorted(listed) == sorted(p.stem for p in GUIDE if p.stem != "index")
        return
    places = [text.index(f"\n{head}\n---") for head in ("Mathematics", "Class")]
    assert places[0] < text.index(".. math::") < places[1] < text.index("\nCode")
    assert ">>> " in text


COMMANDS = [
    line.strip()[2:]
    for page in GUIDE
    for line in page.read_text(encoding="utf-8").splitlines()
    if line.startswith("   $ ")
]
NOT_RUN = ("a9a", "reproduce", "fuzz", "demo", "proofs_check")
"""Need data, MPI or many seconds: these are only parsed."""


def test_commands_of_the_guide_run_or_parse(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 12
    for command in COMMANDS:
        words = shlex.split(command)
        words = words[words.index("rcmd") :] if "rcmd" in words else words
        if words[0] != "rcmd":
            assert words[:3] == ["python", "-m", "proofs_check"], command
            ledger_parser().parse_args(words[3:])
        elif any(word in command for word in NOT_RUN):
            parse(words[1:])
        else:
            # A budget that ends the run is 1, and the guide shows one before it resumes.
            assert main(words[1:]) == (1 if "--max-gradients 2000 " in command else 0), command
    assert (tmp_path / "run.pdf").stat().st_size > 1000
    with pytest.raises(SystemExit):
        parse(["solve", "--no-such-option"])


def curves(svg):
    """The points of the curves of a figure, which are cut off at its axes."""
    paths = re.findall(r'<path d="([^"]+)" clip-path', svg.read_text(encoding="utf-8"))
    return [[float(number) for number in re.findall(r"-?\d+\.?\d*", path)] for path in paths]


def test_the_figure_of_the_first_page_is_current(tmp_path, monkeypatch):
    """The command below it draws it again, to a hundredth of a point."""
    page = (DOCS / "index.rst").read_text(encoding="utf-8")
    (command,) = re.findall(r"``rcmd (replicate .*)``", page)
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 0
    kept, made = curves(DOCS / "figures" / "replicate.svg"), curves(tmp_path / "replicate.svg")
    assert len(kept) > 20
    assert [pytest.approx(points, abs=0.01) for points in made] == kept


def test_the_figures_of_the_gallery_are_those_of_its_code(tmp_path):
    """Each image is the ``figure`` of the lines above it, to a hundredth of a point."""
    page = (DOCS / "guide" / "gallery.rst").read_text(encoding="utf-8")
    names, seen = {}, 0
    for part in re.split(r"(\.\. image:: \S+)", page):
        if image := re.match(r"\.\. image:: \.\./figures/(\S+)", part):
            names["figure"].savefig(tmp_path / image[1])
            kept, made = curves(DOCS / "figures" / image[1]), curves(tmp_path / image[1])
            assert len(kept) >= 3
            assert [pytest.approx(points, abs=0.01) for points in made] == kept, image[1]
            seen += 1
        else:
            for example in doctest.DocTestParser().get_examples(part):
                exec(example.source, names)
    assert seen == 5


def test_changelog_and_citation_have_the_version():
    assert f"\n{rcmd.__version__}\n-----" in (DOCS / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (DOCS / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {rcmd.__version__}\n" in citation
    assert "cff-version: 1.2.0\n" in citation


def test_formulas_of_all_pages_are_understood():
    pytest.importorskip("latex2mathml", reason="formulas are typeset by latex2mathml")
    mathml = import_module("rcmd.docs.conf").mathml
    count = 0
    for page in (DOCS / "index.rst", *GUIDE):
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"\.\. math::\n\n((?:   .*\n|\n)+)", text)
        for tex in (*re.findall(r":math:`(.+?)`", text, re.DOTALL), *blocks):
            mathml(tex, "block")
            count += 1
    assert count > 100
    with pytest.raises(ValueError, match="is not understood"):
        mathml(r"\binom nb^{-1}", "block")


def build(source, target):
    """Sphinx as the documentation says to call it, or a skip where it is not installed."""
    for package in ("sphinx", "numpydoc", "pydata_sphinx_theme", "latex2mathml", "sklearn"):
        pytest.importorskip(package, reason="it takes pip install 'rcmd-opt[docs]'")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", source, target]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_pages_build_without_a_warning_and_need_no_network(tmp_path):
    before = sorted(DOCS.rglob("*"))
    done = build(DOCS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path for path in sorted(DOCS.rglob("*")) if path not in before] == []
    page = (tmp_path / "guide" / "problem.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"https?:", page) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (":class:`rcmd.NoSuchName`", "rcmd.NoSuchName"),
        (r":math:`\arg x`", "is not understood"),
        (".. autofunction:: rcmd.no_such_name", "no_such_name"),
    ],
)
def test_a_planted_fault_fails_the_build(tmp_path, text, told):
    source = tmp_path / "a" / "docs"
    shutil.copytree(DOCS / "style", source / "style")
    shutil.copy(DOCS / "conf.py", source)
    (source / "index.rst").write_text(f"Title\n=====\n\n{text}\n", encoding="utf-8")
    done = build(source, tmp_path / "out")
    assert done.returncode != 0
    assert told in done.stderr


def test_conf_imports_nothing_heavy():
    tree = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    names = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names) | {"__future__", "xml.etree"}
