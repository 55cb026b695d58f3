"""Adversarial search: the small problem on which a theorem's bound fares worst."""
