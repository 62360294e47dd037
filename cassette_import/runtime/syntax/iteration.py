"""Iteration as events: `iter` and `next` where the interpreter iterates by itself.

A loop goes through an iterator of ours, which the interpreter's own instructions advance; so unpacking, splats,
comprehensions and `else` clauses stay what they are. Knows how the interpreter iterates; must not know hooks.
"""

from __future__ import annotations

import sys
from functools import partial
from operator import is_
from types import CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.callables import StandIn, bare, lookup, special
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import ACTIVE

Spec = tuple[int, int | None, tuple[Any, ...]]
"""See `rewrite.stores.Spec`."""

_ITERATION: Final = int(Events.ITERATION)
_BEFORE: Final = ("pre", int(Events.ITERATION))
_AFTER: Final = ("post", int(Events.ITERATION))
_pick: Final = intercept_if_active(Events.ITERATION)
_SIZES_ARE_TOLD: Final = sys.version_info >= (3, 14)  # too many values to unpack (expected 2, got 3)


def _is_iterable(value: Any) -> bool:
    kind = type(bare(value))
    return lookup(kind, "__iter__") is not None or lookup(kind, "__getitem__") is not None


@hidden
def loop(iterable: Any, spec: Spec | None = None) -> Any:
    """What `for` goes through; its items are going to be unpacked as `spec` says."""
    if not _is_iterable(iterable):
        return bare(iterable)  # the interpreter has the words for that
    return _steps(_pick(iter)(iterable), spec)


class _End:
    """What a step gives at the end. It is equal to itself only, and nobody else is asked.

    Each loop has its own: a program that goes through all objects would be at the end where it meets one.
    """

    __slots__ = ()
    __eq__ = staticmethod(partial(is_, object()))
    __hash__ = object.__hash__


@hidden
def _steps(iterator: Any, spec: Spec | None) -> Any:
    """An iterator that the interpreter advances, each step of which is an event.

    It ends without an exception where nobody asks for one: tracers would be told of it.
    """
    end = _End()
    if spec is not None:
        return iter(partial(_step_unpacking, end, iterator, spec), end)
    variant = ACTIVE.get().variant
    if variant is not None and variant.tagging and variant.runners[_ITERATION].propagation.steps_plainly(iterator):
        return iter(partial(_step, end, iterator, is_stepped=True), end)
    if variant is not None and (_BEFORE in variant.blind or _AFTER in variant.blind):
        before, after = variant.blind.get(_BEFORE, ()), variant.blind.get(_AFTER, ())
        return iter(partial(_step_blind, end, variant, before, after, iterator), end)
    return iter(partial(_step, end, iterator), end)


@hidden
def _step(end: _End, iterator: Any, is_stepped: bool = False) -> Any:
    """A step. `is_stepped` says that it is what it is without us where values may be tagged and none is anywhere."""
    activation = ACTIVE.get()
    variant = activation.variant
    if variant is None:
        return next(iterator, end)
    runner = variant.runners[_ITERATION]
    is_idle = runner.only_propagates and not NAMES["@tagged"]
    if runner.may_fail and not (is_idle and (is_stepped or runner.propagation.steps_plainly(iterator))):
        try:
            return runner.intercept(next)(iterator)
        except StopIteration:
            return end
    contexts = activation.contexts
    for level, hook in runner.prehooks:
        hook(contexts[level], next, iterator)
    value = next(iterator, end)
    if runner.propagation is not None and NAMES["@tagged"]:
        value = runner.propagation.rewrapped(value)
    if value is not end:
        for level, hook in runner.posthooks:
            hook(contexts[level], value, next, iterator)
    return value


@hidden
def _step_blind(end: _End, variant: Any, before: Any, after: Any, iterator: Any) -> Any:
    """A step whose hooks look at nothing but their context."""
    activation = ACTIVE.get()
    if activation.variant is not variant:
        return _step(end, iterator)
    for level, hook in before:
        hook(activation.contexts[level], None)
    value = next(iterator, end)
    if value is not end:
        for level, hook in after:
            hook(activation.contexts[level], None)
    return value


@hidden
def _step_unpacking(end: _End, iterator: Any, spec: Spec) -> Any:
    value = _step(end, iterator)
    return value if value is end else unpack(value, spec)


@hidden
def splat(iterable: Any) -> Any:
    """What `*` goes through. A tuple is handed on as it is, if its items are."""
    given = bare(iterable)
    if type(given) is not tuple:
        return loop(iterable)
    items = [*loop(iterable)]
    same = len(items) == len(given) and all(map(is_, items, given))
    return given if same else items


