"""Exit statuses of the command line other than 0."""

EXIT_BUDGET, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130
