"""What is called during a run is asked before it starts how many arguments it takes."""

import pytest

from rcmd import RCMD, L1Ball, LeastSquares, Problem, solve
from rcmd.model.bounds import Bound


class Deaf:
    """Accounting that takes no step."""

    def record(self):
        pass


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda problem: solve(problem, callbacks=lambda: None), "expected a function of a State"),
        (lambda problem: RCMD(accounting=[Deaf()]), r"expected objects with record\(step\)"),
        (lambda problem: Bound("mine", value=lambda c: 1.0), r"function of \(constants, k\)"),
    ],
)
def test_a_wrong_number_of_arguments_is_refused(make, expected):
    with pytest.raises(TypeError, match=expected):
        make(Problem([[1.0]], [1.0], LeastSquares(), L1Ball(1.0)))


def test_functions_that_do_not_say_are_taken():
    assert Bound("mine", value=max).value is max
