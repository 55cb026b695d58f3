"""The entries of all variables in a row, and what is asked of them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.applications.from_cvxpy.affine import Affine, constant, flat, read, shown, weighted
from rcmd.applications.from_cvxpy.features import BALLS, PENALTIES, Feature, entropy, one_of_groups
from rcmd.applications.from_cvxpy.terms import Samples, Term, Terms, gather
from rcmd.rows.validation import Array

MOST_ROOTS = 1000
"""Up to so many variables a quadratic form is inverted, for an ellipsoid."""


def _no_point(constraint: str) -> str:
    return (
        f"the constraint {constraint} holds for no point; expected at least one point that fulfils "
        "all constraints"
    )


@dataclass
class Space:
    """The entries of all variables in a row, with their bounds, linear constraints and features."""

    variables: list[Any]
    starts: dict[int, int] = field(default_factory=dict)
    features: list[Feature] = field(default_factory=list)

    def __post_init__(self) -> None:
        sizes = [variable.size for variable in self.variables]
        ends = np.cumsum([0, *sizes])
        self.p = int(ends[-1])
        self.starts = {v.id: int(end) for v, end in zip(self.variables, ends, strict=False)}
        self.lower, self.upper = np.full(self.p, -np.inf), np.full(self.p, np.inf)
        self.implied: list[Any] = []  # constraints that atoms of the objective stand for
        self.matrices: list[tuple[Any, Array, bool]] = []  # G, h, whether G β = h or ≤ h

    def names(self, places: Array) -> list[str]:
        """Of the variables with these entries."""
        owners = np.searchsorted(list(self.starts.values()), places, side="right")
        return [self.variables[k - 1].name() for k in np.unique(owners)]

    def matrix(self, affine: Affine) -> Any:
        """The linear part over all entries, sparse."""
        total = sp.csr_array((affine.offset.size, self.p))
        for k, (t, A) in affine.parts.items():
            coo = sp.coo_array(weighted(t, A, affine.offset.size))
            places = (coo.row, coo.col + self.starts[k])
            total += sp.csr_array((coo.data, places), shape=total.shape)
        return total

    def places(self, expression: Any) -> Array:
        """The entries of the variables in an expression or a constraint; all, if they cancel."""
        if hasattr(expression, "is_affine") and expression.is_affine():
            whole = np.unique(self.matrix(read(expression)).indices)
            starts = ((self.starts[v.id], v.size) for v in expression.variables())
            every = [k for start, size in starts for k in range(start, start + size)]
            return whole if whole.size else np.array(every, dtype=int)
        arguments = getattr(expression, "args", [])
        found = [self.places(argument) for argument in arguments]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=int)

    def picked(self, expression: Any, signs: bool = False) -> tuple[Array, float, Array] | None:
        """(places, factor, centre) where an expression is factor·(β_places − centre), factor > 0.

        ``signs`` allows ± before each entry, as in what depends on absolute values alone.
        """
        if not expression.is_affine():
            return None
        affine = read(expression)
        found = affine.selection()
        if found is None:
            return None
        ids, entries, factors = found
        sizes = abs(factors) if signs else factors
        if not sizes.size or np.ptp(sizes) > 0 or sizes[0] <= 0:
            return None
        places = np.array([self.starts[k] for k in ids]) + entries
        return places, float(sizes[0]), -affine.offset / factors

    def ends(self, affine: Affine) -> tuple[float, float]:
        """Bounds of an affine expression over the variables' bounds."""
        X = self.matrix(affine)
        sides = [X.multiply(end[None]).tocsr() for end in (self.lower, self.upper)]
        least, most = sides[0].minimum(sides[1]), sides[0].maximum(sides[1])
        sums = (np.asarray(side.sum(axis=1)).ravel() + affine.offset for side in (least, most))
        return float(next(sums).min()), float(next(sums).max())

    # ---- what is asked of the variables --------------------------------------------------------

    def attributes(self) -> None:
        """Bounds and shapes that variables were declared with."""
        for variable in self.variables:
            name, asked = variable.name(), variable.attributes
            own = slice(self.starts[variable.id], self.starts[variable.id] + variable.size)
            for kind in ("boolean", "integer", "complex", "imag", "hermitian"):
                if asked.get(kind):
                    raise ValueError(
                        f"the variable {name} is {kind}; expected real variables without more: "
                        "rcmd solves continuous convex problems"
                    )
            for kind in ("diag", "sparsity"):
                if asked.get(kind):
                    raise ValueError(
                        f"the variable {name} is declared with {kind}, which is not read; expected "
                        f"a plain variable of its entries, in cp.diag or in an indexed array"
                    )
            if asked.get("nonneg") or asked.get("pos"):
                self.lower[own] = np.maximum(self.lower[own], 0.0)
            if asked.get("nonpos") or asked.get("neg"):
                self.upper[own] = np.minimum(self.upper[own], 0.0)
            if asked.get("bounds") is not None:
                low, high = (getattr(end, "value", end) for end in asked["bounds"])
                low, high = (np.broadcast_to(end, variable.shape) for end in (low, high))
                self.lower[own] = np.maximum(self.lower[own], flat(low))
                self.upper[own] = np.minimum(self.upper[own], flat(high))
            for kind, sign in (("PSD", 1), ("NSD", -1)):
                if asked.get(kind):
                    places = np.arange(own.start, own.stop)
                    asks = variable >> 0 if sign > 0 else variable << 0
                    self.features.append(Feature("psd" if sign > 0 else "other ≤", places, 1, asks))
            if any(asked.get(kind) for kind in ("symmetric", "PSD", "NSD")):
                self.add_constraint(variable == variable.T)

    def add_constraint(self, asked: Any) -> None:
        """A constraint of the problem, as bounds, as linear ones, or as a feature."""
        kind = type(asked).__name__
        if not asked.variables():
            if not asked.value():
                raise ValueError(_no_point(shown(asked)))
        elif kind in ("Equality", "Inequality", "Zero", "NonNeg", "NonPos"):
            both = len(asked.args) == 2
            left = asked.args[0] - asked.args[1] if both else asked.args[0]
            left = -left if kind == "NonNeg" else left
            if left.is_affine():
                self._add_linear(left, kind in ("Equality", "Zero"))
            elif not self._add_ball(left, asked) and not self._add_absolute(asked):
                self.features.append(Feature("other ≤", self.places(left), None, asked))
        elif kind == "PSD" and (found := self.picked(asked.args[0])) and not found[2].any():
            self.features.append(Feature("psd", found[0], 1, asked))
        else:
            self.features.append(Feature("other ≤", self.places(asked), None, asked))

    def add_domain(self, expression: Any) -> None:
        """Where an expression is finite, as far as no bound says it already."""
        for asked in expression.domain:
            if type(asked).__name__ == "Inequality" and asked.variables():
                left = asked.args[0] - asked.args[1]
                if left.is_affine() and not self.ends(read(left))[1] <= 0:
                    self.add_constraint(asked)
                    self.implied.append(asked)

    def _add_linear(self, left: Any, equal: bool) -> None:
        affine = read(left)
        G, h = self.matrix(affine), -affine.offset
        G.eliminate_zeros()
        counts = np.diff(G.indptr)
        wrong = (counts == 0) & ((h != 0) if equal else (h < 0))
        if wrong.any():
            raise ValueError(_no_point(f"{shown(left)} {'==' if equal else '<='} 0"))
        single = np.flatnonzero(counts == 1)
        places, values = G.indices[G.indptr[single]], G.data[G.indptr[single]]
        ends = h[single] / values
        for k, end, value in zip(places, ends, values, strict=True):
            if equal or value > 0:
                self.upper[k] = min(self.upper[k], end)
            if equal or value < 0:
                self.lower[k] = max(self.lower[k], end)
        several = np.flatnonzero(counts > 1)
        if len(several):
            self.matrices.append((G[several], h[several], equal))

    def _add_ball(self, left: Any, asked: Any) -> bool:
        """a·norm + constant ≤ 0."""
        if left.size != 1:
            return False
        found = Terms()
        try:
            gather(left, np.ones(1), found)
        except ValueError:
            return False
        parts = [self.of_samples(samples) for samples in found.samples]
        parts += [self.of_term(term) for term in found.others]
        features = [feature for part in parts for feature in part]
        if len(features) > 1 and {f.kind for f in features} == {"groups"}:
            features = one_of_groups(features)
        if found.linear or not all(parts) or len(features) != 1 or features[0].kind not in BALLS:
            return False
        feature, kind = features[0], features[0].kind
        radius = -found.constant / feature.size
        if radius < 0:
            raise ValueError(_no_point(shown(asked)))
        if kind == "linf" or radius == 0 or (kind == "l1" and len(feature.places) == 1):
            centre = 0.0 if feature.centre is None else feature.centre
            ends = centre - radius, centre + radius
            self.lower[feature.places] = np.maximum(self.lower[feature.places], ends[0])
            self.upper[feature.places] = np.minimum(self.upper[feature.places], ends[1])
            return True
        if kind in ("ridge", "quadratic"):
            kind, radius = ("l2" if kind == "ridge" else kind), (2 * radius) ** 0.5
        self.features.append(feature._replace(kind=f"{kind} ≤", size=radius, source=asked))
        return True

    def _add_absolute(self, asked: Any) -> bool:
        """|x| ≤ c, entry by entry."""
        size, most = asked.args[0], asked.args[-1]
        inner = self.picked(size.args[0], signs=True) if type(size).__name__ == "abs" else None
        if inner is None or not most.is_constant() or most.size not in (1, size.size):
            return False
        places, factor, centre = inner
        reach = flat(constant(most)) / factor
        self.lower[places] = np.maximum(self.lower[places], centre - reach)
        self.upper[places] = np.minimum(self.upper[places], centre + reach)
        return True

    # ---- penalties -----------------------------------------------------------------------------

    def of_samples(self, samples: Samples) -> list[Feature]:
        """Σ a(x − c)² and Σ (root·x)², which are ridge and a quadratic form."""
        if samples.formula != "square({0})":
            return []
        (leaf,) = samples.leaves
        found = leaf.selection()
        if found is not None:
            ids, entries, factors = found
            strengths = 2 * samples.weights * factors**2
            if np.ptp(strengths) > 1e-12 * strengths.max():
                return []
            places = np.array([self.starts[k] for k in ids]) + entries
            centre = -leaf.offset / factors
            return [Feature("ridge", places, float(strengths[0]), samples, centre=centre)]
        root = self.matrix(leaf)
        places = np.unique(root.indices)
        if leaf.offset.any() or not len(places) <= min(root.shape[0], MOST_ROOTS):
            return []
        root = np.sqrt(2 * samples.weights)[:, None] * root[:, places].toarray()
        if np.linalg.matrix_rank(root) < len(places):
            return []
        return [Feature("quadratic", places, 1.0, samples, np.linalg.inv(root.T @ root))]

    def of_term(self, term: Term) -> list[Feature]:
        """A penalty by its atom, in its kind; "other" if it is none of those that are known."""
        weights, expression = term
        kind = type(expression).__name__
        if kind in ("entr", "rel_entr", "kl_div"):
            self.add_domain(expression)
        rule = PENALTIES.get(kind)
        made = rule(self, expression, weights) if rule is not None and (weights > 0).all() else None
        if made is None and kind == "entr" and (weights < 0).all():
            made = entropy(self, expression, weights)
        if made is None:
            made = [Feature("other", self.places(expression), None, expression)]
        return [feature._replace(source=expression, weights=weights) for feature in made]
