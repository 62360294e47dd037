"""Containers that hold values of lanes: found, taken apart, and made again for one lane.

A function in C that gets a list reads what is in it, so each lane has a list of its own with plain values. The list is
gone after the call: it must be a function that keeps and changes nothing.
"""

from __future__ import annotations

import functools
import gc
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any, Final, NamedTuple

from cassette_import.contexts.lanes.columns import is_immutable
from cassette_import.contexts.lanes.lane import Lane, LaneRange
from cassette_import.interpreter.records import cast

__all__ = ["ATOMS", "Parts", "apart", "can_be_apart", "contains_lane", "holds_lane", "lane_in", "parts_of"]

# ---- containers that hold values of lanes: found, taken apart, and made again for one lane

ATOMS: Final = frozenset({float, int, bool, complex, str, bytes, type(None)})
"""Types whose values have no parts."""
_DEPTH: Final = 6

_Maker = Callable[[Iterator[Any]], Any]


def contains_lane(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a value is one of lanes, or an object or container that holds one."""
    return type(value) not in ATOMS and lane_in(value, depth) is not None


def lane_in(value: Any, depth: int = _DEPTH) -> Lane | None:
    """A value of lanes in an object or container; None if there is none."""
    kind = type(value)
    if kind is Lane:
        return value  # type: ignore[no-any-return]  # of this kind
    if kind is LaneRange:
        return lane_in((value.start, value.stop))
    if depth == 0 or kind in ATOMS or (is_immutable(value) and kind not in (tuple, frozenset)):
        return None
    if isinstance(value, dict):
        parts: Any = value.values()
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        parts = value
    else:
        inside = getattr(value, "__dict__", None)
        parts = inside.values() if type(inside) is dict else ()
    for part in parts:
        found = lane_in(part, depth - 1)
        if found is not None:
            return found
    return None


class OfParts:
    """A function of containers, as a function of the values of lanes in them."""

    def __init__(self, function: Any, makers: Sequence[_Maker]) -> None:
        self.function = function
        self.__module__ = getattr(function, "__module__", None) or ""
        self.__qualname__ = getattr(function, "__qualname__", None) or repr(function)
        self._makers = makers

    def __call__(self, *parts: Any) -> Any:
        rest = iter(parts)
        return self.function(*[make(rest) for make in self._makers])


def apart(function: Any, operands: Sequence[Any]) -> tuple[OfParts, list[Any]] | None:
    """A function of values of lanes, and these values; None if some are in what cannot be taken apart."""
    found: list[Any] = []
    makers = [_maker(one, found, _DEPTH) for one in operands]
    if any(make is None for make in makers):
        return None
    return OfParts(function, [make for make in makers if make is not None]), found


def can_be_apart(*values: Any) -> bool:
    """Whether all values of lanes are in containers that can be taken apart, and there are some."""
    found = apart(None, values)
    return found is not None and bool(found[1])


def _next(parts: Iterator[Any]) -> Any:
    return next(parts)


def _maker(value: Any, found: list[Any], depth: int) -> _Maker | None:
    """What makes the value for one lane of the parts that differ, which are added to `found`."""
    kind = type(value)
    if kind is Lane:
        found.append(value)
        return _next
    if not contains_lane(value, depth):
        return lambda parts: value
    rule = _CONTAINERS.get(kind)
    if rule is None and issubclass(kind, tuple) and hasattr(kind, "_make"):
        rule = _named_tuple
    if rule is None or depth == 0:
        return None
    items, made_of = rule(value)
    makers = [_maker(item, found, depth - 1) for item in items]
    known = [make for make in makers if make is not None]
    return (lambda parts: made_of([make(parts) for make in known])) if len(known) == len(makers) else None


def _named_tuple(value: Any) -> tuple[Any, Callable[[list[Any]], Any]]:
    return value, type(value)._make


def _mapping(value: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    def made_of(items: list[Any]) -> Any:
        made = value.copy()
        made.update(zip(list(value), items, strict=True))
        return made

    return list(value.values()), made_of


_CONTAINERS: Final[dict[type, Callable[[Any], tuple[Any, Callable[[list[Any]], Any]]]]] = {
    list: lambda value: (value, list),
    tuple: lambda value: (value, tuple),
    deque: lambda value: (value, lambda items: deque(items, value.maxlen)),
    dict: _mapping,
    OrderedDict: _mapping,
    defaultdict: _mapping,
}
"""By type: the items of a container, and what makes another one of other items."""


# ---- parts: how a container or object is taken apart, and how another one like it is made of other parts
#
# Objects are made without their own `__new__` and `__init__`, which are code of the program: as `copy` and `pickle` do.

_PARTS_DEPTH: Final = 8
_HEAP_TYPE: Final = 1 << 9


class Parts(NamedTuple):
    """A value, taken apart.

    Attributes
    ----------
    shape:
        Values with equal shapes have parts that correspond to each other. None: those of no other value do.
    items:
        The parts.
    rebuilt:
        Makes a value like this one of other parts.
    """

    shape: Any
    items: list[Any]
    rebuilt: Callable[[Sequence[Any]], Any]


def parts_of(value: Any) -> Parts | None:
    """A container or object taken apart; None for a value that is one piece, or of which nothing is known."""
    kind = type(value)
    if kind is Lane or kind is LaneRange or (is_immutable(value) and kind not in (tuple, frozenset)):
        return None
    rule = _rule(cast("Any", kind))
    names = _attributes(value)
    if rule is None or (rule is _object and not names):
        return None
    contents = rule(value)
    count = len(contents.items)
    state = [_read(value, name) for name in names]

    def rebuilt(parts: Sequence[Any]) -> Any:
        made = contents.rebuilt(parts[:count])
        for name, part in zip(names, parts[count:], strict=True):
            _write(made, name, part)
        return made

    shape = None if contents.shape is None else (kind, contents.shape, names)
    return Parts(shape, [*contents.items, *state], rebuilt)


def holds_lane(*values: Any) -> bool:
    """Whether values differ between lanes, or have parts that do, in whatever they keep them."""
    seen: dict[int, Any] = {}
    level = list(values)
    for _ in range(_PARTS_DEPTH):
        below: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is Lane or kind is LaneRange:
                return True
            if kind in ATOMS or id(value) in seen:
                continue
            seen[id(value)] = value
            if isinstance(value, FunctionType):
                below += _kept_by_function(value)
            elif kind in (tuple, frozenset, BuiltinFunctionType) or not is_immutable(value):
                parts = parts_of(value)
                below += _kept_by(value) if parts is None else parts.items
        level = below
    return False


def _kept_by(value: Any) -> list[Any]:
    """What an object refers to of which nothing else is known: an iterator what it iterates."""
    kept = [one for one in gc.get_referents(value) if not isinstance(one, (type, ModuleType))]
    return [one for one in kept if type(one) is not dict or "__builtins__" not in one]  # not a module's names


def _kept_by_function(function: FunctionType) -> list[Any]:
    kept = [one for cell in function.__closure__ or () for one in gc.get_referents(cell)]
    return [*kept, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


@functools.lru_cache(1024)
def _rule(kind: type) -> Callable[[Any], Parts] | None:
    """What takes the contents of an object of a class apart: the first of its classes that is written in C says it."""
    for one in kind.__mro__:
        if one in _CONTENTS:
            return _CONTENTS[one]
        if type(vars(one).get("__new__")) is BuiltinFunctionType or not one.__flags__ & _HEAP_TYPE:
            return _exception(one) if issubclass(one, BaseException) else None
    return None


@functools.lru_cache(1024)
def _slots(kind: type) -> tuple[tuple[str, Any], ...]:
    """The slots that classes of the program have, with the descriptors that reach them whatever hides them."""
    return tuple(
        (name, found)
        for one in kind.__mro__
        if "__slots__" in vars(one)
        for name, found in vars(one).items()
        if type(found) is MemberDescriptorType
    )


def _attributes(value: Any) -> tuple[Any, ...]:
    """The attributes that an object has: names of its dict, and slots."""
    inside = getattr(value, "__dict__", None)
    names = tuple(inside) if type(inside) is dict else ()
    return (*names, *(slot for slot in _slots(cast("Any", type(value))) if _is_set(value, slot[1])))


def _is_set(value: Any, slot: Any) -> bool:
    try:
        slot.__get__(value)
    except AttributeError:
        return False
    return True


def _read(value: Any, name: Any) -> Any:
    return value.__dict__[name] if type(name) is str else name[1].__get__(value)


def _write(value: Any, name: Any, part: Any) -> None:
    if type(name) is str:
        value.__dict__[name] = part
    else:
        name[1].__set__(value, part)


def _tuple(value: Any) -> Parts:
    return Parts(len(value), list(tuple.__iter__(value)), lambda parts: tuple.__new__(type(value), parts))


def _list(value: Any) -> Parts:
    def rebuilt(parts: Sequence[Any]) -> Any:
        made = list.__new__(type(value))
        list.extend(made, parts)
        return made

    return Parts(len(value), list(list.__iter__(value)), rebuilt)


def _deque(value: Any) -> Parts:
    def rebuilt(parts: Sequence[Any]) -> Any:
        made = deque.__new__(type(value))
        deque.__init__(made, parts, value.maxlen)
        return made

    return Parts((len(value), value.maxlen), list(deque.__iter__(value)), rebuilt)


def _set(value: Any) -> Parts:
    def rebuilt(parts: Sequence[Any]) -> Any:
        made = set.__new__(type(value))
        set.update(made, parts)
        return made

    return Parts(None, list(set.__iter__(value)), rebuilt)


def _frozenset(value: Any) -> Parts:
    return Parts(None, list(frozenset.__iter__(value)), lambda parts: frozenset.__new__(type(value), parts))


def _parts_mapping(base: Any) -> Callable[[Any], Parts]:
    def parts_of_mapping(value: Any) -> Parts:
        keys, count = list(base.keys(value)), len(value)

        def rebuilt(parts: Sequence[Any]) -> Any:
            made = base.__new__(type(value))
            if base is defaultdict:
                made.default_factory = value.default_factory
            for key, part in (
                zip(parts[:count], parts[count:], strict=True) if differ else zip(keys, parts, strict=True)
            ):
                base.__setitem__(made, key, part)
            return made

        differ = any(map(holds_lane, keys))
        values = [base.__getitem__(value, key) for key in keys]
        return Parts(None, [*keys, *values], rebuilt) if differ else Parts(tuple(keys), values, rebuilt)

    return parts_of_mapping


def _exception(base: Any) -> Callable[[Any], Parts]:
    def parts_of_exception(value: Any) -> Parts:
        def rebuilt(parts: Sequence[Any]) -> Any:
            made = base.__new__(type(value), *parts)
            base.__init__(made, *parts)
            made.__cause__, made.__context__ = value.__cause__, value.__context__
            made.__suppress_context__ = value.__suppress_context__
            return made.with_traceback(value.__traceback__)

        return Parts(len(value.args), list(value.args), rebuilt)

    return parts_of_exception


def _namespace(value: Any) -> Parts:
    return Parts((), [], lambda parts: SimpleNamespace.__new__(type(value)))


def _object(value: Any) -> Parts:
    return Parts((), [], lambda parts: object.__new__(type(value)))


_CONTENTS: Final[dict[type, Callable[[Any], Parts]]] = {
    tuple: _tuple,
    list: _list,
    deque: _deque,
    set: _set,
    frozenset: _frozenset,
    dict: _parts_mapping(dict),
    OrderedDict: _parts_mapping(OrderedDict),
    defaultdict: _parts_mapping(defaultdict),
    SimpleNamespace: _namespace,
    object: _object,
}
