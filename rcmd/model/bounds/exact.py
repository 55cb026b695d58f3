"""The bounds of Theorem I's exact steps, and Quartz's."""

from __future__ import annotations

import math

from rcmd.model.bounds.bound import Bound, Verdict
from rcmd.model.bounds.hypotheses import BOUNDED, START
from rcmd.model.bounds.linear import by_the_first_gap, excess_of, log_growth
from rcmd.model.bounds.sublinear import sizes

# fmt: off
EXACT = (
    Bound("exact-start", "", "exact", "(P(β̃⁰) − D(w⁰))/(q^k − 1)", Verdict.PROVED,
          "Theorem I: all ascents have one coefficient, and D* ≤ P(β̃⁰); attained at k = 1",
          by_the_first_gap, (START,),
          words="Theorem I with the first gap", entry="thm:exact-step"),
    Bound("exact-uniform", "", "exact", "2E", Verdict.PROVED,
          "as 'sublinear-pathwise', for D(w^k) grows in expectation, if b = 1 in every run",
          lambda c, k: 2 * sizes(c)[1], (BOUNDED,),
          words="twice the energy, for every k", entry="lem:pathwise"),
    Bound("quartz-start", "", "quartz",
          "(1 − 1/(Nσ_b))^k (P(β̃⁰) − D(w⁰))", Verdict.PROVED,
          "their main theorem: a step multiplies the expected gap by at most 1 − 1/(Nσ_b)",
          lambda c, k: float(c.start_gap) * math.exp(-log_growth(excess_of(c, c.sigma), k)),
          (START,),
          words="the first gap, smaller with every step", entry="thm:quartz"),
)
# fmt: on
