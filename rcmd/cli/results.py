"""A run and its result, in lines for people and as plain data for programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.applications import cur
from rcmd.oracles import Counting
from rcmd.reporting.json_output import say, write_json
from rcmd.reporting.tables import about_command
from rcmd.rows.lowrank import LowRank
from rcmd.solver.history import Record, StopReason
from rcmd.solver.result import Result
from rcmd.solver.saved_results import as_data

Array = npt.NDArray[Any]

HEADER = f"{'gradients':>12} {'P(β)':>14} {'D(w)':>14} {'certified gap':>14} {'bound on E gap':>15}"

SHOWN = 6
"""Singular values, columns and rows that are written out."""


def row(state: Record) -> str:
    """One line under ``HEADER``."""
    bound = "corrections" if state.phase == "corrective" else f"{state.bound:.3e}"
    return (
        f"{state.gradients:>12,} {float(state.primal):>14.8f} {float(state.dual):>14.8f} "
        f"{float(state.gap):>14.3e} {bound:>15}"
    )


def ending(result: Result) -> Iterator[str]:
    """How the run ended, and what its certificate says."""
    pair = result.certificate
    yield result.message
    if result.stop in (StopReason.GRADIENTS, StopReason.SECONDS):
        yield "for a smaller gap raise --max-gradients or --max-seconds"
    yield f"P(β) = {float(pair.primal):.10f} is at most {float(pair.gap):.3e} above the optimum:"
    yield f"  losses      (1/n) Σ l(xᵀβ) + l*(w) − w·xᵀβ   = {float(pair.loss_gap):.3e}"
    yield f"  regularizer R(β) + R*(−Xᵀw/n) + (Xᵀw/n)ᵀβ    = {float(pair.regularizer_gap):.3e}"


def report(
    result: Result,
    options: argparse.Namespace,
    remarks: list[str],
    said: list[str],
    **settings: Any,
) -> None:
    """Print how the run ended and what is ``said`` of it; write what the options ask for."""
    say("\n".join(["", *ending(result), *said]), options.json)
    if options.save is not None:
        result.save(options.save)
    if options.plot is not None:
        result.plot().savefig(options.plot)
    words = {"remarks": remarks, "said": said}
    write_json(about_command(options, **settings) | as_data(result) | words, options.json)


def about_solution(problem: Any, result: Result) -> Iterator[str]:
    """Calls of the oracle that were counted, the rank of a matrix β, the intercept."""
    oracle = problem.regularizer
    if isinstance(oracle, Counting):
        counted = (f"{name} {oracle.calls[name]}" for name in Counting.counted)
        yield "calls of the oracle: " + ", ".join(counted)
    shape, matrix = getattr(oracle, "shape", None), result.beta
    if isinstance(shape, tuple) and not isinstance(matrix, LowRank):
        matrix = LowRank.of_array(np.asarray(matrix[: shape[0] * shape[1]]).reshape(shape))
    if isinstance(matrix, LowRank):
        values = matrix.singular_values()
        rank = int((values > 1e-12 * values.max(initial=0)).sum())
        yield (
            f"β is {matrix.shape[0]} × {matrix.shape[1]} of rank {rank} and nuclear norm "
            f"{values.sum():.6g}, with singular values {_first(f'{value:.4g}' for value in values)}"
        )
    if problem.intercept is not None:
        yield f"intercept {result.beta[-1]:.6g}"


def chosen_columns_and_rows(
    M: Array, keep: tuple[int, int] | None, result: Result
) -> Iterator[str]:
    """The columns and rows of M by their weights in β, and how well those kept predict M."""
    sizes = abs(result.beta.reshape(M.T.shape))
    counts = []
    for what, axis in (("columns", 1), ("rows", 0)):
        weights = sizes.max(axis=axis)
        order = np.argsort(-weights, kind="stable")
        if keep is None:
            count = int((weights[order].cumsum() < 0.9 * weights.sum()).sum()) + 1
        else:
            count = keep[1 - axis]
        counts.append(count)
        yield f"{what} of M by weight: " + _first(f"{j} ({weights[j]:.4g})" for j in order)
    found = cur.factorization(M, result, *counts)
    yield (
        f"M ≈ CUR with columns {', '.join(map(str, found.columns))} and rows "
        f"{', '.join(map(str, found.rows))}: relative error {found.error:.4f}"
    )


def _first(words: Iterator[str]) -> str:
    """Some words and dots for the others."""
    every = list(words)
    return ", ".join(every[:SHOWN] + ["…"] * (len(every) > SHOWN))
