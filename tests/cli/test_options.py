"""Every option of every command, with and without it: it changes what it says it changes."""

import inspect
import json
import os
import re
import shutil
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from small_problems import as_text

from rcmd.cli.main import COMMANDS, main
from rcmd.datasets import make_classification
from rcmd.solver.checkpoint.saver import Saver


class Told(NamedTuple):
    """What a command left behind: its status, its JSON, the files it wrote, how often it saved."""

    status: Any
    data: dict[str, Any]
    files: dict[str, bytes]
    saves: int


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Runs a command line once, in a folder of its own with the files that the lines name."""
    given = tmp_path_factory.mktemp("given")
    X, y = make_classification(n=40, p=4, rng=0)
    rng = np.random.default_rng(0)
    (given / "rows").write_bytes(as_text(X, y))
    (given / "more").mkdir()
    shutil.copy(given / "rows", given / "more" / "other")
    places = np.argwhere(np.ones((6, 5)))
    np.savetxt(given / "entries", np.c_[places, rng.standard_normal(30)], fmt=["%d", "%d", "%.3f"])
    np.savetxt(given / "matrix", rng.standard_normal((4, 3)))
    np.savetxt(given / "each", rng.standard_normal(40))
    signs = np.where(rng.random(40) < 0.3, -y, y)
    np.save(given / "table.npy", np.c_[signs, rng.standard_normal((40, 2)), y])
    (given / "mine.py").write_text("from rcmd import Logistic\nmine = Logistic()\n")

    @cache
    def run(line):
        folder = tmp_path_factory.mktemp("run") / "here"
        shutil.copytree(given, folder)
        saves = []
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.delenv("RCMD_DATA", raising=False)
            patch.setattr("webbrowser.open", lambda url: bool(Path("opened").write_text(url)))
            honest = Saver.save
            patch.setattr(Saver, "save", lambda self, run: saves.append(1) or honest(self, run))
            try:
                status = main([*line.split(), "--json", "told.json"])
            except SystemExit as ending:  # as argparse leaves
                status = ending.code
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        written = {name: files[name] for name in set(files) - set(os.listdir(given))}
        data = json.loads(written.pop("told.json", "null"), parse_constant=pytest.fail)
        return Told(status, data, written, len(saves))

    for line in (
        "solve rows --batch 4 --tol 0 --method rcmd --max-iterations 50 --checkpoint run.ckpt",
        "solve rows --loss mine.py:mine --tol 0 --max-iterations 5 --checkpoint mine.ckpt",
        "solve rows --tol 0.1 --save kept.rcmd",
        f"{ENTRIES} --seed 3 --save part.rcmd",
        "solve table.npy --save table.rcmd",
    ):
        for name, content in run(line).files.items():
            (given / name).write_bytes(content)
    run.given = given
    return run


def status(told):
    return told.status


def end(told):
    return told.data["stop"], told.data["iterations"], told.data["gradients"]


def records(told):
    return [{**record, "seconds": 0} for record in told.data["history"]]


def per_step(told):
    return told.data["gradients"] / told.data["iterations"]


def said(pattern):
    return lambda told: [line for line in told.data["said"] if re.search(pattern, line)] != []


def wrote(name):
    return lambda told: len(told.files.get(name, "")) > 100


def along(column):
    return lambda told: [entry[column] for entry in told.data["path"]]


def table(column):
    return lambda told: [row[column] for row in told.data["sections"][0]["rows"]]


def titles(told):
    return [section["title"].partition(":")[0] for section in told.data["sections"]]


def first(column):
    return lambda told: table(column)(told)[0]


def first_step(told):
    record = first("curves")(told)[0][0]
    return record["gradients"] / record["iteration"]


DIFFERENT = object()
SOLVE = "solve rows --method rcmd --batch 4 --tol 0.03"
SAVED = f"{SOLVE} --checkpoint new.ckpt"
ENTRIES = "solve entries --rows entries --oracle nuclear:auto:2 --held-out 0.2"
VERIFY = f"{ENTRIES.replace('solve', 'verify part.rcmd')} --seed 3"
RESUME = "resume run.ckpt --max-iterations 90"
PATH = "path rows --batch 4 --tol 0.03 --radii 0.1,3"
COMPARE = "compare rows --methods rcmd,fw --batch 4 --passes 3 --seeds 1"
REPLICATE = "replicate rows --batch 4 --passes 3 --seeds 2"
DEMO = "demo mini-batch --no-open"
CHANGES = [
    ("solve other", "--data more", status, 0),
    ("solve table.npy --intercept 1", "--label 1", said("^coefficients: x4 "), True),
    ("path table.npy --radii 1", "--label 1", along("primal"), DIFFERENT),
    ("compare table.npy --methods rcmd --passes 3", "--label 1", table("primal"), DIFFERENT),
    ("replicate table.npy --passes 3 --seeds 2", "--label 1", table("mean"), DIFFERENT),
    ("verify table.rcmd table.npy", "--label 1", status, 1),
    ("solve entries --oracle nuclear:auto:2", "--rows entries", status, 0),
    (SOLVE, "--loss least-squares", lambda t: t.data["problem"]["loss"], "½(s − y)²"),
    (SOLVE, "--oracle l1:0.5", lambda t: sum(map(abs, t.data["beta"]["values"])) <= 0.5001, True),
    (SOLVE, "--intercept 2", said("^intercept "), True),
    (SOLVE, "--offset each", lambda t: t.data["primal"], DIFFERENT),
    (SOLVE, "--field tau=each", status, 2),  # which the logistic loss does not read
    (ENTRIES.partition(" --held")[0], "--held-out 0.2", said("^6 entries held out"), True),
    ("solve matrix --rows cur --oracle cur:auto:1", "--keep 1x2", said(r"mns \d and rows \d, \d:"),
     True),
    (SOLVE.replace("--batch 4 ", ""), "--method fw", per_step, 40),
    (SOLVE, "--batch 5", per_step, 5),
    (SOLVE, "--schedule head-start", records, DIFFERENT),
    (SOLVE, "--prox euclidean", records, DIFFERENT),
    (PATH, "--method rcmd", along("primal"), DIFFERENT),
    (PATH, "--schedule head-start", along("primal"), DIFFERENT),
    (PATH, "--prox euclidean", along("primal"), DIFFERENT),
    (REPLICATE, "--method scgm", table("best_gap_quantiles"), DIFFERENT),
    (REPLICATE, "--schedule head-start", table("mean"), DIFFERENT),
    (REPLICATE, "--prox euclidean", table("best_gap_quantiles"), DIFFERENT),
    (COMPARE, "--schedule head-start", table("primal"), DIFFERENT),
    (COMPARE, "--prox euclidean", table("primal"), DIFFERENT),
    (SOLVE, "--tol 0.01", lambda t: (t.status, t.data["gap"] <= 0.01), (0, True)),
    (SOLVE, "--max-iterations 3", lambda t: (t.status, *end(t)), (1, "ITERATIONS", 3, 12)),
    (SOLVE, "--max-gradients 12", lambda t: (t.status, *end(t)), (1, "GRADIENTS", 3, 12)),
    (SOLVE, "--max-seconds 1e-9", lambda t: (t.status, t.data["stop"]), (1, "SECONDS")),
    (SOLVE, "--seed 3", records, DIFFERENT),
    (ENTRIES, "--seed 3", lambda t: t.data["primal"], DIFFERENT),
    (SOLVE, "--checkpoint new.ckpt", wrote("new.ckpt"), True),
    (SAVED, "--every 0", lambda t: t.saves >= len(t.data["history"]), True),
    (SOLVE, "--truth", said(r"^CVXPY: .* within the certified gap"), True),
    (SOLVE, "--save new.rcmd", wrote("new.rcmd"), True),
    (SOLVE, "--plot new.svg", wrote("new.svg"), True),
    ("resume run.ckpt", "--tol 1", lambda t: (t.status, *end(t)), (0, "TOLERANCE", 50, 200)),
    ("resume run.ckpt", "--max-iterations 60", end, ("ITERATIONS", 60, 240)),
    (RESUME, "--max-gradients 240", end, ("GRADIENTS", 60, 240)),
    (RESUME, "--max-seconds 1e-9", end, ("SECONDS", 50, 200)),
    (RESUME, "--every 0", lambda t: t.saves > 2, True),
    (RESUME, "--truth", said("^CVXPY: "), True),
    (RESUME, "--save new.rcmd", wrote("new.rcmd"), True),
    (RESUME, "--plot new.svg", wrote("new.svg"), True),
    ("resume mine.ckpt --max-iterations 9", "--trust-user-code", status, 1),
    (PATH.replace("rows", "other"), "--data more", status, 0),
    (PATH, "--loss smoothed-hinge:1", along("primal"), DIFFERENT),
    (PATH, "--oracle l2", lambda t: t.data["path"][0]["problem"]["regularizer"],
     "indicator of ‖β‖₂ ≤ 0.1"),
    (PATH, "--batch 40", lambda t: t.data["path"][1]["gradients"] % 40, 0),
    (PATH, "--seed 3", along("primal"), DIFFERENT),
    (PATH, "--tol 0.001", lambda t: max(along("gap")(t)) <= 0.001, True),
    (PATH, "--max-seconds 1e-9", along("stop"), ["TOLERANCE", "SECONDS"]),
    (PATH, "--max-gradients 40", lambda t: (t.status, along("stop")(t)),
     (1, ["TOLERANCE", "GRADIENTS"])),
    ("path rows", "--radii 1,2", along("radius"), [1.0, 2.0]),
    ("path rows --oracle ridge", "--strengths 1:4:3:log", along("strength"), [1.0, 2.0, 4.0]),
    (PATH, "--intercept 2", lambda t: t.data["path"][0]["problem"]["p"], 5),
    (PATH, "--plot new.svg", wrote("new.svg"), True),
    (REPLICATE, "--plot new.svg", wrote("new.svg"), True),
    (PATH, "--offset each", along("primal"), DIFFERENT),
    (PATH, "--field tau=each", status, 2),
    (COMPARE.replace("rows", "other"), "--data more", status, 0),
    (COMPARE, "--loss smoothed-hinge:1", lambda t: t.data["best_known"], DIFFERENT),
    (COMPARE, "--oracle l1:0.5", lambda t: t.data["best_known"], DIFFERENT),
    (COMPARE, "--batch 5", first_step, 5),
    (COMPARE, "--seed 3", first("primal"), DIFFERENT),
    (COMPARE, "--tol 0.5", lambda t: first("gradients")(t) < 40, True),
    (COMPARE, "--max-seconds 1e-9", first("gradients"), 4),
    (COMPARE, "--methods fw", table("method"), ["fw"]),
    (COMPARE, "--passes 2", table("gradients"), [80, 80]),
    (COMPARE, "--seeds 2", lambda t: [len(curves) for curves in table("curves")(t)], [2, 1]),
    (COMPARE, "--plot new.svg", wrote("new.svg"), True),
    (COMPARE, "--offset each", lambda t: t.data["best_known"], DIFFERENT),
    (COMPARE, "--field tau=each", status, 2),
    (REPLICATE.replace("rows", "other"), "--data more", status, 0),
    (REPLICATE, "--loss smoothed-hinge:1", table("mean"), DIFFERENT),
    (REPLICATE, "--oracle l1:0.5", table("mean"), DIFFERENT),
    (REPLICATE, "--batch 5", lambda t: table("passes")(t)[-1] / table("iteration")(t)[-1], 1 / 8),
    (REPLICATE, "--seed 1", table("mean"), DIFFERENT),
    (REPLICATE.replace("--batch 4 ", ""), "--batch 4,10", titles, ["batch 4", "batch 10"]),
    (REPLICATE, "--schedule sublinear,head-start", titles, ["sublinear", "head-start"]),
    (REPLICATE, "--passes 2", lambda t: table("passes")(t)[-1], 2),
    (REPLICATE, "--seeds 3", lambda t: len(first("gaps")(t)), 3),
    (REPLICATE, "--confidence 0.5", table("interval"), DIFFERENT),
    (REPLICATE, "--offset each", table("mean"), DIFFERENT),
    (REPLICATE, "--field tau=each", status, 2),
    ("show kept.rcmd", "--plot new.svg", wrote("new.svg"), True),
    ("show kept.rcmd --plot new.svg", "--against iterations",
     lambda t: b">iterations</text>" in t.files["new.svg"], True),
    ("verify kept.rcmd other", "--data more", status, 0),
    ("verify kept.rcmd rows", "--loss smoothed-hinge", status, 2),
    ("verify kept.rcmd rows", "--oracle l1:4", status, 2),
    ("verify kept.rcmd rows", "--intercept 2", status, 2),
    ("verify kept.rcmd rows", "--offset each", status, 1),
    ("verify kept.rcmd rows", "--field tau=each", status, 2),
    (VERIFY.replace("--rows entries ", ""), "--rows entries", status, 0),
    (VERIFY.replace("--held-out 0.2 ", ""), "--held-out 0.2", status, 0),
    (VERIFY.replace(" --seed 3", ""), "--seed 3", status, 0),
    ("check k-sparse:7:1", "--p 8", status, 0),
    ("check logistic", "--labels=0,1", status, 2),
    ("check logistic", "--field=tau=1", status, 2),
    ("demo mini-batch", "--no-open", lambda t: "opened" in t.files, False),
    (DEMO, "--out new.html", wrote("new.html"), True),
    ("convert rows new.rows", "--features 9", lambda t: t.data["features"], 9),
    ("convert rows new.rows", "--float32", lambda t: t.data["bytes"], DIFFERENT),
]  # fmt: skip
"""A command line, the option that is added, what is looked at, and what it then is."""


def looked_at(view, told):
    return None if told.data is None and view is not status else view(told)


@pytest.mark.parametrize(
    ("line", "added", "view", "then"), CHANGES, ids=[f"{c[0].split()[0]} {c[1]}" for c in CHANGES]
)
def test_an_option_changes_what_it_says(told, line, added, view, then):
    without = looked_at(view, told(line))
    found = looked_at(view, told(f"{line} {added}"))
    assert found != without
    if then is not DIFFERENT:
        assert found == then


HANDED = {
    ("replicate rows", "rcmd.cli.replicate.sweep"): ["--jobs 2: n_jobs 2"],
    ("fuzz", "rcmd.cli.fuzz.search"): [
        "--seconds 7: seconds 7.0", "--seed 3: seed 3", "--planted: planted True",
    ],
    ("reproduce", "rcmd.cli.reproduce.run_all"): [
        "--data D: data D", "--out D: folder D/cells", "--only a9a: names ('a9a',)",
        "--seeds 7: seeds 7", "--jobs 7: jobs 7",
        "--quick: oracle_calls 50000, passes 1000, seeds 1",
    ],
    ("bench engine", "rcmd.lab.bench.engine.run"): [
        "--data D: data D", "--quick: quick True", "--seed 3: seed 3",
    ],
    ("bench oracles", "rcmd.lab.bench.oracles.run"): [
        "--p 200: p 200", "--calls 9: calls 9",
    ],
    ("bench plugins", "rcmd.lab.bench.plugins.run"): [
        "--quick: quick True", "--seed 3: seed 3",
    ],
    ("bench steps", "rcmd.lab.bench.steps.run"): [
        "--data D: data D", "--quick: quick True", "--seeds 7: seeds 7", "--passes 7: passes 7",
    ],
    ("bench peers", "rcmd.lab.bench.peers.run"): [
        "--data D: data D", "--quick: quick True", "--problem a9a: problem ['a9a']",
    ],
    ("bench mpi", "rcmd.lab.bench.mpi.run"): [
        "--ranks 1 3: ranks [1, 3]", "--seconds 7: seconds 7.0", "--seed 3: seed 3",
    ],
}  # fmt: skip
"""Commands that would take long: the function they call, and its arguments that options change."""


def plain(arguments):
    """Settings one by one; without the functions and problems that differ in every call."""
    flat = {}
    for name, value in arguments.items():
        flat |= vars(value) if name == "settings" else {name: value}
    kinds = int | float | str | list | tuple | Path | None
    return {name: str(value) for name, value in flat.items() if isinstance(value, kinds)}


@pytest.mark.parametrize(("line", "place"), HANDED)
def test_an_option_is_handed_on(line, place, tmp_path, monkeypatch):
    module, _, name = place.rpartition(".")
    signature = inspect.signature(getattr(__import__(module, fromlist=[name]), name))
    calls = []

    def hear(*arguments, **options):
        bound = signature.bind(*arguments, **options)
        calls.append(plain({**bound.arguments, **bound.arguments.get("options", {})}))
        raise ValueError("this is enough")

    monkeypatch.setattr(place, hear)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").write_text("+1 1:1\n-1 1:2\n")
    for added in HANDED[line, place]:
        words, _, then = added.partition(": ")
        calls.clear()
        assert main(line.split()) == main([*line.split(), *words.split()]) == 2
        without, found = calls
        changed = [f"{key} {found[key]}" for key in sorted(found) if found[key] != without.get(key)]
        assert ", ".join(changed) == then


def test_no_option_is_left_out(capsys):
    """The options that the help of a command shows, but for --json, stand in a table above."""

    def helped(line, pattern):
        with pytest.raises(SystemExit):
            main([*line.split(), "--help"])
        return re.findall(pattern, capsys.readouterr().out, re.MULTILINE)

    lines = [name for name in COMMANDS if name != "bench"]
    lines += [f"bench {name}" for name in helped("bench", r"^    (\w+)  ")]
    known = {(line, name) for line in lines for name in helped(line, r"^  (--[\w-]+)")}
    shown = {(line.split()[0], re.match(r"--[\w-]+", added)[0]) for line, added, *_ in CHANGES}
    for (line, _), options in HANDED.items():
        shown |= {(line.removesuffix(" rows"), re.match(r"--\w+", each)[0]) for each in options}
    assert len(shown) > 80
    assert shown == known - {(line, "--json") for line in lines}


@pytest.mark.parametrize(("missed", "word"), [(0.99, "within"), (1.01, "OUTSIDE")])
def test_an_optimum_that_the_gap_does_not_reach_is_told(told, missed, word, monkeypatch, capsys):
    found = told(SOLVE).data
    optimum = SimpleNamespace(primal=found["primal"] - missed * found["gap"])
    monkeypatch.setattr("rcmd.model.truth.solve", lambda problem: optimum)
    monkeypatch.chdir(told.given)
    assert main([*SOLVE.split(), "--truth"]) == 0
    assert f", {word} the certified gap\n" in capsys.readouterr().out


STEPS = """from dataclasses import dataclass
from rcmd import ConjugateProx
from rcmd.model.schedules import SublinearSchedule

