"""Where values may be tagged: values that are returned while code is still to run, and keep their wrappers.

A function leaves the wrapper of what it returns in the state of the thread. The `__exit__` of a manager, a `finally`
clause and the method `__del__` run after that, and what they return would take its place. So the wrapper is left again
behind them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, is_suspendable, reads_locals

_WITH = (ast.With, ast.AsyncWith)
_TRY = (ast.Try, ast.TryStar)


def with_returns_kept(function: Function, block: list[ast.stmt]) -> list[ast.stmt]:
    """The block of a function, in which wrappers are left again behind code that runs after `return`."""
    if reads_locals(function):
        return block  # it would see the temporaries
    if getattr(function, "name", None) == "__del__":
        return _around(block)
    return _kept(block, is_suspendable(function))


def _kept(block: list[ast.stmt], may_be_closed: bool) -> list[ast.stmt]:
    """A block; a generator may be closed anywhere, after `return` as well, and runs its `finally` clauses then."""
    made: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            made.append(statement)
            continue
        returns = isinstance(statement, (*_WITH, *_TRY)) and any(_returns_in([statement]))
        for owner, name in _blocks_of(statement):
            setattr(owner, name, _kept(getattr(owner, name), may_be_closed))
        if isinstance(statement, _TRY) and statement.finalbody and (returns or may_be_closed):
            nowhere = At.nowhere()
            kept = nowhere.call(nowhere.symbol(symbols.RETURNED_BEFORE), [])
            statement.finalbody = [_assigned(nowhere, kept), *statement.finalbody, _left_again(nowhere)]
        made += _around_block(statement) if isinstance(statement, _WITH) and returns else [statement]
    return made


def _around(block: list[ast.stmt]) -> list[ast.stmt]:
    """A block that runs between two statements of any other function."""
    nowhere = At.nowhere()
    before = nowhere.call(nowhere.symbol(symbols.RETURNED_BEFORE), [])
    return [_assigned(nowhere, before), nowhere.put(ast.Try(block, [], [], [_left_again(nowhere)]))]


def _around_block(statement: ast.With | ast.AsyncWith) -> list[ast.stmt]:
    """`with`: each value that is returned out of the block is kept in a variable, and left again behind `__exit__`."""
    nowhere = At.nowhere()
    for block, number, found in _returns_in([statement]):
        at = At(found)
        value, found.value = found.value, at.load(temporaries.RETURNED_VALUE)
        block.insert(number, at.put(ast.Assign([at.store(temporaries.RETURNED_VALUE)], value)))
    unset = _assigned(nowhere, nowhere.constant(None))
    return [unset, nowhere.put(ast.Try([statement], [], [], [_left_again(nowhere)]))]


def _assigned(at: At, value: ast.expr) -> ast.stmt:
    setattr(value, NOOVERDUB, True)
    return at.put(ast.Assign([at.store(temporaries.RETURNED_VALUE)], value))


def _left_again(at: At) -> ast.stmt:
    left = at.call(at.symbol(symbols.LEFT_AGAIN), [at.load(temporaries.RETURNED_VALUE)])
    made: ast.stmt = at.put(ast.Expr(at.either(at.symbol(symbols.METADATA_EXISTS), left, at.constant(None))))
    setattr(made, NOOVERDUB, True)
    return made


def _returns_in(block: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int, Any]]:
    """The statements in a block that return a value that may have metadata, last ones first."""
    for number in reversed(range(len(block))):
        statement = block[number]
        if isinstance(statement, ast.Return):
            if not _is_kept(statement.value):
                yield block, number, statement
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for owner, name in _blocks_of(statement):
                yield from _returns_in(getattr(owner, name))


def _is_kept(value: ast.expr | None) -> bool:
    is_kept = isinstance(value, ast.Name) and value.id == temporaries.RETURNED_VALUE
    return value is None or is_kept or isinstance(value, ast.Constant)


def _blocks_of(statement: ast.stmt) -> Iterator[tuple[Any, str]]:
    for owner in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(owner, name, None), list):
                yield owner, name
