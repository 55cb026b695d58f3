"""Files of figures, refused before any work if they could not be written."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from rcmd.json_output import check_folder

FORMATS = (".png", ".pdf", ".svg")


def check_plot(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a figure that could not be written.

    Examples
    --------
    >>> check_plot("run.docx")
    Traceback (most recent call last):
    ValueError: figure 'run.docx' has no known ending; expected .png, .pdf, .svg
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"figure {str(path)!r} has no known ending; expected {', '.join(FORMATS)}")
    check_folder(path)
    require_matplotlib()


def require_matplotlib() -> None:
    """Say what is missing where matplotlib is not installed."""
    try:
        import_module("matplotlib")
    except ImportError:
        raise ValueError("figures need matplotlib: pip install 'rcmd[plot]'") from None
