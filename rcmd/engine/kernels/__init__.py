"""The compiled loops. Importing anything below this package imports numba."""
