"""Whether any metadata is alive in the process: the name `@tagged`, which rewritten code tests.

As long as no value is wrapped and no shadow store has an entry, an event of a context that tags values does the same
as without tagging, except for a few functions whose callbacks may tag the first value. So rewritten code tests the
name, and takes the fast path. Each wrapper and each entry of a shadow store holds a token, and the reference count of
the token says how many there are. The name becomes true with the first of them, and false again some time after the
last one.

Contexts may watch attributes although nothing is tagged. For each name of an attribute, rewritten code tests a name of
its own, and only attributes of watched names are loaded with care; `@watched` says whether there are any.
"""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Iterable
from sys import getrefcount
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.symbols import ATTRIBUTES_WATCHED, EPOCH, METADATA_EXISTS, attribute_watched
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.names import FLAGS, NAMES, make_cell

# ---- frames in which no event has been carried out yet: they are notified when events have to be
#
# At each event, rewritten code tests a variable of its own frame, which is None at first. When the first value is
# tagged, the extension in C sets it in all frames of all threads. So the test costs less than that of a name. Where
# frames cannot be found, the variable has another value from the beginning, and rewritten code asks at each event.

NOTIFIED: Final = type("Notified", (), {"__slots__": ()})()
"""What the variable holds in a frame that has to ask."""


@hidden
def at_begin() -> object:
    """What the variable holds when a frame begins, as long as there is no metadata.

    The stacks of greenlets that are not running are in no list. Where they may be used, frames ask.
    """
    are_found = DISPATCH.is_used and DISPATCH.set_in_frames is not None and "greenlet" not in sys.modules
    return None if are_found else NOTIFIED


@hidden
def notify_frames(with_greenlets: bool) -> None:
    """Let all frames ask whether events have to be carried out; those of greenlets that are not running, if wanted."""
    if DISPATCH.set_in_frames is not None:
        DISPATCH.set_in_frames(temporaries.EPOCH, NOTIFIED, _frames_of_greenlets() if with_greenlets else ())


@hidden
def _frames_of_greenlets() -> tuple[object, ...]:
    """The frames at which greenlets are that are not running."""
    kind: Any = getattr(sys.modules.get("greenlet"), "greenlet", None)
    if not isinstance(kind, type):
        return ()
    return tuple(found.gr_frame for found in gc.get_objects() if issubclass(type(found), kind))


# ---- whether any metadata is alive in the process: the name `@tagged`, which rewritten code tests


class Token:
    """An object whose references are counted."""

    __slots__ = ()


METADATA: Final = Token()
"""Each wrapper and each entry of a shadow store holds this token. A further name for it would count as metadata."""

WATCH: Final = Token()
"""Each tag of a context that watches attributes holds this token."""

_references_of_modules: list[int] = []


WATCHED_NAMES: Final[set[str]] = set()
"""The names of attributes that contexts watch, or have watched."""

WATCHES: Final = make_cell(variant_names.WATCHES)
"""Which names of attributes contexts watch, by symbol."""


@hidden
def _not_watched(symbol: str) -> bool:
    """The value of a name that rewritten code tests for the first time."""
    if not symbol.startswith(ATTRIBUTES_WATCHED):
        raise AttributeError(symbol)
    return bool(WATCHES.setdefault(symbol, False))


WATCHES.update({ATTRIBUTES_WATCHED: False, "__getattr__": _not_watched})


_cells: Final[list[dict[str, Any]]] = [FLAGS]
"""The cells in which a name says that events have to be carried out."""

_without_metadata: Final[list[dict[str, Any]]] = [{METADATA_EXISTS: False}]
"""What each of them gets when there is no metadata any more."""

_with_metadata: Final[list[dict[str, Any]]] = [{}]
"""What each of them gets when there is metadata; the name `@tagged` is changed last."""

_begins: Final[list[tuple[dict[str, Any], str]]] = []
"""Where it is said what frames begin with, and by which name: in the cells of variants, and in what they get."""


