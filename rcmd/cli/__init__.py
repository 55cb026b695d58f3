"""The command line, one file a command; nothing imports it.

main.py finds the command and imports its file alone. The docstring of a command's file is its
help; add_options(parser) adds its options, and run(options) returns the exit status.

options.py  options shared by several commands, and the check that their files can be written
tasks.py    the problems of rcmd solve, from files and specs
mpi.py      solve and resume on several ranks
"""
