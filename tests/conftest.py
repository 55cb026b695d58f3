"""One cache for all processes of a run, Ctrl-C in background jobs, and data that may be absent.

A tenth of the time goes into looking for garbage among the modules and tests, which stay: it is
looked for less often, and never among them.
"""

import gc
import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: the processes have the cores already

import data_files
import guards
import pytest

gc.set_threshold(10_000, 20, 20)


def pytest_configure(config):
    # Shells start background jobs with Ctrl-C ignored, and what these start inherits it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory, worker_id):
    """Nothing is left in the user's cache folder, and workers share what expressions become."""
    folder = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        shared = folder if worker_id == "master" else folder.parent
        patch.setenv("RCMD_CACHE", str(shared / "cache"))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # processes start faster from it
        yield


def pytest_collection_modifyitems(config, items):
    """Leave out the tests of data sets that are not at hand; the summary says so in one line.

    And ``all`` of no values is an error in test files, as in ``guards``.
    """
    for item in items:
        if isinstance(item, pytest.Function):
            vars(item.module).setdefault("all", guards.all_of_some)
    absent = [
        item
        for item in items
        if any(not data_files.path(mark.args[0]).exists() for mark in item.iter_markers("data"))
    ]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


def pytest_collection_finish():
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    if absent := [name for name in data_files.NAMES if not data_files.path(name).exists()]:
        terminalreporter.write_line(
            f"The tests of {', '.join(absent)} were left out: no such files in "
            f"{data_files.FOLDER}; name their folder in RCMD_DATA"
        )
