"""dom R in regions: variables that constraints and penalties bind together."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from rcmd.applications.from_cvxpy.domains import Space
from rcmd.applications.from_cvxpy.features import Feature, one_of_groups
from rcmd.oracles import (
    LinearMinOracle,
    Translated,
)
from rcmd.rows.validation import Array


class Unbounded(Exception):
    """Nothing that was read bounds a region."""


@dataclass
class Region:
    """Variables that constraints and penalties bind together; ``scale`` divides the penalties.

    ``reach`` is half the side of a cube around 0, where nothing else bounds them.
    """

    space: Space
    places: Array
    features: dict[str, Feature]
    rest: list[Feature]
    scale: float = 1.0
    reach: float | None = None
    oracle: Any = None

    @property
    def p(self) -> int:
        return len(self.places)

    @property
    def lower(self) -> Array:
        return self.space.lower[self.places]

    @property
    def upper(self) -> Array:
        return self.space.upper[self.places]

    @property
    def rows(self) -> list[tuple[Any, Array, bool]]:
        """The linear constraints with entries here."""
        found = []
        for G, h, equal in self.space.matrices:
            own = G[:, self.places]
            kept = np.flatnonzero(np.diff(own.indptr))
            if len(kept):
                found.append((own[kept], h[kept], equal))
        return found

    @property
    def kinds(self) -> frozenset[str]:
        names = set(self.features)
        if (np.isfinite(self.lower) | np.isfinite(self.upper)).any():
            names.add("box")
        if self.rows:
            names.add("rows")
        return frozenset(names)

    def size(self, kind: str) -> Any:
        """A strength, in the units of P, or a radius."""
        feature = self.features[kind]
        return feature.size if "≤" in kind else feature.size / self.scale

    def radius(self, kind: str) -> Any:
        """That of a ball that was asked for; else of one around the cube; else none."""
        if f"{kind} ≤" in self.features:
            return self.size(f"{kind} ≤")
        return None if self.reach is None else self.p * self.reach

    @property
    def asked(self) -> list[Feature]:
        """All features, a sum of norms by its terms."""
        features = [*self.features.values(), *self.rest]
        return [o for f in features for o in (f.source if isinstance(f.source, list) else [f])]

    @property
    def ends(self) -> tuple[Array, Array]:
        """The ends of the variables, within the cube."""
        lower, upper = self.lower, self.upper
        if self.reach is None:
            return lower, upper
        below, above = (np.where(np.isfinite(end), end, 0.0) for end in (upper, lower))
        return (
            np.where(np.isfinite(lower), lower, np.minimum(below, 0.0) - self.reach),
            np.where(np.isfinite(upper), upper, np.maximum(above, 0.0) + self.reach),
        )

    @property
    def names(self) -> list[str]:
        """Of the CVXPY variables."""
        return self.space.names(self.places)

    def centred(self, make: Callable[[], LinearMinOracle]) -> LinearMinOracle:
        """The oracle that ``make`` builds, moved to the centre of the features."""
        centres = [f.centre for f in self.features.values() if f.centre is not None]
        moved = centres and centres[0].any()
        return Translated(make(), centres[0]) if moved else make()


def regions_of(space: Space, features: list[Feature]) -> list[Region]:
    """The variables in regions, those that nothing binds by what they are declared in."""
    features = _joined_groups(space, features)
    sets = [feature.places for feature in features]
    for G, _, _ in space.matrices:
        sets += [G.indices[a:b] for a, b in pairwise(G.indptr)]
    loose = np.ones(space.p, dtype=bool)
    for places in sets:
        loose[places] = False
    boxed = np.isfinite(space.lower) & np.isfinite(space.upper)
    for variable in space.variables:
        own = np.arange(variable.size) + space.starts[variable.id]
        sets += [own[loose[own] & side[own]] for side in (boxed, ~boxed)]
    # A graph of the sets, and behind them the variables.
    ends = np.repeat(np.arange(len(sets)), [len(places) for places in sets])
    places = len(sets) + np.concatenate(sets)
    graph = sp.csr_array((np.ones(len(ends)), (ends, places)), shape=(len(sets) + space.p,) * 2)
    labels = connected_components(graph, directed=False)[1][len(sets) :]
    made = []
    for label in dict.fromkeys(labels.tolist()):
        inside = [feature for feature in features if labels[feature.places[0]] == label]
        made.append(_region(space, np.flatnonzero(labels == label), inside))
    return made


def _joined_groups(space: Space, features: list[Feature]) -> list[Feature]:
    """Sums of norms of variables that nothing else is asked of become one."""
    asked = np.zeros(space.p, dtype=int)
    for feature in features:
        asked[feature.places] += 1
    for G, _, _ in space.matrices:
        asked[G.indices] += 2
    asked[np.isfinite(space.lower) | np.isfinite(space.upper)] += 2
    alone = [f for f in features if f.kind == "groups" and (asked[f.places] == 1).all()]
    if len(alone) < 2:
        return features
    return [f for f in features if not any(f is one for one in alone)] + one_of_groups(alone)


def _region(space: Space, places: Array, features: list[Feature]) -> Region:
    """The features by their kinds, added up; those that do not cover the region are the rest."""
    known: dict[str, Feature] = {}
    rest = []
    grouped = [feature for feature in features if feature.kind == "groups"]
    if len(grouped) > 1:
        features = [f for f in features if f.kind != "groups"] + one_of_groups(grouped)
    # Matrices come row by row; all others in the order of the variables.
    matrix = next((f for f in features if f.kind.startswith(("nuclear", "psd"))), None)
    if matrix is not None and len(matrix.places) == len(places):
        places = matrix.places
    where = np.full(space.p, -1)
    where[places] = np.arange(len(places))
    for feature in features:
        whole = len(feature.places) == len(places) and feature.kind not in ("other", "other ≤")
        order = np.argsort(where[feature.places])
        if whole and feature.centre is not None:
            feature = feature._replace(centre=feature.centre[order])
        twin = known.get(feature.kind)
        if whole and twin is None:
            known[feature.kind] = feature
        elif whole and twin and feature.kind in SUMS and _alike(feature.centre, twin.centre):
            terms = [*(twin.source if isinstance(twin.source, list) else [twin]), feature]
            known[feature.kind] = twin._replace(size=twin.size + feature.size, source=terms)
        else:
            rest.append(feature)
    centres = [f.centre for f in known.values() if f.centre is not None]
    boxed = np.isfinite(space.lower[places]).any() or np.isfinite(space.upper[places]).any()
    alike = len(centres) == len(known) and all(np.array_equal(c, centres[0]) for c in centres)
    if any(c.any() for c in centres) and (boxed or not alike):
        rest, known = [*rest, *known.values()], {}
    return Region(space, places, known, rest)


def _alike(one: Any, other: Any) -> bool:
    return np.array_equal(one, other)


SUMS = ("ridge", "l1")
"""Penalties of which two are one."""
