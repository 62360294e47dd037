"""What converted code calls at its branches and returns: the run takes one side, and is recorded on it."""

from __future__ import annotations

from typing import Any, Final

from cassette_import.contexts.graph.flow.blocks import Block, Branch, Part
from cassette_import.contexts.graph.flow.recorder import Recorder
from cassette_import.contexts.graph.flow.shared import Again
from cassette_import.contexts.graph.flow.symbol import Symbol
from cassette_import.contexts.graph.nodes import Node
from cassette_import.passes.if_conversion.uniform import UNIFORM

__all__ = ["Choice", "Frame", "choice_of"]

_Values = tuple[Any, ...]


def choice_of(run: Recorder, test: Any, names: tuple[str, ...]) -> Any:
    """The choice for a test; `names` are those of the variables after it."""
    if type(test) is not Symbol:
        return UNIFORM[bool(test)]
    return Choice(run, test.node, names)


class Choice:
    """A branch of which this run takes one side."""

    __slots__ = ("_block", "_key", "_names", "_run", "_truth")
    both: Final = True

    def __init__(self, run: Recorder, node: Node, names: tuple[str, ...]) -> None:
        self._run = run
        self._names = names
        self._truth = bool(node.value)
        self._key = run.place()
        self._block = run.block
        side = Block((*self._key, self._truth))
        run.add(Branch(node, {self._truth: side}))
        run.block = side
        run.opens(self._key)

    def one(self) -> bool:
        """Whether the first side runs."""
        return self._truth

    def two(self) -> bool:
        """Whether the second side runs."""
        return not self._truth

    def swap(self, *values: Any) -> _Values:
        """The variables before the second side."""
        return values

    def join(self, *values: Any) -> _Values:
        """End the side; return the variables after it."""
        run = self._run
        run.closes(self._key)
        if run.active:
            values = run.arrive(self._key, values, self._names)
        else:
            self._block.cut = True
            run.block.cut = True
        run.block = self._block
        return values

    def value(self, one: Any, other: Any) -> Any:
        """The value of an expression of which one side has run."""
        return self.join(one if self._truth else other)[0]


class Frame:
    """A function with several returns. If the arguments decide between them, its body is a part that jumps leave."""

    def __init__(self, run: Recorder) -> None:
        self._run = run
        self._key = (*run.place(), "return")
        self._start = self._block = run.block
        self._value: Any = None
        self.value: Any = None
        self._is_part = self._key in run.shared.labels
        self._has_returned = False
        self._loops = len(run.loops)
        if self._is_part:
            part = Part(self._key, Block((*self._key, "body")))
            run.add(part)
            run.block = self._block = part.body
            run.opens(self._key)

    def returns(self, value: Any) -> bool:
        """Whether to return now; otherwise, the jump is recorded."""
        run = self._run
        if run.block is not self._block:
            for loop in run.loops[self._loops :]:
                loop.is_returned_from()
        if not self._is_part:
            del run.loops[self._loops :]
            if run.block is not self._start:
                run.shared.labels.add(self._key)
                raise Again
            self.value = value
            return True
        self._arrives(value)
        run.jumps(self._key)
        return False

    def _arrives(self, value: Any) -> None:
        run = self._run
        run.notes(self._key, self._key)
        self._value = run.arrive(self._key, (value,))[0]
        self._has_returned = True

    def alone(self) -> None:
        """Refuse a `return` in a `try` or `with` statement that only some arguments make."""
        if self._is_part or self._run.block is not self._start:
            raise self._run.refuse("a return from a try or with statement depends on the arguments")

    def result(self) -> Any:
        """The value of the function, at its end."""
        run = self._run
        if not self._is_part:
            return None
        if run.active:
            self._arrives(None)
        while run.regions and run.regions.pop()[0] != self._key:
            pass
        run.block = self._start
        run.active = True
        del run.loops[self._loops :]
        return self._value
