"""From the scalar methods of a user's class to machine code, cached on disk.

- ``scalars``: a method as a C function that kernels call by its address. Begin here.
- ``writers``: the same for methods that write an oracle's atom into arrays.
- ``caching``: ``@kernel``, and the fingerprints that its cache is keyed by; needs no numba itself.
- ``instructions``: what numba has no function for, such as prefetches and blocks of 64 entries.
"""
