"""Iterators: the executions of one side of a branch must not use up what the other side iterates over."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType, GeneratorType
from typing import Any

from cassette_import.contexts.sparsity.run import Executions, Run

__all__ = ["GuardedIterator", "binds_outside", "guarded"]


class GuardedIterator:
    """An iterator that only the executions advance that have made it."""

    __slots__ = ("_executions", "_run", "iterator")

    def __init__(self, run: Run, iterator: Iterator[Any]) -> None:
        self.iterator = iterator
        self._run = run
        self._executions: Executions = run.active

    def check(self) -> None:
        """Refuse to advance for a part of the executions."""
        if self._run.active is not self._executions:
            raise self._run.refuse_branch("an iterator is advanced on one side of a branch that depends on the inputs")

    def __iter__(self) -> GuardedIterator:
        return self

    def __next__(self) -> Any:
        self.check()
        return next(self.iterator)

    def __getattr__(self, name: str) -> Any:
        self.check()
        return getattr(self.iterator, name)


def guarded(run: Run, value: Any) -> Any:
    """An iterator that is guarded; any other value itself."""
    kind = type(value)
    if run.local or not hasattr(kind, "__next__") or kind is GuardedIterator:
        return value
    return (
        GuardedIterator(run, value) if kind is GeneratorType or kind.__module__ in ("builtins", "itertools") else value
    )


@functools.lru_cache(1000)
def binds_outside(code: CodeType) -> bool:
    """Whether code binds a variable that is not its own, as `:=` in a generator expression does."""
    stores = [one for one in dis.get_instructions(code) if one.opname in ("STORE_DEREF", "STORE_GLOBAL")]
    return any(one.argval.isidentifier() for one in stores if one.argval not in code.co_cellvars)  # no name of a pass
