"""Whether there may be metadata anywhere: the name `@tagged`, which rewritten code tests.

As long as no value is wrapped, and no shadow store holds anything, an event of a context that tags values is what it is
without tagging, but for a few functions whose callbacks may tag the first value. So rewritten code tests the name, and
does the plain thing. Each wrapper and each entry of a shadow store holds a token, whose reference count tells how many
there are. The name is true from the first of them on, and false again some time after the last one.

`@watched` is the same for attributes, which contexts may watch although nothing is tagged.

Knows counts; must not know what is counted.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.names import NAMES, PROVIDED


class Token:
    """What is held by all that is counted."""

    __slots__ = ()


METADATA: Final = Token()
"""Held by wrappers, and by entries of shadow stores."""

WATCH: Final = Token()
"""Held by tags of contexts that watch attributes."""

_held_by_modules: list[int] = []


@hidden
def noted() -> None:
    """There is metadata: said by who holds the token already."""
    if not NAMES.get("@tagged"):
        PROVIDED.add({"@tagged": True, "@watched": True})


@hidden
def noted_watch() -> None:
    """Attributes are watched: said by who holds the token already."""
    if not NAMES.get("@watched"):
        PROVIDED.add({"@watched": True})


@hidden
def look() -> None:
    """Notice that there is no metadata any more.

    No call ends between the counting, which `map` does as its items are unpacked, and the change of the names: no other
    thread makes a wrapper meanwhile (see `InUse`). Whoever makes one holds the token before the names are looked at.
    """
    tokens = map(getrefcount, (METADATA, WATCH))
    metadata, watches = tokens
    if metadata <= _held_by_modules[0] and "@tagged" in NAMES:
        NAMES.update({"@tagged": False, "@watched": watches > _held_by_modules[1]})


def begin() -> None:
    """All modules that name the tokens have been imported, and nobody else holds one yet."""
    _held_by_modules[:] = map(getrefcount, (METADATA, WATCH))
    PROVIDED.add({"@tagged": False, "@watched": False, "@nothing": Token()})
