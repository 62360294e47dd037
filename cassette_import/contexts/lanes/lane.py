"""`Lane`: what the program has in the place of a number that differs between lanes.

A lane value belongs to the set of lanes for which it was computed. Operators compute for the lanes that are active. A
truth test, where the program is not converted, drops the lanes that disagree.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from cassette_import.contexts.lanes.columns import is_immutable, kind_of
from cassette_import.contexts.lanes.errors import EffectError, place
from cassette_import.contexts.lanes.known_functions import ARITHMETIC, COMPARISONS, PARTS
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet, NotInSet

__all__ = ["MOST_VALUES", "PORT", "Annotation", "Lane", "LaneMethod", "LaneRange", "agreed"]

# ---- `Lane`: what the program has in the place of a number that differs between lanes

MOST_VALUES: Final = 64
"""Into how many groups lanes are split where C code needs one value."""

_CLASSES: Final[dict[str, type]] = {"f": float, "i": int, "b": bool, "c": complex}


class Annotation(NamedTuple):
    """What a context within the run has computed for a value: a derivative, or an enclosure.

    Attributes
    ----------
    level:
        The context: see `nested_levels`.
    parts:
        The metadata, by name: numbers and values of lanes. None if the context knows that there is some, but not which.
    bare:
        The value without this annotation. It may have annotations of contexts further out.
    """

    level: Any
    parts: dict[Any, Any] | None
    bare: Any


class Lane:
    """The values of one variable in many lanes."""

    __slots__ = ("_late", "_late_data", "annotation", "data", "lanes", "set")

    def __init__(self, lanes: Lanes, members: LaneSet, data: Any, annotation: Annotation | None = None) -> None:
        self.lanes = lanes
        self.set = members
        self.data = data
        self.annotation = annotation
        self._late: LaneSet | None = None
        self._late_data: Any = None

    def at(self, members: LaneSet) -> Any:
        """The column for some lanes. Lanes for which there is no value are dropped: the active set may change."""
        if members is self.set:
            return self.data
        if members is self._late:
            return self._late_data
        try:
            data = self.data[members.positions_in(self.set)]
        except NotInSet as error:
            if len(error.args[0]) == members.size:
                raise EffectError(f"a value is used that no lane has computed, at {place()}") from None
            self.lanes.drop(error.args[0])
            return self.at(self.lanes.current(members))
        self._late, self._late_data = members, data
        return data

    def fixed(self, members: LaneSet) -> Any:
        """The column for lanes that all have a value, after the run."""
        return self.data if members is self.set else self.data[members.positions_in(self.set)]

    def now(self) -> Any:
        """The column for the active lanes."""
        return self.at(self.lanes.active)

    @property
    def agreed(self) -> Any:
        """What a sequence or mapping pattern is matched with; a number is no sequence in any lane."""
        return None if kind_of(self.now()) in _CLASSES else agreed(self, "is the subject of a pattern")

    # ---- what code that does not know lanes asks

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class that all active lanes have: `isinstance` asks for it."""
        data = self.now()
        kind = kind_of(data)
        if kind in _CLASSES:
            return _CLASSES[kind]
        classes = [type(value) for value in data.tolist()]
        most = max(set(classes), key=classes.count)
        return _split(self, [one is most for one in classes], most)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        truths = _truths(self)
        count = int(np.count_nonzero(truths))
        if count in (0, len(truths)):
            return count > 0
        chosen = count * 2 >= len(truths)
        return bool(_split(self, truths == chosen, chosen))

    def __hash__(self) -> int:
        return hash(agreed(self, "is hashed"))

    def __index__(self) -> int:
        return operator.index(agreed(self, "is an index or a size"))

    def __int__(self) -> int:
        return int(agreed(self, "is converted by C code"))

    def __float__(self) -> float:
        return float(agreed(self, "is converted by C code"))

    def __complex__(self) -> complex:
        return complex(agreed(self, "is converted by C code"))

    def __repr__(self) -> str:
        return repr(agreed(self, "is shown"))

    def __str__(self) -> str:
        return str(agreed(self, "is shown"))

    def __format__(self, spec: str) -> str:
        return format(agreed(self, "is shown"), spec)

    def __iter__(self) -> Any:
        return iter(agreed(self, "is iterated"))

    def __len__(self) -> int:
        return len(agreed(self, "has its length taken"))

    def __getitem__(self, key: Any) -> Any:
        return _compute(operator.getitem, self, key)

    def __contains__(self, item: Any) -> bool:
        return bool(_compute(operator.contains, self, item))

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" and name not in ("__floor__", "__ceil__", "__trunc__", "__name__", "__qualname__"):
            raise AttributeError(f"a value that differs between lanes has no attribute {name!r} for C code")
        return _attribute(self, name)

    def __copy__(self) -> Lane:
        return self

    def __deepcopy__(self, memo: Any) -> Lane:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise EffectError(f"a value that differs between lanes is pickled, at {place()}: return it instead")

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise EffectError(
            f"a value that differs between lanes is given to NumPy, at {place()}: "
            "vectorize code that computes with numbers"
        )

    __array_ufunc__ = None


def _split(lane: Lane, agreeing: Any, value: Any, what: str = "decides in code that is not converted") -> Any:
    """A value that some lanes have; the other ones are dropped."""
    keep = np.asarray(agreeing, bool)
    if not keep.all():
        lane.lanes.drop(lane.lanes.active.ids[~keep], f"a value that differs between them {what}")
    return value


def _truths(lane: Lane) -> Any:
    data = _compute(bool, lane)
    return data.now() if type(data) is Lane else np.full(lane.lanes.active.size, bool(data))


