"""The pair (P), (D) and what is known about it; begin with ``problem``.

- ``problem``: data, losses and regularizer together; ``constants``: its numbers, its description.
- ``certificate``: a pair (β, w) and the gap it proves; ``truth``: the optimum by CVXPY.
- ``prox``, ``schedules``: the geometry of the dual step, its sizes and averaging weights.
- ``bounds``: the theorems' inequalities, printed and proved.
- ``specs``, ``user_code``: losses and oracles from text; ``fingerprint``: hashes of all of it.
"""
