"""Functions that `functools` makes, and that take callbacks to keep them.

They are what `lru_cache(maxsize=8)` returns, and the attribute `register` of a function of `singledispatch`. No table
has them. So they are followed where they are made or found: they get code that hands on what runs the event of a
target, in place of the target. They stay the same function objects.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import Callee, shown_callee
from cassette_import.runtime.state import ACTIVE

__all__ = ["MAKERS", "follow", "is_dispatcher", "making"]

_CALLS: Final = int(Events.CALLS)
MAKERS: Final = frozenset(map(id, (functools.lru_cache, functools.cache, functools.singledispatch)))
"""The functions that make them, or wrap a callback, by identity."""
_NAMESPACE: Final = vars(functools)
_DISPATCHER: Final = "singledispatch.<locals>.wrapper"
_REGISTER: Final = "singledispatch.<locals>.register"
_TAKERS: Final = ("lru_cache.<locals>.decorating_function", _REGISTER)
"""The functions that take callbacks, by the qualified names of their code: that changes if it is overdubbed."""


_originals: Final[weakref.WeakSet[FunctionType]] = weakref.WeakSet()
"""What functions were before they got other code."""


def making(maker: Callable[..., Any]) -> Callable[..., Any]:
    """One of the `MAKERS`, in whose place this makes something that is followed."""
    return functools.partial(_make, maker)


@hidden
def _make(maker: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    made = maker(*arguments, **keywords)
    follow(made)
    return _unveiled(made)


@hidden
def follow(made: Any) -> None:
    """Follow what a function takes, if it is one of these or has one."""
    if is_dispatcher(made):
        made = made.__dict__.get("register")
    if not _is_of_functools(made) or made.__code__.co_qualname not in _TAKERS:
        return
    if made.__code__.co_filename != _TEMPLATE.co_filename and made not in _originals:
        _divert(made)


@hidden
def is_dispatcher(function: Any) -> bool:
    """Whether a function is one of `functools.singledispatch`."""
    return _is_of_functools(function) and function.__code__.co_qualname == _DISPATCHER


@hidden
def _is_of_functools(function: Any) -> bool:
    return type(function) is FunctionType and function.__globals__ is _NAMESPACE


def _diverted(*arguments: Any, **keywords: Any) -> Any:
    # For the type checker: the handler takes the place of the text.
    return ("handler" if True else None)(*arguments, **keywords)  # type: ignore[operator,redundant-expr]


_TEMPLATE: Final = hide(_diverted.__code__)


@hidden
def _divert(taker: Any) -> None:
    """Have a function hand on what runs events of targets."""
    original = FunctionType(taker.__code__, taker.__globals__, taker.__name__, taker.__defaults__, taker.__closure__)
    original.__qualname__, original.__doc__ = taker.__qualname__, taker.__doc__
    _originals.add(original)
    handler = functools.partial(_take, original)
    taker.__wrapped__ = original  # for its signature and its source
    taker.__code__ = _TEMPLATE.replace(
        co_consts=tuple([handler if const == "handler" else const for const in _TEMPLATE.co_consts]),
        co_name=original.__code__.co_name,
        co_qualname=original.__code__.co_qualname,
        co_freevars=original.__code__.co_freevars,
    )


@hidden
def _take(original: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    first = 0
    if original.__code__.co_qualname == _REGISTER and arguments and is_a(arguments[0], type):
        first = 1  # the class for which a function is registered
    taken = {name: value if name == "cls" else _as_event(value) for name, value in keywords.items()}
    return _unveiled(shown_callee(original(*arguments[:first], *map(_as_event, arguments[first:]), **taken)))


@hidden
def _unveiled(made: Any) -> Any:
    """A wrapper that was made, which shows the function that it wraps, and not what runs its event."""
    namespace = getattr(made, "__dict__", None)
    wrapped = namespace.get("__wrapped__") if namespace else None
    if namespace and type(wrapped) is Callee:
        function = shown_callee(wrapped)
        namespace.update({**getattr(function, "__dict__", {}), **namespace, "__wrapped__": function})
    return made


@hidden
def _as_event(value: Any) -> Any:
    """What runs the event of a target of the active contexts; any other value itself."""
    variant = ACTIVE.get().variant
    if variant is None or variant.tagging or not callable(value):
        return value
    runner = variant.runners[_CALLS]
    return Callee(runner.event, value) if id(split(value)[0]) in runner.plan.targets else value
