"""The bodies that passes made of the functions in a function, by the place of these functions."""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.rewriting.trees.annotations import AROUND, annotate
from cassette_import.rewriting.trees.scopes import Function, clone

PASSED: Final = "_passed"
"""The attribute of a nested function's node, in a body that passes made, that holds the body they made of it."""


class NestedBodies:
    """Collects the bodies, and returns copies of them, since a nested function may be in several branches."""

    def __init__(self) -> None:
        self._bodies: dict[tuple[object, ...], dict[str, Function]] = {}  # by place, then by the prefix of the variant

    def add(self, prefix: str, made: Function) -> None:
        """Collect the bodies of the functions in an annotated function that passes made."""
        for node in ast.walk(made):
            body = getattr(node, PASSED, None)
            if body is not None:
                self._bodies.setdefault(_place(node), {})[prefix] = body
                annotate(body, *getattr(node, AROUND))
                self.add(prefix, body)

    def of(self, node: Function) -> dict[str, Any]:
        """Copies of the bodies of a nested function, by the prefix of the variant."""
        return {prefix: clone(body) for prefix, body in self._bodies.get(_place(node), {}).items()}


def _place(node: ast.AST) -> tuple[object, ...]:
    return type(node), getattr(node, "lineno", None), getattr(node, "col_offset", None)
