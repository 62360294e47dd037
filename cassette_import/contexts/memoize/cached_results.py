"""The keys of cached calls, and cached results that the program cannot change: immutable or as pickle writes them."""

from __future__ import annotations

import copyreg
import functools
import gc
import io
import itertools
import pickle
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from enum import Enum
from inspect import CO_VARKEYWORDS
from sys import getrefcount
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final
from weakref import ReferenceType, getweakrefcount, getweakrefs

from cassette_import.interpreter.callables import lookup, underlying

__all__ = [
    "PROTOCOL",
    "CachedResult",
    "CannotCache",
    "Key",
    "cached_result",
    "held_by_callable",
    "in_order",
    "on_one_line",
    "takes_others",
]

# ---- the keys of cached calls: their arguments, in a form that can be compared and hashed
#
# Arguments are equal if pickle writes the same bytes for them: the same types, states and order, and the same objects
# in several places. Functions, classes and objects without any state are equal only if they are the same object; in
# another run, functions and classes are equal if they have the same name and digest.

PROTOCOL: Final = 4
_PLAIN: Final[frozenset[type]] = frozenset({int, float, str, bytes, bool, type(None)})
"""Immutable types whose values are interchangeable if they are equal and of the same type."""
_IMMUTABLE: Final = _PLAIN | {complex, type(Ellipsis), type(NotImplemented), range}
"""Types whose values cannot change."""


class CannotCache(Exception):
    """A call cannot be cached. The message is the reason, in a few words."""


class Key:
    """The arguments of a call, as they were when it began.

    Parameters
    ----------
    arguments:
        The positional arguments.
    keywords:
        The keyword arguments, in an order in which equal calls have them.
    digest:
        What identifies a function or class in another run. Without it, the key is for this run only.
    held:
        What the called function holds (`held_by_callable`): calls may read and change it, like arguments.

    Raises
    ------
    CannotCache
        If there are arguments that cannot be compared.

    >>> Key((1,), {}).value == Key((True,), {}).value
    False
    >>> Key(([1, 2],), {}).value == Key(([1, 2],), {}).value
    True
    """

    __slots__ = ("_arguments", "_digest", "_held", "_keywords", "_memo", "kept_alive", "value")

    def __init__(
        self,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        digest: Callable[[Any], object] | None = None,
        held: Any = None,
    ) -> None:
        self._arguments = arguments
        self._held = held
        self._keywords = keywords
        self._digest = digest
        self._memo: dict[int, Any] | None = None
        self.kept_alive: list[Any] = []  # the objects that the key contains by identity
        self.value: Any = self._plain_key()
        if self.value is None:
            self.value = self._pickled()

    def _plain_key(self) -> Any:
        """A key of the arguments themselves, if all of them are plain values."""
        if self._digest is not None or self._held is not None:
            return None
        types = tuple(map(type, self._arguments))
        if not _PLAIN.issuperset(types) or (float in types and 0 in self._arguments):
            return None  # 0.0 and -0.0 are equal
        if not self._keywords:
            return self._arguments, types
        items = tuple(self._keywords.items())
        types += tuple(type(value) for _, value in items)
        return None if float in types or not _PLAIN.issuperset(types) else (self._arguments, items, types)

    def _pickled(self) -> Any:
        """The bytes that pickle writes for the arguments, and the objects that are compared by identity.

        These objects are kept alive, so that no other object gets their identity.
        """
        pickler = _Pickler(self._digest)
        pickled = pickler.pickled((self._arguments, list(self._keywords.items())), self._held)
        self.kept_alive = pickler.by_identity
        self._memo = pickler.memo.copy()
        return (pickled, _Identities(self.kept_alive)) if self.kept_alive else pickled

    def check_unchanged(self) -> None:
        """Raise if the call has changed its arguments."""
        if self._memo is None:
            return
        before, memo = self.value, self._memo
        if self._pickled() != before:
            raise CannotCache("it changes its arguments")
        self._memo = memo

    def shared_with(self, memo: dict[int, Any]) -> list[Any]:
        """The parts of the arguments among the objects that pickle found in a result, which `memo` holds."""
        shared = (memo[identity][1] for identity in (self._memo or {}).keys() & memo.keys())
        return [part for part in shared if part is not self._arguments]


