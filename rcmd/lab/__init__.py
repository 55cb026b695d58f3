"""What measures and shows; nothing here solves.

``racing`` has the methods by name, runs one (here ``rcmd.solve`` is called) and puts many side by
side. ``rcmd.theory.parallel`` queues the runs, in one process or several.

- ``reproduce``: the table and the figures of the paper's Section 4
- ``bench``: speed and memory on this machine, beside other packages
- ``demos``: the teaching pages
"""
