"""Functions that are left alone on purpose, because somebody else reads their bytecode or source. The lists are
data."""

from __future__ import annotations

import ast
from typing import Final

from cassette_import.rewriting.trees.code_matching import Place

READ_BY_OTHERS: Final[set[str]] = {
    "jit", "njit", "vectorize", "guvectorize", "generated_jit", "stencil", "cfunc", "jitclass",
    "script", "script_method", "kernel", "func", "pyfunc", "overload", "intrinsic",
}  # fmt: skip
"""Last names of decorators whose functions are compiled by somebody else."""

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
"""First names: `numba.jit`, `nb.njit`, `ti.kernel`, …"""

BARE: Final[set[str]] = {"jit", "njit", "vectorize", "guvectorize", "jitclass"}
"""Names that say it all by themselves."""


def reason_to_leave_alone(place: Place) -> str | None:
    """Why the function is left alone, or None."""
    for scope in (place.node, *place.scopes):
        for decorator in getattr(scope, "decorator_list", ()):
            name = _dotted(decorator)
            if not name:
                continue
            first, last = name[0], name[-1]
            if last in BARE or (first in READERS and last in READ_BY_OTHERS):
                return f"its bytecode or source is read by @{'.'.join(name)}"
    return None


def _dotted(decorator: ast.expr) -> list[str]:
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
