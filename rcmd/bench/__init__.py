"""Measurements: how fast the engine is, against plain C, against others, as data grow."""
