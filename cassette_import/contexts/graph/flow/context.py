"""The context of a recorded run: branches, loops, returns, calls and stores, and what is refused."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.graph.arrays import METHODS, is_of_array, leaves_numbers, makes_array
from cassette_import.contexts.graph.flow.blocks import Block, Branch, Conflict, Counter, Part, Repeat, union
from cassette_import.contexts.graph.flow.recorder import (
    NOT_OF_ARRAYS,
    Again,
    Recorder,
    Stale,
    Symbol,
    changes_an_array,
    contains_symbol,
    is_array_symbol,
    is_table,
    value_of,
)
from cassette_import.contexts.graph.nodes import Node, kind_of, same
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.passes.if_conversion import loop_conversion
from cassette_import.passes.if_conversion.converted_code import UNBOUND, ConvertedCode
from cassette_import.passes.if_conversion.uniform import UNIFORM, UniformLoop
from cassette_import.rewriting.events import Events

__all__ = ["FlowContext"]

# ---- loops of a recorded run: unrolled ones, and those that are one piece of code

_FEW: Final = 4
"""Loops over so few numbers are unrolled, even if jumps leave them."""
_MANY: Final = 16
"""Loops over so many numbers stay loops, if they compute with the arguments."""
_MOST_ITERATIONS_BEFORE: Final = 2
_Values = tuple[Any, ...]


class SymbolicRange:
    """A range of which a limit is a symbol."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


