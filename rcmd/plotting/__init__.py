"""Figures, by matplotlib, which is imported when used: ``pip install 'rcmd-opt[plot]'``.

``result.plot()`` draws a run, ``compare`` several, ``SolutionPath.plot`` a regularization path,
``coefficients`` coefficients along any axis, ``duals`` the dual variables. Each returns the figure,
whose ``savefig`` writes .pdf, .svg (text as text) and .png, or draws into given axes. Sizes are
those of a journal's columns, 3.3 and 6.9 inches.

``figures`` builds them from ``panels``, which sets colours and fonts; ``axes`` sets ticks;
``notebook`` shows problems and results as HTML.
"""

from rcmd.plotting.figures import coefficients, compare, duals, run
from rcmd.plotting.panels import Line, Panel, check_plot, drawn

__all__ = ["Line", "Panel", "check_plot", "coefficients", "compare", "drawn", "duals", "run"]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
