"""GSFW on small problems in exact arithmetic, over all index sequences.

Written from the paper alone, in plain tuples and any number type (``Fraction``, mpmath's mpf,
float): it shares no code with rcmd's engines, so that a bug in one cannot hide in the other.
"""