class Loop(UniformLoop):
    """A loop: it is unrolled, or one piece of code if a jump or test depends on the arguments.

    A loop that is one piece of code has a head, where the values of the iteration before arrive, and an end. Some
    iterations may come before it, as long as the variables have other types in these.
    """

    def __init__(self, run: Recorder, iterable: Any, names: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._run = run
        self._names = names
        self._table: Any = tuple(iterable) if is_table(iterable) and len(iterable) >= _MANY else None
        if is_array_symbol(iterable) and len(iterable) >= _MANY:
            self._table = iterable
        self._source = iterable
        self._iterable = iterable if self._table is None else range(len(self._table))
        self._is_range = type(self._iterable) in (range, SymbolicRange)
        self._index: Any = self._iterable.start if self._is_range else None
        self._key: Any = None
        self._count = run.count
        self.site: Any = None
        self._start = self._iteration = run.block
        self._before = 0
        """How many iterations are still to come before the loop is code."""
        self._is_part = False
        self._repeat: Repeat | None = None
        self._has_unbound = False
        """Whether a variable is not bound before the first iteration."""
        self._bodies: list[Block] = []
        self._values: _Values = ()
        self._left: _Values | None = None
        """The variables after the loop, once the run has left it."""
        self._continued: _Values | None = None

    # ---- the beginning

    def enters(self, *values: Any) -> _Values:
        """Begin; returns the variables of the first iteration."""
        run = self._run
        frame = sys._getframe(1)
        code = frame.f_code
        self.site = code.co_filename, code.co_firstlineno, code.co_name, frame.f_lasti
        self._key = run.place()
        self._start = self._iteration = run.block
        self._values = values
        run.loops.append(self)
        iterations = run.shared.loops.get(self.site)
        if iterations is None and type(self._iterable) is SymbolicRange:
            raise self._becomes_code(0)
        if iterations or (iterations is None and self.site in run.shared.labels):
            self._is_part = True
            part = Part((self._key, "end"), Block((*self._key, "part")))
            run.add(part)
            run.block = self._iteration = part.body
            run.opens((self._key, "end"))
        self._before = iterations or 0
        return self._opens(values) if iterations == 0 else values

    @property
    def _can_be_code(self) -> bool:
        return self._is_range or self._iterable is None

    def _becomes_code(self, iterations: int) -> Again:
        self._run.shared.loops[self.site] = iterations
        return Again()

    def _opens(self, values: _Values) -> _Values:
        """Begin what is one piece of code."""
        run = self._run
        self._outer = run.block
        self._has_unbound = any(one is UNBOUND for one in values)
        head = run.arrive((self._key, "head"), self._with_index(values), self._names)
        counter = self._counter(head[-1]) if self._is_range else None
        self._repeat = Repeat((self._key, "loop"), Block((*self._key, "body")), self._iterations_left(), counter)
        run.add(self._repeat)
        run.opens((self._key, "head"))
        return self._begins_iteration(head)

    def _counter(self, index: Any) -> Counter | None:
        """How the loop counts; None if its index is no number."""
        if type(index) is not Symbol:
            return None
        target = self._names[-1] if self._names and self._table is None else ""
        return Counter(index.node, self._run.template(self._iterable.stop), self._iterable.step, target)

    def _iterations_left(self) -> int | None:
        """How many iterations a loop over a known range has; None for other loops."""
        if type(self._iterable) is not range or type(self._index) is not int:
            return None
        return len(range(self._index, self._iterable.stop, self._iterable.step))

    def _with_index(self, values: _Values) -> _Values:
        """The variables at the head. Those that have another type in the next iteration must not be read there."""
        stale = self._run.shared.stale
        values = tuple(
            Stale(self._needs_iteration) if (self.site, place) in stale else one for place, one in enumerate(values)
        )
        return (*values, self._index) if self._is_range else values

    def _needs_iteration(self) -> BaseException:
        """A variable is read that has another type in the next iteration: let one more come before the loop."""
        iterations = self._run.shared.loops[self.site]
        if iterations >= _MOST_ITERATIONS_BEFORE:
            return self._run.refuse("a variable of a loop has another type in each iteration")
        self._run.shared.stale = {one for one in self._run.shared.stale if one[0] != self.site}
        return self._becomes_code(iterations + 1)

    def _begins_iteration(self, head: _Values) -> _Values:
        run = self._run
        run.block = self._iteration = Block((*self._key, "body"))
        self._bodies.append(run.block)
        if self._is_range:
            *rest, self._index = head
            head = tuple(rest)
        self._values = head
        return head

    # ---- iterations

    def more(self) -> bool:
        """Whether the run is in the loop."""
        return self._run.active

    def goes(self, test: Any, *values: Any) -> bool:
        """Whether the run goes on, by the test of a `while` loop."""
        run = self._run
        if type(test) is not Symbol:
            going = bool(test)
            self._has_ended = not going
            if not going and self._repeat is not None:
                self._leaves(values)
            return going
        if self._repeat is None and not self._before:
            raise self._becomes_code(0)
        truth = bool(test.node.value)
        side = Block((*run.place(), truth))
        run.add(Branch(test.node, {truth: side}))
        run.block = side
        if self._repeat is None:
            self._iteration = side
        if not truth:
            self._leaves(values)
        return truth

    def items(self, iterable: Any) -> Iterator[Any]:
        """The items of a `for` loop."""
        run = self._run
        if self._repeat is None and not self._before:
            if hasattr(type(iterable), "__next__"):
                run.outside.forbids(iterable)
            for item in iterable:
                yield item
                if not run.active:
                    return
            return
        if not self._is_range:
            raise run.refuse(f"a loop over a {type(iterable).__name__} depends on the arguments")
        compare = operator.gt if self._iterable.step < 0 else operator.lt
        while run.active and self.goes(compare(self._index, self._iterable.stop), *self._values):
            yield self._index if self._table is None else run.item(self._table, self._index)

    def again(self, *values: Any) -> _Values:
        """End an iteration; returns the variables of the next one."""
        run = self._run
        if self._continued is not None:
            values, self._continued = self._continued, None
            run.active = True
            if self._repeat is not None:
                return self._begins_iteration(values)
        if not run.active:
            return values
        if self._repeat is not None:
            return self._begins_iteration(self._arrives(values))
        if self._stays():
            run.shared.staying.add(self.site)
            raise self._becomes_code(0)
        if self._before:
            self._advances()
            self._before -= 1
            if not self._before:
                return self._opens(values)
        self._values = values
        return values

    def _stays(self) -> bool:
        """Whether a loop that need not be code becomes code, because it would be long otherwise."""
        shared = self._run.shared
        if not shared.keeps_loops or self.site in shared.loops or self.site in shared.unrolled or self._is_part:
            return False
        return type(self._iterable) is range and len(self._iterable) >= _MANY and self._run.count > self._count

    def _advances(self) -> None:
        if self._is_range:
            self._index = self._index + self._iterable.step

    def _arrives(self, values: _Values) -> _Values:
        """Come to the head for the next iteration."""
        run = self._run
        self._advances()
        for place, (one, other) in enumerate(zip(self._values, values, strict=True)):
            if not {_kind(one), _kind(other)} & _NO_TYPES and _kind(one) is not _kind(other):
                run.shared.stale.add((self.site, place))
                raise Again
        self._notes()
        made = run.arrive((self._key, "head"), self._with_index(values), self._names)
        run.jumps((self._key, "loop"), again=True)
        run.active = True
        return made

    def _notes(self) -> None:
        """The parts of objects that were changed are variables of the loop."""
        for region in ("head", "end"):
            self._run.notes((self._key, region), (self._key, "head"), (self._key, "end"))

    # ---- jumps

    def _is_uniform(self) -> bool:
        return self._run.block is self._iteration

    def breaks(self, *values: Any) -> bool:
        """Whether to leave the loop now; otherwise, the jump is recorded."""
        if self._repeat is None and not self._is_part and self._is_uniform():
            return True
        self._leaves(values)
        return False

    def is_returned_from(self) -> None:
        """A `return` leaves the loop where the arguments decide: it becomes code, unless it has few iterations."""
        has_few_iterations = type(self._iterable) is range and len(self._iterable) <= _FEW
        if self._repeat is None and not self._is_part and self._can_be_code and not has_few_iterations:
            raise self._becomes_code(0)

    def _leaves(self, values: _Values) -> None:
        """Jump to the end of the loop."""
        run = self._run
        if self._repeat is None and not self._is_part:
            self.is_returned_from()
            run.shared.labels.add(self.site)
            raise Again
        self._notes()
        self._left = run.arrive((self._key, "end"), values, self._names)
        run.jumps((self._key, "end" if self._repeat is None else "loop"))

    def continues(self, *values: Any) -> bool:
        """Whether to go on with the next iteration now; otherwise, the jump is recorded."""
        run = self._run
        if self._repeat is None:
            if self._is_uniform():
                if self._before:
                    self._continued, run.active = values, False
                return not self._before
            if self._can_be_code and not self._is_part:
                raise self._becomes_code(0)
            raise run.refuse("a jump continues an unrolled loop")
        self._continued = self._arrives(values)
        run.active = False
        return False

    def alone(self) -> None:
        """Refuse a jump out of a `try` or `with` statement that only some arguments make."""
        if self._repeat is not None or self._is_part or not self._is_uniform():
            raise self._run.refuse("a jump leaves a try or with statement")

    def ended(self) -> bool:
        """Whether the `else` clause runs."""
        if self._repeat is not None or self._is_part:
            raise self._run.refuse("a loop that depends on the arguments has an else clause")
        return super().ended()

    # ---- the end

    def over(self, *values: Any) -> _Values:
        """End the loop."""
        run = self._run
        del run.loops[run.loops.index(self) :]
        if self._repeat is None and not self._is_part:
            return values
        if type(self._table) is tuple and not same(tuple(self._source), self._table):
            raise run.refuse("a list is changed in a loop over it")
        has_left = self._left is not None
        if self._repeat is not None:
            self._repeat.body = self._body()
            run.block = self._outer
            run.block.cut = not has_left
        if run.active and not has_left:
            self._notes()
            self._left = run.arrive((self._key, "end"), values, self._names)
            has_left = True
        while run.regions and run.regions[-1][0] in ((self._key, "head"), (self._key, "end")):
            run.regions.pop()
        run.block = self._start
        run.active = has_left
        if not has_left:
            run.block.cut = True
            return values
        assert self._left is not None
        return self._left[: len(values)]

    def _body(self) -> Block:
        """What the iterations have done together."""
        body = self._bodies[0]
        try:
            for other in self._bodies[1:]:
                body = union(body, other)
        except Conflict as error:
            iterations = self._run.shared.loops[self.site]
            if self._has_unbound and iterations < _MOST_ITERATIONS_BEFORE:
                raise self._becomes_code(iterations + 1) from None  # the first one differs, and comes before the loop
            raise self._run.refuse(f"two iterations of a loop differ: {error}") from None
        return body


_NO_TYPES: Final = {Stale, type(UNBOUND)}


def _kind(value: Any) -> Any:
    return kind_of(value.node.value if type(value) is Symbol else value)


# ---- what converted code calls at its branches and returns: the run takes one side, and is recorded on it


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


# ---- the context of a recorded run: what converted code calls, and the rules of functions that get symbols

_LISTS: Final = (list, dict, set)
_SEEN: Final = frozenset({*_LISTS, Stale})
_GROWING: Final = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "popitem", "add", "discard"})
_CHANGING: Final = frozenset({"sort", "reverse", "update", "setdefault", "__setitem__", "__delitem__"})
_FOLDS: Final = (sum, min, max)


