"""What commands that take long refuse: one line before any work."""

import pytest

from rcmd.cli import demo, replicate
from rcmd.cli.main import main
from rcmd.lab import racing
from rcmd.lab.bench import oracles, peers

NO_FOLDER = "is in a folder that does not exist"
NO_NAME = "--out is 'a.html' while no page is named; expected rcmd demo NAME"
REFUSED = {
    "compare --methods fww": "did you mean fw",
    "compare --passes 0": "--passes is 0.0; expected a number above 0",
    "compare --seeds 0": "--seeds is 0; expected at least 1",
    "compare --json no/a.json": f"'no/a.json' {NO_FOLDER}",
    "compare --plot a.jpeg2": "figure 'a.jpeg2' has no known ending; expected .png, .pdf, .svg",
    "compare --methods fw,sdca": "sdca: method Sdca got L1Ball(radius=5.0), which has μ = 0",
    "compare --oracle l3:1": "oracle 'l3:1' is unknown",
    "compare --tol -1": "tol is -1.0; expected a number ≥ 0",
    "compare a9b": "a9b (plain, .bz2, .xz or .gz) is not in",
    "replicate --confidence 2": "confidence is 2.0; expected a number between 0 and 1",
    "reproduce --only mushroom": "gisette; did you mean mushrooms?",
    "reproduce --seeds 0": "--seeds is 0; expected at least 1",
    "reproduce --jobs -1": "--jobs is -1; expected at least 1",
    "bench oracles --p 99": "p is 99; expected at least 100 variables",
    "bench oracles --calls 24": "calls is 24; expected at least 25, one for each turn",
    "bench oracles --json no/a.json": f"'no/a.json' {NO_FOLDER}",
    "bench peers --problem a9a iris": "rcmd: problem is 'iris'; expected some of a9a:5, ",
    "bench peers --json no/a.json": f"'no/a.json' {NO_FOLDER}",
    "demo equivalance": "no teaching page 'equivalance'; did you mean equivalence?",
    "demo new_loss": "did you mean new-loss?",
    "demo zzz": "expected one of equivalence, substitute-gradient,",
    "demo mini-batch --out none/a.html": f"{NO_FOLDER}; create",
    "demo mini-batch --out .": "is a folder; expected the name of a file to write",
    "demo mini-batch --seed -1": "--seed is -1; expected a whole number from 0 on",
    "demo --out a.html": NO_NAME,
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_refused_before_any_work(line, capsys, monkeypatch, tmp_path):
    works = (racing.Entrant, "solve"), (oracles, "race"), (peers, "compete"), (demo, "make_page")
    for owner, work in (*works, (demo.webbrowser, "open"), (replicate, "replicate")):
        monkeypatch.setattr(owner, work, lambda *_, **__: pytest.fail("work was done"))
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert REFUSED[line] in err
    assert not list(tmp_path.iterdir())
