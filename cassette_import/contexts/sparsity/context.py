"""The context of a run: what converted code calls."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from cassette_import.activation.context import Context
from cassette_import.contexts.sparsity.arrays import Array, as_array
from cassette_import.contexts.sparsity.branches import Frame, Loop, choice_of, truth_of
from cassette_import.contexts.sparsity.calls import Calls, product_of_matrices
from cassette_import.contexts.sparsity.errors import is_guarded
from cassette_import.contexts.sparsity.losses import loss_in
from cassette_import.contexts.sparsity.merging import merged
from cassette_import.contexts.sparsity.number import Number, dependence_of, number, value_of
from cassette_import.contexts.sparsity.run import VARIES, Executions, Run, joined
from cassette_import.contexts.sparsity.stores import contains_number
from cassette_import.passes.if_conversion import if_conversion
from cassette_import.rewriting.events import Events

__all__ = ["SparsityContext"]


class SparsityContext(Context, Calls, events=Events.NONE):
    """Runs a function with numbers that know on which inputs they depend. `jacobian` is its interface."""

    passes: Any = [if_conversion]
    _entered_modules = ("colorsys",)

    def __init__(self, run: Run, roots: frozenset[str]) -> None:
        Context.__init__(self)
        Calls.__init__(self, run, roots)

    # ---- branches

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return choice_of(self.run, test, saved)

    def unless(self, test: Any) -> bool:
        """Whether to run a block that raises: for the given inputs only, because others that do have no result."""
        truth = truth_of(test)
        if type(truth) is not Number:
            return bool(truth)
        if is_guarded():
            raise self.run.refuse_branch("an exception is raised for some inputs, and the program catches it")
        return bool(self.run.active.live and truth.value)

    def raises(self) -> bool:
        """Whether to run a `raise` statement: executions that others than the given inputs make have no result."""
        if self.run.active.live or is_guarded():
            return True
        self.run.drop()
        return False

    def loop(self, *iterable: Any, names: tuple[str, ...] = ()) -> Loop:
        """A loop."""
        return Loop(self.run)

    def frame(self) -> Frame:
        """A function that is left in several places."""
        return Frame(self.run)

    def alive(self) -> bool:
        """Whether some executions have not left."""
        return self.run.active.share > 0

    # ---- expressions

    def not_(self, value: Any) -> Any:
        """`not value`."""
        truth = truth_of(value)
        return number(self.run, not value_of(truth), dependence_of(truth))

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`."""
        if type(container) in (list, tuple) and contains_number((item, container)):
            truths = [truth_of(item == one) for one in container]
            return number(self.run, any(map(value_of, truths)), joined(map(dependence_of, truths)))
        if type(item) is Number and type(container) in (range, set, frozenset, dict):
            return number(self.run, item.value in container, self.run.step(item.dependence))
        return item in container

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        if not contains_number(key):
            try:
                return holder[key]
            except TypeError as error:
                self._raise_loss(error)  # a method `__index__` may return a number
                raise
        if issubclass(type(holder), np.ndarray):
            return as_array(self.run, holder)[key]
        if type(holder) in (list, tuple) and type(key) is Number and not self.run.local:
            pieces = [(Executions(one is holder[key.value], self.run.active.share), one) for one in holder]
            return self._touched(merged(self.run, pieces))
        return holder[key]

    def _touched(self, value: Any) -> Any:
        return Number(self.run, value_of(value), dependence_of(value) | VARIES) if type(value) is Number else value

    def matmul(self, one: Any, other: Any) -> Any:
        """`one @ other`."""
        if type(other) is Array and type(one).__module__.startswith("scipy.sparse"):
            return product_of_matrices(self.run, one, other)
        return one @ other

    # ---- variables, exceptions, scopes

    def caught(self) -> None:
        """Begin a handler."""
        self._raise_loss(sys.exception())
        if self.run.is_split:
            raise self.run.refuse_branch("an exception is caught on one side of a branch that depends on the inputs")

    def _raise_loss(self, error: BaseException | None) -> None:
        loss = loss_in(self.run, error)
        if loss is not None:
            raise loss

    def here(self) -> Executions:
        """The active executions, before a `with` statement."""
        return self.run.active

    def still(self, before: Executions) -> None:
        """End a `with` statement, which may have caught an exception."""
        self._raise_loss(None)
        if self.run.active is not before:
            raise self.run.refuse_branch("a with statement has caught an exception of one side of a branch")

    def refuses(self, what: str) -> None:
        """Refuse a construct."""
        raise self.run.refuse(f"{what} cannot be followed")