def in_order(keywords: dict[str, Any], function: Any) -> dict[str, Any]:
    """Keyword arguments in an order that is the same for equal calls.

    A function can tell the order of the keywords that its ``**`` parameter takes; so these stay as they are.

    >>> in_order({"b": 1, "a": 2}, lambda a, b: None)
    {'a': 2, 'b': 1}
    >>> in_order({"z": 0, "b": 1, "a": 2}, lambda a, **others: None)
    {'a': 2, 'z': 0, 'b': 1}
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return keywords
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    ordered = {name: keywords[name] for name in sorted(keywords.keys() & {*named})}
    return ordered | keywords


def takes_others(function: Any) -> bool:
    """Whether a function may have a ``**`` parameter, so that it can tell the order of keywords.

    >>> takes_others(lambda a: None), takes_others(lambda **others: None), takes_others(dict)
    (False, True, True)
    """
    code = getattr(function, "__code__", None)
    return not isinstance(code, CodeType) or bool(code.co_flags & CO_VARKEYWORDS)


class _Identities:
    """Objects that are compared by identity."""

    __slots__ = ("_objects",)

    def __init__(self, objects: list[Any]) -> None:
        self._objects = objects

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identities) and list(map(id, self._objects)) == list(map(id, other._objects))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._objects)))


class _Pickler(pickle.Pickler):
    """Writes the state of arguments, then what the functions hold. The bytes are only compared, and never read."""

    def __init__(self, digest: Callable[[Any], object] | None) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, PROTOCOL)
        self._digest = digest
        self.by_identity: list[Any] = []
        self._functions: list[Any] = []
        self._writes_held = False

    def pickled(self, arguments: Any, held: Any) -> bytes:
        try:
            self.dump(arguments)
            self._writes_held = True
            if held is not None:
                self.dump(held)
            for function in self._functions:  # grows meanwhile
                self.dump(_held_by(function))
        except CannotCache:
            raise
        except Exception as error:  # a class may raise anything while it is pickled
            raise CannotCache(f"an argument cannot be compared: {on_one_line(error)}") from None
        return self._file.getvalue()

    def reducer_override(self, obj: Any) -> Any:
        """Write functions, classes and objects that have neither a name nor a state as their identity."""
        if obj is _identity:
            return NotImplemented
        if isinstance(obj, (FunctionType, type)):
            if isinstance(obj, FunctionType):
                self._functions.append(obj)
            if self._digest is not None and (self._writes_held or _is_found_by_name(obj)):
                return _identity, (obj.__module__, obj.__qualname__, self._digest(obj))
        elif isinstance(obj, ModuleType):
            return _identity, (obj.__name__,)
        elif isinstance(obj, BaseException):
            _check_was_not_raised(obj, "an argument is or contains")
            return NotImplemented
        elif isinstance(obj, (BuiltinFunctionType, MethodType)) or not _is_without_state(obj):
            return NotImplemented
        if self._digest is not None:
            raise CannotCache(f"an argument has neither name nor state: {_kind(obj)}")
        self.by_identity.append(obj)
        return _identity, (len(self.by_identity),)


def _identity(what: object) -> None:
    """Represents an object in a key. It is never called, because keys are not read."""


def held_by_callable(function: Any) -> tuple[Any, ...] | None:
    """What calls of a function hold from call to call; of a class, what its constructors hold.

    >>> held_by_callable(lambda x: x), held_by_callable(lambda x, y=1: x), held_by_callable(len)
    (None, ((1,), None, {}, []), None)
    """
    if type(function) is FunctionType:
        return _held_by(function)
    if isinstance(function, type):
        constructors = lookup(function, "__new__"), lookup(function, "__init__")
        held = tuple(_held_by(underlying(constructor)) for constructor in constructors)
        return held if any(held) else None
    return _held_by(getattr(function, "__wrapped__", None))  # of `lru_cache`


def _held_by(function: Any) -> tuple[Any, ...] | None:
    """What calls of a function may change: the variables of its closure, its defaults and its attributes."""
    if type(function) is not FunctionType:
        return None
    cells = function.__closure__
    held = function.__defaults__, function.__kwdefaults__, vars(function), [*map(_content, cells)] if cells else []
    return held if any(held) else None


def _content(cell: CellType) -> Any:
    try:
        return (cell.cell_contents,)
    except ValueError:  # the variable has no value
        return None


def _check_was_not_raised(error: BaseException, where: str) -> None:
    """Raise for an exception with what pickle does not write: a traceback, a cause, a context.

    `where` is how the reason begins.
    """
    if error.__traceback__ or error.__cause__ or error.__context__ or error.__suppress_context__:
        raise CannotCache(f"{where} an exception with a traceback or a cause, which cannot be copied")


def _is_found_by_name(obj: Any) -> bool:
    module = sys.modules.get(obj.__module__)
    try:
        return functools.reduce(getattr, obj.__qualname__.split("."), module) is obj
    except AttributeError:
        return False


def _is_without_state(obj: Any) -> bool:
    """Whether pickle writes nothing but the class of an object, so that its identity is all that distinguishes it."""
    kind: Any = type(obj)
    if kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__:
        return False
    if kind in copyreg.dispatch_table:
        return False
    reduced = obj.__reduce_ex__(PROTOCOL)
    return len(reduced[1]) == 1 and not any(part is not None for part in reduced[2:])


def _kind(obj: Any) -> str:
    return obj.__qualname__ if isinstance(obj, (FunctionType, type)) else f"{type(obj).__qualname__} object"


def on_one_line(error: Exception) -> str:
    """The message of an exception on one line."""
    return " ".join(str(error).split()) or type(error).__name__


# ---- which objects a program can tell from their copies, and which have something that a copy would not have

_MOST_OBJECTS: Final = 100_000
"""A result of more objects is not searched further for weak references."""
_HASH: Final[Any] = object.__hash__
_SET_ATTRIBUTE: Final[Any] = object.__setattr__


def _is_hashed_by_identity(value: Any) -> bool:
    """Whether an object is equal to itself alone, as far as its class says."""
    kind: Any = type(value)
    return bool(kind.__hash__ is _HASH)


def _is_told_from_a_copy(value: Any) -> bool:
    """Whether the program can tell an object from an equal one other than by `is`: changes show, or `==` is `is`.

    >>> _is_told_from_a_copy([]), _is_told_from_a_copy((1, 2))
    (True, False)
    """
    return getattr(type(value), "__hash__", None) is None or _is_hashed_by_identity(value) or _has_attributes(value)


def _may_be_shared(value: Any) -> bool:
    """Whether an argument may be a part of a result: its copy is the object itself, or an equal value of a type in C.

    A program compares values of its own classes by `is`, to see whether a call has returned its argument unchanged.

    >>> import datetime, fractions
    >>> _may_be_shared(len), _may_be_shared(datetime.date(2000, 1, 1)), _may_be_shared(fractions.Fraction(1, 2))
    (True, True, False)
    """
    is_in_c = not any(
        isinstance(member, FunctionType) for base in type(value).__mro__ for member in vars(base).values()
    )
    return (is_in_c and not _is_told_from_a_copy(value)) or _is_its_own_copy(value)


def _is_its_own_copy(value: Any) -> bool:
    """Whether pickle finds an object again in place of a copy: a class, a logger, a singleton of its class.

    >>> _is_its_own_copy(len), _is_its_own_copy([])
    (True, False)
    """
    try:
        return pickle.loads(pickle.dumps(value, PROTOCOL)) is value
    except Exception:  # a class may raise anything while it is pickled
        return False


def _has_attributes(value: Any) -> bool:
    """Whether a program may assign to attributes of an object that is hashed by its value.

    A class with a `__setattr__` of its own, such as a frozen dataclass, has the say. Of those of the standard library,
    none that is hashed by its value is changed.
    """
    kind: Any = type(value)
    if kind.__setattr__ is not _SET_ATTRIBUTE or isinstance(value, (type, Enum)):
        return False
    if kind.__module__.partition(".")[0] in sys.stdlib_module_names:
        return False
    return bool(kind.__dictoffset__) or any(vars(base).get("__slots__") for base in kind.__mro__)


def _is_weakly_held(value: Any, whole: Any) -> bool:
    """Whether there is a weak reference to a part of a result besides those in the result itself.

    Tables of pandas have such references to themselves.
    """
    return bool(getweakrefcount(value)) and any(
        getrefcount(reference) - _REFERENCES_OF_A_LOOP > inside[id(reference)]
        for inside in [_weak_references_in(whole)]
        for reference in getweakrefs(value)
    )


def _weak_references_in(whole: Any) -> Counter[int]:
    """How often objects that an object refers to, directly or through others, refer to each weak reference."""
    found: Counter[int] = Counter()
    seen = {id(whole)}
    work = [whole]
    while work and len(seen) < _MOST_OBJECTS:
        for one in gc.get_referents(work.pop()):
            if isinstance(one, ReferenceType):
                found[id(one)] += 1
            elif id(one) not in seen and not isinstance(one, (type, FunctionType, ModuleType)):
                seen.add(id(one))
                work.append(one)
    return found


def _check_can_be_copied(value: Any, where: str) -> None:
    """Raise for an object of which pickle leaves something out, or whose copies have effects when they are deleted.

    Parameters
    ----------
    value:
        The object.
    where:
        How the reason begins.

    Raises
    ------
    CannotCache
        For an exception that was raised or has a cause, and for an object with a `__del__` in Python.
    """
    if isinstance(value, BaseException):
        _check_was_not_raised(value, where)
    if isinstance(getattr(type(value), "__del__", None), FunctionType):
        raise CannotCache(f"{where} an object with a finalizer, which a copy would run too: {type(value).__qualname__}")


def _references_of_a_loop() -> int:
    """How many references to a weak reference the generator in `_is_weakly_held` has."""
    target = frozenset("x")
    kept = [weakref.ref(target)]
    return next(getrefcount(reference) for reference in getweakrefs(target)) - len(kept)


_REFERENCES_OF_A_LOOP: Final = _references_of_a_loop()


# ---- exact copies of NumPy arrays: pickle does not write whether an array is read-only
#
# An array may also show memory of another object; a copy has memory of its own.


def _is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy, if the program has imported it."""
    numpy = sys.modules.get("numpy")
    kind = getattr(numpy, "ndarray", None)
    return isinstance(kind, type) and isinstance(value, kind)


