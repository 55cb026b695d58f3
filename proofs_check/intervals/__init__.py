"""Scalar inequalities certified in interval arithmetic, every operation rounded outwards.

mpmath's intervals at 80 bits are fast enough: the two-dimensional range takes some thousand boxes,
because the boxes are split only where the bound is not yet small enough.
"""
