"""Designs of experiments in which every two choices meet."""

import itertools
from typing import Any

import numpy as np


def covering(choices: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Cases in which every pair of choices occurs, each case chosen to meet many new pairs."""
    rng = np.random.default_rng(0)
    factors = {name: range(len(values)) for name, values in choices.items()}
    missing = {
        ((a, i), (b, j))
        for a, b in itertools.combinations(factors, 2)
        for i in factors[a]
        for j in factors[b]
    }

    def new_pairs(case: dict[str, int]) -> int:
        return sum(pair in missing for pair in itertools.combinations(case.items(), 2))

    cases = []
    while missing:
        fixed = dict(min(missing))
        tries = []
        for _ in range(40):
            case = {
                name: fixed.get(name, int(rng.integers(len(factors[name])))) for name in factors
            }
            tries.append((new_pairs(case), sorted(case.items()), case))
        best = max(tries)[2]
        missing -= set(itertools.combinations(best.items(), 2))
        cases.append({name: choices[name][i] for name, i in best.items()})
    return cases


def name_of(case: dict[str, Any]) -> str:
    return "/".join(str(value).partition("(")[0] for value in case.values())
