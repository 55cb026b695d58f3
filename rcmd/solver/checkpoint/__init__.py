"""Runs on disk: begin with ``resume``.

``saver`` says when a run is written, ``options`` what its file holds of the options, ``file`` in
which format.
"""
