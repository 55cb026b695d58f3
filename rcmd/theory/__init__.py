"""Tools for theorems, the paper's and yours.

``proof_trace`` evaluates every line of a proof along a run, ``replicates`` puts the mean gap of
many seeds beside the theorem's bound; ``parallel`` runs their pieces in several processes.
"""