def _written(array: Any) -> Any:
    """What pickle writes for an array, as `__reduce_ex__` returns it."""
    if array.flags.writeable:
        return NotImplemented
    constructor, arguments, *state = array.__reduce_ex__(PROTOCOL)
    return read_only, (constructor, arguments, state[0] if state else None)


def read_only(constructor: Any, arguments: Any, state: Any) -> Any:
    """A new array that is read-only."""
    made = constructor(*arguments)
    if state is not None:
        made.__setstate__(state)
    made.flags.writeable = False
    return made


def _check_memory(parts: Iterable[Any]) -> None:
    """Raise if arrays among the parts of a result show memory that another object shows, too.

    A change of such an array is seen elsewhere; a change of its copy would not be.
    """
    arrays = list(filter(_is_array, parts))
    owners = {id(array) for array in arrays}
    views = Counter(id(array.base) for array in arrays)
    for array in arrays:
        if array.base is None or type(array.base) is bytes:
            continue
        if id(array.base) in owners or views[id(array.base)] > 1:
            raise CannotCache("arrays in its result share memory, which copies would not")
        if getrefcount(array.base) > _REFERENCES:
            raise CannotCache("its result shows the memory of an array that is held elsewhere too")


def _references() -> int:
    """How many references `getrefcount` counts to the owner of some memory if one object shows it."""
    view = memoryview(bytearray(1))
    return getrefcount(view.obj)


