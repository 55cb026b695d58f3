"""Rows, and the prox and the schedule of a run."""

from typing import Any

import numpy as np

from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx
from rcmd.model.schedules import Schedule
from rcmd.model.vetting.subject import OF_SUMS, RELATIVE, Sample, Subject, as_vector
from rcmd.rows.atoms import DenseAtom, SparseAtom
from rcmd.rows.base import Rows


def check_rows(subject: Subject, problem: Problem, sample: Sample) -> None:
    """All products are those of the matrix whose rows are ``row(j)``."""
    rows: Rows = problem.rows
    rng, places, vectors = np.random.default_rng(0), sample.places, sample.rows.array
    beta = rng.integers(-1000, 1000, rows.p).astype(rows.number_type)
    w = rng.integers(-1000, 1000, rows.n).astype(rows.number_type)
    predictions, slope = rows.matvec(beta), np.asarray(as_vector(rows.rmatvec(w)))
    both = rows.products(beta, w)
    size = float(abs(w) @ abs(predictions) + abs(slope) @ abs(beta))
    for name, sums in (("rmatvec", slope), ("products", np.asarray(as_vector(both[1])))):
        there, back = float(w @ predictions), float(sums @ beta)
        if not abs(there - back) <= OF_SUMS * size:
            expected = f"{there:.10g} = wᵀ(Xβ): matvec and {name} must belong to the same matrix"
            subject.refuse(name, "random β and w", back, expected)
    total: Any = rows.rmatvec(0 * w)
    rows.scatter(places, w[places], total)
    lower, upper = -abs(beta), abs(beta) + 1
    products = vectors * lower, vectors * upper
    low, high = rows.box_range(lower, upper)
    smallest, largest = rows.entry_range()
    single = SparseAtom((0, rows.p - 1)[: rows.p], (2, 3)[: rows.p])
    zero = np.zeros(rows.p, dtype=rows.number_type)
    answers = {
        "matvec": (predictions[places], vectors @ beta),
        "products": (both[0][places], vectors @ beta),
        "predict": (rows.predict(places, DenseAtom(beta)), vectors @ beta),
        "predict at a sparse atom": (rows.predict(places, single), vectors @ single.dense(zero)),
        "scatter": (as_vector(total), w[places] @ vectors),
        "square_norms": (rows.square_norms()[places], (vectors * vectors).sum(axis=1)),
        "max_norms": (rows.max_norms()[places], abs(vectors).max(axis=1)),
        "entry_range": (smallest[places] + largest[places], vectors.min(axis=1) + vectors.max(1)),
        "box_range, low": (low[places], np.minimum(*products).sum(axis=1)),
        "box_range, high": (high[places], np.maximum(*products).sum(axis=1)),
    }
    for method, (found, right) in answers.items():
        error = abs(np.asarray(found, dtype=float) - np.asarray(right, dtype=float))
        if not error.max() <= OF_SUMS * (1 + float(abs(right).max())):
            k = int(error.argmax())
            place = f"entry {k}" if method == "scatter" else f"row {places[k]}"
            expected = f"{float(right[k]):.10g}, as row(j) gives it"
            subject.refuse(method, place, float(found[k]), expected)
    own = rows.spectral_energy.__module__.partition(".")[0] != "rcmd"
    if own and problem.oracle.mu > 0:  # by products, which were compared
        scales = np.linspace(0.5, 1.5, rows.n)
        energy, least = rows.spectral_energy(scales), Rows.spectral_energy(rows, scales)
        if not energy >= least * (1 - OF_SUMS):
            where, expected = "scales from 0.5 to 1.5", f"at least {least:.10g}, by matvec"
            subject.refuse("spectral_energy", where, float(energy), expected)


def check_prox(subject: Subject, problem: Problem, prox: BregmanProx) -> None:
    """The mirror map increases along s, and ``inverse`` inverts it."""
    losses = problem.losses
    for j in Sample(problem).places.tolist():
        y, bound = losses.y[j], problem.prediction_bounds[j]
        weight = 1 if losses.weights is None else losses.weights[j]
        states = [bound * k / 4 for k in range(-4, 5)]
        loss = losses.one(j)
        mirrors = [prox.mirror(loss, s, y, weight) for s in states]
        size = float(max(map(abs, mirrors)))
        for k, (s, m) in enumerate(zip(states, mirrors, strict=True)):
            where = f"sample {j} (label {float(y):g}) and s = {float(s):.10g}"
            if k and not m >= mirrors[k - 1] - OF_SUMS * size:
                expected = f"at least {float(mirrors[k - 1]):.10g}: h' must be increasing"
                subject.refuse("mirror", where, float(m), expected)
            back = prox.inverse(loss, m, 0 * s, y, weight, bound)
            again = prox.mirror(loss, back, y, weight)
            if not abs(again - m) <= OF_SUMS * size:
                expected = "an s with the same mirror(s)"
                subject.refuse("inverse", f"{where}, m = {float(m):.10g},", float(back), expected)


def check_schedule(subject: Subject, schedule: Schedule) -> None:
    """0 < η_i ≤ 1, and positive averaging weights: α_i = c_i/C_i, growth C_i/C_base.

    Engines look at steps that see the run.
    """
    for i in (*range(12), 100, 1001, 10**4):
        where = f"i = {i}"
        eta = 1.0 if schedule.sees_run else float(schedule.step(i))
        share = float(schedule.mixing(i))
        for method, number in (("step", eta), ("mixing", share)):
            if not 0 < number <= 1 + RELATIVE:
                subject.refuse(method, where, number, "a number in (0, 1]")
        growth = float(schedule.growth(i + 1, i)) * (1 - float(schedule.mixing(i + 1)))
        if not abs(growth - 1) <= OF_SUMS:
            expected = "1/(1 − mixing(i + 1)), which C_{i+1}/C_i is"
            subject.refuse(
                "growth", f"{where} + 1, base {i},", float(schedule.growth(i + 1, i)), expected
            )
