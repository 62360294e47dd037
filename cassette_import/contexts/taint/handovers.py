"""How untrusted values pass between threads: as arguments and results of jobs, and through queues.

Each thread has tags of its own. So a value that leaves a thread is noted by its identity, with its flow, and the
thread that gets it tags it again.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from cassette_import.activation.tagging import allmetadata
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.contexts.taint.flow import Flow, merged
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.parcels import leaving
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, plain

__all__ = ["HANDOVERS", "Parcels"]

_MOST: Final = 10_000


class Parcels:
    """The untrusted values that are on their way from one thread to another, the latest ones."""

    def __init__(self, tagged: Callable[[Any, Flow], Any]) -> None:
        self._tagged = tagged
        self._found: OrderedDict[int, tuple[Any, Flow]] = OrderedDict()

    def send(self, ctx: Any, value: Any) -> None:
        """Note a value that leaves the thread, if it is untrusted."""
        flows = allmetadata(ctx, value)
        if flows:
            self._found[id(plain(value))] = plain(value), merged(flows)
            if len(self._found) > _MOST:
                self._found.popitem(last=False)

    def receive(self, value: Any) -> Any:
        """A value that has come to the thread, tagged if it is untrusted."""
        found = self._found.get(id(value)) if type(value) is not Tagged else None
        return value if found is None or found[0] is not value else self._tagged(value, found[1])


class Job:
    """A callable of the program that runs in another thread: its arguments are tagged there, its result is noted."""

    def __init__(self, ctx: Any, function: Any) -> None:
        self.__wrapped__ = plain(function)
        self.__name__ = getattr(plain(function), "__name__", type(function).__name__)
        self._ctx = ctx

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self.__wrapped__(*arguments, **keywords)
        receive = self._ctx.parcels.receive
        named = {name: receive(value) for name, value in keywords.items()}
        event = variant.runners[int(Events.CALLS)].event
        result = event(self.__wrapped__, *map(receive, arguments), **named)
        self._ctx.parcels.send(self._ctx, result)
        return plain(leaving(result) if type(result) is Tagged else result)


@hidden
def _put(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    for value in (*arguments[1:], *keywords.values()):
        ctx.parcels.send(ctx, value)
    return call_without_overload(f, arguments, keywords)


@hidden
def _get(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    return ctx.parcels.receive(call_without_overload(f, arguments, keywords))


@hidden
def _start(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """The constructor of a thread: `target`, `args` and `kwargs` by position or name."""
    given = dict(zip(("group", "target", "name", "args", "kwargs"), arguments, strict=False), **keywords)
    values = _values(ctx, given.get("args")) + _values(ctx, given.get("kwargs"))
    if plain(given.get("target")) is not None:
        for value in values:
            ctx.parcels.send(ctx, value)
        given["target"] = Job(ctx, given["target"])
    return call_without_overload(f, (), given)


def _call_at(place: int) -> Callable[..., Any]:
    """The overload of a function that calls the argument at some place elsewhere, with the arguments that follow."""

    @hidden
    def call(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) <= place:
            return call_without_overload(f, arguments, keywords)
        before, function, values = arguments[:place], arguments[place], arguments[place + 1 :]
        for value in (*values, *keywords.values()):
            ctx.parcels.send(ctx, value)
        return call_without_overload(f, (*before, Job(ctx, function), *values), keywords)

    return call


@hidden
def _map(ctx: Any, f: Any, executor: Any, function: Any, *iterables: Any, **keywords: Any) -> Any:
    """`Executor.map`: the items of lists and tuples are values."""
    for iterable in iterables:
        for value in _values(ctx, iterable):
            ctx.parcels.send(ctx, value)
    return call_without_overload(f, (executor, Job(ctx, function), *iterables), keywords)


def _values(ctx: Any, container: Any) -> list[Any]:
    """The items of a list or tuple, or the values of a dict, wrapped where they have metadata."""
    bare = plain(container)
    store = getattr(tag_of(ctx), "store", None)
    if store is None or not isinstance(bare, (list, tuple, dict)):
        return []
    if isinstance(bare, dict):
        slots = store.slots_by_key(bare)
        return [Tagged(*slots[key]) if key in slots else value for key, value in bare.items()]
    return list(store.wrapped_items(bare))


HANDOVERS: Final[tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]] = (
    (_put, (queue.Queue.put, queue.Queue.put_nowait, queue.SimpleQueue.put, queue.SimpleQueue.put_nowait,
            asyncio.Queue.put_nowait, asyncio.Queue.put, Future.set_result)),
    (_get, (queue.Queue.get, queue.Queue.get_nowait, queue.SimpleQueue.get, queue.SimpleQueue.get_nowait,
            asyncio.Queue.get_nowait, Future.result)),
    (_start, (threading.Thread,)),
    (_call_at(0), (asyncio.to_thread,)),
    (_call_at(1), (ThreadPoolExecutor.submit, asyncio.BaseEventLoop.call_soon,
                   asyncio.BaseEventLoop.call_soon_threadsafe)),
    (_call_at(2), (asyncio.BaseEventLoop.run_in_executor, asyncio.BaseEventLoop.call_later,
                   asyncio.BaseEventLoop.call_at)),
    (_map, (ThreadPoolExecutor.map,)),
)  # fmt: skip
"""The overloads, each with the functions that hand values over."""
