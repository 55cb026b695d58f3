"""What a terminal or a file is told.

tables.py       tables for people with the same numbers for programs, and how they were made
json_output.py  ``--json``: strict JSON in a file, or on standard output in place of the text
progress.py     how far the work is, on the terminal's last line, with the time left
process.py      exit statuses, ranks that mpirun launched, one thread for fair measurements
"""
