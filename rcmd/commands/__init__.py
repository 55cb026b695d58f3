"""The parsers of the command line, one light module for each command."""
