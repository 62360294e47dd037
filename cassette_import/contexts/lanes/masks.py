"""What converted code calls at its branches, loops and returns: the lanes on each side, and merging their values.

Each construct has an object: `Choice`, `Loop`, `Frame`. It notes which lanes have left, with the values of the
variables that they had then, and merges these at the join. Nothing is kept that an exception could leave in a wrong
state: the objects are in local variables of the converted function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import is_immutable, joined, same
from cassette_import.contexts.lanes.elementwise import compute, lane_of
from cassette_import.contexts.lanes.lane import Lane, LaneRange
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet
from cassette_import.contexts.lanes.nested_levels import Level, innermost, taken_apart
from cassette_import.kits.tagged_containers import sequence_like
from cassette_import.passes.if_conversion.converted_code import UNBOUND
from cassette_import.passes.if_conversion.uniform import UNIFORM

__all__ = ["Choice", "Frame", "Loop", "Partial", "choice_of", "merged", "scattered"]

# ---- merging: one value for several sets of lanes, each of which has computed its own
#
# Numbers and immutable values become columns, tuples are merged item by item. Lists, dicts and objects have an
# identity: if they are not one object, the lanes are split, and those with one of the objects go on; the other ones are
# dropped.

Pieces = Sequence[tuple[LaneSet, Any]]


class Partial:
    """The value of a variable that is bound in some lanes only."""

    __slots__ = ("members", "value")

    def __init__(self, members: LaneSet, value: Any) -> None:
        self.members = members
        self.value = value


def merged(lanes: Lanes, target: LaneSet, pieces: Pieces) -> Any:
    """The value for the lanes of `target`, of which each piece has some.

    Parameters
    ----------
    lanes:
        The lanes of the run. The active set is `target`; it shrinks if the values cannot be merged.
    target:
        The union of the pieces' sets.
    pieces:
        The sets, and the value of each.
    """
    if any(value is UNBOUND or type(value) is Partial for _, value in pieces):
        return _partly_bound(lanes, pieces)
    pieces = [(lanes.current(members), value) for members, value in pieces]
    pieces = [(members, value) for members, value in pieces if members.size]
    first = pieces[0][1]
    if all(same(first, value) for _, value in pieces):
        return first
    values = [value for _, value in pieces]
    if issubclass(type(first), tuple):
        length = {len(value) if type(value) is type(first) else -1 for value in values}
        if len(length) == 1:
            return _tuple(lanes, pieces)
    if all(type(value) is Lane or is_immutable(value) for value in values):
        return _column(lanes, target, pieces)
    if lanes.containers.is_allowed and len({_shape(value) for value in values}) == 1 and _shape(first) is not None:
        return _container(lanes, pieces, values)
    return _largest(lanes, pieces)


def _shape(value: Any) -> Any:
    """What two containers must have in common, so that one can stand for both; None for other objects."""
    if type(value) is list:
        return list, len(value)
    return (dict, tuple(value)) if type(value) is dict else None


def _container(lanes: Lanes, pieces: Pieces, values: list[Any]) -> Any:
    """A list or dict that stands for those of several sets of lanes."""
    first = values[0]
    items: Any = []
    for key in range(len(first)) if type(first) is list else first:
        parts = [(lanes.current(members), value[key]) for members, value in pieces]
        items.append(merged(lanes, lanes.active, [part for part in parts if part[0].size]))
    container = items if type(first) is list else dict(zip(first, items, strict=True))
    lanes.containers.note(container, values)
    return container


def _column(lanes: Lanes, target: LaneSet, pieces: Pieces) -> Any:
    """A column of the values at a set that need not be the active one."""
    level = innermost([value for _, value in pieces])
    if level is not None:
        return _annotated(lanes, target, pieces, level)
    while True:
        version = lanes.version
        members = lanes.current(target)
        parts = []
        for lanes_of_piece, value in pieces:
            own = lanes.current(lanes_of_piece)
            data = value.at(own) if type(value) is Lane else value
            if own.size:
                parts.append((own.positions_in(members), data))
        if lanes.version == version:
            return lane_of(lanes, members, joined(members.size, parts))


def _annotated(lanes: Lanes, target: LaneSet, pieces: Pieces, level: Level) -> Any:
    """A column of values of which some are annotated: their parts are merged, too."""
    split = [(members, *taken_apart(level, value)) for members, value in pieces]
    bare = _column(lanes, target, [(members, value) for members, value, _ in split])
    if level.ended:
        return bare
    parts: dict[Any, Any] | None = {}
    if any(given is None for _, _, given in split):
        parts = None
    else:
        for name in dict.fromkeys(name for _, _, given in split for name in given or ()):
            # For the type checker: `parts` is a dict here.
            parts[name] = _column(  # type: ignore[index]
                lanes,
                target,
                [
                    (members, given[name] if given and name in given else level.lifted(name, value))
                    for members, value, given in split
                ],
            )
    return level.annotate(lanes, lanes.current(target), bare, parts)


def _tuple(lanes: Lanes, pieces: Pieces) -> Any:
    kind = type(pieces[0][1])
    items = []
    for number in range(len(pieces[0][1])):
        parts = [(lanes.current(members), value[number]) for members, value in pieces]
        items.append(merged(lanes, lanes.active, [part for part in parts if part[0].size]))
    is_known = kind is tuple or hasattr(kind, "_fields")
    return sequence_like(pieces[0][1], items) if is_known else _largest(lanes, pieces)


def _partly_bound(lanes: Lanes, pieces: Pieces) -> Any:
    bound = []
    for members, value in pieces:
        if type(value) is Partial:
            inside = members.part(lanes.inside(members, lanes.current(value.members)))
            if inside.size:
                bound.append((inside, value.value))
        elif value is not UNBOUND:
            bound.append((members, value))
    if not bound:
        return UNBOUND
    if len(bound) == 1:
        return Partial(*bound[0])
    union = lanes.union([members for members, _ in bound], lanes.active)
    if union is lanes.active:
        return merged(lanes, union, bound)
    values = [value for _, value in bound]
    if all(type(value) is Lane or is_immutable(value) for value in values):
        if all(same(values[0], value) for value in values):
            return Partial(union, values[0])
        return Partial(union, _column(lanes, union, bound))
    if all(value is values[0] for value in values):
        return Partial(union, values[0])
    return Partial(*max(bound, key=lambda piece: piece[0].size))  # a use drops the lanes of the others


def _largest(lanes: Lanes, pieces: Pieces) -> Any:
    """The object that most lanes have; the lanes with other ones are dropped."""
    groups: dict[int, list[tuple[LaneSet, Any]]] = {}
    for members, value in pieces:
        groups.setdefault(id(value), []).append((members, value))
    best = max(groups.values(), key=lambda group: sum(members.size for members, _ in group))
    for group in groups.values():
        if group is not best:
            for members, _ in group:
                lanes.drop(members.ids, f"each has another {type(best[0][1]).__name__}, which cannot be merged")
    return best[0][1]


def scattered(lanes: Lanes, old: Any, new: Any) -> Any:
    """What a part of an object becomes by a store in the active lanes: the old value stays in the other lanes.

    Returns
    -------
    A tuple with the new value of the part; None if the two values cannot be merged.
    """
    if old is new:
        return (new,)
    if not all(type(value) is Lane or is_immutable(value) for value in (old, new)):
        return None
    if type(new) is Lane:
        new.now()
    active = lanes.active
    if not lanes.masked:
        return (new,)
    rest = ~lanes.inside(lanes.whole, active)
    if type(old) is Lane:  # an object of one side of a branch: the other lanes do not know it
        rest &= lanes.inside(lanes.whole, lanes.current(old.set))
    if type(old) is not Lane and type(new) is not Lane and same(old, new):
        return (new,)
    others = lanes.whole.part(rest)
    union = lanes.union([active, others], lanes.whole)
    return (_column(lanes, union, [(active, new), (others, old)]),)


# ---- what converted code calls at its branches, loops and returns: the sets of lanes on each side, and their joins

_Values = tuple[Any, ...]


def _empty(lanes: Lanes) -> LaneSet:
    return LaneSet(np.arange(0), lanes.version)


class Choice:
    """A branch whose two sides run one after the other, each for its lanes."""

    __slots__ = ("_after_one", "_lanes", "_no", "_saved", "_swapped", "_values", "_yes", "parent")
    both: Final = True

    def __init__(self, lanes: Lanes, truths: Any, saved: _Values) -> None:
        self._lanes = lanes
        self.parent = lanes.active
        self._yes = lanes.active.part(truths)
        self._no = lanes.active.part(~truths)
        self._saved = saved
        self._values: _Values = ()
        self._after_one: LaneSet | None = None
        self._swapped = False

    def one(self) -> bool:
        """Begin the first side."""
        self._lanes.active = self._yes
        return True

    def two(self) -> bool:
        """Begin the second side, unless its lanes have been dropped."""
        self._after_one = self._lanes.active
        self._lanes.active = self._lanes.current(self._no)
        return self._lanes.active.size > 0

    def swap(self, *values: Any) -> _Values:
        """Keep the values of the variables after the first side; return those before."""
        self._values = values
        self._swapped = True
        return self._saved

    def join(self, *values: Any) -> _Values:
        """End the second side; return the variables for the lanes of both."""
        lanes = self._lanes
        # For the type checker: the first side has ended.
        after_one = lanes.current(self._after_one)  # type: ignore[arg-type]
        pieces = [(after_one, self._values if self._swapped else values), (lanes.active, values)]
        self._saved = self._values = ()  # else the objects before would seem to be used
        return _joined(lanes, [piece for piece in pieces if piece[0].size], self.parent, values)

    def value(self, one: Any, other: Any) -> Any:
        """The value of an expression of which both sides have run."""
        # For the type checker: the first side has ended.
        after_one = self._lanes.current(self._after_one)  # type: ignore[arg-type]
        pieces = [(after_one, (one,)), (self._lanes.active, (other,))]
        return _joined(self._lanes, [piece for piece in pieces if piece[0].size], self.parent, (one,))[0]


def _joined(lanes: Lanes, pieces: list[tuple[LaneSet, _Values]], parent: LaneSet, values: _Values) -> _Values:
    """Make the union of the pieces active, and return the merged variables."""
    lanes.active = lanes.union([members for members, _ in pieces], parent)
    pieces = [(current, kept) for members, kept in pieces if (current := lanes.current(members)).size]
    if len(pieces) < 2:
        return pieces[0][1][: len(values)] if pieces else values
    variables = []
    for number in range(len(values)):
        variables.append(
            merged(lanes, lanes.active, [(lanes.current(members), kept[number]) for members, kept in pieces])
        )
        pieces = [piece for piece in pieces if lanes.current(piece[0]).size]
    return tuple(variables)


def choice_of(test: Any, saved: _Values) -> Any:
    """The choice for a test."""
    if type(test) is not Lane:
        return UNIFORM[bool(test)]
    column = test.now() if test.annotation is None else None
    if type(column) is not np.ndarray or column.dtype.kind != "b":
        truths = compute(bool, test)
        if type(truths) is not Lane:
            return UNIFORM[truths]
        column = truths.now()
    count = int(np.count_nonzero(column))
    if count in (0, len(column)):
        return UNIFORM[count > 0]
    return Choice(test.lanes, column, saved)


class Loop:
    """A loop that lanes leave at different times."""

    __slots__ = ("_again", "_context", "_lanes", "_left", "_stopped", "_turn", "counter", "start")

    def __init__(self, lanes: Lanes, context: Any) -> None:
        self._lanes = lanes
        self._context = context
        self.start = self._turn = lanes.active
        self._left: list[tuple[LaneSet, _Values]] = []
        """The lanes that have left by `break`."""
        self._stopped: list[tuple[LaneSet, _Values]] = []
        """The lanes for which the loop has ended."""
        self._again: list[tuple[LaneSet, _Values]] = []
        """The lanes that have met `continue` in this turn."""
        self.counter: tuple[Any, Any] | None = None

    def more(self) -> bool:
        """Whether some lanes are in the loop."""
        return self._lanes.active.size > 0

    def goes(self, test: Any, *values: Any) -> bool:
        """Whether some lanes go on, by the test of a `while` loop; the other ones leave."""
        choice = self._context.choice(test)
        if not choice.both:
            going: bool = choice.one()
            if not going:
                self.ends(*values)
        else:
            choice.one()
            self._stopped.append((choice._no, values))
            going = True
        self._turn = self._lanes.active
        return going

    def ends(self, *values: Any) -> None:
        """Note that the loop has ended for the active lanes."""
        if self._lanes.active.size:
            self._stopped.append((self._lanes.active, values))
        self._lanes.active = _empty(self._lanes)

    def items(self, *iterable: Any) -> Iterator[Any]:
        """The items of a `for` loop, while some lanes are in it."""
        is_shared = self._context.advances(iterable)
        steps = iterable[0].steps(self) if type(iterable[0]) is LaneRange else iterable[0]
        del iterable
        for item in steps:
            yield item
            if not self._lanes.active.size:
                return
            if is_shared:  # it advances for the lanes in the loop alone
                self.alone()

    def turn(self, *values: Any) -> None:
        """Begin a turn of a `for` loop. The lanes that have no further item leave."""
        if self.counter is not None:
            self.goes(self.counter[0], *values)
        self._turn = self._lanes.active

    def breaks(self, *values: Any) -> bool:
        """Whether to leave the loop now: all lanes do. Otherwise the active lanes are noted as having left."""
        lanes = self._lanes
        if not (self._left or self._stopped or self._again) and lanes.active is lanes.current(self.start):
            self._left.append((lanes.active, values))
            return True
        self._left.append((lanes.active, values))
        lanes.active = _empty(lanes)
        return False

    def continues(self, *values: Any) -> bool:
        """Whether to go on with the next turn now: all lanes in the loop do."""
        lanes = self._lanes
        if not self._again and lanes.active is lanes.current(self._turn):
            return True
        self._again.append((lanes.active, values))
        lanes.active = _empty(lanes)
        return False

    def again(self, *values: Any) -> _Values:
        """End a turn: the lanes that have met `continue` come back."""
        if not self._again:
            return values
        pieces, self._again = [*self._again, (self._lanes.active, values)], []
        return self._come_back(pieces, values)

    def alone(self) -> None:
        """Drop the lanes that are elsewhere in the loop, or have left it."""
        self._lanes.keep_only(self.start)

    def ended(self) -> bool:
        """Whether the loop has ended for some lanes, so that the `else` clause runs for them."""
        return any(self._lanes.current(members).size for members, _ in self._stopped)

    def otherwise(self, *values: Any) -> _Values:
        """Begin the `else` clause: the lanes for which the loop has ended."""
        pieces, self._stopped = self._stopped, []
        return self._come_back(pieces, values)

    def over(self, *values: Any) -> _Values:
        """End the loop: all lanes that have left it come back."""
        lanes = self._lanes
        if lanes.active.size and not self._left and not self._stopped:
            return values
        pieces = [*self._stopped, *self._left]
        self._stopped, self._left = [], []
        if lanes.active.size and not (pieces and pieces[-1][0] is lanes.active):
            pieces.append((lanes.active, values))
        return self._come_back(pieces, values)

    def _come_back(self, pieces: list[tuple[LaneSet, _Values]], values: _Values) -> _Values:
        pieces = [(current, kept) for members, kept in pieces if (current := self._lanes.current(members)).size]
        return _joined(self._lanes, pieces, self.start, values)


class Frame:
    """A function from which lanes return at different times."""

    __slots__ = ("_entry", "_lanes", "_returned", "value")

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._entry = lanes.active
        self._returned: list[tuple[LaneSet, _Values]] = []
        self.value: Any = None

    def returns(self, value: Any) -> bool:
        """Whether to return now: all lanes do. Otherwise the active lanes are noted as having returned."""
        lanes = self._lanes
        if not self._returned and lanes.active is lanes.current(self._entry):
            self.value = value
            return True
        self._returned.append((lanes.active, (value,)))
        lanes.active = _empty(lanes)
        return False

    def alone(self) -> None:
        """Drop the lanes that are elsewhere in the function, or have returned from it."""
        self._lanes.keep_only(self._entry)

    def result(self) -> Any:
        """The value of the function, at its end."""
        lanes = self._lanes
        if lanes.active.size:
            if not self._returned:
                return None
            self._returned.append((lanes.active, (None,)))
        pieces = [(current, kept) for members, kept in self._returned if (current := lanes.current(members)).size]
        lanes.active = lanes.union([members for members, _ in pieces], self._entry)
        return merged(lanes, lanes.active, [(members, kept[0]) for members, kept in pieces])