@hidden
def follow_metadata(cell: dict[str, Any], name: str, begun: str, always: bool) -> None:
    """Let names in the cell of a variant say whether events have to be carried out, and what frames begin with."""
    full = {name: True, begun: NOTIFIED}
    cell.update(full)
    if not any(known is cell for known in _cells):
        _without_metadata.append(full.copy())
        _with_metadata.append({})
        _cells.append(cell)  # the other lists are as long by then
    number = next(number for number, known in enumerate(_cells) if known is cell)
    if name not in _with_metadata[number]:
        _with_metadata[number].update(full)
        _begins.extend(((cell, begun), (_without_metadata[number], begun)))
    _without_metadata[number].update({name: always, begun: NOTIFIED if always else at_begin()})
    if always:
        _notify_frames()
    if not FLAGS[METADATA_EXISTS]:
        cell.update(_without_metadata[number])
    if FLAGS[METADATA_EXISTS]:
        cell.update(_with_metadata[number])
        _notify_frames()  # those that have begun meanwhile in other threads


@hidden
def note_metadata() -> None:
    """Make the names true: there is metadata. The caller holds the token already."""
    if not FLAGS[METADATA_EXISTS]:
        FLAGS[EPOCH] = Token()
        _change_names()
        _notify_frames()
        FLAGS[METADATA_EXISTS] = True
        DISPATCH.note_metadata()
        _change_names()  # variants that were made meanwhile


@hidden
def _change_names() -> None:
    for cell, names in zip(_cells, _with_metadata, strict=False):
        cell.update(names)


@hidden
def _notify_frames() -> None:
    """Let all frames ask whether events have to be carried out.

    If a frame may be where none is found from now on, all frames ask from their beginning, and are searched once more.
    """
    asking = [one for one in _begins if one[0][one[1]] is None] if at_begin() is not None else []
    for names, begun in asking:
        names[begun] = NOTIFIED
    notify_frames(bool(asking))


@hidden
def note_watching(names: Iterable[str]) -> None:
    """Make the names true of attributes that a context watches. The caller holds the token already."""
    found = list(names)
    WATCHED_NAMES.update(found)
    WATCHES.update(dict.fromkeys(map(attribute_watched, found), True), **{ATTRIBUTES_WATCHED: True})


@hidden
def refresh_names() -> None:
    """Make the names false if there is no metadata any more, or if no context watches attributes any more.

    No call ends between the counting, which `map` does while its items are unpacked, and the change of the names: no
    other thread makes a wrapper meanwhile (see `InUse`). A wrapper holds the token before its maker tests the names.
    """
    _without_metadata[0][EPOCH] = Token()
    metadata = map(getrefcount, (METADATA,))
    changes = map(dict.update, _cells, _without_metadata)
    (count,) = metadata
    if count <= _references_of_modules[0]:
        _ = [*changes]
    if WATCHES[ATTRIBUTES_WATCHED]:
        unwatched = {symbol: False for symbol, value in WATCHES.copy().items() if value is True}
        watches = map(getrefcount, (WATCH,))
        (count,) = watches
        if count <= _references_of_modules[1]:
            WATCHES.update(unwatched)


_MASK: Final = 1023
_calls: Final = itertools.count(1)


@hidden
def refresh_sometimes() -> None:
    """The same once in many calls: events are counted while a name is true."""
    if not next(_calls) & _MASK:
        refresh_names()


@hidden
def hold_metadata(tokens: list[Any]) -> None:
    """Carry out each event as if there were metadata, until `release_metadata` is called with the same list."""
    tokens.append(METADATA)
    note_metadata()


@hidden
def release_metadata(tokens: list[Any]) -> None:
    """Undo a call of `hold_metadata`."""
    tokens.pop()
    refresh_names()


def token_of_module() -> Token:
    """The token, for a module that keeps it under a name."""
    _references_of_modules[0] += 1
    return METADATA


def start_counting() -> None:
    """Count the references of the modules that name the tokens, while there is no metadata: this module comes first."""
    _references_of_modules[:] = map(getrefcount, (METADATA, WATCH))
    _without_metadata[0][EPOCH] = Token()
    for cell, names in zip(_cells, _without_metadata, strict=True):
        cell.update(names)
    NAMES[symbols.NOTHING] = Token()


start_counting()
