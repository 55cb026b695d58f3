"""The one kind of error that data cause."""


class DataError(ValueError):
    """Data that cannot be used; the message is one sentence saying what and where."""
