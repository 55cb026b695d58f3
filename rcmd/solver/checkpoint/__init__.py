"""Runs on disk: begin with ``resume``.

``saver`` decides when a run is saved, ``options`` which of its options are, ``file`` in which
format.
"""