class _Later:
    """What a call goes through when its keywords have been evaluated, too."""

    __slots__ = ("_iterable",)

    @hidden
    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable

    @hidden
    def __iter__(self) -> Any:
        return loop(self._iterable)


@hidden
def splat_later(iterable: Any) -> Any:
    """What the only `*` of a call goes through that has keywords."""
    kind = type(bare(iterable))
    if kind is tuple or not any("__iter__" in vars(base) for base in kind.__mro__):
        return splat(iterable)
    return _Later(iterable)


class _Unpacked:
    """A value that is going to be unpacked: the interpreter asks for its iterator when it is the value's turn."""

    __slots__ = ("_spec", "_value")

    @hidden
    def __init__(self, value: Any, spec: Spec) -> None:
        self._value = value
        self._spec = spec

    @hidden
    def __iter__(self) -> Any:
        inner = self._spec[2]
        iterator = _pick(iter)(self._value)
        if not any(inner):
            return _steps(iterator, None)
        end = _End()
        return iter(partial(_step_inner, end, iterator, iter(inner)), end)


@hidden
def _step_inner(end: _End, iterator: Any, specs: Any) -> Any:
    value = _step(end, iterator)
    spec = next(specs, None)
    return value if spec is None or value is end else unpack(value, spec)


@hidden
def unpack(value: Any, spec: Spec) -> Any:
    """What an assignment to several targets unpacks."""
    if not _is_iterable(value):
        return bare(value)  # cannot unpack non-iterable … object
    if _SIZES_ARE_TOLD and spec[1] is None and type(bare(value)) in (list, tuple, dict) and len(value) > spec[0]:
        return bare(value)
    if type(value) in (list, tuple) and _unpacks_plainly(value, spec):
        return value
    return _Unpacked(value, spec)


@hidden
def _unpacks_plainly(value: Any, spec: Spec) -> bool:
    """Whether values may be tagged, none is anywhere, and nobody looks at the steps."""
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging or NAMES["@tagged"]:
        return False
    runner = variant.runners[_ITERATION]
    return runner.only_propagates and not runner.prehooks and not runner.posthooks and _is_nested(value, spec)


@hidden
def _is_nested(value: Any, spec: Spec) -> bool:
    """Whether what is unpacked is lists and tuples, as deep as it is unpacked."""
    for part, inner in zip(value, spec[2], strict=False):
        if inner is not None and not (type(part) in (list, tuple) and _is_nested(part, inner)):
            return False
    return True


class _Delegate:
    """What `yield from` advances."""

    __slots__ = ("_iterator",)

    @hidden
    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        return _pick(next)(self._iterator)

    # The interpreter looks these up, and does as it would for the iterator itself.
    send = property(lambda self: self._iterator.send)
    throw = property(lambda self: self._iterator.throw)
    close = property(lambda self: self._iterator.close)


for _property in (_Delegate.send, _Delegate.throw, _Delegate.close):
    hidden(_property.fget)


@hidden
def delegate(iterable: Any) -> Any:
    """What `yield from` goes through."""
    if not _is_iterable(iterable) or type(bare(iterable)) in (CoroutineType, GeneratorType):
        # The interpreter takes such steps itself: `gi_yieldfrom`, `throw` and tracebacks show it.
        return bare(iterable)
    return _Delegate(_pick(iter)(iterable))


class _AsyncLoop:
    """What `async for` goes through."""

    __slots__ = ("_iterator",)

    @hidden
    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    @hidden
    def __aiter__(self) -> Any:
        return self

    @hidden
    def __anext__(self) -> Any:
        return _pick(anext)(self._iterator)


@hidden
def loop_async(iterable: Any) -> Any:
    """What `async for` goes through."""
    if lookup(type(bare(iterable)), "__aiter__") is None:
        return bare(iterable)
    iterator = _pick(_aiter)(iterable)
    return _Given(iterator) if lookup(type(iterator), "__anext__") is None else _AsyncLoop(iterator)


_aiter: Final = StandIn(aiter, hidden(lambda iterable: special(iterable, "__aiter__")()))
"""`aiter`, but what is wrong with its result is for `async for` to say."""


class _Given:
    """Hands an iterator to the interpreter, which has the words for what is wrong with it."""

    __slots__ = ("_iterator",)

    @hidden
    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    @hidden
    def __aiter__(self) -> Any:
        return self._iterator


BINDINGS: Final[dict[str, Any]] = {
    "@loop": loop,
    "@loop.async": loop_async,
    "@splat": splat,
    "@splat.later": splat_later,
    "@unpack": unpack,
    "@delegate": delegate,
}
"""The names that rewritten code finds in `builtins`, see `runtime.bindings`."""
