"""Every statement of the paper as a ledger entry, with its verdict and the checks that decide it.

``python -m proofs_check`` runs the ledger. A statement is one file of ``statements``; what its
checks use stands beside it, ``exact`` (all index sequences, no rounding), ``intervals`` and
``statistical``, or in ``rcmd.theory``: worst cases, and the search for counterexamples.
"""
