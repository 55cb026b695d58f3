"""``rcmd bench``: speed on this machine, a module for each measurement.

- ``engine``: time per gradient and step, beside the ``contenders``: a plain C loop
  (``baseline.c``) and COPT
- ``oracles``: argmin and minimum beside a pass of NumPy
- ``plugins``: sets that a user writes beside a loop by hand, every compiled oracle beside l1
- ``peers``: time to a certified gap beside other ``packages``, by the ``ladder``
- ``mpi``: rows on several ranks

``timing`` times contenders in turn and shows times and ratios, ``workloads`` has the data.
"""
