"""What can be wrong with a checkpoint."""


class BadCheckpoint(ValueError):
    """A file that is no checkpoint, or one that cannot be taken up here; it is left as it is."""


class CannotSave(ValueError):
    """A run that holds something which no checkpoint can hold."""
