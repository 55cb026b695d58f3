"""One file per statement, named by its place in the paper."""
