"""Exceptions as JSON and back: class, arguments, attributes, notes and cause."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.recording.decoding import BadValue, located
from cassette_import.contexts.recording.value_types import reference

__all__ = ["decoded_error", "encoded_error"]

_DEEPEST_CAUSE: Final = 6
_MEMBERS: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)
_SET_BY_CONSTRUCTOR: Final = frozenset({"args", "exceptions", "message"})


class _Thread(threading.local):
    """The exceptions that a thread is encoding or decoding, outermost first: one may refer to itself."""

    def __init__(self) -> None:
        self.errors: list[Any] = []


_THREAD: Final = _Thread()


def encoded_error(error: BaseException, encode: Callable[[Any], tuple[Any, Any]], depth: int = 0) -> dict[str, Any]:
    """An exception as JSON. An attribute that `encode` replaces by a proxy is replaced in the exception, too."""
    enclosing = _THREAD.errors
    for levels, one in enumerate(reversed(enclosing), 1):
        if one is error:
            return {"cycle": levels}
    enclosing.append(error)
    try:
        return _encoded(error, encode, depth)
    finally:
        enclosing.pop()


def _encoded(error: BaseException, encode: Callable[[Any], tuple[Any, Any]], depth: int) -> dict[str, Any]:
    state: list[Any] = []
    for name, value in list(vars(error).items()):
        encoded, shown = encode(value)
        if shown is not value:
            vars(error)[name] = shown
        state.append([name, encoded])
    found: dict[str, Any] = {
        "class": _importable(type(error)),
        "arguments": [encode(argument)[0] for argument in error.args],
        "state": state,
        "members": [[name, encode(value)[0]] for name, value in _members(error)],
    }
    if depth < _DEEPEST_CAUSE:
        if error.__cause__ is not None:
            found["cause"] = encoded_error(error.__cause__, encode, depth + 1)
        elif error.__suppress_context__:
            found["cause"] = None
        if isinstance(error, BaseExceptionGroup):
            found["arguments"][1:2] = [[{"error": encoded_error(one, encode, depth + 1)} for one in error.exceptions]]
    return found


def decoded_error(encoded: Any, decode: Callable[[Any], Any]) -> BaseException:
    """The exception that JSON encodes."""
    enclosing = _THREAD.errors
    if isinstance(encoded, dict) and "cycle" in encoded:
        return _enclosing_error(enclosing, encoded["cycle"])
    enclosing.append(None)
    try:
        return _decoded(encoded, decode)
    finally:
        enclosing.pop()


def _enclosing_error(enclosing: list[Any], levels: Any) -> BaseException:
    found: BaseException | None = enclosing[-levels] if levels in range(1, len(enclosing) + 1) else None
    if found is None:
        raise BadValue("an exception cannot be one of its own arguments")
    return found


def _decoded(encoded: Any, decode: Callable[[Any], Any]) -> BaseException:
    try:
        kind = located(encoded["class"])
        arguments = [decode(argument) for argument in encoded["arguments"]]
        error: BaseException = kind.__new__(kind, *arguments)
        _initialise(error, arguments)
        _THREAD.errors[-1] = error
        for name, value in encoded["members"]:
            try:
                setattr(error, name, decode(value))
            except (AttributeError, TypeError):
                pass
        for name, value in encoded["state"]:
            vars(error)[name] = decode(value)
        if "cause" in encoded:
            cause = encoded["cause"]
            error.__cause__ = None if cause is None else decoded_error(cause, decode)
    except BadValue:
        raise
    except Exception as problem:  # the arguments in an edited recording can make a class raise anything
        raise BadValue(f"no exception is written as {str(encoded)[:80]}: {problem}") from problem
    return error


def _initialise(error: BaseException, arguments: list[Any]) -> None:
    """Call the `__init__` of the nearest base that is written in C: a StopIteration without it has no `value`."""
    for base in type(error).__mro__:
        initialise = vars(base).get("__init__")
        if type(initialise) is types.WrapperDescriptorType:
            try:
                initialise(error, *arguments)
            except TypeError:  # a subclass calls it with other arguments
                initialise(error)
            break
    error.args = tuple(arguments)


def _members(error: BaseException) -> list[tuple[str, Any]]:
    """The members of exceptions written in C beside their arguments, such as the `errno` of an OSError."""
    found: dict[str, Any] = {}
    for base in type(error).__mro__:
        if base in (BaseException, object):
            continue
        for name, descriptor in vars(base).items():
            if isinstance(descriptor, _MEMBERS) and name[:2] != "__" and name not in _SET_BY_CONSTRUCTOR:
                try:
                    value = descriptor.__get__(error)
                except AttributeError:
                    continue
                if value is not None:
                    found.setdefault(name, value)
    return list(found.items())


def _importable(kind: type) -> str:
    """A reference to the class, or to the nearest base that can be found by its name."""
    for base in kind.__mro__:
        try:
            if located(reference(base)) is base:
                return reference(base)
        except BadValue:
            continue
    return "builtins:Exception"
