"""Problems of their own on top of ``solve``.

``completion``: a matrix from some of its entries. ``cur``: the columns and rows that explain a
matrix. ``nonsmooth``: a convex function that is not smooth, a coordinate at a time.
"""
