"""The module that generated functions name as theirs.

Compiled code that numba keeps on disk asks for the module its functions came from. Two
expressions may share compiled code, and the file of either may be gone; this one is always here.
"""
