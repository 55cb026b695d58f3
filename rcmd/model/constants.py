"""The numbers of a problem that the theorems and the schedules speak about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constants:
    """The constants of (P) for batches of ``batch`` rows drawn out of ``n``.

    Per-sample smoothness γ_j (weights make it differ from row to row) enters through
    the three *energies*, so that every bound stays as sharp as the data allow.

    Attributes
    ----------
    n, batch
        Rows, and rows per step (b).
    gamma
        γ = max_j γ_j, the largest Lipschitz constant of a derivative l_j'.
    prediction_bound
        M = max_j M_j with M_j = max_{β ∈ dom R} |x_jᵀβ|.
    prediction_energy
        (1/n) Σ_j γ_j M_j², which is γ M̄² when all γ_j are equal.
    bregman_radius
        D_max, an upper bound of D_h(ŵ, w⁰) over all responses ŵ.
    mu
        Strong convexity μ of R in the Euclidean norm; 0 when it has none.
    row_energy
        max_j γ_j ‖x_j‖₂²; ``None`` while μ = 0, where nothing asks for it.
    spectral_energy
        ‖diag(√γ_j) X‖₂², the largest eigenvalue of Σ_j γ_j x_j x_jᵀ; ``None`` likewise.
    quadratic
        Whether every l_j is a quadratic function (some statements hold only then).
    smallest_gamma
        min_j γ_j; ``None`` where all are equal.

    Examples
    --------
    >>> from rcmd import LeastSquares, Problem, Ridge
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Ridge(0.5))
    >>> constants = problem.constants(batch=1)
    >>> float(constants.blocks), float(constants.sigma)  # σ = 1 + 2²/(2·½)
    (2.0, 5.0)
    """

    n: int
    batch: int
    gamma: Any
    prediction_bound: Any
    prediction_energy: Any
    bregman_radius: Any
    mu: Any
    row_energy: Any
    spectral_energy: Any
    quadratic: bool
    smallest_gamma: Any = None

    @property
    def blocks(self) -> Any:
        """N = n/b, the real number that takes the place of n for batches of b rows."""
        return type(self.gamma)(self.n) / self.batch

    def sigma_of(self, energy: Any) -> Any:
        """1 + energy/(n μ): relative smoothness of −D along directions of that energy."""
        return 1 + energy / (self.n * self.mu)

    @property
    def sigma_printed(self) -> Any:
        """σ = 1 + γ max‖x_j‖²/(n μ) of Prop. coordinate smoothness: right for b = 1 only."""
        return self.sigma_of(self.row_energy)

    @property
    def sigma(self) -> Any:
        """σ_b, the expected relative smoothness of −D for batches drawn without replacement.

        σ_b = 1 + [ (n−b)/(n−1) max_j γ_j‖x_j‖² + (b−1)/(n−1) ‖diag(√γ)X‖₂² ] / (n μ);
        b = 1 gives the paper's σ, b = n the deterministic constant. For n = 1 both
        energies agree.
        """
        if self.batch == 1:
            return self.sigma_printed
        share = type(self.gamma)(self.batch - 1) / (self.n - 1)
        return self.sigma_of((1 - share) * self.row_energy + share * self.spectral_energy)

    @property
    def sigma_full(self) -> Any:
        """s_n = 1 + ‖diag(√γ)X‖₂²/(n μ): relative smoothness of −D in every direction."""
        return self.sigma_of(self.spectral_energy)
