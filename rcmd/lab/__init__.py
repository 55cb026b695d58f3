"""Measurements and demonstrations; nothing here solves.

``racing`` runs methods by name, with ``rcmd.solve``, and compares them side by side;
``rcmd.theory.parallel`` queues the runs, in one process or several.

- ``reproduce``: the table and the figures of the paper's Section 4
- ``bench``: speed on this machine, beside other packages
- ``demos``: the teaching pages
"""
