"""CVXPY problems, read as problems of rcmd: ``from_cvxpy`` and ``register_cvxpy``.

Begin with ``reading``; ``solving`` is what CVXPY calls. ``affine`` reads affine expressions as
sparse maps, ``formulas`` elementwise ones as formulas, ``terms`` an objective as a sum of samples
and penalties. ``blocks`` gathers the samples by their rows; ``losses`` makes one loss of them.
``domains`` reads constraints and penalties as ``features``, ``regions`` finds the variables that
they bind together, ``rules`` gives each region its oracle, ``form`` what is left to CVXPY, and
``bounding`` bounds what is still open.
"""

from rcmd.applications.from_cvxpy.reading import CvxpyReading, from_cvxpy
from rcmd.applications.from_cvxpy.solving import register_cvxpy

__all__ = ["CvxpyReading", "from_cvxpy", "register_cvxpy"]
