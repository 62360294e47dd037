"""Which tag is valid: each activation has one, with the tag of the enclosing activation as its parent."""

from __future__ import annotations

import _thread
from typing import Any

from cassette_import.runtime.state import ACTIVE, Activation, count_in_thread
from cassette_import.runtime.tagging.live_metadata import refresh_names
from cassette_import.runtime.tagging.recognised_values import WATCHED_TYPES
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Metas, Tag
from cassette_import.runtime.tagging.thread_state import LOCAL


def tag_of(context: Any, create: bool = False) -> Tag | None:
    """The tag of the innermost activation of a context in this thread and task.

    Outside of all its activations: the tag of the next activation if there is one already, else that of the last one,
    whose results can still be read. `create` makes the tag of the next activation.
    """
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
    return tag  # type: ignore[no-any-return]  # tags are in `_tags`


def own_store(context: Any, create: bool = False) -> Store:
    """The shadow store of the tag of a context, which has one here, or gets it by `create`."""
    tag = tag_of(context, create=create)
    assert tag is not None
    store: Store = tag.store
    return store


def store_of(activation: Activation) -> Store | None:
    """The shadow store of an activation."""
    for tag in reversed(activation.tags):
        if tag is not None:
            return tag.store  # type: ignore[no-any-return]  # of the activation's tags
    return None


def active_store() -> Store | None:
    """The shadow store of the active activation."""
    return store_of(ACTIVE.get())


def note_stored(*slots: tuple[Any, Metas]) -> None:
    """Plain values are stored where the active store keeps no entry: each with its metadata."""
    store = active_store()
    if store is not None:
        for value, metas in slots:
            store.recognised.note(value, metas)


def _pending(context: Any) -> Tag | None:
    """The tag of the next activation of a context in this thread, if there is one already."""
    tag = (context._tags or {}).get(_thread.get_ident())
    return tag if tag is not None and not tag.entered else None


def _new(context: Any) -> Tag:
    tag = Tag(context)
    tag.store = Store()
    tag.store.recognised.add_types(context.recognised_types)
    if tag.lost != "ignore":
        tag.store.recognised.add_types(WATCHED_TYPES)
    if context._tags is None:
        context._tags = {}
    context._tags[_thread.get_ident()] = tag
    return tag


def tag_of_seed(context: Any) -> Tag:
    """The tag for a value that code of the program tags.

    Values that are tagged at several levels of entries of one context cannot be told apart by their tag: a derivative
    within a derivative would be that of both variables. Overloads of the context tag what they compute, at any level.
    """
    here = ACTIVE.get()
    left = here.suspended
    if left is not None and left.tags and left.contexts[-1] is context and left.tags[-1] is not None:
        return left.tags[-1]  # type: ignore[no-any-return]  # the usual case: an overload of the innermost context
    tag = tag_of(context, create=True)
    assert tag is not None
    if left is not None:
        for own in left.contexts[len(here.contexts) :]:
            if own is context:
                return tag
    level = 0
    for own in here.contexts:
        if own is context:
            level += 1
    if tag.seeded_at is None:
        tag.seeded_at = level
    elif tag.seeded_at != level:
        if level > 1:
            raise _confusing(context)
        tag.confusable = True
    return tag


def _confusing(context: Any) -> RuntimeError:
    return RuntimeError(
        f"{context!r} is active already, and values are tagged for it at several levels, which one activation cannot "
        "tell apart; make a context for each level, with enabletagging(ctx) for example"
    )


def tag_for_entry(context: Any, contexts: tuple[Any, ...], tags: tuple[Any, ...]) -> Tag | None:
    """The tag of a new activation of a context; `contexts` and `tags` are those of the enclosing activations.

    If the context itself is among them, it keeps its tag: what was tagged there can be read in the new activation.
    """
    if not context._tagging:
        return None
    for own, known in zip(contexts, tags, strict=False):  # a suspended context has no tag here
        if own is context and known is not None:
            if known.confusable:
                raise _confusing(context)
            return known  # type: ignore[no-any-return]  # of the activation's tags
    tag = _pending(context) or _new(context)
    tag.entered = True
    tag.parent = next((outer for outer in reversed(tags) if outer is not None), None)
    if tag.parent is None:
        refresh_names()
    else:
        tag.parent.store.merge(tag.store)
        tag.store = tag.parent.store
        if tag.text is not None:
            tag.text.store = tag.store
    return tag


def note_entry(activation: Activation) -> None:
    """Count the entry of an activation."""
    count_in_thread(1)
    for tag in activation.tags:
        if tag is not None:
            tag.depth += 1


def note_exit(activation: Activation, result: Any) -> None:
    """Count the exit of an activation. When it was the outermost, the store keeps the parts of its result only."""
    count_in_thread(-1)
    for tag in activation.tags:
        if tag is not None:
            tag.depth -= 1
            if tag.depth == 0 and tag.parent is None:
                LOCAL.returned = None
                if tag.store:
                    tag.store.keep_parts_of(result)
