"""Exclusions: functions that are left alone because another compiler reads their bytecode or source.

The lists are data.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Final

from cassette_import.rewriting.trees.places import Place

READ_BY_OTHERS: Final[set[str]] = {
    "jit", "njit", "vectorize", "guvectorize", "generated_jit", "stencil", "cfunc", "jitclass",
    "script", "script_method", "kernel", "func", "pyfunc", "overload", "intrinsic",
}  # fmt: skip
"""Last names of decorators whose functions another compiler compiles."""

READERS: Final[set[str]] = {
    "numba",
    "nb",
    "cuda",
    "torch",
    "jit",
    "taichi",
    "ti",
    "triton",
    "tl",
    "warp",
    "wp",
}
"""First names of such decorators: `numba.jit`, `nb.njit`, `ti.kernel`, …"""

BARE: Final[set[str]] = {"jit", "njit", "vectorize", "guvectorize", "jitclass"}
"""Names of decorators that are sufficient without a first name."""


def reason_to_leave_alone(place: Place, own_names: Collection[str] = ()) -> str | None:
    """Why the function is left alone; None if it is not.

    Parameters
    ----------
    place:
        The place of the function.
    own_names:
        Names of the module for parts of this package, whose decorators `vectorize` and `jit` are meant for contexts.
    """
    for scope in (place.node, *place.scopes):
        for decorator in getattr(scope, "decorator_list", ()):
            name = _dotted(decorator)
            if not name or name[0] in own_names:
                continue
            first, last = name[0], name[-1]
            if last in BARE or (first in READERS and last in READ_BY_OTHERS):
                return f"its bytecode or source is read by @{'.'.join(name)}"
    return None


def own_names(text: str) -> set[str]:
    """The names that a module imports from this package, by whichever statement.

    >>> own_names("from cassette_import.contexts.lanes import vectorize as v")
    {'v'}
    """
    found = set()
    for module, alias, names in _OWN_IMPORT.findall(text):
        if module:
            found.add(alias or module.partition(".")[0])
        for item in _NO_NAMES.sub("", names).split(","):
            found.update(item.split()[-1:])
    return found


def may_leave_alone_by_scopes(text: str) -> bool:
    """Whether decorators in the text of a module may be among those whose functions are left alone."""
    decorators = [line for line in text.split("\n") if "@" in line and line.lstrip()[0] == "@"]
    return any(
        not _WORDS.isdisjoint(_WORD.findall(line)) or _OVER_SEVERAL_LINES.match(line) is not None for line in decorators
    )


_WORDS: Final = READERS | BARE
_WORD: Final = re.compile(r"\w+")
_OWN_IMPORT: Final = re.compile(
    r"^[ \t]*(?:import[ \t]+(cassette_import\b[\w.]*)(?:[ \t]+as[ \t]+(\w+))?"
    r"|from[ \t]+cassette_import\b[\w.]*[ \t]+import[ \t]*(\([^)]*|[^\n#]*))",
    re.MULTILINE,
)
_NO_NAMES: Final = re.compile(r"#[^\n]*|[(\\]")
_OVER_SEVERAL_LINES: Final = re.compile(r"\s*@\s*(?:\(|\Z)|.*\\\s*\Z")
"""A decorator whose dotted name may go on in the next line."""


def _dotted(decorator: ast.expr) -> list[str]:
    """The parts of a decorator's dotted name; empty if it is another expression."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    names: list[str] = []
    while isinstance(decorator, ast.Attribute):
        names.append(decorator.attr)
        decorator = decorator.value
    if isinstance(decorator, ast.Name):
        names.append(decorator.id)
        return names[::-1]
    return []