class FlowContext(Context, ConvertedCode, events=Events.NONE):
    """Runs a function with symbols in the place of numbers, and records what it does with them."""

    passes: Any = [loop_conversion]

    def __init__(self, run: Recorder, roots: frozenset[str]) -> None:
        super().__init__()
        self.run = run
        self.roots = roots

    # ---- branches

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return Choice(self.run, test.node, names) if type(test) is Symbol else UNIFORM[bool(test)]

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

    # ---- calls

    def call(self, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make a call of the program."""
        if type(f) is functools.partial:
            return self.call(f.func, *f.args, *arguments, **{**f.keywords, **keywords})
        for one in arguments:
            if type(one) in _SEEN:
                self.run.sees(one)
        function = f.__func__ if type(f) is MethodType else f
        if type(function) is FunctionType and self._runs(function):
            return f(*arguments, **keywords)
        method: Any = type(f).__call__
        if type(method) is FunctionType and self._runs(method):
            return f(*arguments, **keywords)
        if self._is_initialised(f):
            made: Any = self.run.made(object.__new__(f))
            made.__init__(*arguments, **keywords)
            return made
        if any(f is one for one in _FOLDS) and len(arguments) == 1 and hasattr(type(arguments[0]), "__next__"):
            arguments = (list(arguments[0]),)
        if self.run.arrays and (contains_symbol(arguments) or contains_symbol(keywords)):
            found = self.run.applied(f, arguments, keywords)
            if found is not NOT_OF_ARRAYS:
                return found
        elif self.run.arrays and makes_array(f):
            if is_of_array(f):
                f, arguments = METHODS[f.__name__], (f.__self__, *arguments)
            return self.run.array_changes.made(f, arguments, keywords, leaves_numbers(f))
        inside = any(type(one) is Symbol for one in (*arguments, *keywords.values()))
        rule = _RULES.get(f) if f.__hash__ is not None and not isinstance(f, MethodType) else None
        if rule is not None and (inside or contains_symbol(arguments)):
            return rule(self, f, arguments, keywords)
        if f in self.run.shared.functions and inside and not keywords:
            return self.run.operation(f, *arguments)
        if inside and not self._takes_symbols(f, function):
            raise self.run.refuse(f"{getattr(f, '__qualname__', f)} gets an unknown number")
        if not inside and _is_of_arrays(f) and (contains_symbol(arguments) or contains_symbol(keywords)):
            raise self.run.refuse(f"{getattr(f, '__qualname__', f)} gets an unknown number")
        self._note(f)
        return self.run.made(f(*arguments, **keywords))

    def _takes_symbols(self, f: Any, function: Any) -> bool:
        """Whether a function does with symbols what it does with numbers."""
        if isinstance(f, type):
            return dataclasses.is_dataclass(f) or issubclass(f, BaseException) or hasattr(f, "_fields")
        owner = getattr(f, "__self__", None)
        return type(f) is BuiltinFunctionType and isinstance(owner, (list, dict)) and f.__name__ != "sort"

    def _note(self, f: Any) -> None:
        """Note the change of a container by one of its methods."""
        owner = getattr(f, "__self__", None)
        if isinstance(owner, _LISTS) and (f.__name__ in _GROWING or f.__name__ in _CHANGING):
            self._changes_whole(owner)

    def _changes_whole(self, owner: Any) -> None:
        if self.run.regions and isinstance(owner, (list, dict)):
            self.run.changes(owner, "length", None)
            for key in owner if isinstance(owner, dict) else range(len(owner)):
                self.run.changes(owner, "item", key)
        elif self.run.regions:
            raise self.run.refuse(f"a {type(owner).__name__} is changed where the arguments decide")
        else:
            self.run.changes(owner, "length", None)

    # ---- stores

    def store_attribute(self, holder: Any, name: str, value: Any) -> None:
        """`holder.name = value`."""
        if type(holder) is Symbol:
            raise self.run.refuse("an attribute of an unknown number is assigned")
        self.run.changes(holder, "attribute", name)
        self.run.template(value)
        setattr(holder, name, value)

    def delete_attribute(self, holder: Any, name: str) -> None:
        """`del holder.name`."""
        if self.run.regions:
            raise self.run.refuse("an attribute is deleted where the arguments decide")
        self.run.changes(holder, "attribute", name)
        delattr(holder, name)

    def store_item(self, holder: Any, key: Any, value: Any) -> None:
        """`holder[key] = value`."""
        is_unknown = contains_symbol(key) or contains_symbol(value)
        if changes_an_array(holder) and (type(holder) is Symbol or is_unknown or self.run.regions):
            if not self.run.arrays:
                raise self.run.refuse("an array is changed in place")
            self.run.array_changes.stores(holder, key, value)
            return
        if is_array_symbol(holder):
            raise self.run.refuse("an unknown number is taken for an array")
        if contains_symbol(key):
            raise self.run.refuse("an item with an unknown index is assigned")
        if isinstance(holder, (list, dict)):
            is_new = isinstance(holder, dict) and key not in holder
            if isinstance(key, slice) or is_new:
                self._changes_whole(holder)
            elif isinstance(holder, list) and isinstance(key, int):
                self.run.changes(holder, "item", key % len(holder) if holder else key)
            self.run.changes(holder, "item", key) if isinstance(holder, dict) else None
        elif contains_symbol(value) or self.run.regions:
            raise self.run.refuse(f"an item of a {type(holder).__name__} is assigned")
        else:
            self.run.outside.forbids(holder)
        holder[key] = value

    def delete_item(self, holder: Any, key: Any) -> None:
        """`del holder[key]`."""
        self._changes_whole(holder)
        del holder[key]

    def stores_global(self, name: str) -> None:
        """Refuse the assignment to a name of the module."""
        raise self.run.refuse(f"the global name {name} is assigned")

    def stores_nonlocal(self, reader: Any) -> None:
        """Refuse the assignment to a variable of an enclosing function, where the arguments decide."""
        if self.run.regions:
            raise self.run.refuse("a variable of an enclosing function is assigned")

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """What `x += y` and the like store."""
        if changes_an_array(old) and (type(old) is Symbol or contains_symbol(value) or self.run.regions):
            if not self.run.arrays:
                raise self.run.refuse("an array is changed in place")
            return self.run.array_changes.augments(name, old, value)
        if isinstance(old, _LISTS):
            self._changes_whole(old)
        elif not isinstance(old, (int, float, complex, str, bytes, tuple)) and type(old) is not Symbol:
            self.run.outside.forbids(old)
            if self.run.regions and type(old).__module__ == "numpy":
                raise self.run.refuse("an array is changed in place")
        return getattr(operator, name)(old, value)


def _is_of_arrays(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    return str(getattr(f, "__module__", None)).partition(".")[0] == "numpy" or type(owner).__module__ == "numpy"


# ---- rules


def _of_type(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    one, *rest = arguments
    return f(one.node.value, *rest) if type(one) is Symbol else f(one, *rest, **keywords)


def _asks(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    """A function that asks the symbols: each truth is a check, and a length or an attribute is known."""
    return f(*arguments)


def _extreme(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    items = list(arguments[0]) if len(arguments) == 1 else list(arguments)
    kinds = {kind_of(value_of(one)) for one in items}
    if keywords or len(kinds) != 1 or not (kinds <= {int, float} or is_array_symbol(items[0])):
        raise context.run.refuse(f"{f.__name__} of other values than numbers of one type")
    return items[0] if len(items) == 1 else context.run.operation(f, *items)


def _range(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    start, stop, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
    if type(step) is Symbol or not step:
        raise context.run.refuse("a range has an unknown step")
    start, stop = (_python_integer(context, one) for one in (start, stop))
    if any(type(one) is Symbol and one.node.type is not int for one in (start, stop)):
        raise TypeError("range needs integers")
    return SymbolicRange(start, stop, step)


def _python_integer(context: FlowContext, one: Any) -> Any:
    """A limit of a range, which may be one of NumPy's integers."""
    is_integer = is_array_symbol(one) and one.node.value.dtype.kind in "iu"
    return context.run.operation(int, one) if is_integer else one


def _divmod(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    return tuple(context.run.operation(part, *arguments) for part in (operator.floordiv, operator.mod))


def _sum(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    items = list(arguments[0])
    kinds = {one.node.type if type(one) is Symbol else type(one) for one in items}
    if kinds == {float} and len(arguments) == 1 and not keywords:
        return context.run.operation(f, items)
    if any(map(is_array_symbol, items)) and len(arguments) == 1 and not keywords:
        return functools.reduce(operator.add, items, 0)
    if kinds != {int} or len(arguments) > 1 or keywords:
        raise context.run.refuse("sum of other values than numbers of one type")
    return functools.reduce(operator.add, items)


def _plain(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    lonely = (type(one) is Symbol and not is_array_symbol(one) for one in arguments)
    if any(lonely) and f not in (list, tuple, dict):
        raise context.run.refuse(f"{f.__name__} of an unknown number")
    return context.run.made(f(*arguments, **keywords))


def _map(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    function, *lists = arguments
    return (context.call(function, *each) for each in zip(*lists, strict=False))


def _converted(context: FlowContext, f: Any, arguments: Any, keywords: Any) -> Any:
    one = arguments[0]
    if type(one) is Symbol and one.node.type is f and len(arguments) == 1:
        return one
    if type(one) is not Symbol or len(arguments) != 1 or keywords:
        raise context.run.refuse(f"{f.__name__} of an unknown number")
    return context.run.operation(f, one)


_Rule = Callable[[FlowContext, Any, Any, Any], Any]
_RULES: Final[dict[Any, _Rule]] = {
    **dict.fromkeys((isinstance, type, callable, hasattr), _of_type), **dict.fromkeys((any, all, len, getattr), _asks),
    min: _extreme, max: _extreme, range: _range, divmod: _divmod, sum: _sum, map: _map,
    float: _converted, int: _converted, bool: _converted,
    **dict.fromkeys((list, tuple, dict, zip, enumerate, reversed, sorted), _plain),
    math.fabs: lambda context, f, arguments, keywords: context.run.operation(f, *arguments),
}  # fmt: skip
