"""What measures and shows: nothing that solves.

``racing`` has the methods by name and makes one run: it is where ``rcmd.solve`` is called.
``rcmd.theory.parallel`` is the queue that makes many, here or in several processes.

- ``compare``: methods side by side on one problem
- ``reproduce``: the table and the figures of the paper's Section 4
- ``bench``: speed and memory on this machine, beside other packages
- ``demos``: the teaching pages
"""