def agreed(lane: Any, what: str = "is needed as one value") -> Any:
    """The value that most active lanes have; the other ones are dropped.

    Raises
    ------
    EffectError
        If the lanes have more than `MOST_VALUES` values: a split by value would be a slow loop.
    """
    if type(lane) is not Lane:
        return lane
    if lane.annotation is not None:
        lane.annotation.level.check_lost(lane, what)
    data = lane.now()
    values = data.tolist()
    keys = [(type(value), repr(value)) for value in values]
    counts: dict[Any, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    if len(counts) > MOST_VALUES:
        raise lane.lanes.refuse(
            EffectError(
                f"a value that differs between lanes {what}, at {place()}: it has {len(counts)} values, and C code "
                "takes one; convert it to a number that the code computes with, or take this part out of the "
                "vectorized function"
            )
        )
    most = max(counts, key=counts.__getitem__)
    first = keys.index(most)
    return _split(lane, [key == most for key in keys], values[first], what)


class _Port:
    """The module above that computes element by element."""

    compute: Any = None


PORT: Final = _Port()


def _compute(function: Any, *operands: Any) -> Any:
    return PORT.compute(function, *operands)


def _attribute(lane: Lane, name: str) -> Any:
    """An attribute of a number or text: a method that computes element by element, or a value."""
    kinds = {type(value) for value in lane.now().tolist()} if kind_of(lane.now()) in "OM" else {lane.__class__}
    if all(callable(getattr(kind, name, None)) for kind in kinds):
        return LaneMethod(lane, name)
    return _compute(PARTS.get(name) or _Method(name, None), lane)


class LaneMethod:
    """A method of a number or text that differs between lanes."""

    def __init__(self, lane: Lane, name: str) -> None:
        self._lane = lane
        self._name = name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if not arguments and not keywords and self._name in PARTS:
            return _compute(PARTS[self._name], self._lane)
        return _compute(_Method(self._name, keywords), self._lane, *arguments)


class _Method:
    """Reads an attribute of a value, and calls it."""

    def __init__(self, name: str, keywords: dict[str, Any] | None) -> None:
        self.name = name
        self.keywords = keywords

    def __call__(self, value: Any, *arguments: Any) -> Any:
        attribute = getattr(value, self.name)
        return attribute if self.keywords is None else attribute(*arguments, **self.keywords)


def _numpy_operand(lane: Lane, other: Any) -> Exception:
    """The error for a number or array of NumPy, whose arithmetic is not Python's."""
    return lane.lanes.refuse(
        EffectError(
            f"a value that differs between lanes is computed with a {type(other).__qualname__} of NumPy, at {place()}: "
            "use numbers of Python, as float(x) or x.tolist() gives them"
        )
    )


def _binary(function: Any, swapped: bool) -> Any:
    def method(self: Lane, other: Any) -> Any:
        if type(other) is not Lane and not is_immutable(other):
            if isinstance(other, (np.generic, np.ndarray)):
                raise _numpy_operand(self, other)
            return NotImplemented
        return _compute(function, other, self) if swapped else _compute(function, self, other)

    return method


def _unary(function: Any) -> Any:
    return lambda self: _compute(function, self)


for _name in (*ARITHMETIC, "and", "or", "xor", "divmod"):
    _function = divmod if _name == "divmod" else getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Lane, f"__{_name}__", _binary(_function, False))
    setattr(Lane, f"__r{_name}__", _binary(_function, True))
for _name in COMPARISONS:
    setattr(Lane, f"__{_name}__", _binary(getattr(operator, _name), False))
for _name, _function in {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "abs": abs}.items():
    setattr(Lane, f"__{_name}__", _unary(_function))


def _round(self: Lane, digits: Any = None) -> Any:
    return _compute(round, self) if digits is None else _compute(round, self, digits)


Lane.__round__ = _round  # type: ignore[attr-defined]  # made by a function


# ---- `range` with bounds that differ between lanes: a loop over it is left by each lane in its own time


class LaneRange:
    """`range(start, stop, step)`, where `start` or `stop` differ between lanes."""

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    @classmethod
    def of(cls, *arguments: Any) -> Any:
        """The range of these arguments: an ordinary one where all lanes agree, or the types are wrong."""
        arguments = tuple(map(_bare, arguments))  # bounds decide: nothing is computed from them
        start, stop, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
        step = agreed(step, "is the step of a range")
        kinds: Any = [one.__class__ for one in (start, stop)]
        if step == 0 or type(step) is not int or any(kind not in (int, bool) for kind in kinds):
            return range(*map(agreed, arguments))
        return cls(start, stop, step)

    def plain(self) -> range:
        """The range, for code that needs one; the lanes are split by value."""
        return range(agreed(self.start, "bounds a range"), agreed(self.stop, "bounds a range"), self.step)

    def __iter__(self) -> Iterator[int]:
        return iter(self.plain())

    def __len__(self) -> int:
        return len(self.plain())

    def __getitem__(self, key: Any) -> Any:
        return self.plain()[key]

    def __contains__(self, value: Any) -> bool:
        return value in self.plain()

    def __reversed__(self) -> Iterator[int]:
        return reversed(self.plain())

    def steps(self, loop: Any) -> Iterator[Any]:
        """The items for a converted loop. The loop's `counter` tells which lanes have an item."""
        item = self.start
        compare = operator.lt if self.step > 0 else operator.gt
        while True:
            test = compare(item, self.stop)
            if type(test) is not Lane:
                if not test:
                    loop.counter = None
                    return
                loop.counter = (True, item)
            else:
                loop.counter = (test, item)
                if not test.now().any():
                    loop.counter = None
                    return
            yield item
            item = item + self.step


def _bare(value: Any) -> Any:
    """A value without the annotations of contexts within the run."""
    while type(value) is Lane and value.annotation is not None:
        value = value.annotation.bare
    return value
