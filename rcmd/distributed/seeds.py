"""One generator for all ranks: in the same state, they draw the same batches."""

from __future__ import annotations

import json

import numpy as np

from rcmd.distributed.group import Group, same_words


def same_generator(group: Group, seed: int | np.random.Generator) -> np.random.Generator:
    """Rank 0's generator, on every rank."""
    rng = np.random.default_rng(seed)
    set_state(rng, same_words(group, state_of(rng)))
    return rng


def state_of(rng: np.random.Generator) -> str:
    """The state of a generator, in JSON.

    Examples
    --------
    >>> rng, other = np.random.default_rng(1), np.random.default_rng(2)
    >>> set_state(other, state_of(rng))
    >>> rng.random() == other.random()
    True
    """
    return json.dumps(rng.bit_generator.state, default=np.ndarray.tolist)


def set_state(rng: np.random.Generator, words: str) -> None:
    """Give the generator a state that ``state_of`` told."""
    rng.bit_generator.state = json.loads(words)