_REFERENCES: Final = _references()


# ---- cached results, which the program cannot change: immutable values, and mutable ones as pickle writes them


class CachedResult:
    """A result in the cache: an immutable value, or the bytes that pickle writes for it."""

    __slots__ = ("is_pickled", "stored")

    def __init__(self, stored: Any, is_pickled: bool) -> None:
        self.stored = stored
        self.is_pickled = is_pickled

    def value(self) -> Any:
        """The result; if it is mutable, a new copy."""
        return pickle.loads(self.stored) if self.is_pickled else self.stored

    def pickled(self) -> bytes:
        """The result as bytes for a file."""
        return self.stored if self.is_pickled else pickle.dumps(self.stored, PROTOCOL)


def cached_result(result: Any, key: Key, others: int) -> CachedResult:
    """A result in a form that can be cached.

    Parameters
    ----------
    result:
        The result of a call.
    key:
        The arguments of the call.
    others:
        How many references there are to the result besides that of the caller.

    Raises
    ------
    CannotCache
        If it cannot be copied, or if a copy could be told from it: it contains an argument, others hold it, or it
        contains an object whose identity is all that distinguishes it.
    """
    if type(result) in _IMMUTABLE:
        return CachedResult(result, is_pickled=False)
    file = io.BytesIO()
    pickler = _ResultPickler(file, PROTOCOL)
    try:
        pickler.dump(result)
        copied = pickle.loads(file.getvalue())
    except CannotCache:
        raise
    except Exception as error:  # a class may raise anything while it is pickled
        raise CannotCache(f"its result cannot be copied: {on_one_line(error)}") from None
    if copied is result:  # such as a class, a function of a module, or a member of an enum
        return CachedResult(result, is_pickled=False)
    if _is_told_from_a_copy(result) and (
        _is_weakly_held(result, result) or (others and others > _ReferenceCounter.references_in(result))
    ):
        raise CannotCache("its result is held elsewhere too, and a copy would be another object")
    if _is_part_held(result, pickler):
        raise CannotCache("a part of its result is held elsewhere too, and a copy would be another object")
    _check_memory(part for _, part in pickler.memo.copy().values())
    if not all(map(_may_be_shared, key.shared_with(pickler.memo.copy()))):
        raise CannotCache("its result contains one of its arguments")
    if type(result) is tuple and all(type(item) in _IMMUTABLE for item in result):
        return CachedResult(result, is_pickled=False)
    return CachedResult(file.getvalue(), is_pickled=True)


