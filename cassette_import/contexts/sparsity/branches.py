"""What converted code calls at its branches, loops and returns: both sides run, one after the other, and are joined.

Where a test depends on the inputs, each side runs for the executions that take it. The given inputs take one of them,
with their values; the other one matters for its dependences only. Nothing is kept that an exception could leave in a
wrong state: the objects are in local variables of the converted function.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import Array
from cassette_import.contexts.sparsity.number import Number
from cassette_import.contexts.sparsity.run import Executions, Run
from cassette_import.contexts.sparsity.stores import GuardedIterator, merged
from cassette_import.passes.if_conversion.uniform import UNIFORM

__all__ = ["Choice", "Frame", "Loop", "choice_of", "truth_of"]

_Values = tuple[Any, ...]
_MOST_TURNS: Final = 1000
_UNSHARED: Final = 2
"""The references to an iterator that nothing else has: a variable, and the argument of `getrefcount`."""


def truth_of(test: Any) -> Any:
    """The truth of a value; a number of which the value is a truth value if it depends on the inputs."""
    if type(test) is bool:
        return test
    written = getattr(type(test), "__bool__", None)
    if type(written) is FunctionType and type(test) not in (Number, Array):
        found = written(test)
        if type(found) is not Number:
            return bool(test) if type(found) is not bool else found
        test = found
    if type(test) is Array and test.value.size == 1:
        test = test[(0,) * test.value.ndim]
    if type(test) is Number:
        if test.run.local:
            return bool(test.value)
        return Number(test.run, bool(test.value), test.run.step(test.dependence))
    return bool(test)


def choice_of(run: Run, test: Any, saved: _Values) -> Any:
    """The choice for a test."""
    truth = truth_of(test)
    return Choice(run, truth.value, saved) if type(truth) is Number else UNIFORM[truth]


class Choice:
    """A branch whose two sides run one after the other."""

    __slots__ = ("_after_one", "_no", "_run", "_saved", "_swapped", "_values", "_yes", "parent")
    both: Final = True

    def __init__(self, run: Run, truth: bool, saved: _Values) -> None:
        self._run = run
        self.parent = run.active
        self._yes, self._no = run.halves(truth)
        self._saved = saved
        self._values: _Values = ()
        self._after_one = run.active
        self._swapped = False

    def one(self) -> bool:
        """Begin the first side."""
        self._run.active = self._yes
        return True

    def two(self) -> bool:
        """Begin the second side."""
        self._after_one = self._run.active
        self._run.active = self._no
        return True

    def swap(self, *values: Any) -> _Values:
        """Keep the values of the variables after the first side; return those before."""
        self._values = values
        self._swapped = True
        return self._saved

    def join(self, *values: Any) -> _Values:
        """End the second side; return the variables for both."""
        first = self._values if self._swapped else values
        return _joined(self._run, [(self._after_one, first), (self._run.active, values)], self.parent, values)

    def value(self, one: Any, other: Any) -> Any:
        """The value of an expression of which both sides have run."""
        return _joined(self._run, [(self._after_one, (one,)), (self._run.active, (other,))], self.parent, (one,))[0]


def _joined(run: Run, pieces: list[tuple[Executions, _Values]], parent: Executions, values: _Values) -> _Values:
    """Make the union of the pieces active, and return the merged variables."""
    pieces = [piece for piece in pieces if piece[0].share]
    run.active = run.union([executions for executions, _ in pieces], parent)
    if not pieces:
        return values
    return tuple(merged(run, [(executions, kept[at]) for executions, kept in pieces]) for at in range(len(values)))


class Loop:
    """A loop that executions leave at different times."""

    __slots__ = ("_again", "_last", "_left", "_run", "_stopped", "_turn", "_turns", "start")

    def __init__(self, run: Run) -> None:
        self._run = run
        self.start = self._turn = run.active
        self._left: list[tuple[Executions, _Values]] = []
        """The executions that have left by `break`."""
        self._stopped: list[tuple[Executions, _Values]] = []
        """The executions for which the loop has ended."""
        self._again: list[tuple[Executions, _Values]] = []
        """The executions that have met `continue` in this turn."""
        self._turns = 0
        self._last: Any = None

    def more(self) -> bool:
        """Whether there are executions in the loop."""
        return self._run.active.share > 0

    def goes(self, test: Any, *values: Any) -> bool:
        """Whether there are executions that go on, by the test of a `while` loop; the other ones leave.

        Once the given inputs have left, turns are repeated until nothing changes any more.
        """
        run = self._run
        choice = choice_of(run, test, ())
        if not choice.both:
            going: bool = choice.one()
            if not going:
                self.ends(*values)
            elif not run.active.live and self._has_settled(values):
                run.active, going = run.empty(), False  # these executions never leave
        elif not run.active.live and self._has_settled(values):
            self.ends(*values)
            going = False
        else:
            self._turns += 1
            if self._turns > _MOST_TURNS:
                raise run.refuse_branch(f"a loop has more than {_MOST_TURNS} turns; how many depends on the inputs")
            choice.one()
            self._stopped.append((choice._no, values))
            going = True
        self._turn = run.active
        return going

    def _has_settled(self, values: _Values) -> bool:
        """Whether a turn has changed neither a dependence nor a constant."""
        state = self._run.stores, [_state(value) for value in values]
        last, self._last = self._last, state
        return bool(last == state)

    def ends(self, *values: Any) -> None:
        """Note that the loop has ended for the active executions."""
        if self._run.active.share:
            self._stopped.append((self._run.active, values))
        self._run.active = self._run.empty()

    def items(self, iterable: Any) -> Iterator[Any]:
        """The items of a `for` loop, while there are executions in it."""
        run = self._run
        is_shared = hasattr(type(iterable), "__next__") and sys.getrefcount(iterable) > _UNSHARED and not run.local
        if type(iterable) is GuardedIterator:
            iterable.check()
            iterable = iterable.iterator
        for item in iterable:
            yield item
            if not run.active.share:
                return
            if is_shared and run.active is not self.start:
                raise run.refuse_branch("how far an iterator is advanced depends on the inputs")

    def turn(self, *values: Any) -> None:
        """Begin a turn of a `for` loop."""
        self._turn = self._run.active
        if self._left and not self._turn.live:
            self._turns += 1
            if self._turns > _MOST_TURNS:
                raise self._run.refuse_branch(
                    f"a loop has more than {_MOST_TURNS} turns; how many depends on the inputs"
                )

    def breaks(self, *values: Any) -> bool:
        """Whether to leave the loop now: all do. Otherwise the active executions are noted as having left."""
        run = self._run
        alone = not (self._left or self._stopped or self._again) and run.active is self.start
        self._left.append((run.active, values))
        if not alone:
            run.active = run.empty()
        return alone

    def continues(self, *values: Any) -> bool:
        """Whether to go on with the next turn now: all executions in the loop do."""
        run = self._run
        if not self._again and run.active is self._turn:
            return True
        self._again.append((run.active, values))
        run.active = run.empty()
        return False

    def again(self, *values: Any) -> _Values:
        """End a turn: the executions that have met `continue` come back."""
        if not self._again:
            return values
        pieces, self._again = [*self._again, (self._run.active, values)], []
        return _joined(self._run, pieces, self._turn, values)

    def alone(self) -> None:
        """Refuse a jump out of a `try` or `with` statement that only some executions make."""
        if self._run.active is not self.start or self._left or self._stopped or self._again:
            raise self._run.refuse_branch("a jump out of a try or with statement depends on the inputs")

    def ended(self) -> bool:
        """Whether the loop has ended for some executions, so that the `else` clause runs for them."""
        return bool(self._stopped)

    def otherwise(self, *values: Any) -> _Values:
        """Begin the `else` clause: the executions for which the loop has ended."""
        pieces, self._stopped = self._stopped, []
        return _joined(self._run, pieces, self.start, values)

    def over(self, *values: Any) -> _Values:
        """End the loop: all executions that have left it come back."""
        run = self._run
        if run.active.share and not self._left and not self._stopped:
            return values
        pieces = [*self._stopped, *self._left]
        if run.active.share and not (pieces and pieces[-1][0] is run.active):
            pieces.append((run.active, values))
        return _joined(run, pieces, self.start, values)


class Frame:
    """A function from which executions return at different times."""

    __slots__ = ("_entry", "_returned", "_run", "value")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._entry = run.active
        self._returned: list[tuple[Executions, _Values]] = []
        self.value: Any = None

    def returns(self, value: Any) -> bool:
        """Whether to return now: all executions do. Otherwise the active ones are noted as having returned."""
        run = self._run
        if not self._returned and run.active is self._entry:
            self.value = value
            return True
        self._returned.append((run.active, (value,)))
        run.active = run.empty()
        return False

    def alone(self) -> None:
        """Refuse a `return` in a `try` or `with` statement that only some executions make."""
        if self._returned or self._run.active is not self._entry:
            raise self._run.refuse_branch("a return from a try or with statement depends on the inputs")

    def result(self) -> Any:
        """The value of the function, at its end."""
        run = self._run
        if run.active.share:
            if not self._returned:
                return None
            self._returned.append((run.active, (None,)))
        return _joined(run, self._returned, self._entry, (None,))[0]


def _state(value: Any) -> Any:
    """What the dependences of the next turn follow from."""
    if type(value) is Number:
        return value.dependence
    if type(value) is Array:
        constants = value.value[value.dependences == 0].tolist()
        return value.value.shape, tuple(value.dependences.flat), constants
    if type(value) in (list, tuple):
        return [_state(part) for part in value]
    if isinstance(value, np.ndarray):
        return id(value)
    return (type(value), value) if type(value) in (int, float, bool, str, complex) else id(value)
