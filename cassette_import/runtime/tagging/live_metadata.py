"""Whether any metadata is alive in the process: the name `@tagged`, which rewritten code tests.

As long as no value is wrapped and no shadow store has an entry, an event of a context that tags values does the same
as without tagging, except for a few functions whose callbacks may tag the first value. So rewritten code tests the
name, and takes the fast path. Each wrapper and each entry of a shadow store holds a token, and the reference count of
the token says how many there are. The name becomes true with the first of them, and false again some time after the
last one.

`@watched` is the same for attributes, which contexts may watch although nothing is tagged.

Knows reference counts; must not know what holds the tokens.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import ATTRIBUTES_WATCHED, METADATA_EXISTS
from cassette_import.runtime.names import FLAGS, NAMES


class Token:
    """An object whose references are counted."""

    __slots__ = ()


METADATA: Final = Token()
"""Each wrapper and each entry of a shadow store holds this token."""

WATCH: Final = Token()
"""Each tag of a context that watches attributes holds this token."""

_references_of_modules: list[int] = []


@hidden
def note_metadata() -> None:
    """Make the names true: there is metadata. The caller holds the token already."""
    if not FLAGS[METADATA_EXISTS]:
        FLAGS.update({METADATA_EXISTS: True, ATTRIBUTES_WATCHED: True})


@hidden
def note_watching() -> None:
    """Make `@watched` true: a context watches attributes. The caller holds the token already."""
    if not FLAGS[ATTRIBUTES_WATCHED]:
        FLAGS[ATTRIBUTES_WATCHED] = True


@hidden
def refresh_names() -> None:
    """Make the names false if there is no metadata any more.

    No call ends between the counting, which `map` does while its items are unpacked, and the change of the names: no
    other thread makes a wrapper meanwhile (see `InUse`). A wrapper holds the token before its maker tests the names.
    """
    tokens = map(getrefcount, (METADATA, WATCH))
    metadata, watches = tokens
    if metadata <= _references_of_modules[0]:
        FLAGS.update({METADATA_EXISTS: False, ATTRIBUTES_WATCHED: watches > _references_of_modules[1]})


def start_counting() -> None:
    """Count the references of the modules that name the tokens; all are imported, and no wrapper exists yet."""
    _references_of_modules[:] = map(getrefcount, (METADATA, WATCH))
    FLAGS.update({METADATA_EXISTS: False, ATTRIBUTES_WATCHED: False})
    NAMES[symbols.NOTHING] = Token()
