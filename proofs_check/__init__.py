"""Every statement of the paper as a ledger entry, with its verdict and the checks that decide it.

``python -m proofs_check`` runs the ledger. A statement is one file of ``statements``; the
engines that its checks use stand beside it: ``exact`` (all index sequences, no rounding),
``symbolic``, ``semidefinite``, ``intervals`` and ``statistical``.
"""
