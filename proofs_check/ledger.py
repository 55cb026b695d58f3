"""All statements, in the order of the paper."""

from __future__ import annotations

import importlib
import pkgutil

from proofs_check import statements
from proofs_check.statement import Statement, read_statement


def ledger() -> list[Statement]:
    """Every module of ``statements``; their names begin with their place in the paper."""
    names = sorted(found.name for found in pkgutil.iter_modules(statements.__path__))
    modules = [importlib.import_module(f"{statements.__name__}.{name}") for name in names]
    return [read_statement(module) for module in modules]
