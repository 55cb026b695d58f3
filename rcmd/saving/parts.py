"""What a run has beside its state: parts that a new run brings along, and the oracle's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcmd.oracles.base import LinearMinOracle
from rcmd.saving.faults import CannotSave

if TYPE_CHECKING:
    from rcmd.running import Run


def parts_of(run: Run) -> dict[str, Any]:
    """The parts by name, which stand for themselves in a checkpoint."""
    problem = run.problem
    data = {f"rows.{name}": value for name, value in vars(problem.rows).items()}
    return {
        **{name: value for name, value in data.items() if hasattr(value, "shape")},
        "y": problem.losses.y,
        "weights": problem.losses.weights,
        "problem": problem,
        "rows": problem.rows,
        "losses": problem.losses,
        "loss": problem.loss,
        "oracle": problem.oracle,
        "schedule": run.schedule,
        "prox": run.prox,
    }


def memory_of(oracle: LinearMinOracle) -> Any:
    """What the oracle remembers of this run; refused where a class forgets but does not tell."""
    order = [vars(base) for base in type(oracle).__mro__]
    forgets, tells = (
        next(i for i, own in enumerate(order) if name in own) for name in ("restart", "remembered")
    )
    if forgets < tells:
        raise CannotSave(
            f"{type(oracle).__name__} has a restart() of its own but no remembered(), so that a "
            "checkpoint could not hold what it remembers; expected both, and remember(memory)"
        )
    return oracle.remembered()
