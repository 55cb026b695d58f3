"""Expectations of rcmd's own runs, certified below a bound at a stated failure rate."""
