"""The largest eigenvalue of CᵀC or of a symmetric C: a vector for it, and a bound above it.

A vector near the leading one is enough to take a step. A certificate needs more: a small
residual proves that *some* eigenvalue is near, and only a bound from above on all of them
makes the dual value a lower bound. So the two are computed apart.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rcmd.rows.validation import Array, is_sparse

Apply = Callable[[Array], Array]

EPSILON = float(np.finfo(float).eps)

DENSE_SIDE = 1500
"""Sides up to which the matrix is formed to prove a bound: 18 MB."""

EXACT_SIDE = 64
"""Sides up to which it is cheapest to compute all eigenvalues, for both."""

FAILURE = 1e-12
"""Probability with which a bound by Lanczos iteration may fail, over its random start."""

SHARP = 1e-10
"""Distance from the largest Ritz value, relative to A, at which a bound is sharp enough."""

LONGEST = 300
"""Lanczos vectors kept at most."""

NOISE = 0.1
"""Length of the noise in a warm start of length one."""


class Krylov(NamedTuple):
    """What j Lanczos steps leave: an orthonormal basis (its rows) and a tridiagonal matrix.

    ``couplings`` holds the j numbers beside the diagonal, the last one leading out of it.
    """

    basis: Array
    diagonal: Array
    couplings: Array

    def ritz(self) -> tuple[Array, Array]:
        """Eigenvalues, ascending, and eigenvectors (columns) of the tridiagonal matrix."""
        inner = self.couplings[:-1]
        return np.linalg.eigh(np.diag(self.diagonal) + np.diag(inner, 1) + np.diag(inner, -1))


@dataclass
class Spectrum:
    """A symmetric matrix A whose largest eigenvalue is wanted.

    ``side`` is its order and ``apply`` is v ↦ Av; ``dense`` returns A as an array, and a bound of
    the norm of the rounding in it.
    """

    side: int
    apply: Apply
    dense: Callable[[], tuple[Array, float]]

    def leading(self, start: Array | None, tolerance: float, rng: np.random.Generator) -> Array:
        """A unit vector v with ‖Av − (vᵀAv)v‖ ≤ tolerance·‖A‖, near the leading one.

        ``start`` is a guess; a little noise keeps it from being an eigenvector of another
        eigenvalue, from which Lanczos iteration would never get away. Small matrices are
        answered to machine precision, whatever the guess.
        """
        if self.side <= EXACT_SIDE:
            return _upright(np.linalg.eigh(self.dense()[0])[1][:, -1])
        guess = rng.standard_normal(self.side)
        if start is not None:
            guess *= NOISE / math.sqrt(self.side)
            guess += start

        def stop(krylov: Krylov) -> bool:
            values, vectors = krylov.ritz()
            residual = krylov.couplings[-1] * abs(vectors[-1, -1])
            return bool(residual <= tolerance * abs(values).max())

        krylov = lanczos(self.apply, guess, rng, stop)
        vector = krylov.ritz()[1][:, -1] @ krylov.basis
        return _upright(vector / math.sqrt(vector @ vector))

    def first(self, count: int, rng: np.random.Generator) -> list[Array]:
        """About ``count`` unit vectors, orthogonal and near the leading ones, the best first."""
        krylov = lanczos(
            self.apply,
            rng.standard_normal(self.side),
            rng,
            lambda krylov: len(krylov.diagonal) >= 2 * count + 10,
        )
        vectors = krylov.ritz()[1][:, ::-1].T[:count] @ krylov.basis
        return [_upright(vector) for vector in vectors]

    def largest(self, rng: np.random.Generator) -> float:
        """An upper bound of the largest eigenvalue of A.

        Up to ``EXACT_SIDE`` it is the eigenvalue of the matrix itself and an allowance for
        rounding, and up to ``DENSE_SIDE`` a bound that a Cholesky factorization has proved.
        Beyond, see ``probable_bound``.
        """
        if self.side <= EXACT_SIDE:
            return self._computed()
        guess = probable_bound(self.apply, self.side, rng, FAILURE)
        return guess if self.side > DENSE_SIDE else self._proved(guess + SHARP * abs(guess))

    def _proved(self, guess: float) -> float:
        """``guess`` and what rounding can hide, if guess·I − A is positive definite.

        A factorization that succeeds in floating point has factored a matrix at a distance of at
        most (n+2)·ε times the trace.
        """
        matrix, rounding = self.dense()
        shifted = np.negative(matrix)
        shifted[np.diag_indices_from(shifted)] += guess
        trace = float(np.trace(shifted))
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            return self._computed()
        return guess + (self.side + 2) * EPSILON * trace + rounding

    def _computed(self) -> float:
        matrix, rounding = self.dense()
        values = np.linalg.eigvalsh(matrix)
        return float(values[-1] + self.side * EPSILON * abs(values).max() + rounding)


def lanczos(
    apply: Apply, start: Array, rng: np.random.Generator, stop: Callable[[Krylov], bool]
) -> Krylov:
    """Lanczos iteration, orthogonalized in full, until ``stop``.

    ``stop`` is called at every step at first, and less often later. A coupling lost in rounding is
    replaced by one of the size of rounding towards a random direction, so that couplings and basis
    belong to a matrix that differs by rounding only.
    """
    side = len(start)
    longest = min(LONGEST, side)
    basis = np.empty((min(16, longest), side))
    basis[0] = start / math.sqrt(start @ start)
    diagonal, couplings = np.empty(longest), np.empty(longest)
    size, next_check = 0.0, 1
    for j in range(longest):
        image = apply(basis[j])
        diagonal[j] = basis[j] @ image
        size = max(size, math.sqrt(image @ image))
        image = _orthogonal(image, basis[: j + 1])
        couplings[j] = math.sqrt(image @ image)
        rounding = side * EPSILON * size
        if couplings[j] <= rounding and j + 1 < side:
            couplings[j], image = rounding, _orthogonal(rng.standard_normal(side), basis[: j + 1])
        krylov = Krylov(basis[: j + 1], diagonal[: j + 1], couplings[: j + 1])
        if j + 1 == next_check:
            if stop(krylov):
                break
            next_check += 1 + j // 10
        if j + 1 == len(basis) < longest:
            room = np.empty((min(len(basis), longest - len(basis)), side))
            basis = np.concatenate([basis, room])
        if j + 1 < longest:
            basis[j + 1] = image / math.sqrt(image @ image)
    return krylov


def _orthogonal(vector: Array, basis: Array) -> Array:
    for _ in range(2):  # once more removes what rounding left of the first time
        vector = vector - (basis @ vector) @ basis
    return vector


def probable_bound(apply: Apply, side: int, rng: np.random.Generator, failure: float) -> float:
    """An upper bound of the largest eigenvalue λ of A that fails with probability ``failure``.

    The probability is over the Gaussian start v, which is independent of A. Its share of the
    leading eigenvector is at least δ = failure·√(π/(2(n−1))) but for that probability. After
    j steps the polynomial χ with the Ritz values θ_i for zeros has ‖χ(A)v‖ = ∏ b_i, the
    product of all couplings, so that ∏(λ − θ_i) ≤ ∏ b_i / δ: the bound is the t > max θ_i
    where equality holds. It depends on how far the iteration got, unlike bounds from j and n
    alone.
    """
    share = failure * math.sqrt(math.pi / (2 * max(side - 1, 1)))
    bound = math.inf

    def stop(krylov: Krylov) -> bool:
        nonlocal bound
        values = krylov.ritz()[0]
        size = abs(values).max()
        if not krylov.couplings.all():  # A is zero, or the basis complete
            bound = float(values[-1])
        else:
            level = float(np.log(krylov.couplings).sum()) - math.log(share)
            bound = min(bound, _crossing(values, level))
        return bool(bound - values[-1] <= SHARP * size)

    krylov = lanczos(apply, rng.standard_normal(side), rng, stop)
    stop(krylov)
    return bound + 4 * side * EPSILON * float(abs(krylov.ritz()[0]).max())


def _crossing(zeros: Array, level: float) -> float:
    """The t above all zeros with Σ log(t − zero) = level, to three digits of t − max zero."""
    low, high = 0.0, math.exp(level / len(zeros))  # as distances from the largest zero
    distances = zeros[-1] - zeros
    while high - low > 1e-3 * high > 0:
        middle = (low + high) / 2
        if np.log(distances + middle).sum() >= level:
            high = middle
        else:
            low = middle
    return float(zeros[-1] + high)


def _upright(vector: Array) -> Array:
    """``vector`` or its negative: the first of its largest entries is positive."""
    return vector if vector[abs(vector).argmax()] > 0 else -vector


def gram(matrix: Any) -> Spectrum:
    """CᵀC for a dense or sparse C; give it the transpose where C has more columns than rows."""
    transposed = matrix.T

    def dense() -> tuple[Array, float]:
        product = transposed @ matrix
        if not is_sparse(matrix):
            return product, matrix.shape[0] * EPSILON * float(np.trace(product))
        # A sum of so many products errs by so many roundings of its size.
        by_row = matrix.format == "csr"
        counts = np.bincount(matrix.indices) if by_row else np.diff(matrix.indptr)
        terms = int(counts.max(initial=0))
        return product.toarray(), terms * EPSILON * float(product.trace())

    return Spectrum(matrix.shape[1], lambda v: transposed @ (matrix @ v), dense)


def symmetric(matrix: Any) -> Spectrum:
    """A symmetric C itself."""
    return Spectrum(
        matrix.shape[0],
        lambda v: matrix @ v,
        lambda: (matrix.toarray() if is_sparse(matrix) else matrix, 0.0),
    )
