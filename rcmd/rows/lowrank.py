"""A matrix kept as a sum of rank-one matrices, never as an array."""

from typing import Any, Self

import numpy as np

from rcmd.rows.validation import Array, positive_counts

DROPPED = 1e-13
"""Share of the nuclear norm that a recompression may drop, small singular values first."""

FIRST_ROOM = 16
"""Terms after which a sum that began empty is recompressed for the first time."""


class LowRank:
    """Σ_t weights_t left_t right_tᵀ, an m × p matrix in (m + p)·terms numbers.

    Atoms are added as they come. When there are twice as many terms as the matrix had
    numerical rank, it is brought into the form of a singular value decomposition, where the
    terms that rounding made are dropped (at most a share ``DROPPED`` of the nuclear norm).

    Examples
    --------
    >>> total = LowRank((2, 3))
    >>> total.add(2.0, np.array([0.0, 1.0]), np.array([1.0, 0.0, 1.0]))
    >>> total.to_array()
    array([[0., 0., 0.],
           [2., 0., 2.]])
    >>> float(total.at(1, 2)), round(total.nuclear_norm(), 6)
    (2.0, 2.828427)
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = positive_counts("shape", shape, "LowRank", "the rows and columns", 2)
        self.terms = 0
        self._left = np.empty((self.shape[0], FIRST_ROOM))
        self._right = np.empty((self.shape[1], FIRST_ROOM))
        self._weights = np.empty(FIRST_ROOM)
        self._decomposed = True
        self._writeable = True

    @classmethod
    def of_array(cls, array: Array, dropped: float = DROPPED) -> Self:
        """An array, decomposed; for small ones."""
        matrix = cls.of_factors(array, np.eye(array.shape[1]))
        matrix.decompose(dropped)
        return matrix

    @classmethod
    def of_factors(cls, left: Array, right: Array, singular_values: Array | None = None) -> Self:
        """Σ_t left_t right_tᵀ for the columns of two arrays, which it keeps.

        With ``singular_values`` the columns are singular vectors: Σ_t σ_t left_t right_tᵀ.
        """
        matrix = cls((len(left), len(right)))
        matrix._left, matrix._right, matrix.terms = left, right, left.shape[1]
        matrix._decomposed = singular_values is not None
        matrix._weights = np.ones(matrix.terms) if singular_values is None else singular_values
        return matrix

    @property
    def left(self) -> Array:
        """The vectors left_t, as columns."""
        return self._left[:, : self.terms]

    @property
    def right(self) -> Array:
        """The vectors right_t, as columns."""
        return self._right[:, : self.terms]

    @property
    def weights(self) -> Array:
        """The numbers weights_t."""
        return self._weights[: self.terms]

    def add(self, weight: float, left: Array, right: Array) -> None:
        """``self += weight · left rightᵀ``."""
        self._refuse_if_frozen()
        if len(left) != self.shape[0] or len(right) != self.shape[1]:
            raise ValueError(
                f"left and right have lengths {len(left)} and {len(right)}; expected "
                f"{self.shape[0]} and {self.shape[1]}, the shape of the matrix"
            )
        if self.terms == len(self._weights):
            self._make_room()
        self._left[:, self.terms] = left
        self._right[:, self.terms] = right
        self._weights[self.terms] = weight
        self.terms += 1
        self._decomposed = False

    def __imul__(self, factor: float) -> "LowRank":
        self._refuse_if_frozen()
        self._weights[: self.terms] *= factor
        self._decomposed &= factor > 0
        return self

    def __truediv__(self, divisor: float) -> "LowRank":
        quotient = self.copy()
        quotient *= 1 / divisor
        return quotient

    def state(self) -> dict[str, Any]:
        """All there is to it, in plain values."""
        parts = {"left": self.left, "right": self.right, "weights": self.weights}
        flags = {"decomposed": self._decomposed, "writeable": self._writeable}
        return {"shape": list(self.shape), "room": len(self._weights), **parts, **flags}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The matrix that gave ``state``."""
        matrix = cls(tuple(state["shape"]))
        matrix.terms, room = len(state["weights"]), state["room"]
        for name in ("left", "right", "weights"):
            part = state[name]
            held = np.empty((*part.shape[:-1], room))
            held[..., : matrix.terms] = part
            setattr(matrix, f"_{name}", held)
        matrix._decomposed, matrix._writeable = state["decomposed"], state["writeable"]
        return matrix

    def copy(self) -> "LowRank":
        """A copy, which may be changed."""
        return self.from_state(self.state() | {"room": self.terms, "writeable": True})

    def setflags(self, *, write: bool) -> None:
        """Allow or refuse changes, as for arrays."""
        self._writeable = write

    def at(self, rows: Any, columns: Any) -> Array:
        """The entries (rows_t, columns_t)."""
        i, k = np.broadcast_arrays(np.asarray(rows), np.asarray(columns))
        flat = np.ravel_multi_index((i.ravel(), k.ravel()), self.shape)  # which refuses others
        return self.entries(*np.divmod(flat, self.shape[1])).reshape(i.shape)

    def entries(self, rows: Array, columns: Array) -> Array:
        """The same for vectors of places that are known to lie in the matrix."""
        from rcmd.rows.sparse_kernels import entries

        out = np.empty(len(rows))
        left, right = np.ascontiguousarray(self.left), self.right * self.weights
        entries(left, right, rows, columns, out)
        return out

    __array_ufunc__ = None  # arrays leave ``c @ self`` to this class

    def __rmatmul__(self, c: Any) -> float:
        """⟨c, self⟩, the product of matrices read as vectors, as everywhere with β."""
        matrix = c.reshape(self.shape) if isinstance(c, np.ndarray) else c
        return float(self.weights @ self.inner(matrix))

    def inner(self, matrix: Any) -> Array:
        """left_tᵀ C right_t for every t: with the weights, the parts of ⟨C, self⟩."""
        return np.einsum("ir,ir->r", self.left, matrix @ self.right)

    def singular_values(self) -> Array:
        """The singular values above rounding, largest first."""
        self.decompose()
        return self.weights.copy()

    def nuclear_norm(self) -> float:
        """The sum of the singular values."""
        self.decompose()
        return float(self.weights.sum())

    def to_array(self) -> Array:
        """The matrix as an array, for small ones."""
        return (self.left * self.weights) @ self.right.T

    def decompose(self, dropped: float = DROPPED) -> None:
        """Rewrite the sum as a singular value decomposition: the same matrix in fewer terms."""
        if self._decomposed or not self.terms:
            return
        left_basis, left_core = np.linalg.qr(self.left)
        right_basis, right_core = np.linalg.qr(self.right)
        core = (left_core * self.weights) @ right_core.T
        inner_left, values, inner_right = np.linalg.svd(core, full_matrices=False)
        tails = np.cumsum(values[::-1])[::-1]  # what dropping a value and all after it costs
        kept = int((tails > dropped * tails[0]).sum())
        self._left = left_basis @ inner_left[:, :kept]
        self._right = right_basis @ inner_right[:kept].T
        self._weights = values[:kept].copy()
        self.terms = kept
        self._decomposed = True

    def _make_room(self) -> None:
        """Recompress; room for as many more terms as are left then, and at least a few."""
        self.decompose()
        room = max(FIRST_ROOM, self.terms)
        self._left, self._right, self._weights = (
            np.concatenate([part, np.empty((*part.shape[:-1], room))], axis=-1)
            for part in (self._left, self._right, self._weights)
        )

    def _refuse_if_frozen(self) -> None:
        if not self._writeable:
            raise ValueError("this LowRank belongs to a certificate and must not change; copy it")

    def __repr__(self) -> str:
        return f"LowRank(shape={self.shape}, terms={self.terms})"
