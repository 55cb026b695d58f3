"""From a problem to a certified pair: begin with ``solve``, which has the options of a run.

- ``run``: budgets, interrupts, certificates and callbacks around any method.
- ``history``, ``result``: the records of a run, and its result.
- ``saved_results``, ``checkpoint``: results and runs in files.
- ``path``: one problem for many radii or strengths.
"""
