"""Output for terminals and files.

tables.py    tables for people; ``--json``: strict JSON for programs, and how it was made
progress.py  progress and the time left; exit statuses, ranks and threads
"""
