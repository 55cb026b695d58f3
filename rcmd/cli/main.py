"""``rcmd COMMAND …``: parse the arguments, import the command's module, run it."""

import argparse
import io
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from rcmd import __version__
from rcmd.cli.options import add_command, add_json_option, check_outputs
from rcmd.reporting.progress import EXIT_BAD_INPUT, EXIT_INTERRUPTED, launched_ranks
from rcmd.rows.validation import visible

COMMANDS = {
    "solve": "solve a problem to a certified gap",
    "resume": "continue a run from its checkpoint",
    "path": "solutions for many radii or strengths",
    "compare": "methods side by side on one problem",
    "replicate": "many seeds beside the theorem's bound",
    "show": "show a saved result",
    "verify": "prove the gap of a saved result in ball arithmetic",
    "list": "losses and oracles, and how they are written",
    "check": "check the contract of a loss, an oracle or another part",
    "demo": "teaching pages for the browser",
    "fuzz": "random problems, compared with CVXPY",
    "convert": "LIBSVM text to rows on disk",
    "reproduce": "the experiments of the paper, beside the published numbers",
    "bench": "measure speed on this machine",
}
"""The modules of ``rcmd.cli`` that are commands, each with a line for the help."""

OVERVIEW = """\
Convex optimization seen from the dual: min over β of
(1/n) Σ_j l(x_jᵀβ; y_j) + R(β), with a certified gap.

    rcmd solve                                  a built-in problem
    rcmd solve a9a.bz2 --oracle l1:5            a LIBSVM file
    rcmd solve a9a.bz2 --save a.rcmd --plot a.pdf
    rcmd list                                   all losses and oracles
    rcmd COMMAND --help                         options, with an example
"""

STATUSES = """\
exit status:
  0    done: the tolerance was reached, the contract is kept
  1    not reached: a budget ended first, a contract is broken, a fault found
  2    bad input, explained in one sentence
  130  interrupted by Ctrl-C
"""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The options; an unknown one is refused, and the nearest known one suggested."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = self._option_string_actions
            begun = [name for name in known if unknown[0].startswith(name)]
            near = begun or get_close_matches(unknown[0], known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"rcmd: {visible(message)}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    An exception of a command is printed as one sentence, and the status is 2.
    """
    # A terminal without these letters gets question marks, not a crash.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        if launched_ranks() == 1:  # else cli/mpi.py does, for all ranks
            check_outputs(options)
        status: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("rcmd: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has seen enough; nothing more can be written.
        sys.stdout = None
        return 0
    except (ValueError, TypeError, OSError, ImportError) as fault:
        print(f"rcmd: {visible(str(fault))}", file=sys.stderr)
        return EXIT_BAD_INPUT
    return status


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options, with the command's function ``run``."""
    parser = OneLineParser(
        prog="rcmd",
        description=OVERVIEW,
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rcmd {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = add_command(subparsers, name, summary)
        if name == chosen:
            module = import_module(f"rcmd.cli.{name}")
            command.description = module.__doc__
            command.set_defaults(run=module.run)
            module.add_options(command)
            if name != "bench":  # whose benchmarks have it
                add_json_option(command)
    return parser.parse_args(words)
