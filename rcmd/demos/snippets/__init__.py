"""The computations of the teaching pages, each short enough to be shown on its page."""
