"""CVXPY problems, read as problems of rcmd: ``from_cvxpy`` and ``register_cvxpy``.

``affine`` reads affine expressions as sparse maps, ``terms`` an objective as a sum of losses and
penalties, ``losses`` makes one loss of the former; ``domains`` reads constraints and penalties,
``regions`` makes oracles of them, ``bounding`` bounds what they leave open. Begin with ``reading``;
``solving`` is what CVXPY calls.
"""

from rcmd.applications.from_cvxpy.reading import CvxpyReading, from_cvxpy
from rcmd.applications.from_cvxpy.solving import register_cvxpy

__all__ = ["CvxpyReading", "from_cvxpy", "register_cvxpy"]
