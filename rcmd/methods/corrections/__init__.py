"""Corrections: second-order steps over the atoms found, which turn a face into high accuracy.

``hull`` is for any oracle: Newton steps on the weights of atoms (``columns``, ``simplex_qp``), then
the atoms that the oracle finds missing. ``ball`` is for the l2 ball and ridge. ``newton`` is what
both share.
"""
