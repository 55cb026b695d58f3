"""The problem (P), its dual (D) and their theory; begin with ``problem``.

- ``problem``: data, losses and regularizer; ``constants``: its constants and its description.
- ``certificate``: a pair (β, w) and the gap it proves; ``truth``: the optimum by CVXPY.
- ``prox``, ``schedules``: the geometry of the dual step, its sizes and averaging weights.
- ``bounds``: the theorems' inequalities, printed and proved.
- ``ownership``: what is rcmd's own, as it was written; ``vetting``: all else, checked before
  anything is certified.
- ``specs``, ``user_code``: losses and oracles from text; ``fingerprint``: hashes of all of it.
"""
