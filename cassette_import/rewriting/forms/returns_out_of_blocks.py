"""Where values may be tagged: values that are returned while code is still to run, and keep their wrappers.

A function leaves the wrapper of what it returns in the state of the thread. The `__exit__` of a manager, a `finally`
clause and the method `__del__` run after that, and what they return would take its place. So the wrapper is left again
behind them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, is_suspendable, reads_locals

_WITH = (ast.With, ast.AsyncWith)
_TRY = (ast.Try, ast.TryStar)


def with_returns_kept(function: Function, block: list[ast.stmt]) -> list[ast.stmt]:
    """The block of a function, in which wrappers are left again behind code that runs after `return`."""
    keeper = _InStack() if reads_locals(function) else _InVariable()
    if getattr(function, "name", None) == "__del__":
        return keeper.around(keeper.kept_before(), block)
    return _kept(block, is_suspendable(function), keeper)


class _InVariable:
    """Where what is returned is kept: in a variable of the function."""

    def nothing(self) -> ast.stmt:
        """Before a block whose results are kept."""
        return self._assigned(At.nowhere(), At.nowhere().constant(None))

    def kept_before(self) -> ast.stmt:
        """Keep what was returned before."""
        nowhere = At.nowhere()
        return self._assigned(nowhere, _done(nowhere, symbols.RETURNED_BEFORE))

    def kept(self, at: At, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Keep a value that is about to be returned: statements, and what is returned then."""
        assigned: ast.stmt = at.put(ast.Assign([at.store(temporaries.RETURNED_VALUE)], value))
        return [assigned], at.load(temporaries.RETURNED_VALUE)

    def is_kept(self, value: ast.expr) -> bool:
        """Whether `value` is what an inner block has kept."""
        return isinstance(value, ast.Name) and value.id == temporaries.RETURNED_VALUE

    def around(self, begin: ast.stmt, block: list[ast.stmt]) -> list[ast.stmt]:
        """A block that runs between two statements of any other function."""
        nowhere = At.nowhere()
        return [begin, nowhere.put(ast.Try(block, [], [], [self._left_again(nowhere)]))]

    def finally_clause(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """A clause that runs after `return`."""
        return [self.kept_before(), *block, self._left_again(At.nowhere())]

    def _assigned(self, at: At, value: ast.expr) -> ast.stmt:
        setattr(value, NOOVERDUB, True)
        return at.put(ast.Assign([at.store(temporaries.RETURNED_VALUE)], value))

    def _left_again(self, at: At) -> ast.stmt:
        left = _done(at, symbols.LEFT_AGAIN, at.load(temporaries.RETURNED_VALUE))
        made: ast.stmt = at.put(ast.Expr(at.either(at.symbol(symbols.METADATA_EXISTS), left, at.constant(None))))
        setattr(made, NOOVERDUB, True)
        return made


class _InStack(_InVariable):
    """Where what is returned is kept: in a stack of the frame, because the function would see variables."""

    def nothing(self) -> ast.stmt:
        return _step(symbols.STACK_RETURNED, At.nowhere().constant(None))

    def kept_before(self) -> ast.stmt:
        nowhere = At.nowhere()
        return _step(symbols.STACK_RETURNED, _done(nowhere, symbols.RETURNED_BEFORE))

    def kept(self, at: At, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        return [], _done(at, symbols.KEEP_RETURNED, value)

    def is_kept(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and hasattr(value, _KEEPS)

    def finally_clause(self, block: list[ast.stmt]) -> list[ast.stmt]:
        return self.around(self.kept_before(), block)  # the stack is emptied also where the clause fails

    def _left_again(self, at: At) -> ast.stmt:
        return _step(symbols.LEFT_FROM_STACK)


_KEEPS: Final = "_keeps"


def _done(at: At, symbol: str, *operands: ast.expr) -> ast.expr:
    """The call of a function of our own, which is no event."""
    made = at.call(at.symbol(symbol), operands)
    setattr(made, NOOVERDUB, True)
    if symbol == symbols.KEEP_RETURNED:
        setattr(made, _KEEPS, True)
    return made


def _step(symbol: str, *operands: ast.expr) -> ast.stmt:
    nowhere = At.nowhere()
    made: ast.stmt = nowhere.put(ast.Expr(_done(nowhere, symbol, *operands)))
    setattr(made, NOOVERDUB, True)
    return made


def _kept(block: list[ast.stmt], may_be_closed: bool, keeper: _InVariable) -> list[ast.stmt]:
    """A block; a generator may be closed anywhere, after `return` as well, and runs its `finally` clauses then."""
    made: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            made.append(statement)
            continue
        returns = isinstance(statement, (*_WITH, *_TRY)) and any(_returns_in([statement], keeper))
        for owner, name in _blocks_of(statement):
            setattr(owner, name, _kept(getattr(owner, name), may_be_closed, keeper))
        if isinstance(statement, _TRY) and statement.finalbody and (returns or may_be_closed):
            statement.finalbody = keeper.finally_clause(statement.finalbody)
        made += _around_block(statement, keeper) if isinstance(statement, _WITH) and returns else [statement]
    return made


def _around_block(statement: ast.With | ast.AsyncWith, keeper: _InVariable) -> list[ast.stmt]:
    """`with`: each value that is returned out of the block is kept, and left again behind `__exit__`."""
    for block, number, found in _returns_in([statement], keeper):
        statements, found.value = keeper.kept(At(found), found.value)
        block[number:number] = statements
    return keeper.around(keeper.nothing(), [statement])


def _returns_in(block: list[ast.stmt], keeper: _InVariable) -> Iterator[tuple[list[ast.stmt], int, Any]]:
    """The statements in a block that return a value that may have metadata, last ones first."""
    for number in reversed(range(len(block))):
        statement = block[number]
        if isinstance(statement, ast.Return):
            value = statement.value
            if not (value is None or isinstance(value, ast.Constant) or keeper.is_kept(value)):
                yield block, number, statement
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for owner, name in _blocks_of(statement):
                yield from _returns_in(getattr(owner, name), keeper)


def _blocks_of(statement: ast.stmt) -> Iterator[tuple[Any, str]]:
    for owner in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(owner, name, None), list):
                yield owner, name
