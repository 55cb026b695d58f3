"""Runs on disk: begin with ``resume``.

``saver`` decides what is saved of a run, and when; ``file`` in which format.
"""
