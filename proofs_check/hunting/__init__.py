"""Adversarial search: the small problem for which a theorem's bound is tightest, or fails."""
