"""Measure speed on this machine, beside other packages; the help of each
benchmark has an example.

    rcmd bench engine --quick
"""

import argparse
from importlib import import_module

from rcmd.cli.options import add_command, add_json_option

ENGINE_HELP = """\
Nanoseconds per stochastic gradient and per step, beside a plain C loop and
COPT's LF variant where available; cost as n and p grow. Ratios of one run.
A data set that is found nowhere is downloaded (set --data or RCMD_DATA).

    rcmd bench engine --data ~/libsvm --json engine.json
"""

ORACLES_HELP = """\
Time of argmin and minimum, divided by that of one NumPy pass over c, which no
formula can avoid and which is printed beside them. About a minute.

    rcmd bench oracles --p 1000000 --json oracles.json
"""

PLUGINS_HELP = """\
Nanoseconds per step of sets such as a user writes, beside the same loop by hand
and beside the same set in Python; and of every compiled oracle, beside the l1
ball. Ratios of one run; about three minutes.

    rcmd bench plugins --quick --json plugins.json
"""

STEPS_HELP = """\
Exact coordinate steps (Theorem I) beside the paper's 1/σ, for strongly convex R:
mean gaps over many seeds beside their bounds after equal passes, and ratios of the
times to a certified gap. Ten minutes. A data set found nowhere is downloaded.

    rcmd bench steps --data ~/libsvm --seeds 50 --passes 20 --json steps.json
"""

PEERS_HELP = """\
Time to a certified gap of l1-constrained logistic regression, beside cyanure,
COPT, scikit-learn and skglm where they are installed. Half an hour; one
problem takes minutes. A data set that is found nowhere is downloaded. The table
of others has penalties, ridge, elastic nets, paths and plain steps, with goals;
that of large ones matrices, memory, two MPI ranks and rcmd solve itself.

    rcmd bench peers --data ~/libsvm --problem a9a mushrooms:5 --json peers.json
"""

MPI_HELP = """\
Time of a step with the rows on 1, 2 and 4 ranks of this machine, beside one
process. A quarter of an hour. Needs mpirun and mpi4py.

    rcmd bench mpi --ranks 1 2 8 --json mpi.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    benchmarks = parser.add_subparsers(
        title="benchmarks", required=True, metavar="WHAT", dest="benchmark"
    )
    engine = add_command(benchmarks, "engine", "time per gradient and per step", ENGINE_HELP)
    engine.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, mushrooms")
    engine.add_argument("--quick", action="store_true", help="a reduced set, about a minute")

    oracles = add_command(
        benchmarks, "oracles", "every closed-form oracle beside a pass of NumPy", ORACLES_HELP
    )
    oracles.add_argument("--p", type=int, default=10**5, help="variables (default: %(default)s)")
    oracles.add_argument("--calls", type=int, default=10**4, help="of each (default: %(default)s)")

    plugins = add_command(
        benchmarks, "plugins", "sets that a user writes beside what ships", PLUGINS_HELP
    )
    plugins.add_argument("--quick", action="store_true", help="fewer turns, about a minute")

    steps = add_command(benchmarks, "steps", "exact coordinate steps beside 1/σ", STEPS_HELP)
    steps.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, mushrooms")
    steps.add_argument("--quick", action="store_true", help="three seeds: about two minutes")
    steps.add_argument("--seeds", type=int, default=50, help="(default: %(default)s)", metavar="M")
    steps.add_argument("--passes", type=int, default=20, help="(default: %(default)s)")

    peers = add_command(
        benchmarks, "peers", "time to a certified gap beside other packages", PEERS_HELP
    )
    peers.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, …, gisette_scale.t")
    peers.add_argument("--quick", action="store_true", help="small budgets: a few minutes")
    peers.add_argument(
        "--problem", nargs="+", default=[], metavar="NAME", help="a9a, a9a:5, …, others, large"
    )

    mpi = add_command(benchmarks, "mpi", "rows on several ranks beside one process", MPI_HELP)
    add = mpi.add_argument
    add("--ranks", type=int, nargs="+", default=[1, 2, 4], help="(default: 1 2 4)", metavar="R")
    add("--seconds", type=float, default=0.5, help="for each measurement (default: %(default)s)")

    for benchmark in (engine, plugins, mpi):
        benchmark.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    for benchmark in (engine, oracles, plugins, steps, peers, mpi):
        add_json_option(benchmark)


def run(options: argparse.Namespace) -> int:
    given = dict(vars(options))
    del given["run"]
    name, json = given.pop("benchmark"), given.pop("json")
    import_module(f"rcmd.lab.bench.{name}").run(**given).tell(json)
    return 0
