"""Atoms that an oracle writes into given arrays: one definition, compiled and in Python.

A class that defines ``write_atom`` or ``write_entries`` (see ``base.LinearMinOracle``) needs no
``argmin``: that and the compiled loop run the same machine code. Fractions, and classes that numba
does not compile, run the method as it stands.
"""

import math
from typing import Any

import numpy as np

from rcmd.oracles.vectors import atom_on
from rcmd.rows.atoms import Atom, DenseAtom
from rcmd.rows.validation import Array, warn_caller

ROUNDING = 1e-9
"""By this share of their size, two codes for one atom may differ."""

FORMS = ("write_atom", "write_entries")

KEPT = "_writer"
"""Where an oracle keeps its compiled writer, or ``None``; it is not copied or pickled with it."""


def form_of(oracle: Any) -> str:
    """Which of FORMS the class defines, the more derived one of two; nothing where none."""
    for base in type(oracle).__mro__:
        for name in FORMS:
            if vars(base).get(name) is not None:
                return name
    return ""


def compiled_writer(oracle: Any) -> Any:
    """The ``rcmd.jit.writers.Writer`` of an oracle; ``None``, with a warning, if numba fails."""
    if KEPT not in vars(oracle):
        from rcmd.jit.scalars import CannotCompile
        from rcmd.jit.writers import Writer

        try:
            vars(oracle)[KEPT] = Writer(oracle, form_of(oracle))
        except CannotCompile as reason:
            vars(oracle)[KEPT] = None
            warn_caller(f"calling the oracle from Python, because {reason}")
    return vars(oracle)[KEPT]


def written_atom(oracle: Any, c: Array) -> Atom:
    """The atom at c, in machine code if c are floats and numba compiles the class."""
    if c.dtype == object or (write := compiled_writer(oracle)) is None:
        return interpreted_atom(oracle, c)
    if not write.tried:  # once in Python, where a place outside an array is an error
        interpreted_atom(oracle, c)
        write.tried = True
    c = np.ascontiguousarray(c, dtype=float)
    values, indices = np.empty(len(c)), _places(oracle, c)
    return _as_atom(oracle, write(c, indices, values), indices, values)


def interpreted_atom(oracle: Any, c: Array, fill: Any = 0) -> Atom:
    """The same by Python, in arrays that hold ``fill`` at first."""
    values, indices = np.full(len(c), fill, np.result_type(c, float)), _places(oracle, c)
    with np.errstate(all="ignore"):  # as machine code does
        if form_of(oracle) == "write_atom":
            oracle.write_atom(c, values)
            return DenseAtom(values)
        count = oracle.write_entries(c, indices, values)
    atom, places = _as_atom(oracle, count, indices, values), indices[:count].tolist()
    if twice := [place for place in places if places.count(place) > 1]:
        raise ValueError(
            f"write_entries of {type(oracle).__name__} wrote the place {twice[0]} more than once; "
            "expected entries at different places"
        )
    return atom


def disagreement(oracle: Any, c: Array, *, compiled: bool = True) -> str:
    """How the atom of the method in Python differs from that of ``argmin``, or compiled.

    Nothing where they are one vector up to rounding. Python sees what machine code does not: places
    outside an array, and entries that are never written.
    """
    form, c = form_of(oracle), np.asarray(c, dtype=float)
    try:
        found = interpreted_atom(oracle, c, fill=math.nan).dense(c)
    except Exception as fault:  # whatever the user's code raises
        return f"an error in Python, {type(fault).__name__}: {fault}"
    if np.isnan(found).any():
        return f"a vector whose entry {int(np.isnan(found).argmax())} is unwritten or NaN"
    tied = " at a c with ties (np.argsort needs kind='stable')" if len(set(abs(c))) < len(c) else ""
    others = {"argmin": oracle.argmin(c)}
    if compiled:
        others[f"compiled {form}"] = written_atom(oracle, c)
    for name, atom in others.items():
        apart = float(abs(atom.dense(c) - found).max())
        if not apart <= ROUNDING * (1 + float(abs(found).max())):
            return f"{apart:.3g} away in Python from {name}{tied}"
    return ""


def _places(oracle: Any, c: Array) -> Array:
    return np.empty(len(c) if form_of(oracle) == "write_entries" else 0, np.int64)


def _as_atom(oracle: Any, count: int, indices: Array, values: Array) -> Atom:
    if form_of(oracle) == "write_atom":
        return DenseAtom(values)
    places = indices[: max(count, 0)]
    p = len(values)
    if not 0 <= count <= p or (places < 0).any() or (places >= p).any():
        raise ValueError(wrong_entries(oracle, p))
    return atom_on(places, values[:count], p)


def wrong_entries(oracle: Any, p: int) -> str:
    """The message for entries that no vector has."""
    return (
        f"write_entries of {type(oracle).__name__} wrote a place outside 0, …, {p - 1} or returned "
        f"another count than 0 to {p}; expected how many entries it wrote, at different places"
    )
