"""Scalar inequalities certified in interval arithmetic, every operation rounded outwards.

``arithmetic`` has two kinds of intervals, and both must give a certificate. 80 bits are fast
enough: the two-dimensional range takes some thousand boxes, which are split only where the bound is
not yet small enough.
"""
