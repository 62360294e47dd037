"""Rewritten trees as text that people can read and Python can parse."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import Any

from cassette_import.rewriting import symbols
from cassette_import.rewriting.readable_names import readable_name


def readable(tree: ast.AST, variants: Mapping[str, str]) -> str:
    """The text of a rewritten tree. The tree is changed.

    Parameters
    ----------
    tree:
        A tree with names that start with ``@``.
    variants:
        The names of the variants by the prefix of their names: ``{"@7": "SinToCos"}``.
    """
    names: dict[str, str] = {}
    taken = set(_strings(tree))
    for name in sorted(filter(symbols.is_symbol, taken)):
        spelled = readable_name(name, variants)
        while spelled in taken or spelled in names.values():
            spelled = f"_{spelled}"
        names[name] = spelled
    for node in ast.walk(tree):
        for field in () if isinstance(node, ast.Constant) else node._fields:
            value = getattr(node, field, None)
            if isinstance(value, str):
                setattr(node, field, names.get(value, value))
            elif isinstance(value, list):
                value[:] = [names.get(item, item) if isinstance(item, str) else item for item in value]
    return to_source(tree)


def _strings(tree: ast.AST) -> list[str]:
    """All names in a tree."""
    found: list[str] = []
    for node in ast.walk(tree):
        for field in () if isinstance(node, ast.Constant) else node._fields:
            value = getattr(node, field, None)
            found += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
    return found


def to_source(tree: ast.AST) -> str:
    """Readable Python for a tree: astor's if it means the same, else `ast.unparse`'s."""
    plain = ast.unparse(ast.fix_missing_locations(tree))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import astor

            pretty: Any = astor.to_source(tree)
            if ast.dump(ast.parse(pretty)) == ast.dump(ast.parse(plain)):
                return str(pretty).rstrip("\n")
        except Exception:  # astor 0.8.1 knows no match, except*, PEP 695 and, from 3.14 on, no strings
            pass
    return plain
