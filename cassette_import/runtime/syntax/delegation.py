"""Delegation as events: the steps of `yield from` and `async for`, which the interpreter asks an object for."""

from __future__ import annotations

from types import CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.callables import CallableProxy, bare, lookup, special
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.syntax.iteration import in_c, is_iterable, kinds_of

_intercept: Final = intercept_if_active(Events.ITERATION)


class _Advanced:
    """What the interpreter advances in place of an iterator."""

    __slots__ = ("_iterator",)

    @hidden
    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator


class _Delegate(_Advanced):
    """What `yield from` advances."""

    __slots__ = ()

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        return _intercept(next)(self._iterator)

    # The interpreter looks these up, and calls them as it would those of the iterator.
    send = property(lambda self: self._iterator.send)
    throw = property(lambda self: self._iterator.throw)
    close = property(lambda self: self._iterator.close)


for _property in (_Delegate.send, _Delegate.throw, _Delegate.close):
    hidden(_property.fget)


@hidden
def _delegate(iterable: Any) -> Any:
    """What `yield from` iterates over."""
    if not is_iterable(iterable) or type(bare(iterable)) in (CoroutineType, GeneratorType):
        # The interpreter takes such steps itself: `gi_yieldfrom`, `throw` and tracebacks show it.
        return bare(iterable)
    return _Delegate(_intercept(iter)(iterable))


class _AsyncLoop(_Advanced):
    """What `async for` advances."""

    __slots__ = ()

    @hidden
    def __aiter__(self) -> Any:
        return self

    @hidden
    def __anext__(self) -> Any:
        return _intercept(anext)(self._iterator)


@hidden
def _loop_async(iterable: Any) -> Any:
    """What `async for` iterates over."""
    if lookup(type(bare(iterable)), "__aiter__") is None:
        return bare(iterable)
    iterator = _intercept(_aiter)(iterable)
    return _AsIs(iterator) if lookup(type(iterator), "__anext__") is None else _AsyncLoop(iterator)


_aiter: Final = CallableProxy(aiter, hidden(lambda iterable: special(iterable, "__aiter__")()))
"""`aiter`, but it leaves it to `async for` to reject a wrong result."""


class _AsIs(_Advanced):
    """Passes a wrong iterator to the interpreter, which raises the error."""

    __slots__ = ()

    @hidden
    def __aiter__(self) -> Any:
        return self._iterator


@hidden
def _later_step(iterator: Any) -> Any:
    """A step of such a loop that is an event."""
    return _intercept(anext)(iterator)


loop_async: Final = (
    _loop_async if DISPATCH.reason else DISPATCH.AsyncLoop(_loop_async, kinds_of, "events", _later_step, None, _AsIs)
)

BINDINGS: Final[dict[str, Any]] = {
    symbols.LOOP_ASYNC: loop_async,
    symbols.DELEGATE: in_c(_delegate, "delegate"),
}
"""The values of the symbols of this module, see `runtime.bindings`."""
