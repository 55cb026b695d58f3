"""What a teaching page consists of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rcmd.demos.texts import Text

Trace = dict[str, Any]
"""A curve, in the words of plotly.js."""

Key = tuple[str, ...]
"""What the reader chose: one option of each of the page's choices."""


@dataclass(frozen=True)
class Choice:
    """A few options of which the reader picks one; ``picked`` is at first."""

    label: str
    options: Sequence[str]
    picked: str


@dataclass(frozen=True)
class Drawing:
    """A panel before the slider moves."""

    traces: Sequence[Trace]
    layout: dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """One position of the slider.

    Attributes
    ----------
    label
        What the slider says there.
    readouts
        The numbers beside the picture, in words.
    changes
        For each panel, what changes of which of its traces, by their places.
    """

    label: str
    readouts: Sequence[str]
    changes: Sequence[Mapping[int, Trace]]


@dataclass(frozen=True)
class Scene:
    """What one choice of the reader shows: panels, and what the slider does to them."""

    drawings: Sequence[Drawing]
    frames: Sequence[Frame]
    start: int = 0

    def __post_init__(self) -> None:
        moving = [list(changes) for changes in self.frames[0].changes]
        for frame in self.frames:
            # A trace that some frames leave alone would show what another one left behind.
            if [list(changes) for changes in frame.changes] != moving:
                raise ValueError(
                    f"the frame {frame.label!r} changes other traces than the first; expected "
                    "every frame to set the same ones"
                )


@dataclass(frozen=True)
class Page:
    """A teaching page.

    Attributes
    ----------
    choices, slider
        The controls; the slider's name.
    scenes
        By what the reader chose, an option of each choice.
    code
        The module whose ``run`` made the numbers.
    columns
        Panels side by side where the window is wide.
    """

    text: Text
    choices: Sequence[Choice]
    slider: str
    scenes: Mapping[Key, Scene]
    code: str
    columns: int = 2

    def __post_init__(self) -> None:
        panels, readouts = len(self.text.panels), len(self.text.numbers)
        for key, scene in self.scenes.items():
            for frame in scene.frames:
                found = len(frame.readouts), len(frame.changes), len(scene.drawings)
                if found != (readouts, panels, panels):
                    raise ValueError(
                        f"scene {key} has {found} readouts, changes and drawings; expected "
                        f"{(readouts, panels, panels)}, one for each name in its text"
                    )
