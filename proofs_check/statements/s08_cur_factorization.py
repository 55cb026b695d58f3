r"""In the CUR example one index is a row, the other a column, and the oracle is a linear programme.

Paper: Example 1.3 (exam:cur), Section 1.1
Claim: $\tfrac{1}{2nd}\|M - M\beta M\|_F^2$ under $\sum_i\|\beta_{i,\cdot}\|_\infty \le \delta$ and
    $\sum_j\|\beta_{\cdot,j}\|_\infty \le \delta$ is (P) with losses
    $\tfrac12(M_{i,j} - M_i^T\beta M_j)^2$.
Hypotheses: none
Verdict: TYPO
Correction: $\beta \in \mathbb{R}^{d\times n}$, $M_i$ is the i-th row and $M_j$ the j-th column, so
    $x_{(i,j)} = M_{i,\cdot} \otimes M_{\cdot,j}$. The oracle has no closed form: it is a linear
    programme, whose value can lie below those of both norm balls alone.
Proof: exact
Check: a 4 by 3 and a 3 by 3 matrix of integers; an oracle value certified from both sides in
    fractions.
Tested: n = 12 and 9, p = 12 and 9, no steps; integer matrices 4 by 3 and 3 by 3, squared losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import default_rng

from proofs_check.statement import Finding, Kind, check


def data_vector(matrix: Any, i: int, j: int) -> Any:
    """x_(ij) as a d × n array: row i times column j."""
    return np.outer(matrix[i], matrix[:, j])


@check(
    Kind.EXACT,
    data_vector,
    {
        "both rows": lambda matrix, i, j: np.outer(matrix[i], matrix[j % len(matrix)]),
        "column first": lambda matrix, i, j: np.outer(matrix[:, j], matrix[i]),
        "the next column": lambda matrix, i, j: data_vector(matrix, i, (j + 1) % matrix.shape[1]),
    },
)
def rows_and_columns_give_the_product(vector: Any) -> Finding:
    """⟨x_(ij), β⟩ = (MβM)_ij in integers, where the shapes allow it at all."""
    generator = default_rng(9)
    wrong = 0
    for shape in ((4, 3), (3, 3)):
        matrix = generator.integers(-5, 6, shape)
        beta = generator.integers(-5, 6, shape[::-1])
        product = matrix @ beta @ matrix
        for i in range(shape[0]):
            for j in range(shape[1]):
                x = vector(matrix, i, j)
                wrong += x.shape != beta.shape or int((x * beta).sum()) != int(product[i, j])
    return Finding(wrong == 0, f"{wrong} of 21 entries differ")


C = ((1, 1), (1, 0))
BETA = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(0)))
SPLIT = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0)))


def transposed(matrix: Any) -> Any:
    """The rows of the transpose."""
    return tuple(zip(*matrix, strict=True))


def largest_row(matrix: Any) -> Any:
    """max_i ‖row i‖₁: the conjugate of Σ‖β_i·‖_∞ ≤ 1."""
    return max(sum(map(abs, row)) for row in matrix)


@check(
    Kind.EXACT,
    BETA,
    {
        "the answer of the row ball alone": ((1, 1), (0, 0)),
        "a point that is feasible, not best": ((Fraction(1, 2), Fraction(1, 2)), (0, 0)),
    },
)
def the_oracles_value_lies_below_both_closed_forms(beta: Any) -> Finding:
    """C = A + B bounds ⟨C, β⟩ by largest_row(A) + largest_row(Bᵀ); here 3/2 from both sides."""
    feasible = all(
        sum(max(map(abs, row)) for row in matrix) <= 1 for matrix in (beta, transposed(beta))
    )
    value = sum(c * b for x, y in zip(C, beta, strict=True) for c, b in zip(x, y, strict=True))
    other = tuple(
        tuple(c - a for c, a in zip(x, y, strict=True)) for x, y in zip(C, SPLIT, strict=True)
    )
    upper = largest_row(SPLIT) + largest_row(transposed(other))
    closed = min(largest_row(C), largest_row(transposed(C)))
    return Finding(
        feasible and value == upper and upper < closed,
        f"feasible {feasible}, value {value} = upper bound {upper}; closed forms give {closed}",
    )
