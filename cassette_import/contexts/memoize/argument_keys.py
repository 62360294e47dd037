"""How `memoize` tells arguments apart, and how it keeps results from being changed.

Arguments are the same if pickle writes the same of them: type, state, order, and which objects are one and the
same. Closures, and objects without any state, are the same only if they are the same object. Knows pickle; must not
know functions or contexts.
"""

from __future__ import annotations

import copyreg
import functools
import io
import pickle
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

__all__ = ["CannotRemember", "Key", "Remembered", "remembered"]

_PROTOCOL: Final = 4
_PLAIN: Final[frozenset[type]] = frozenset({int, float, str, bytes, bool, type(None)})
"""Types whose values are the same if they are equal, and cannot change."""
_UNCHANGEABLE: Final = _PLAIN | {complex, type(Ellipsis), type(NotImplemented), range}
_NAMED: Final = (FunctionType, BuiltinFunctionType, type, ModuleType)
_SHARED_FREELY: Final[tuple[type, ...]] = (*_UNCHANGEABLE, *_NAMED, tuple, frozenset)


class CannotRemember(Exception):
    """A call cannot be remembered; says why, in a few words."""


class Key:
    """The arguments of a call, as they were when it began.

    `lasts` says that the key is to mean the same in another run. Raises `CannotRemember` if there are arguments that
    cannot be told apart.

    >>> Key((1,), {}).value == Key((True,), {}).value
    False
    >>> Key(([1, 2],), {}).value == Key(([1, 2],), {}).value
    True
    """

    __slots__ = ("_arguments", "_keywords", "_lasts", "_memo", "kept", "value")

    def __init__(self, arguments: tuple[Any, ...], keywords: dict[str, Any], lasts: bool = False) -> None:
        self._arguments = arguments
        self._keywords = keywords
        self._lasts = lasts
        self._memo: dict[int, Any] | None = None
        self.kept: list[Any] = []  # what the key names by identity
        self.value: Any = self._fast()
        if self.value is None:
            self.value = self._pickled()

    def _fast(self) -> Any:
        """The arguments themselves, if that is enough."""
        if self._lasts:
            return None
        types = tuple(map(type, self._arguments))
        if float in types and 0 in self._arguments:
            return None  # 0.0 and -0.0 are equal
        if not self._keywords:
            return (self._arguments, types) if _PLAIN.issuperset(types) else None
        items = tuple(sorted(self._keywords.items(), key=lambda item: item[0]))
        types += tuple(type(value) for _, value in items)
        if float in types:
            return None
        return (self._arguments, items, types) if _PLAIN.issuperset(types) else None

    def _pickled(self) -> Any:
        """What pickle writes of the arguments; what goes by identity is kept beside it, so that nobody takes its
        place."""
        pickler = _Pickler(self._lasts)
        pickled = pickler.written((self._arguments, sorted(self._keywords.items(), key=lambda item: item[0])))
        self.kept = pickler.by_identity
        self._memo = pickler.memo.copy()
        return (pickled, _Kept(self.kept)) if self.kept else pickled

    def check_unchanged(self) -> None:
        """Raise if the call has changed its arguments."""
        if self._memo is None:
            return
        before, memo = self.value, self._memo
        if self._pickled() != before:
            raise CannotRemember("it changes its arguments")
        self._memo = memo

    def check_not_in(self, memo: dict[int, Any]) -> None:
        """Raise if a result gives out an argument that can change; `memo` is what pickle met in the result."""
        for identity in (self._memo or {}).keys() & memo.keys():
            met = memo[identity][1]
            if not isinstance(met, _SHARED_FREELY) and met is not self._arguments:
                raise CannotRemember("its result holds one of its arguments")


class _Kept:
    """Objects that are told apart by identity; equal if they are the same ones."""

    __slots__ = ("_objects",)

    def __init__(self, objects: list[Any]) -> None:
        self._objects = objects

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and list(map(id, self._objects)) == list(map(id, other._objects))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._objects)))


class _Pickler(pickle.Pickler):
    """Writes the state of arguments, to be compared and never to be read."""

    def __init__(self, lasts: bool) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, _PROTOCOL)
        self._lasts = lasts
        self.by_identity: list[Any] = []

    def written(self, value: Any) -> bytes:
        try:
            self.dump(value)
        except CannotRemember:
            raise
        except Exception as error:  # whatever a class has to say about being pickled
            raise CannotRemember(f"an argument cannot be told apart: {_on_one_line(error)}") from None
        return self._file.getvalue()

    def reducer_override(self, obj: Any) -> Any:
        """Have what has no name and no state go by its identity."""
        if isinstance(obj, (FunctionType, type)):
            if _is_found_by_name(obj):
                return NotImplemented
        elif isinstance(obj, ModuleType):
            return _identity, (obj.__name__,)
        elif isinstance(obj, (BuiltinFunctionType, MethodType)) or not _is_without_state(obj):
            return NotImplemented
        if self._lasts:
            raise CannotRemember(f"an argument has neither name nor state: {_kind(obj)}")
        self.by_identity.append(obj)
        return _identity, (len(self.by_identity),)


def _identity(what: object) -> None:
    """Stands for an object in a key, which nobody reads."""


def _is_found_by_name(obj: Any) -> bool:
    module = sys.modules.get(obj.__module__)
    try:
        return functools.reduce(getattr, obj.__qualname__.split("."), module) is obj
    except AttributeError:
        return False


def _is_without_state(obj: Any) -> bool:
    kind: Any = type(obj)
    if kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__:
        return False
    if kind in copyreg.dispatch_table:
        return False
    reduced = obj.__reduce_ex__(_PROTOCOL)
    return len(reduced[1]) == 1 and not any(part is not None for part in reduced[2:])


def _kind(obj: Any) -> str:
    return obj.__qualname__ if isinstance(obj, (FunctionType, type)) else f"{type(obj).__qualname__} object"


class Remembered:
    """A result as it is kept: a value that cannot change, or what pickle writes of it."""

    __slots__ = ("is_pickled", "kept")

    def __init__(self, kept: Any, is_pickled: bool) -> None:
        self.kept = kept
        self.is_pickled = is_pickled

    def value(self) -> Any:
        """The result, nobody else's."""
        return pickle.loads(self.kept) if self.is_pickled else self.kept

    def pickled(self) -> bytes:
        """What can be written to a file."""
        return self.kept if self.is_pickled else pickle.dumps(self.kept, _PROTOCOL)


def remembered(result: Any, key: Key) -> Remembered:
    """The result in a form that can be kept.

    Raises
    ------
    CannotRemember
        If it cannot be copied, or holds an argument, which a copy would not.
    """
    if type(result) in _UNCHANGEABLE or isinstance(result, (FunctionType, type)):
        return Remembered(result, is_pickled=False)
    file = io.BytesIO()
    pickler = pickle.Pickler(file, _PROTOCOL)
    try:
        pickler.dump(result)
        pickle.loads(file.getvalue())
    except Exception as error:  # whatever a class has to say about being pickled
        raise CannotRemember(f"its result cannot be copied: {_on_one_line(error)}") from None
    key.check_not_in(pickler.memo.copy())
    if type(result) is tuple and all(type(item) in _UNCHANGEABLE for item in result):
        return Remembered(result, is_pickled=False)
    return Remembered(file.getvalue(), is_pickled=True)


def _on_one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
