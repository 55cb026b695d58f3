"""A run and its result, in lines for people and as plain data for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from rcmd.lowrank import LowRank
from rcmd.result import Checkpoint, Result, StopReason

HEADER = f"{'gradients':>12} {'P(β)':>14} {'D(w)':>14} {'certified gap':>14} {'bound on E gap':>15}"


def row(state: Checkpoint) -> str:
    """One line under ``HEADER``."""
    bound = "corrections" if state.phase == "corrective" else f"{state.bound:.3e}"
    return (
        f"{state.gradients:>12,} {float(state.primal):>14.8f} {float(state.dual):>14.8f} "
        f"{float(state.gap):>14.3e} {bound:>15}"
    )


def doublings(history: Any) -> Iterator[Checkpoint]:
    """A checkpoint for each doubling of the gradients, and the last one.

    Certificates are closer together than people can read.
    """
    shown, last = 0, None
    for state in history:
        last = state
        if state.gradients >= 2 * shown:
            shown, last = state.gradients, None
            yield state
    if last is not None:
        yield last


def ending(result: Result) -> Iterator[str]:
    """How the run ended, and what its certificate says."""
    pair = result.certificate
    yield result.message
    if result.stop in (StopReason.GRADIENTS, StopReason.SECONDS):
        yield "for a smaller gap raise --max-gradients or --max-seconds"
    yield f"P(β) = {float(pair.primal):.10f} is at most {float(pair.gap):.3e} above the optimum:"
    yield f"  losses      (1/n) Σ l(xᵀβ) + l*(w) − w·xᵀβ   = {float(pair.loss_gap):.3e}"
    yield f"  regularizer R(β) + R*(−Xᵀw/n) + (Xᵀw/n)ᵀβ    = {float(pair.regularizer_gap):.3e}"


def as_data(result: Result) -> dict[str, Any]:
    """Everything but w, which ``--save`` keeps; β by its entries that are not zero."""
    pair, last = result.certificate, result.history[-1]
    return {
        "problem": None if result.about is None else asdict(result.about),
        "options": result.options,
        "stop": result.stop.name,
        "success": result.success,
        "message": result.message,
        "note": result.note,
        "primal": pair.primal,
        "dual": pair.dual,
        "gap": pair.gap,
        "loss_gap": pair.loss_gap,
        "regularizer_gap": pair.regularizer_gap,
        "iterations": last.iteration,
        "gradients": last.gradients,
        "oracle_calls": last.oracle_calls,
        "seconds": last.seconds,
        "beta": _beta(result.beta),
        "history": result.history.as_dicts(),
    }


def _beta(beta: Any) -> dict[str, Any]:
    if isinstance(beta, LowRank):
        return {"shape": beta.shape, "singular_values": beta.copy().singular_values()}
    places = np.flatnonzero(beta)
    return {"length": len(beta), "nonzero": places, "values": beta[places].astype(float)}
