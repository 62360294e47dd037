"""Rules for the methods of generators, coroutines and iterators: `__next__`, `send`, `throw`, `close`.

A generator gets plain values, as its caller may be written in C. The wrapper of a value that is sent waits for the
`yield` that receives it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncGenerator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.driven_generators import DrivenGenerator
from cassette_import.runtime.tagging.bound_names import value_sent_by
from cassette_import.runtime.tagging.computed_metadata import is_computed_from
from cassette_import.runtime.tagging.fast_path import STEPPED_TYPES
from cassette_import.runtime.tagging.iterator_metadata import LAZY_TYPES, keep_returned_value, next_item, start_iterator
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.overdubbed_calls import is_of_overdubbed_file, runs_overdubbed
from cassette_import.runtime.tagging.plain_bodies import AWAITABLES, note_resumption
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged

_OF_ITERATORS: Final = [kind.__next__ for kind in (*LAZY_TYPES, *STEPPED_TYPES) if kind is not GeneratorType]
_RETURNING: Final = (GeneratorType.close,) if sys.version_info >= (3, 13) else ()
_OF_GENERATORS: Final = (GeneratorType.__next__, GeneratorType.throw, *_RETURNING)


@rule(*_OF_ITERATORS, while_untagged=True)
@rule(
    *_OF_GENERATORS, DrivenGenerator.__next__, DrivenGenerator.send, DrivenGenerator.throw, returns_method_result=True
)  # fmt: skip
@hidden
def advance(call: LeafCall) -> Any:
    if not call.arguments:
        return call.native()
    if is_computed_from(call.arguments[0]):
        start_iterator(call.store, call.arguments[0])
    is_next = len(call.arguments) == 1 and call.function not in _RETURNING
    return next_item(call.store, call.owner, None if is_next else call.native, call.arguments[1:])


@rule(GeneratorType.send, returns_method_result=True)
@hidden
def send(call: LeafCall) -> Any:
    """The wrapper of the value is left for the `yield` that receives the value."""
    given = call.arguments[-1] if len(call.arguments) == 2 else None
    if type(given) is not Tagged or type(call.owner) is not GeneratorType or not runs_overdubbed(call.owner):
        return advance(call)
    before, LOCAL.sent = LOCAL.sent, given
    try:
        return advance(call)
    finally:
        LOCAL.sent = before


# ---- coroutines and asynchronous generators, where the program itself resumes them


async def _coroutine() -> None: ...


async def _asynchronous_generator() -> AsyncGenerator[None, None]:
    yield


def _awaiting_types() -> tuple[Any, ...]:
    """The types of what `__await__`, `__anext__` and the like return."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)  # no event loop is notified of this generator
    try:
        coroutine, generator = _coroutine(), _asynchronous_generator()
        found = coroutine.__await__(), generator.__anext__(), generator.aclose()
        for awaited in found:
            awaited.close()
        return tuple(map(type, found))
    finally:
        sys.set_asyncgen_hooks(*hooks)


_AWAITING: Final = _awaiting_types()
AWAITABLES.update(map(id, _AWAITING))
_CODES: Final = {CoroutineType: "cr_code", AsyncGeneratorType: "ag_code"}


@rule(
    *(getattr(kind, name) for kind in (CoroutineType, *_AWAITING) for name in ("send", "throw")),
    *(kind.__next__ for kind in _AWAITING),
    returns_method_result=True,
)
@hidden
def resume(call: LeafCall) -> Any:
    given = call.arguments[-1] if len(call.arguments) == 2 else None
    sent = given if type(given) is Tagged else value_sent_by(call.owner)
    note_resumption(call.owner, *call.arguments[1:], sent)
    before, LOCAL.sent = LOCAL.sent, sent
    LOCAL.returned = None
    try:
        return call.native()
    except StopIteration as stop:
        if _resumes_overdubbed(call.owner):
            keep_returned_value(call.store, stop)
        raise
    finally:
        LOCAL.sent = before


@hidden
def _resumes_overdubbed(awaited: Any) -> bool:
    """Whether a coroutine, or what belongs to one or to an asynchronous generator, runs an overdubbed body."""
    for owner in (awaited, *(gc.get_referents(awaited) if type(awaited) in _AWAITING else ())):
        if type(owner) in _CODES:
            return is_of_overdubbed_file(getattr(owner, _CODES[type(owner)]))
    return False
