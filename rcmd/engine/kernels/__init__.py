"""The compiled loops of Algorithm 2; importing anything below this package imports numba.

- ``layout``: rows and samples as compiled code sees them. Begin here.
- ``vertex``: the loop for oracles whose atom is one entry, and the search for its place.
- ``coordinatewise``: the loop for oracles that act on every coordinate alike.
- ``blocks``: the loop for oracles that write their atoms, and for products of such.
- ``batch``: parts of steps that are driven from Python, also with rows on several processes.
- ``accelerated``: accelerated dual coordinate ascent.
"""