class _ResultPickler(pickle.Pickler):
    """Writes results; raises for an object whose identity is all that distinguishes it, as a sentinel."""

    def reducer_override(self, obj: Any) -> Any:
        """Called by pickle for objects that are neither containers nor plain values."""
        if isinstance(obj, (MethodType, BuiltinFunctionType)) and not isinstance(obj.__self__, (ModuleType, type)):
            raise CannotCache("its result contains a bound method, whose receiver would be copied")
        if (
            not isinstance(obj, (FunctionType, BuiltinFunctionType, ModuleType, type))
            and _is_hashed_by_identity(obj)
            and _is_without_state(obj)
        ):
            raise CannotCache(f"its result contains an object without state: {type(obj).__qualname__} object")
        _check_can_be_copied(obj, "its result contains")
        if _is_array(obj):
            return _written(obj)
        return NotImplemented


class _ReferenceCounter(pickle.Pickler):
    """Counts the references to an object among its own parts: those of the children of a node to their parent."""

    def __init__(self, counted: Any) -> None:
        super().__init__(io.BytesIO(), PROTOCOL)
        self._counted = counted
        self._count = 0

    @classmethod
    def references_in(cls, counted: Any) -> int:
        counter = cls(counted)
        counter.dump(counted)
        return counter._count - 1  # the first one is the object itself

    def persistent_id(self, obj: Any) -> None:
        """Called for each reference to an object."""
        self._count += obj is self._counted


