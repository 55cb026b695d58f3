"""What measures and shows: nothing that solves.

``racing`` has the methods by name, makes one run (it is where ``rcmd.solve`` is called) and puts
many side by side. ``rcmd.theory.parallel`` is the queue that makes them, in one process or several.

- ``reproduce``: the table and the figures of the paper's Section 4
- ``bench``: speed and memory on this machine, beside other packages
- ``demos``: the teaching pages
"""
