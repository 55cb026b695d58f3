"""The command line, one file a command; nothing imports it.

main.py finds the command and imports its file alone. A command's file has HELP, its description;
add_options(parser), what may be typed; and run(options), which returns the exit status.

options.py  options that several commands have, and the check that their files can be written
tasks.py    problems out of files and words, and what a checkpoint keeps of those words
results.py  a result in lines for people and as plain data for programs
mpi.py      solve and resume on several ranks
"""