_SHARED: Final = (type, FunctionType, BuiltinFunctionType, ModuleType)
"""Objects of which a copy is the object itself."""


def _is_part_held(result: Any, pickler: pickle.Pickler) -> bool:
    """Whether other code holds a part of a pickled result, and would notice that a copy is another object."""
    counts = _other_references(result, pickler)  # before any variable here holds a part
    memo = pickler.memo.copy()
    parts = [part for _, part in memo.values() if part is not result]
    held = [part for part in parts if _is_changeable(part) and _is_weakly_held(part, result)]
    repeated = _class_attributes_in_states(result, memo)
    held += [
        memo[identity][1]
        for identity, count in counts.items()
        if count > _REFERENCES_OF_PICKLING and identity not in repeated
    ]
    return not all(map(_is_its_own_copy, held))


def _class_attributes_in_states(result: Any, memo: Mapping[int, tuple[int, Any]]) -> set[int]:
    """The identities of attributes of classes that only a `__getstate__` repeats, as pandas does."""
    parts = [part for _, part in memo.values()]
    referred = {id(part): _referents(part, memo) for part in parts}
    inside = set(itertools.chain.from_iterable(referred.values()))
    namespaces = {id(one) for part in parts if type(one := getattr(part, "__dict__", None)) is dict}
    states = {id(part) for part in parts if type(part) is dict and part is not result} - inside - namespaces
    of_objects = set(itertools.chain.from_iterable(found for one, found in referred.items() if one not in states))
    kinds = {base for part in parts for base in type(part).__mro__}
    return {id(value) for kind in kinds for value in vars(kind).values()} - of_objects


def _other_references(result: Any, pickler: pickle.Pickler) -> dict[int, int]:
    """The references to each mutable part of a pickled result, without those of the result's other parts."""
    memo = pickler.memo.copy()
    counted = list(filter(_is_changeable, (part for _, part in memo.values() if part is not result)))
    if not counted:
        return {}
    # In functions of their own: no variable here may hold a part.
    parts, always = [part for _, part in memo.values()], itertools.repeat(memo.keys())
    inside = Counter(itertools.chain.from_iterable(map(_referents, parts, always)))
    del parts
    return {id(part): getrefcount(part) - inside[id(part)] for part in counted}


def _is_changeable(part: Any) -> bool:
    return _is_told_from_a_copy(part) and not isinstance(part, _SHARED)


def _referents(part: Any, memo: Container[int]) -> list[int]:
    """The identities of the objects to which an object refers.

    From Python 3.13 on, either an object or its `__dict__` is said to refer to the attributes. Here they count for the
    `__dict__` if that was pickled, else for the object.
    """
    if type(part) is dict:
        return [*map(id, part.keys()), *map(id, part.values())]
    found = [id(one) for one in gc.get_referents(part)]
    namespace = getattr(part, "__dict__", None)
    if type(namespace) is not dict or isinstance(part, _SHARED):
        return found
    values = [id(value) for value in namespace.values()]
    slots = [one for one in found if one not in values and one != id(namespace)]
    return [*slots, id(namespace)] if id(namespace) in memo else [*slots, *values]


def _references_of_pickling() -> int:
    """How many references to a part the pickler and the code here have."""
    result: list[list[Any]] = [[]]
    pickler = _ResultPickler(io.BytesIO(), PROTOCOL)
    pickler.dump(result)
    return next(iter(_other_references(result, pickler).values()))


_REFERENCES_OF_PICKLING: Final = _references_of_pickling()
