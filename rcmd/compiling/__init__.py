"""From the scalar methods of a user's class to machine code, cached on disk.

Importing anything below this package imports numba.
"""
