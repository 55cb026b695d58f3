"""``rcmd bench``: its options; the work is in ``rcmd.bench``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option
from rcmd.exit_status import IN_SHORT

OVERVIEW = """\
Measure speed and memory on this machine; the help of each benchmark has an example.

    rcmd bench engine --quick
"""

ENGINE_HELP = """\
Nanoseconds per stochastic gradient and per step, beside a plain C loop and COPT's LF variant
where they can be had; cost as n and p grow; start, memory, drift. Ratios of one run.

    rcmd bench engine --data ~/libsvm --json engine.json
"""

ORACLES_HELP = """\
Time of argmin and minimum over that of one NumPy pass over c, which the formula cannot avoid
and which is printed beside them; then linear programmes, a warm call beside a cold one, where
HiGHS is installed. About a minute.

    rcmd bench oracles --p 1000000 --json oracles.json
"""

PEERS_HELP = """\
Time to a certified gap of l1-constrained logistic regression, beside cyanure, COPT, scikit-learn
and skglm where they are installed. Half an hour; one problem takes minutes.

    rcmd bench peers --data ~/libsvm --problem a9a mushrooms:5 --json peers.json
"""

DISK_HELP = """\
Generate sparse rows on disk, solve them in a process of its own, and measure its largest
resident memory: 5 GB within 1 GB by default. Status 1 where the memory or the gap is missed.

    rcmd bench disk --gigabytes 0.5 --limit 0.5 --folder /scratch
"""

MPI_HELP = """\
Time of a step with the rows on 1, 2 and 4 ranks of this machine, beside one process; a cost model
fitted to it, tried where it did not look; what it says of a cluster. A quarter of an hour. Needs
mpirun and mpi4py.

    rcmd bench mpi --latency 2e-6 --bandwidth 12.5e9 --json mpi.json
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    bench = commands.add_parser(
        "bench",
        help="measure speed and memory on this machine",
        description=OVERVIEW,
        epilog=IN_SHORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = bench.add_subparsers(title="benchmarks", required=True, metavar="WHAT")
    engine = add_command(
        what, "engine", _engine, "time per gradient and per step, start, memory, drift", ENGINE_HELP
    )
    engine.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, mushrooms")
    add_json_option(engine)
    engine.add_argument("--quick", action="store_true", help="a reduced set, about a minute")
    engine.add_argument("--drift", type=float, metavar="UPDATES", help="for example 1e9")
    engine.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    oracles = add_command(
        what,
        "oracles",
        _oracles,
        "argmin and minimum of every closed-form oracle beside a pass of NumPy",
        ORACLES_HELP,
    )
    oracles.add_argument("--p", type=int, default=10**5, help="variables (default: %(default)s)")
    oracles.add_argument(
        "--calls", type=int, default=10**4, help="at most so many of each (default: %(default)s)"
    )
    add_json_option(oracles)
    peers = add_command(
        what, "peers", _peers, "time to a certified gap beside other packages", PEERS_HELP
    )
    peers.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, …, gisette_scale.t")
    add_json_option(peers)
    peers.add_argument("--quick", action="store_true", help="small budgets: a few minutes")
    peers.add_argument("--problem", nargs="+", default=[], metavar="NAME", help="a9a, a9a:5, …")
    disk = add_command(what, "disk", _disk, "data larger than the memory to solve them", DISK_HELP)
    disk.add_argument("--gigabytes", type=float, default=5.0, help="(default: %(default)s)")
    disk.add_argument("--limit", type=float, default=1.0, help="in GB (default: %(default)s)")
    disk.add_argument("--tol", type=float, default=1e-3, help="(default: %(default)s)")
    disk.add_argument("--batch", default="1%", help="(default: 1%%)")
    disk.add_argument("--float32", action="store_true", help="single precision on disk")
    disk.add_argument("--folder", metavar="DIR", help="where to put the data for the time")
    disk.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    add_json_option(disk)
    mpi = add_command(what, "mpi", _mpi, "rows on several ranks, and a cost model", MPI_HELP)
    mpi.add_argument(
        "--ranks", type=int, nargs="+", default=[1, 2, 4], help="(default: 1 2 4)", metavar="R"
    )
    mpi.add_argument(
        "--seconds", type=float, default=0.5, help="for each measurement (default: %(default)s)"
    )
    mpi.add_argument(
        "--latency", type=float, default=3e-5, help="seconds a message (default: 10 GbE, 3e-5)"
    )
    mpi.add_argument(
        "--bandwidth", type=float, default=1.25e9, help="bytes a second (default: 10 GbE, 1.25e9)"
    )
    mpi.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    add_json_option(mpi)


def _engine(options: argparse.Namespace) -> int:
    from rcmd.bench.engine import run_bench

    return run_bench(options.data, options.json, options.quick, options.drift, options.seed)


def _oracles(options: argparse.Namespace) -> int:
    from rcmd.bench.oracles import run_oracles

    return run_oracles(options.p, options.calls, options.json)


def _peers(options: argparse.Namespace) -> int:
    from rcmd.bench.race.running import run_peers

    return run_peers(options.data, options.json, options.quick, options.problem)


def _disk(options: argparse.Namespace) -> int:
    from rcmd.bench.disk import run_disk
    from rcmd.specs import parse_batch

    return run_disk(
        options.gigabytes,
        options.limit,
        options.tol,
        parse_batch(options.batch),
        options.float32,
        options.folder,
        options.seed,
        options.json,
    )


def _mpi(options: argparse.Namespace) -> int:
    from rcmd.bench.mpi.command import run_mpi

    network = options.latency, options.bandwidth
    return run_mpi(options.ranks, options.seconds, *network, options.seed, options.json)
