"""The context of a recorded run: what converted code calls."""

from __future__ import annotations

import operator
from typing import Any

from cassette_import.activation.context import Context
from cassette_import.contexts.common.numeric_values import is_array
from cassette_import.contexts.graph.flow.arrays import contains_symbol, is_array_symbol
from cassette_import.contexts.graph.flow.branches import Frame, choice_of
from cassette_import.contexts.graph.flow.calls import Calls
from cassette_import.contexts.graph.flow.loops import Loop
from cassette_import.contexts.graph.flow.recorder import Recorder, is_table
from cassette_import.contexts.graph.flow.shared import Stale
from cassette_import.contexts.graph.flow.symbol import Symbol
from cassette_import.passes.if_conversion import loop_conversion
from cassette_import.rewriting.events import Events

__all__ = ["FlowContext"]


class FlowContext(Context, Calls, events=Events.NONE):
    """Runs a function with symbols in the place of numbers, and records what it does with them."""

    passes: Any = [loop_conversion]

    def __init__(self, run: Recorder, roots: frozenset[str]) -> None:
        Context.__init__(self)
        Calls.__init__(self, run, roots)

    # ---- branches

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return choice_of(self.run, test, names)

    def loop(self, *iterable: Any, names: tuple[str, ...] = ()) -> Loop:
        """A loop."""
        return Loop(self.run, iterable[0] if iterable else None, names)

    def frame(self) -> Frame:
        """A function that is left in several places."""
        return Frame(self.run)

    def alive(self) -> bool:
        """Whether the run has not left."""
        return self.run.active

    # ---- expressions

    def not_(self, value: Any) -> Any:
        """`not value`."""
        return self.run.operation(operator.not_, value) if type(value) is Symbol else not value

    def is_(self, one: Any, other: Any) -> Any:
        """`one is other`."""
        for value in (one, other):
            if type(value) is Stale:
                raise value.error()
        if type(one) is Symbol and type(other) is Symbol:
            raise self.run.refuse("the identity of an unknown number decides")
        for symbol, single in ((one, other), (other, one)):
            if type(symbol) is Symbol:
                if type(single) is not symbol.node.type:
                    return False
                if type(single) is bool:
                    return self.run.operation(operator.eq, symbol, single)
                raise self.run.refuse("the identity of an unknown number decides")
        return one is other

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`: each comparison is a check."""
        if contains_symbol(item) and not isinstance(container, (list, tuple)):
            raise self.run.refuse("an unknown number is looked up")
        return item in container

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        if contains_symbol(key):
            if is_array_symbol(holder) or (self.run.arrays and is_array(holder)):
                return self.run.item(holder, key)
            if is_array_symbol(key) and key.node.value.dtype.kind in "iu":
                key = self.run.operation(int, key)
            if type(key) is Symbol and key.node.type in (int, bool) and is_table(holder):
                return self.run.item(holder, key)
            raise self.run.refuse("an item with an unknown index is read")
        return holder[key]

    def mod(self, one: Any, other: Any) -> Any:
        """`one % other`."""
        if contains_symbol(other) and isinstance(one, (str, bytes)):
            raise self.run.refuse("the text of an unknown number is made")
        return one % other

    def subject(self, value: Any) -> Any:
        """The subject of `match`."""
        if contains_symbol(value):
            raise self.run.refuse("an unknown number is the subject of match")
        return value

    def made(self, value: Any) -> Any:
        """A display."""
        return self.run.made(value)

    # ---- variables, exceptions, scopes

    def caught(self) -> None:
        """Refuse a handler: what raised was a way of its own."""
        raise self.run.refuse("the program catches an exception")

    def refuses(self, what: str) -> None:
        """Refuse a construct."""
        raise self.run.refuse(f"{what} cannot be followed")
