"""Which tag counts: one per activation, with the enclosing one as its parent.

Knows activations and contexts' instances; must not know values.
"""

from __future__ import annotations

import _thread
from typing import Any

from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.tagging.presence import look
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.wrappers import LOCAL, Tag


def tag_of(context: Any, create: bool = False) -> Tag | None:
    """The tag of the innermost activation of a context that is going on here; outside of all, that of the next one or,
    if there is none yet, of the last one, whose results are still read. `create` asks for one of the next."""
    here: Activation | None = ACTIVE.get()
    if here is not None and here.suspended is not None:
        here = here.suspended
    while here is not None:
        if here.tags:
            for own, tag in zip(reversed(here.contexts), reversed(here.tags), strict=True):
                same = own is context or own._copy_of is context or context._copy_of is own
                if same and tag is not None:
                    pending = _pending(context)
                    return pending if pending is not None and own is not context else tag
        here = here.outer
    tag = (context._tags or {}).get(_thread.get_ident())
    if tag is None or (create and tag.entered):
        return _new(context) if create else tag
    return tag  # type: ignore[no-any-return]


def _pending(context: Any) -> Tag | None:
    tag = (context._tags or {}).get(_thread.get_ident())
    return tag if tag is not None and not tag.entered else None


def _new(context: Any) -> Tag:
    tag = Tag(context)
    tag.store = Store()
    if context._tags is None:
        context._tags = {}
    context._tags[_thread.get_ident()] = tag
    return tag


def tag_for_entry(context: Any, tags: tuple[Any, ...]) -> Tag | None:
    """The tag of a new activation of a context within those of `tags`."""
    if not context._tagging:
        return None
    tag = _pending(context) or _new(context)
    tag.entered = True
    tag.parent = next((outer for outer in reversed(tags) if outer is not None), None)
    if tag.parent is None:
        look()
    else:
        tag.parent.store.take_in(tag.store)
        tag.store = tag.parent.store
    return tag


def note_entry(activation: Activation) -> None:
    """An activation is entered."""
    for tag in activation.tags:
        if tag is not None:
            tag.depth += 1


def note_exit(activation: Activation, result: Any) -> None:
    """An activation is left. The store keeps what belongs to its result."""
    for tag in activation.tags:
        if tag is not None:
            tag.depth -= 1
            if tag.depth == 0 and tag.parent is None:
                LOCAL.returned = None
                if tag.store:
                    tag.store.keep_only(result)
