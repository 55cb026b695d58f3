"""Algorithm 2, twice, and what is kept of its runs; it knows nothing of β.

- ``reference``: word for word, in any number type, with Algorithm 1 beside it. Begin here.
- ``compiled``: the same iterates in machine code, made of ``kernels``.
- ``sampling``: where batches come from. ``accounting``: β̄ and w̄, from an engine's steps.
- ``base``: the contract of an engine, and what all share. ``state``: what a checkpoint keeps.
"""
