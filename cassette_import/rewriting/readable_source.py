"""Rewritten trees as text that people can read and Python can parse."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Mapping
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import MARK

# ---- readable names: what readers of rewritten code get to see for a symbol

_HOOK: Final = r"(free)?(pre|post)(\d+)\.(\d+)$"
_KIND: Final = r"(^|\.)(\d+)$"


def readable_name(name: str, variants: Mapping[str, str]) -> str:
    """An identifier for readers; `variants` holds what the variants are called, by prefix.

    >>> readable_name("@7.pre0.1", {"@7": "SinToCos"}), readable_name("@f0", {})
    ('_SinToCos_prehook_calls', '_f0')
    """
    prefix, _, rest = name.partition(".")
    variant = variants.get(prefix)
    first = prefix.removeprefix(MARK) if variant is None else variant
    several = variant is not None and " + " in variant

    def hook(match: re.Match[str]) -> str:
        return f"{match[2]}hook{match[3] if several else ''}.{_kind_name(match[4])}"

    rest = re.sub(_HOOK, hook, rest)
    rest = re.sub(_KIND, lambda match: f"{match[1]}{_kind_name(match[2])}", rest)
    made = "_" + re.sub(r"\W+", "_", f"{first}.{rest}" if rest else first).strip("_")
    return f"{made}_" if keyword.iskeyword(made) else made


def _kind_name(number: str) -> str:
    return (Events(int(number)).name or number).lower().replace("|", "_")


# ---- rewritten trees as text that people can read and Python can parse


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
