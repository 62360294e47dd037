"""Variables that keep their values until a statement ends: such operands need no temporaries."""

from __future__ import annotations

import ast
from typing import Final, NamedTuple

from cassette_import.rewriting.trees.scopes import bound_by_expressions


class LastingVariables(NamedTuple):
    """The variables of a function that no other code can assign, and that nothing unbinds."""

    names: frozenset[str] = frozenset()
    """All of them."""
    parameters: frozenset[str] = frozenset()
    """Those that are bound when the function is entered."""


NO_VARIABLES: Final = LastingVariables()


class BoundVariables:
    """Which variables are certainly bound, as the statements of a block are rewritten in order.

    Parameters
    ----------
    lasting:
        The variables that stay bound once they are.
    """

    def __init__(self, lasting: LastingVariables) -> None:
        self._lasting = lasting.names
        self.names = lasting.parameters & lasting.names
        """Those that are bound where the next statement begins."""
        self._node: ast.AST | None = None
        self._changing: set[str] | None = None

    def begin(self, node: ast.stmt | ast.expr) -> None:
        """Note that a statement, or the expression in its head, is about to be rewritten."""
        self._node, self._changing = node, None

    def bind(self, target: ast.expr) -> None:
        """Note that a target has been assigned."""
        if isinstance(target, ast.Name):
            if target.id in self._lasting:
                self.names |= {target.id}
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.bind(part.value if isinstance(part, ast.Starred) else part)

    def stays(self, node: ast.expr) -> bool:
        """Whether an operand may be read when all others have been evaluated.

        If the statement has several lines, tracers see on which of them a variable is read.
        """
        if not isinstance(node, ast.Name) or node.id not in self.names or self._node is None:
            return False
        if self._changing is None:
            spans = getattr(self._node, "lineno", 0) != getattr(self._node, "end_lineno", 1)
            self._changing = set(self.names) if spans else bound_by_expressions(self._node)
        return node.id not in self._changing
