"""The test at a function's entry, and what stands around a function.

Knows trees and shapes; must not know how events are made.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from cassette_import.rewriting import symbols
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.node_builder import At


class Surroundings(NamedTuple):
    """What stands around a function: the class whose private names it uses, names of functions around it, a short name
    of its file, and the names that its module assigns."""

    class_name: str | None = None
    free_names: tuple[str, ...] = ()
    file: str = ""
    objects: frozenset[str] = frozenset()


class Entry:
    """The test at a function's entry. `root` names a module that is overdubbed for the sake of a root function only."""

    def __init__(self, root: str | None = None) -> None:
        self.root = root

    def test(self, at: At, shape: Shape, first: bool, temporaries: bool, only: bool = True) -> ast.expr:
        """`@on and (@a := @get()).family is @7`; for further branches `@v is @7`. Guards need not know who is active:
        those who meet a target ask."""
        if only and shape.guarded and self.root is None:
            return at.load(symbols.IS_ANY_ACTIVE)
        if not temporaries:
            family: ast.expr = at.attribute(at.call(at.load(symbols.GET_ACTIVATION), []), "family")
            tests: list[ast.expr] = [at.load(symbols.IS_ANY_ACTIVE), at.same(family, at.load(shape.prefix))]
        elif first and only:
            family = at.attribute(at.let(symbols.ACTIVATION, at.call(at.load(symbols.GET_ACTIVATION), [])), "family")
            tests = [at.load(symbols.IS_ANY_ACTIVE), at.same(family, at.load(shape.prefix))]
        elif first:
            family = at.attribute(at.let(symbols.ACTIVATION, at.call(at.load(symbols.GET_ACTIVATION), [])), "family")
            read = at.let(symbols.FAMILY, at.put(ast.BoolOp(ast.And(), [at.load(symbols.IS_ANY_ACTIVE), family])))
            tests = [at.same(read, at.load(shape.prefix))]
        else:
            tests = [at.same(at.load(symbols.FAMILY), at.load(shape.prefix))]
        if self.root is not None:
            roots = at.attribute(at.call(at.load(symbols.GET_ACTIVATION), []), "roots")
            tests.append(at.put(ast.Compare(at.constant(self.root), [ast.In()], [roots])))
        return at.put(ast.BoolOp(ast.And(), tests)) if len(tests) > 1 else tests[0]
