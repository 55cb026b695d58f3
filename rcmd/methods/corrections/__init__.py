"""Corrections: second-order steps over the atoms found so far, for high accuracy.

``hull`` is for any oracle: Newton steps on the weights of atoms (``columns``, ``simplex_qp``), then
the atoms that the oracle finds missing. ``coordinates`` is for an R that is a sum over coordinates
(the l1 penalty, elastic net, boxes), ``ball`` for the l2 ball and ridge. All share ``newton``.
"""
