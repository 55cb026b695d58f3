"""Algorithm 2 in two implementations, and the averages of its runs; the steps never use β.

- ``reference``: word for word, in any number type, with Algorithm 1 beside it. Begin here.
- ``compiled``: the same iterates in machine code, built from ``kernels``.
- ``sampling``: where batches come from. ``accounting``: β̄ and w̄, from an engine's steps.
- ``base``: code that they share. ``state``: what a checkpoint keeps.
"""
