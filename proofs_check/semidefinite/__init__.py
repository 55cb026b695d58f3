"""Worst cases over all smooth convex losses, as semidefinite programmes.

A bound on a method that only adds vectors and takes inner products asks how large an expression
in inner products and function values can be. Its vectors enter through their Gram matrix, any
positive semidefinite matrix in a large enough dimension; its losses enter through finitely many
values and gradients, which belong to some loss if and only if the interpolation inequalities
hold. So the worst case is a linear function of a positive semidefinite matrix. For the paper's
losses of *one* variable the Gram matrices should have rank one; without that the programme is an
upper bound of the worst case, and instances that are run bound it from below.
"""
