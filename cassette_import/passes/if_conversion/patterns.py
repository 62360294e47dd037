"""Patterns of `match`: what a pattern decides by identity or in C asks the active context.

`None`, `True` and `False` are compared by identity, and C code looks at the class of what a sequence or mapping
pattern is matched with. Neither can ask an object that stands for the values of many lanes. So these patterns become
class patterns: their classes are attributes of the context, and `isinstance` asks those.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.passes.if_conversion.code import CONTEXT, load

__all__ = ["converted_pattern"]

_CLASSES: Final[dict[Any, str]] = {None: "none_class", True: "true_class", False: "false_class"}


def converted_pattern(pattern: ast.pattern) -> ast.pattern:
    """The pattern in the place of one, which may be that of a whole case: the subject itself is no lane of objects."""
    if isinstance(pattern, ast.MatchOr):
        return ast.MatchOr([converted_pattern(one) for one in pattern.patterns])
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return ast.MatchAs(converted_pattern(pattern.pattern), pattern.name)
    inside: Any = _Inside()
    convert = inside.visit if isinstance(pattern, ast.MatchSingleton) else inside.generic_visit
    converted: ast.pattern = convert(pattern)
    return converted


class _Inside(ast.NodeTransformer):
    """Converts patterns whose subject may be any part of the subject of `match`."""

    def visit_MatchSingleton(self, node: ast.MatchSingleton) -> ast.pattern:
        """`None`, `True`, `False`: a class with one object."""
        return _class(_CLASSES[node.value])

    def visit_MatchSequence(self, node: ast.MatchSequence) -> ast.pattern:
        """`[a, b]`: of a value of lanes, the part that the lanes agree on is tried."""
        self.generic_visit(node)
        return ast.MatchOr([_class("lane_class", agreed=node), node])

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.pattern:
        """`{"key": a}`: as a sequence."""
        self.generic_visit(node)
        return ast.MatchOr([_class("lane_class", agreed=node), node])


def _class(name: str, **attributes: ast.pattern) -> ast.MatchClass:
    kind = ast.Attribute(load(CONTEXT), name, ast.Load())
    return ast.MatchClass(kind, [], list(attributes), list(attributes.values()))
