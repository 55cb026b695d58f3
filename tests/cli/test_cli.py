import bz2
import io
import json
import re
import shlex
import signal
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from rcmd import load_result
from rcmd.cli.main import COMMANDS, main, parse
from rcmd.cli.solve import HEADER

LINES = ["+1 1:0.5 3:1", "-1 2:1", "+1 1:1 2:-1", "-1 3:2", "+1 1:0.25"]


@pytest.fixture
def libsvm(tmp_path):
    path = tmp_path / "tiny.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def run(capsys, *words):
    status = main(["solve", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def unfolded(out):
    """The lines as they were before they were broken for the terminal."""
    return re.sub(r"(?<=\S)\n {2,}(?=\S)", " ", out)


def refusal(capsys, *words):
    """The one line that a command says which has status 2 and no output."""
    assert main(list(map(str, words))) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_file_is_solved_and_certified(capsys, libsvm):
    status, out, err = run(capsys, libsvm, "--oracle", "l1:2", "--batch", "2", "--tol", "1e-2")
    assert (status, err) == (0, "")
    assert "indicator of ‖β‖₁ ≤ 2" in out
    table = [line.split() for line in out.splitlines()[out.splitlines().index(HEADER) + 1 :]]
    passes = [float(cells[0].replace(",", "")) for cells in table[: table.index([])]]
    assert len(passes) > 2
    assert all(1.5 * now <= later + 1e-9 for now, later in pairwise(passes[:-1]))
    assert "the certified gap reached the tolerance" in out
    assert "CVXPY" not in out


def test_labels_are_mapped_where_the_loss_needs_signs(capsys, tmp_path):
    path = tmp_path / "mushrooms"
    path.write_text("1 1:1\n2 1:2\n2 2:1\n")
    status, out, _ = run(capsys, path, "--tol", "0.1")
    assert status == 0
    assert out.startswith("labels 1 and 2 were mapped to -1 and +1 (the larger to +1)\n")
    assert "mapped" not in run(capsys, path, "--loss", "least-squares", "--tol", "0.1")[1]


MODULE = """
from dataclasses import dataclass
from rcmd import LeastSquares

@dataclass(frozen=True)
class Right(LeastSquares):
    pass

@dataclass(frozen=True)
class Wrong(LeastSquares):
    def derivative(self, s, y):
        return y - s
"""


@pytest.fixture
def own(tmp_path):
    """A file with losses of one's own."""
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    return path


@pytest.mark.parametrize(("name", "status"), [("Right", 0), ("Wrong", 1), ("Absent", 2)])
def test_check_says_whether_a_contract_holds(capsys, own, name, status):
    assert main(["check", f"{own}:{name}"]) == status
    captured = capsys.readouterr()
    said = unfolded(captured.out)
    assert ("FAIL  derivative is the slope of value" in said) == (status == 1)
    assert ("likely cause: wrong sign" in said) == (status == 1)
    assert captured.err.count("\n") == (status == 2)


@pytest.mark.parametrize("loss", [None, "huber:1", "smoothed-hinge:1", "fair:0.5"])
def test_built_in_data_fit_the_loss_and_are_compared_with_cvxpy(capsys, loss):
    status, out, err = run(capsys, *(["--loss", loss] if loss else []), "--tol", "0.3")
    assert (status, err) == (0, "")
    assert "n = 400" in out
    assert re.search(r"CVXPY: P\* = .* within the certified gap", out)


def test_with_nothing_the_algorithm_itself_is_seen(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    start = lines.index(HEADER) + 1
    rows = [line.split() for line in lines[start : lines.index("", start)]]
    assert len(rows) >= 15
    gaps, best, bounds = ([float(row[column]) for row in rows] for column in (3, 4, 5))
    assert max(map(len, lines)) <= 80
    assert best[-1] <= 1e-2 < best[-2]
    assert all(gap >= least for gap, least in zip(gaps, best, strict=True))
    assert gaps[0] > best[0]  # after one certificate another pair is better
    assert bounds == sorted(bounds, reverse=True)
    assert all(gap <= bound for gap, bound in zip(gaps, bounds, strict=True))
    drawn = out.partition("└")[0].rpartition("\n\n")[2]
    assert drawn.count("*") >= 15
    assert drawn.count("-") >= 15
    assert re.fullmatch(
        r"with corrections: a certified gap of \S+e-\d\d after [\d,]{5,6} gradients, by --method "
        r"corrected --tol 1e-06", unfolded(out).splitlines()[-1],
    )  # fmt: skip
    assert "with corrections:" not in run(capsys, "--method", "rcmd", "--tol", "0.3")[1]


def no_solver(problem):
    raise RuntimeError("the solver failed")


@pytest.mark.parametrize("lost", ["form", "package", "solver"])
def test_a_result_is_saved_whatever_becomes_of_the_truth(capsys, tmp_path, monkeypatch, lost):
    file = tmp_path / "result.rcmd"
    loss = "expression:(s - y)*atan(s - y) - log(1 + (s - y)**2)/2" if lost == "form" else "huber:1"
    if lost == "package":
        monkeypatch.setitem(sys.modules, "cvxpy", None)
    if lost == "solver":
        monkeypatch.setattr("rcmd.model.truth.solve", no_solver)
    status, out, err = run(capsys, "--loss", loss, "--save", file, "--tol", "0.3")
    assert (status, err) == (0, "")
    assert unfolded(out).splitlines()[-2].startswith("no comparison with CVXPY: ")
    assert load_result(file).success


def test_the_limit_of_doubles_is_no_matter_of_budgets(capsys, libsvm):
    status, out, _ = run(capsys, libsvm, "--oracle", "ridge:1", "--tol", "1e-40")
    assert status == 1
    assert "the certified gap reached the limit of double precision" in out
    assert "doubles tell no gap below" in out
    assert "--max-gradients" not in out


def test_python_dash_m_runs_the_same_command():
    command = [sys.executable, "-m", "rcmd", "show", "absent.rcmd"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("rcmd: absent.rcmd cannot be read")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return self.missing", "AttributeError"),
        ("raise ZeroDivisionError('by hand')", "ZeroDivisionError: by hand"),
    ],
)
def test_check_reports_what_a_users_code_raises(capsys, own, body, told):
    own.write_text(MODULE.replace("return y - s", body))
    assert main(["check", f"{own}:Wrong"]) == 1
    assert told in capsys.readouterr().out


def test_check_finds_the_files_beside_its_file_and_says_if_that_is_broken(capsys, own):
    (own.parent / "helper_beside.py").write_text("HALF = 0.5\n")
    own.write_text("from helper_beside import HALF\n" + MODULE)
    assert main(["check", f"{own}:Right"]) == 0
    capsys.readouterr()
    own.write_text("def f(:\n")
    assert "cannot be imported: SyntaxError" in refusal(capsys, "check", f"{own}:Right")


def test_a_reader_that_leaves_early_is_no_error(libsvm):
    command = f"{sys.executable} -m rcmd solve {libsvm} --tol 0.3 | head -2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_the_letters_still_solves(libsvm, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["solve", str(libsvm), "--tol", "0.3"]) == 0
    assert written.getvalue().startswith(b"(P)  min over ? ? R^3 of  1/n ?_j l(x_j??; y_j)")


def test_ctrl_c_before_the_run_is_one_line(capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("rcmd.datasets.make_classification", interrupt)
    assert main(["solve"]) == 130
    assert capsys.readouterr().err == "rcmd: interrupted\n"


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("rcmd ")


# ---- matrices ----------------------------------------------------------------------------------


@pytest.fixture
def ratings(tmp_path):
    """Most entries of a 12 × 9 matrix of rank one, counted from 1."""
    rng = np.random.default_rng(0)
    matrix = np.outer(rng.choice([-1.0, 1.0], 12), rng.uniform(1.0, 2.0, 9))
    i, k = np.divmod(rng.choice(108, 80, replace=False), 9)
    path = tmp_path / "ratings.txt"
    np.savetxt(path, np.c_[i + 1, k + 1, matrix[i, k]], fmt=["%d", "%d", "%.6f"])
    return path, matrix


def said(pattern, out):
    found = re.search(pattern, out)
    assert found, f"{pattern} not in\n{out}"
    return [float(group) for group in found.groups()]


def test_entries_are_completed_and_held_out_ones_predicted(capsys, ratings):
    path, matrix = ratings
    radius = np.linalg.norm(matrix, "nuc")
    status, out, err = run(
        capsys, path, "--rows", "entries", "--oracle", f"nuclear:auto:{radius}", "--held-out", 0.2
    )
    assert (status, err) == (0, "")
    out = unfolded(out)
    assert out.startswith(f"rows and columns of {path} are counted from 1, as no 0 occurs\n")
    assert "n = 64" in out
    _, norm, first = said(
        r"β is 12 × 9 of rank (\d+) and nuclear norm (\S+), .* values (\S+),", out
    )
    assert 0.9 * radius <= first <= norm <= radius * (1 + 1e-9)
    (error,) = said(r"16 entries held out: relative error (\S+)", out)
    assert error < 0.2
    (gap,) = said(r"is at most (\S+) above the optimum", out)
    observed = np.loadtxt(path)[:, 2]
    assert gap <= 2e-3 * (observed**2).mean() / 2


def test_held_out_error_is_that_of_unseen_entries(capsys, ratings):
    """A tiny ball predicts nothing: the error is that of zero, whatever is held out."""
    words = ["--rows", "entries", "--oracle", "nuclear:auto:1e-9", "--held-out"]
    for share in (0.1, 0.5):
        assert said(r"relative error (\S+)", run(capsys, ratings[0], *words, share)[1]) == [1.0]


def test_held_out_entries_are_not_fitted(capsys, tmp_path):
    """Signs drawn one by one can be fitted and not predicted."""
    path, rng = tmp_path / "noise", np.random.default_rng(1)
    places = np.argwhere(np.ones((6, 6)))
    np.savetxt(path, np.c_[places, rng.choice([-1, 1], 36)], fmt="%d")
    words = ["--rows", "entries", "--oracle", "nuclear:auto:18", "--held-out", "0.3"]
    _, out, _ = run(capsys, path, *words, "--tol", "5e-3")
    assert "counted" not in out
    assert said(r"P\(β\) = (\S+)", out)[0] < 1e-3
    assert said(r"relative error (\S+)", out)[0] > 0.7


def test_entries_agree_with_cvxpy_and_take_other_shapes(capsys, ratings):
    words = ["--rows", "entries", "--oracle", "nuclear-penalty:13x10:0.01", "--truth"]
    status, out, _ = run(capsys, ratings[0], *words)
    assert status == 0
    assert "β is 13 × 10" in out
    assert "within the certified gap" in out


def test_cur_chooses_the_columns_and_rows_that_matter(capsys, tmp_path):
    """Rank two on two columns and two rows; what else there is are small copies of them."""
    matrix = 0.1 * np.outer([1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0])
    matrix[3, 1], matrix[0, 2] = 5.0, -4.0
    path = tmp_path / "matrix.csv"
    np.savetxt(path, matrix, delimiter=",")
    words = [path, "--rows", "cur", "--oracle", "cur:auto:1", "--truth"]
    status, out, err = run(capsys, *words, "--keep", "2x2")
    assert (status, err) == (0, "")
    assert "M ≈ CUR with columns 1, 2 and rows 0, 3: relative error" in out
    assert "within the certified gap" in out
    assert said(r"relative error (\S+)", out)[0] < 0.1
    assert "M ≈ CUR with columns" in run(capsys, *words)[1]


def test_an_intercept_is_found_and_said(capsys, tmp_path):
    path = tmp_path / "shifted"
    path.write_text("8 1:1\n6 1:-1\n")
    words = ["--loss", "least-squares", "--oracle", "l1:5", "--batch", "2", "--intercept"]
    for bound, found in ((10, 7), (2, 2)):
        out = run(capsys, path, *words, bound)[1]
        assert said(r"intercept ([\d.]+)", out) == [pytest.approx(found, abs=0.1)]
        assert ("its bound: give a larger one" in out) == (bound == 2)
    assert "intercept" not in run(capsys, path, *words[:-1])[1]


def test_counted_calls_are_said(capsys, libsvm):
    _, out, _ = run(capsys, libsvm, "--oracle", "counting:l1:2", "--tol", "0.1")
    assert re.search(r"calls of the oracle: argmin \d+, minimum \d+, fenchel_young \d+", out)


def help_of(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main([*words, "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_overview_is_short_and_has_an_example_and_every_status(capsys):
    out = help_of(capsys)
    assert len(out.splitlines()) < 45
    assert max(map(len, out.splitlines())) <= 80
    assert "rcmd solve a9a.bz2 --oracle l1:5" in out
    for status in ("  0 ", "  1 ", "  2 ", "  130 "):
        assert status in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_its_statuses_in_its_help(capsys, name):
    out = help_of(capsys, name)
    assert f"    rcmd {name}" in out
    assert "exit status: 0 done, 1 not reached or broken, 2 bad input, 130 interrupted" in out


def test_a_command_starts_without_the_others_and_without_compilers():
    code = """
import sys
from rcmd import load_result
from rcmd.cli.main import main
for words in ([], ["list"], ["solve"]):
    try:
        main([*words, "--help"])
    except SystemExit:
        print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = [set(line.split()) for line in done.stderr.splitlines()]
    for loaded, commands in zip(found, (set(), {"list"}, {"list", "solve"}), strict=True):
        assert {name for name in COMMANDS if f"rcmd.cli.{name}" in loaded} == commands
        assert not {"numba", "cvxpy", "highspy", "sympy", "matplotlib", "mpi4py"} & loaded


SPEAKING = [[name] for name in COMMANDS if name != "bench"]
SPEAKING += [["bench", what] for what in ("engine", "oracles", "plugins", "peers", "mpi")]


@pytest.mark.parametrize("words", SPEAKING)
def test_help_fits_a_terminal_and_json_is_asked_for_in_one_way(capsys, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    out = help_of(capsys, *words)
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"--json FILE\s+write everything as JSON; - is standard output", out)


def test_examples_of_the_help_are_understood(capsys):
    """Every option that an example uses exists."""
    seen = 0
    for name in COMMANDS:
        text = help_of(capsys, name)
        for line in re.findall(r"^    (rcmd .*)$", text, flags=re.MULTILINE):
            parse(shlex.split(line)[1:])
            seen += 1
    assert seen > 15
    with pytest.raises(SystemExit):
        parse(shlex.split("rcmd solve --epochs 3")[1:])


# ---- data by name, files, JSON -----------------------------------------------------------------


def test_data_sets_are_found_by_their_name(capsys, libsvm, monkeypatch):
    libsvm.with_suffix(".bz2").write_bytes(bz2.compress(libsvm.read_bytes()))
    libsvm.unlink()
    monkeypatch.chdir("/")
    status, out, _ = run(capsys, "tiny", "--data", libsvm.parent, "--tol", "0.1")
    assert status == 0
    assert "n = 5" in out
    monkeypatch.setenv("RCMD_DATA", str(libsvm.parent))
    assert "n = 5" in run(capsys, "tiny", "--tol", "0.1")[1]
    assert main(["path", "tiny", "--radii", "1", "--tol", "0.1"]) == 0
    assert "n = 5" in capsys.readouterr().out


def test_json_on_standard_output_is_all_there_is(capsys, libsvm):
    status, out, err = run(capsys, libsvm, "--oracle", "l1:2", "--tol", "0.01", "--json", "-")
    assert (status, err) == (0, "")
    data = json.loads(out, parse_constant=pytest.fail)
    assert data["stop"] == "TOLERANCE"
    assert data["gap"] <= 0.01
    assert data["gap"] == pytest.approx(data["loss_gap"] + data["regularizer_gap"])
    assert data["problem"]["loss"] == "log(1 + exp(−ys))"
    assert data["settings"]["oracle"] == "l1:2"
    assert data["history"][-1]["gap"] == data["gap"]


# ---- losses of one's own -----------------------------------------------------------------------


def test_a_loss_may_be_a_class_of_a_file_or_a_formula(capsys, own):
    def numbers(loss):
        out = run(capsys, "--loss", loss, "--tol", "0.1")[1]
        return re.findall(r"^ +[\d,.]+ +\S+ +\S+ +\S+", out, flags=re.MULTILINE)

    named = numbers("least-squares")
    assert named
    assert named == numbers(f"{own}:Right") == numbers("expression:(s - y)**2/2")
    none = refusal(capsys, "solve", "--loss", f"{own}:dataclass")
    assert "expected a SeparableConjugate" in none


@pytest.mark.parametrize("target", ["logistic", "huber:0.5", "l1:5", "box:-1:2", "group-l2:2:1"])
def test_named_parts_are_checked(capsys, target):
    assert main(["check", target]) == 0
    assert "the contract is kept" in capsys.readouterr().out


def test_a_loss_that_reads_fields_is_checked_at_numbers(capsys):
    target = "expression:softplus(s - y) - tau*(s - y)"
    assert main(["check", target, "--field", "tau=0.3"]) == 0
    assert "the contract is kept" in capsys.readouterr().out
    assert "--field is given for L1Ball" in refusal(capsys, "check", "l1:5", "--field", "tau=1")
    with pytest.raises(SystemExit):
        main(["check", target, "--field", "tau"])
    assert "'tau' is no field; expected NAME=NUMBER" in capsys.readouterr().err
    assert "reads none" in refusal(capsys, "check", "logistic", "--field", "tau=1")


def test_a_method_of_ones_own_may_say_its_batch(capsys, own, tmp_path):
    own.write_text(
        "from rcmd import RCMD, Corrected\nfrom rcmd.engine.sampling import CyclicSampler\n"
        "four, corrected = RCMD(batch=4), Corrected(RCMD(batch=4))\n"
        "drawn = RCMD(sampler=CyclicSampler(400, 3))\n"
    )
    entries = tmp_path / "entries"  # which are solved by all of them at once otherwise
    entries.write_text("".join(f"{k % 3} {k // 3} {k}\n" for k in range(9)))
    matrix = ["--rows", "entries", "--oracle", "nuclear:auto:2"]
    for name, batch, data in (
        ("four", 4, []), ("corrected", 4, []), ("drawn", 3, []), ("four", 4, [entries, *matrix])
    ):  # fmt: skip
        words = ["--method", f"{own}:{name}", "--tol", "0", "--max-iterations", "5", "--json", "-"]
        main(["solve", *map(str, data), *words])
        told = json.loads(capsys.readouterr().out)
        assert told["gradients"] == batch * told["iterations"]
    matrix = tmp_path / "matrix.csv"  # a task that says a batch, too
    np.savetxt(matrix, np.random.default_rng(0).normal(size=(3, 4)), delimiter=",")
    words = [str(matrix), "--rows", "cur", "--oracle", "cur:auto:1", "--max-iterations", "5"]
    assert main(["solve", *words, "--method", f"{own}:four"]) in (0, 1)
    capsys.readouterr()
    assert "given by solve and by RCMD" in refusal(
        capsys, "solve", "--method", f"{own}:four", "--batch", "2"
    )


def test_check_as_json_and_what_a_file_has(capsys, own):
    assert main(["check", f"{own}:Wrong", "--json", "-"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] is False
    assert data["causes"]
    assert any(entry["failures"] for entry in data["identities"])
    assert f"{own} has Right, Wrong; write {own}:NAME" in refusal(capsys, "check", own)
    assert "oracle 'l1:x' holds 'x'; expected a number" in refusal(capsys, "check", "l1:x")


# ---- paths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["path", "compare"])
def test_tables_of_gaps_say_what_they_rest_on(capsys, own, tmp_path, command):
    stored = tmp_path / "told.json"
    few = ["--tol", "0.5", "--json", str(stored)]
    more = ["--radii", "1"] if command == "path" else ["--methods", "rcmd", "--seeds", "1"]
    for loss, ground in (("logistic", "proved"), (f"{own}:Right", "sampled: Right at ")):
        main([command, *few, *more, "--loss", loss, "--oracle", "l1:1"])
        told = " ".join(capsys.readouterr().out.split())
        assert re.search(f"ground of the gaps( and of the best known P)?: {ground}", told)
        assert json.loads(stored.read_text())["ground"].startswith(ground)


def test_path_shows_a_line_for_each_radius(capsys, libsvm, tmp_path):
    stored = tmp_path / "path.json"
    words = ["path", libsvm, "--oracle", "l1", "--radii", "0.5:2:3", "--batch", "2", "--tol"]
    words += ["1e-6", "--json", stored]
    assert main(list(map(str, words))) == 0
    lines = capsys.readouterr().out.splitlines()
    header = next(i for i, line in enumerate(lines) if line.split()[:2] == ["radius", "P(β)"])
    table = [line.split() for line in lines[header + 1 :]]
    data = json.loads(stored.read_text(), parse_constant=pytest.fail)["path"]
    assert [float(line[0]) for line in table] == [entry["radius"] for entry in data]
    assert [entry["radius"] for entry in data] == [0.5, 1.25, 2.0]
    for line, entry in zip(table, data, strict=True):
        assert float(line[1]) == pytest.approx(entry["primal"], abs=1e-8)
        assert entry["gap"] <= 1e-6
        assert int(line[3]) == len(entry["beta"]["values"])
        assert sum(map(abs, entry["beta"]["values"])) <= entry["radius"] * (1 + 1e-9)


def test_ctrl_c_ends_a_path_with_what_was_found(capsys, monkeypatch):
    def press(text):
        if "gap" in text:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rcmd.cli.path.tell_on_terminal", press)
    assert main(["path", "--radii", "1,2,3", "--tol", "1e-9", "--json", "-"]) == 130
    data = json.loads(capsys.readouterr().out)["path"]
    assert [(entry["radius"], entry["stop"]) for entry in data] == [(1.0, "INTERRUPTED")]


def test_a_method_with_a_batch_of_its_own_needs_none():
    assert main(["solve", "--method", "fw", "--max-iterations", "3", "--tol", "9"]) == 0
