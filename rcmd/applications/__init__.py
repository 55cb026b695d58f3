"""Applications built on ``solve``.

``completion``: a matrix from some of its entries. ``cur``: the columns and rows that explain a
matrix. ``nonsmooth``: minimizing a convex function that is not smooth, coordinate by coordinate.
"""
