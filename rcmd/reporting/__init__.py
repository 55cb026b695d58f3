"""Output for terminals and files.

tables.py       tables for people with the same numbers for programs, and how they were made
json_output.py  ``--json``: strict JSON in a file, or on standard output in place of the text
progress.py     progress and the time left; exit statuses, ranks and threads
"""
