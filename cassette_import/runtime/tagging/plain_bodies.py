"""Generators and coroutines that began as plain code: what they get while they are resumed loses its metadata.

Such a body reads variables, containers and what is sent to it without their wrappers. It cannot be exchanged while it
is suspended. So, where it is resumed and holds values with metadata, that is a loss, which names the body and the call
site.
"""

from __future__ import annotations

import contextlib
import gc
from opcode import opmap
from types import AsyncGeneratorType, CodeType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.runtime.names import NAMES, SYMBOLS
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.lost_metadata import lose
from cassette_import.runtime.tagging.overdubbed_calls import is_of_overdubbed_file
from cassette_import.runtime.tagging.tags import Tag
from cassette_import.runtime.tagging.wrappers import Tagged

_FIELDS: Final[dict[type, tuple[str, str, str]]] = {
    GeneratorType: ("gi_code", "gi_frame", "gi_suspended"),
    CoroutineType: ("cr_code", "cr_frame", "cr_suspended"),
    AsyncGeneratorType: ("ag_code", "ag_frame", "ag_suspended"),
}
"""The attributes with the code, with the frame, and whether the body has begun; from 3.12 on for `ag_suspended`."""
_HELPERS: Final = (
    symbols.RETURNED, symbols.RECEIVED, symbols.WAITING, symbols.FINISHED, symbols.ASYNC_SOURCE, symbols.ASYNC_ITEM,
)  # fmt: skip
"""Each body that is compiled for contexts that tag values, and that can be suspended, calls one of them."""

_known: Final[dict[int, tuple[CodeType, bool]]] = {}
"""By the identity of code: the code, and whether it passes wrappers on."""

_names: Final[dict[CodeType, str]] = {}
"""What losses call a body: the same object for each loss."""


def _passes_wrappers(code: CodeType) -> bool:
    known = _known.get(id(code))
    if known is None:
        consts = set(map(id, code.co_consts))
        # A coroutine that awaits nothing is never suspended, and may need none of the helpers.
        found = not consts.isdisjoint(id(NAMES[name]) for name in _HELPERS) or (
            bool(code.co_flags & _COROUTINE) and not consts.isdisjoint(SYMBOLS) and _SEND not in code.co_code[::2]
        )
        known = _known[id(code)] = code, found
    return known[1]


_SEND: Final = opmap["SEND"]
_COROUTINE: Final = 0x80
"""The flag `CO_COROUTINE` of code."""


@hidden
def note_resumption(suspended: Any, *given: Any) -> None:
    """A generator, a coroutine or an awaitable of one is about to be resumed, and is given these values."""
    fields = _FIELDS.get(type(suspended))
    if fields is None:
        if id(type(suspended)) in AWAITABLES:
            for part in gc.get_referents(suspended):
                if type(part) in _FIELDS:
                    note_resumption(part, *given, *gc.get_referents(suspended))
        return
    code = getattr(suspended, fields[0])
    if _passes_wrappers(code):
        return
    if type(suspended) is not GeneratorType and not is_of_overdubbed_file(code):
        return  # a library's coroutine awaits those of the program
    activation = ACTIVE.get()
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag.lost != "ignore" and _is_given_metadata(suspended, fields, given, tag):
            lose(activation.contexts[level], _name_of(code))


AWAITABLES: Final[set[int]] = set()
"""Types of objects that resume the coroutine or asynchronous generator that they refer to, by identity."""


@hidden
def _is_given_metadata(suspended: Any, fields: tuple[str, str, str], given: tuple[Any, ...], tag: Tag) -> bool:
    frame = getattr(suspended, fields[1])
    if frame is None:
        return False
    entry = tag.store.items.of(frame.f_globals) if tag.store.items.entries else None
    if entry is not None and any(
        name in entry.slots and tag in entry.slots[name][1] for name in getattr(suspended, fields[0]).co_names
    ):
        return True
    if any(type(value) is Tagged and tag in value._tagged_metas for value in given):
        return True
    return holds_metadata((*dict(frame.f_locals).values(), *given), tag, depth=_DEPTH, most=_MOST_OBJECTS)


_DEPTH: Final = 4
_MOST_OBJECTS: Final = 300
"""How far the variables of a body are searched: a loop may resume it many times."""


def _name_of(code: CodeType) -> str:
    name = _names.get(code)
    if name is None:
        kind = "generator" if code.co_flags & (_GENERATOR | _ASYNC_GENERATOR) else "coroutine"
        name = _names[code] = f"the {kind} {code.co_qualname}, which began as plain code"
    return name


_GENERATOR: Final = 0x20
_ASYNC_GENERATOR: Final = 0x200


@hidden
def lose_held_items(iterator: Any, value: Any) -> None:
    """An iterator that was made as plain code gives an item which has no metadata: its sources may have some."""
    if value is None or type(value) is bool:
        return
    activation = ACTIVE.get()
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag.lost != "ignore" and holds_metadata((iterator,), tag):
            lose(activation.contexts[level], type(iterator))


# ---- the context managers of `contextlib`

MANAGERS_OF_GENERATORS: Final = frozenset(
    map(id, (contextlib._GeneratorContextManager, contextlib._AsyncGeneratorContextManager))
)
"""Types of managers that run a generator, by identity."""


@hidden
def begin_again(manager: Any) -> None:
    """The generator of a manager that is about to be entered, and was made as plain code: make it anew."""
    found = vars(manager)
    body = found.get("gen")
    fields = _FIELDS.get(type(body))
    if fields is None or "func" not in found or _passes_wrappers(getattr(body, fields[0])):
        return
    variant = ACTIVE.get().variant
    is_fresh = getattr(body, fields[1]) is not None and not getattr(body, fields[2], True)
    if variant is not None and variant.tagging and is_fresh:
        manager.gen = manager.func(*manager.args, **manager.kwds)
        if type(body) is GeneratorType:
            body.close()


@hidden
def note_end_of_block(manager: Any, *given: Any) -> None:
    """A manager, or a stack of managers, is about to be left: its generators are resumed."""
    note_resumption(getattr(manager, "gen", None), *given)
    for _, callback in getattr(manager, "_exit_callbacks", ()):
        inner = getattr(callback, "__self__", None)
        if inner is not None and inner is not manager and type(inner).__module__ == "contextlib":
            note_end_of_block(inner, *given)
