"""Applications built on ``solve``.

``from_cvxpy``: problems that are written in CVXPY. ``completion``: a matrix from some of its
entries. ``cur``: the columns and rows that explain a matrix. ``nonsmooth``: minimizing a convex
function that is not smooth, coordinate by coordinate.
"""