@dataclass(frozen=True)
class Half(SublinearSchedule):
    by: float = 2.0
    def step(self, i): return super().step(i) / self.by

class Mine(ConjugateProx):
    pass
"""


@pytest.mark.parametrize(
    ("words", "method"),
    [
        ("--schedule steps.py:Half", "RCMD(schedule=Half)"),
        ("--schedule steps.py:Half(20.0,by=4.0)", "RCMD(schedule=Half(blocks=20.0, by=4.0))"),
        ("--schedule linear --oracle ridge:1", "RCMD(schedule='linear')"),
        ("--prox steps.py:Mine", "RCMD(prox=Mine())"),
        ("--method corrected --prox euclidean",
         "Corrected(plain=RCMD(prox=EuclideanProx()))"),
    ],
)  # fmt: skip
def test_steps_of_ones_own_get_the_numbers_of_the_problem(
    told, tmp_path, monkeypatch, words, method
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "rows").write_bytes((told.given / "rows").read_bytes())
    line = f"solve rows --method rcmd --batch 4 --tol 0 --max-iterations 5 {words} --json t.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a prox of one's own is vetted
        assert main(line.split()) == 1
    found = json.loads((tmp_path / "t.json").read_text())["options"]["method"]
    assert re.sub(r"<class '.*\.(\w+)'>", r"\1", found) == method


def test_a_file_tells_what_it_has_of_any_kind(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = "from rcmd import RCMD\nclass Steps(RCMD):\n    pass\nclass Other:\n    pass\n"
    (tmp_path / "parts.py").write_text(text)
    assert main(["solve", "--method", "parts.py:Nope"]) == 2
    assert "parts.py has no Nope; it has Steps\n" in capsys.readouterr().err
