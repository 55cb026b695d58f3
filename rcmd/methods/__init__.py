"""Every way to solve: ``rcmd.solve(problem, method=…)`` runs any of them.

``base`` has the contract: a ``Method`` starts a run, and a ``Progress`` is its state. ``rcmd`` is
the paper's algorithm, ``corrected`` the default, which ends with those of ``corrections/``.
The others are from the literature, in the notation of their papers: ``frank_wolfe`` and
``active_set`` with full gradients and ``step_rules``; ``stochastic``, ``variance_reduced``,
``sliding``; and ``dual_ascent``.
"""

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rcmd.methods.base import Method as Method
from rcmd.methods.base import Progress as Progress
from rcmd.model.specs import parse_prox
from rcmd.model.user_code import is_file, load_own

if TYPE_CHECKING:
    from rcmd.methods.active_set import AwayStep as AwayStep
    from rcmd.methods.active_set import BlendedPairwise as BlendedPairwise
    from rcmd.methods.active_set import Pairwise as Pairwise
    from rcmd.methods.corrected import Corrected as Corrected
    from rcmd.methods.dual_ascent import Apcg as Apcg
    from rcmd.methods.dual_ascent import Quartz as Quartz
    from rcmd.methods.dual_ascent import Sdca as Sdca
    from rcmd.methods.frank_wolfe import FrankWolfe as FrankWolfe
    from rcmd.methods.rcmd import RCMD as RCMD
    from rcmd.methods.sliding import SCGS as SCGS
    from rcmd.methods.sliding import STORC as STORC
    from rcmd.methods.stochastic import SCGM as SCGM
    from rcmd.methods.stochastic import SFW as SFW
    from rcmd.methods.stochastic import OnlineFrankWolfe as OnlineFrankWolfe
    from rcmd.methods.variance_reduced import SVRF as SVRF
    from rcmd.methods.variance_reduced import SagFrankWolfe as SagFrankWolfe
    from rcmd.methods.variance_reduced import SarahFrankWolfe as SarahFrankWolfe

NAMED = {
    "rcmd": ("rcmd", "RCMD"),
    "corrected": ("corrected", "Corrected"),
    "fw": ("frank_wolfe", "FrankWolfe"),
    "away": ("active_set", "AwayStep"),
    "pairwise": ("active_set", "Pairwise"),
    "bpcg": ("active_set", "BlendedPairwise"),
    "sfw": ("stochastic", "SFW"),
    "svrf": ("variance_reduced", "SVRF"),
    "storc": ("sliding", "STORC"),
    "scgm": ("stochastic", "SCGM"),
    "scgs": ("sliding", "SCGS"),
    "sag": ("variance_reduced", "SagFrankWolfe"),
    "sarah": ("variance_reduced", "SarahFrankWolfe"),
    "online": ("stochastic", "OnlineFrankWolfe"),
    "sdca": ("dual_ascent", "Sdca"),
    "quartz": ("dual_ascent", "Quartz"),
    "apcg": ("dual_ascent", "Apcg"),
}
"""Module and class of each method by its name; a module is imported on first use."""

if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = ["NAMED", "Method", "Progress", "method_named", *(kind for _, kind in NAMED.values())]

    def __dir__() -> list[str]:
        """What tab completion shows."""
        return __all__


def method_named(text: str) -> Method:
    """The method of that name, with a step rule or a prox after a colon where it has one.

    ``FILE.py:CLASS`` is one of your own, or an object such as ``RCMD(schedule=…)`` there.

    Examples
    --------
    >>> method_named("rcmd:exact").prox, method_named("fw:exact").rule
    (ExactProx(kappa=None), 'exact')
    >>> method_named("frankwolfe")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: method 'frankwolfe' is unknown; expected one of rcmd, corrected, fw, away, ...

    All of them are run alike, such as the stochastic ones:

    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> names = "sfw", "scgm", "online", "sag", "sarah", "svrf", "scgs", "storc"
    >>> all(solve(problem, method=name, tol=0.05).success for name in names)
    True
    """
    if is_file(text):
        return load_own("method", text, Method)  # type: ignore[type-abstract]
    name, colon, parameter = text.partition(":")
    if name not in NAMED:
        near = get_close_matches(name, NAMED, n=3, cutoff=0.5)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"method {text!r} is unknown; expected one of {', '.join(NAMED)}{meant}")
    module, kind = NAMED[name]
    make = getattr(import_module(f"rcmd.methods.{module}"), kind)
    if colon and "prox" in make.__dataclass_fields__:
        return make(prox=parse_prox(parameter))
    if colon and "rule" not in make.__dataclass_fields__:
        raise ValueError(f"method {text!r} names a step rule; expected {name}, which has none")
    return make(rule=parameter) if colon else make()


def __getattr__(name: str) -> Any:
    """Import a method on first use."""
    for module, kind in NAMED.values():
        if name == kind:
            return getattr(import_module(f"rcmd.methods.{module}"), kind)
    raise AttributeError(f"module 'rcmd.methods' has no attribute {name!r}")
