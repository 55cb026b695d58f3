"""Corrections: second-order steps over the atoms found so far, for high accuracy.

``hull`` is for any oracle: Newton steps on the weights of atoms (``columns``, ``simplex_qp``), then
the atoms that the oracle finds missing. ``ball`` is for the l2 ball and ridge. Both share
``newton``.
"""
