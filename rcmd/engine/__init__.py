"""Algorithm 2 in two implementations, and the averages of its runs; the steps never use β.

- ``reference``: word for word, in any number type, with Algorithm 1 beside it. Begin here.
- ``compiled``: the same iterates in machine code, built from ``kernels``.
- ``sampling``: where batches come from. ``accounting``: β̄ and w̄, from an engine's steps.
- ``base``: the contract of an engine, and shared code. ``state``: what a checkpoint keeps.
"""
