"""Problems and results in notebooks: their numbers, safe with any formula, and offline."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
from small_problems import problem

from rcmd import L1Ball, LeastSquares, Problem, Result, Ridge, solve

X, Y = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]]), np.array([1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Odd(LeastSquares):
    formula = '<script>alert(1)</script> & "quoted" my_name {100% of $5} ~ \\end'


class Balanced(HTMLParser):
    """Every tag that opens closes; collects the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attributes):
        if tag != "hr":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(html):
    page = Balanced()
    page.feed(html)
    page.close()
    assert page.open == []
    return page.text


def test_a_problem_shows_its_formulas_and_constants():
    task = Problem(X, Y, LeastSquares(), Ridge(0.5), weights=[1.0, 2.0, 3.0])
    text = read(task._repr_html_())
    constants = task.constants(1)
    for piece in (
        "Problem, 3 rows, 2 variables",
        "ωj l(xjTβ; yj) + R(β)",
        "l(s; y) = ½(s − y)²",
        "R(β) = ½·0.5·‖β‖₂² on",
        f"{float(constants.sigma):.6g}",
        f"{float(constants.bregman_radius):.6g}",
        "constants for 1 row a step",
    ):
        assert piece in text
    assert "ω" not in read(Problem(X, Y, LeastSquares(), Ridge(0.5))._repr_html_())


def test_a_result_shows_its_certificate_and_why_it_ended():
    task = problem("logistic", "l1-ball", n=20)
    reached = solve(task, batch=4, tol=1e-4)
    text = read(reached._repr_html_())
    for piece in (
        "✓ the certified gap reached the tolerance",
        f"P(β){float(reached.primal):.10g}value",
        f"D(w){float(reached.dual):.10g}a lower bound",
        f"gap{float(reached.gap):.3g}certified",
        f"{float(reached.certificate.loss_gap):.3g}of it from the losses",
        f"{float(reached.certificate.regularizer_gap):.3g}of it from the regularizer",
        f"{reached.history[-1].gradients:,} gradients",
        "what was solved",
        "constants for 4 rows a step",
        "tol 0.0001",
    ):
        assert piece in text
    ended = solve(task, batch=4, tol=0, max_iterations=5)
    assert "✗ the iteration budget is used up" in read(ended._repr_html_())
    alone = Result(ended.certificate, ended.history, ended.stop, ended.note)
    assert "what was solved" not in read(alone._repr_html_())


def test_what_users_write_is_escaped_and_pages_need_no_network_and_no_colour():
    task = Problem(X, Y, Odd(), L1Ball(1.0))
    for html in (task._repr_html_(), solve(task, tol=1e-1)._repr_html_()):
        assert not re.search(r"https?:|src=|href=|<script|<style|@import", html)
        assert set(re.findall(r"(?:color|background):([^;\"']+)", html)) == {"inherit", "none"}
        assert 'alert(1)</script> & "quoted" my_name {100% of $5} ~ \\end' in read(html)
