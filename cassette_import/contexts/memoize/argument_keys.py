"""The keys of cached calls: their arguments, in a form that can be compared and hashed.

Arguments are equal if pickle writes the same bytes for them: the same types, states and order, and the same objects in
several places. Functions, classes and objects without any state are equal only if they are the same object; in another
run, functions and classes are equal if they have the same name and digest.
"""

from __future__ import annotations

import copyreg
import functools
import io
import pickle
import sys
from collections.abc import Callable
from inspect import CO_VARKEYWORDS
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup, underlying

__all__ = [
    "IMMUTABLE",
    "PROTOCOL",
    "CannotCache",
    "Key",
    "check_was_not_raised",
    "held_by_callable",
    "in_order",
    "is_without_state",
    "on_one_line",
    "takes_others",
]

PROTOCOL: Final = 4
_PLAIN: Final[frozenset[type]] = frozenset({int, float, str, bytes, bool, type(None)})
"""Immutable types whose values are interchangeable if they are equal and of the same type."""
IMMUTABLE: Final = _PLAIN | {complex, type(Ellipsis), type(NotImplemented), range}
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
            check_was_not_raised(obj, "an argument is or contains")
            return NotImplemented
        elif isinstance(obj, (BuiltinFunctionType, MethodType)) or not is_without_state(obj):
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


def check_was_not_raised(error: BaseException, where: str) -> None:
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


def is_without_state(obj: Any) -> bool:
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
