"""The oracle lives on rank 0, and what it answers is broadcast.

So all ranks go on with the same atom, whatever the oracle remembers from call to call and
whatever the last digits on another machine would have been; and nothing expensive is done twice.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rcmd.engine.base import checked_atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.decorators import Decorated
from rcmd.rows.atoms import Atom
from rcmd.rows.processes import Group, SharedError, same_bytes


@dataclass(frozen=True, eq=False)
class AtFirst(Decorated):
    """``oracle``, asked on rank 0 of ``group`` and answering everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from rcmd import L1Ball
    >>> from rcmd.distributed import rehearse
    >>> rehearse(2, lambda group: AtFirst(L1Ball(3.0), group).argmin(np.array([1.0, -2.0])))
    [SparseAtom(indices=(1,), values=(3.0,)), SparseAtom(indices=(1,), values=(3.0,))]
    """

    oracle: LinearMinOracle
    group: Group = field(repr=False)

    def argmin(self, c: Array) -> Atom:
        return self._ask(lambda: checked_atom(self.oracle, c))

    def minimum(self, c: Array) -> float:
        return self._ask(lambda: float(self.oracle.minimum(c)))

    def violation(self, beta: Array) -> float:
        return self._ask(lambda: float(self.oracle.violation(beta)))

    def penalty(self, beta: Array) -> float:
        return self._ask(lambda: float(self.oracle.penalty(beta)))

    def value(self, beta: Array) -> float:
        return self._ask(lambda: float(self.oracle.value(beta)))

    def fenchel_young(self, beta: Array, c: Array) -> float:
        return self._ask(lambda: float(self.oracle.fenchel_young(beta, c)))

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What rank 0 answers; its error, raised everywhere, where it has one."""
        data, fault = b"", None
        if self.group.rank == 0:
            try:
                data = pickle.dumps((question(), ""))
            except Exception as error:
                fault = error
                data = pickle.dumps((None, f"{type(error).__name__}: {error}"))
        answer, sentence = pickle.loads(same_bytes(self.group, data))
        if sentence:
            raise SharedError(sentence) from fault
        return answer
