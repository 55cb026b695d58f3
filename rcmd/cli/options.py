"""Options shared by several commands, and the check that their files can be written."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from rcmd.methods import Method, method_named
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.specs import PROXES, SCHEDULES, parse_batch
from rcmd.model.user_code import is_file, load
from rcmd.plotting import check_plot
from rcmd.reporting.tables import check_json
from rcmd.solver.saved_results import check_replaceable
from rcmd.solver.solve import Options

FLAGS = {option.name: option for option in fields(Options) if option.metadata}
"""The options of ``rcmd.solve`` that the command line has, too."""

STEPS = "schedule", "prox"
"""The options that change the steps of a method."""


def add_command(
    subparsers: Any, name: str, summary: str, description: str = ""
) -> argparse.ArgumentParser:
    """A parser for ``name`` whose help keeps its line breaks."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog="exit status: 0 done, 1 not reached or broken, 2 bad input, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """``FILE`` and ``--data``, for samples, and what each sample has beside its label."""
    kinds = "LIBSVM text, .csv, .tsv, .parquet, .npy, or a data set (default: built-in)"
    parser.add_argument("file", nargs="?", metavar="FILE|NAME", help=kinds)
    parser.add_argument(
        "--data", metavar="DIR", help="folder with the data set NAME (or set RCMD_DATA)"
    )
    label = "of a table: its name or number (default: the last)"
    parser.add_argument("--label", type=word, metavar="COLUMN", help=label)
    own = "a number for each sample, in a .npy or a text file"
    parser.add_argument("--offset", metavar="FILE", help=f"added to the predictions: {own}")
    parser.add_argument(
        "--field", action="append", metavar="NAME=FILE", help=f"that the loss reads: {own}; again"
    )


def add_problem_options(parser: argparse.ArgumentParser, oracle: str, **defaults: Any) -> None:
    """Data, loss, oracle, batch, seed and further options of ``rcmd.solve``, with defaults."""
    add_data_options(parser)
    parser.add_argument("--loss", default="logistic", help="(default: %(default)s)")
    parser.add_argument("--oracle", default=oracle, help="(default: %(default)s)")
    add_run_options(parser, {"batch": None, "seed": 0} | defaults, {"batch": "1%"})


def add_run_options(
    parser: argparse.ArgumentParser, defaults: Mapping[str, Any], words: Mapping[str, str] = {}
) -> None:
    """Options of ``rcmd.solve`` with these defaults, which ``words`` may describe."""
    for name, default in defaults.items():
        option = FLAGS[name]
        kind = option.metadata["type"]
        positive = kind in (int, float) and option.default is None
        told = words.get(name) or default
        text = option.metadata["help"] + ("" if told is None else f" (default: {told})")
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=limit(kind) if positive else word if kind is str else kind,
            default=default,
            metavar=option.metadata["metavar"],
            help=text.replace("%", "%%"),
        )


def add_method_options(parser: argparse.ArgumentParser, default: str) -> None:
    """``--method``, ``--schedule`` and ``--prox``, for commands that run one method."""
    add_run_options(parser, {"method": None}, {"method": default})
    add_step_options(parser)


def add_step_options(parser: argparse.ArgumentParser) -> None:
    """``--schedule`` and ``--prox``, the parts of the steps of rcmd and corrected."""
    add = parser.add_argument
    names = ", ".join(SCHEDULES)
    add("--schedule", type=word, metavar="NAME", help=f"steps: {names} (default: the theorem's)")
    add("--prox", type=word, metavar="NAME", help=f"{', '.join(PROXES)} (default: conjugate)")


def chosen_method(options: argparse.Namespace, default: str) -> Method:
    """The method that the options name, with their schedule and prox."""
    return with_steps(method_named(options.method or default), options)


def chosen_batch(options: argparse.Namespace) -> int | float | None:
    """``--batch`` as a number; ``None`` for the method's own rule."""
    return None if options.batch is None else parse_batch(options.batch)


def with_steps(method: Method, options: argparse.Namespace) -> Method:
    """``method`` with the schedule and the prox of the options: names, or FILE.py:CLASS."""
    parts: dict[str, Any] = given(options, STEPS)
    if not parts:
        return method
    if isinstance(method, Corrected):
        plain: Any = with_steps(method.plain, options)
        return replace(method, plain=plain)
    if not isinstance(method, RCMD):
        raise ValueError(
            f"--{next(iter(parts))} is given for {method!r}; expected --method rcmd or corrected, "
            "whose steps it changes"
        )
    for name, text in parts.items():
        if getattr(method, name) is not None:
            raise ValueError(f"--{name} is given, and --method names one too; leave one out")
        if is_file(text):
            parts[name] = load(text, make=name == "prox")
    return replace(method, **parts)


def given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Those of the options that are not ``None``."""
    return {name: vars(options)[name] for name in names if vars(options)[name] is not None}


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """For commands that end with one result: ``--truth``, ``--save`` and ``--plot``."""
    parser.add_argument(
        "--truth", action="store_true", help="compare with the CVXPY optimum (slow on large files)"
    )
    parser.add_argument("--save", metavar="FILE", help="save the result, for rcmd show")
    add_plot_option(parser)


def add_plot_option(parser: argparse.ArgumentParser) -> None:
    """For commands that have a figure to draw."""
    parser.add_argument("--plot", metavar="FILE", help="draw a figure: .pdf, .svg or .png")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """The last option of every command."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write everything as JSON; - is standard output, instead of the text",
    )


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse, before any work, output files that cannot be written."""
    check_json(options.json)
    given = vars(options)
    if given.get("plot") is not None:
        check_plot(options.plot)
    if given.get("save") is not None:
        check_replaceable(options.save)


def word(text: str) -> str:
    """A word that is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; expected a word, or leave the option out")
    return text


def limit(kind: type[int] | type[float]) -> Callable[[str], float]:
    """A reader of limits, numbers of this kind above 0."""

    def read(text: str) -> float:
        number = kind(text)
        if not number > 0:
            raise argparse.ArgumentTypeError(f"it is {text}; expected a number above 0")
        return number

    read.__name__ = kind.__name__  # as argparse calls what it cannot read
    return read
