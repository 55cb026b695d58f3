"""What losses ask of their labels."""

from __future__ import annotations

from typing import Any

import numpy as np


def sign_fault(y: Any, name: str) -> str | None:
    """What is wrong with labels that should all be −1 or +1, as a sentence, or ``None``."""
    labels = np.asarray(y, dtype=float)
    if (abs(labels) == 1.0).all():
        return None
    values = np.unique(labels)
    shown = ", ".join(f"{value:g}" for value in values[:5])
    return (
        f"y holds the labels {shown}{', …' if len(values) > 5 else ''}; the {name} loss "
        "expects -1 and +1: map two classes with numpy.where(y == y.max(), 1.0, -1.0)"
    )
