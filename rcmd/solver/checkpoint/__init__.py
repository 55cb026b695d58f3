"""Runs on disk: what is saved of one, in which form, and how it goes on."""
