"""Random problems, and what must hold for any problem: ``rcmd fuzz``.

``cases`` draws problems, with a loss and an oracle of any class that has a spec; ``judging``
solves one here and by CVXPY and says what does not agree; ``searching`` lets Hypothesis
(``pip install 'rcmd-opt[fuzz]'``) look for a case with a finding and simplify it.
"""

from rcmd.oracles.cvxpy_oracle import HalfDisc
from rcmd.testing.fuzzing.cases import Case
from rcmd.testing.fuzzing.judging import Finding, Verdict, judge
from rcmd.testing.fuzzing.searching import first_finding, random_cases, search

__all__ = [
    "Case", "Finding", "HalfDisc", "Verdict", "first_finding", "judge", "random_cases", "search",
]  # fmt: skip
