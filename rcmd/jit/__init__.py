"""From the scalar methods of a user's class to machine code, cached on disk.

- ``scalars``: a method as a C function that kernels call by its address. Begin here.
- ``records``: a class as compiled code sees it, its numbers with its methods.
- ``caching``: ``@kernel``, and the fingerprints that its cache is keyed by.
- ``instructions``: what numba does not spell, such as prefetches and blocks of 64 entries.

All but ``caching`` import numba.
"""
