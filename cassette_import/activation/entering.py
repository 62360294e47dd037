"""Entering and leaving: how an activation comes into use and goes out of it, also while other threads do the same.

Knows variants and which of them functions have bodies for; must not know hooks, or what instances of contexts hold.
"""

from __future__ import annotations

import os
from typing import Any

from cassette_import.activation.variants import Variant, variants
from cassette_import.runtime import state
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import (
    ACTIVE,
    IN_USE,
    INACTIVE,
    Activation,
    Lasting,
    Prefix,
    forget_prefixes,
    leave,
    release,
    use,
)
from cassette_import.specialization.registry import registry


def active_here() -> Activation:
    """What is active in this thread and task. A copy of the context variables may hold what has been left."""
    found = ACTIVE.get()
    return INACTIVE if found.left else found


def variant_of(contexts: tuple[Any, ...]) -> Variant | None:
    """Replaced by `context`, which knows what decides of a context; here to break no arrow."""
    raise NotImplementedError


def enter(activation: Activation) -> None:
    """Make an activation the one of this thread and task."""
    variant = activation.variant
    try:
        if variant is None or activation.tags:
            start(activation)
        else:  # the same, without a frame for each step
            variant.family.active += 1
            IN_USE.entered[activation] = None
            NAMES["@on"] = True
            is_fresh = variants.by_keys.get(variant.keys) is variant
            if not is_fresh or variant.instrumented_at.get(activation.roots) != registry.generation:
                freshen(activation)
    except BaseException:  # a RecursionError, for example
        end(activation)
        raise
    ACTIVE.set(activation)


def tagging() -> Any:
    """The module that knows tags; imported when they are wanted."""
    from cassette_import.runtime.tagging import tag_scopes

    return tag_scopes


def start(activation: Activation) -> None:
    """Say that an activation is in use, until its `end`."""
    if activation.variant is not None:
        activation.variant.family.active += 1  # first: `end` takes it back, whatever fails in between
    if activation.tags:
        tagging().note_entry(activation)
    use(activation)
    freshen(activation)


def lasting(contexts: tuple[Any, ...], roots: frozenset[str], tags: tuple[Any, ...] = ()) -> Activation:
    """An activation that is in use as long as somebody holds it, or until its `end`."""
    variant = variant_of(contexts)
    if variant is None:
        return INACTIVE
    made = Lasting(contexts, variant, roots, tags)
    freshen(made)
    return made


def freshen(activation: Activation) -> None:
    """Have the variant of an activation in use be what it should be now, and every function meet it.

    Whoever enters chooses the variant first and says then that it is in use. In between, another thread may have
    registered a hook of a new kind, or specialised functions for the variants that were in use. From now on it
    minds this one.
    """
    variant = activation.variant
    if variant is None:
        return
    if variants.of(variant.keys) is not variant:
        _move(activation)
    elif variant.instrumented_at.get(activation.roots) != registry.generation:
        registry.instrument(variant, activation.roots)


def _move(activation: Activation) -> None:
    """Give an activation in use the variant that its contexts have now."""
    new = variant_of(activation.contexts)
    if new is None:
        return
    new.family.active += 1
    if new.instrumented_at.get(activation.roots) != registry.generation:
        registry.instrument(new, activation.roots)  # while the old one still is what functions are entered for
    old = activation.family
    if old is None:  # it was left meanwhile
        new.family.active -= 1
    else:
        old.active -= 1
        activation.variant, activation.family = new, new.family
        forget_prefixes(activation)


def end(activation: Activation, result: Any = None) -> None:
    """An activation is over: nothing is active any more for whoever holds it still."""
    if activation.left:
        return
    activation.left = True
    leave(activation)
    if activation.tags and type(activation) is Activation:
        tagging().note_exit(activation, result)
    activation.heirs = None
    release(activation)
    for prefix in forget_prefixes(activation):
        prefix.left = True
        release(prefix)


def make_prefix(activation: Activation, level: int) -> Activation:
    """What is active while a hook or overload of context `level` runs: the contexts outside it. It is made once.

    Another thread may do the same meanwhile, where they share a lasting activation, or forget the prefixes, as it gives
    the activation another variant.
    """
    contexts = activation.contexts[:level]
    variant = variant_of(contexts)
    left: Activation = activation
    if isinstance(activation, Lasting):  # nobody may hold it but those who run in it
        left = Activation(activation.contexts, activation.variant, activation.roots, tags=activation.tags)
    prefix = Prefix(contexts, variant, left.roots, outer=left, suspended=left, tags=left.tags[:level])
    if variant is not None:
        variant.family.active += 1  # what functions are specialised for meanwhile includes it
    freshen(prefix)
    prefixes = activation.prefixes
    if prefixes is None:
        prefixes = activation.prefixes = {}
    return prefixes.setdefault(level, prefix)


state.make_prefix = make_prefix


def depart(activation: Activation, result: Any = None) -> None:
    """End an activation of this thread and task, and go on in the one outside it.

    Mostly without a frame for each step: where there was room to enter, there is room to leave.
    """
    if activation.successor is not None:
        depart(activation.successor, result)
        return
    if activation.left or activation.tags or activation.prefixes is not None:
        end(activation, result)
    else:
        activation.left = True
        IN_USE.entered.pop(activation, None)
        if not IN_USE.entered and not IN_USE.lasting:
            NAMES["@on"] = False
        activation.heirs = activation.variant = None
        family, activation.family = activation.family, None  # another thread may have given it another one meanwhile
        if family is not None:
            family.active -= 1
    token, activation.token = activation.token, None
    if token is not None:
        try:
            ACTIVE.reset(token)  # to nothing, in half the time of setting it
            return
        except ValueError:  # in a copy of the context variables
            pass
    outer = activation.outer
    ACTIVE.set(outer if outer is not None and not outer.left else _alive(outer))


def _alive(activation: Activation | None) -> Activation:
    """The innermost activation, from this one outwards, that is not over."""
    while activation is not None and activation.left:
        activation = activation.outer
    return activation or INACTIVE


def exit_context(context: Any) -> None:
    """Leave the innermost entry of a context: of this thread and task, or if there is none, the only one there is.

    It need not be what was entered last: a generator may be closed when something else has been entered.
    """
    here = ACTIVE.get()
    found: Activation | None = here
    while found is not None and (found.left or found.entered is not context):
        found = found.outer
    if found is here:
        depart(here)
    elif found is not None:
        end(found)
        ACTIVE.set(_without(here, found))
    else:
        elsewhere = [item for item in IN_USE.values() if item.entered is context]
        if len(elsewhere) == 1:  # a task that cleans up after another one, for example
            end(elsewhere[0])


def _without(activation: Activation, gone: Activation) -> Activation:
    """What is active once a context further out is left."""
    if activation is gone or activation.outer is None:
        return _alive(gone.outer)
    if activation.suspended is not None or activation.left:
        return activation  # a hook that leaves a context: the next event is without it
    outer = _without(activation.outer, gone)
    contexts = (*outer.contexts, activation.entered)
    tags = (*(outer.tags or (None,) * len(outer.contexts)), activation.tags[-1]) if activation.tags else ()
    new = Activation(contexts, variant_of(contexts), activation.roots, outer, None, activation.entered, tags)
    start(new)
    activation.successor = new
    end(activation)
    return new


def heirs_of(activation: Activation) -> Activation:
    """What a thread, job or task has that is started in an activation: the contexts that say `inherit`."""
    if activation.variant is None:
        return INACTIVE
    heirs = activation.heirs
    if heirs is None:
        contexts = tuple(context for context in activation.contexts if context.inherit)
        tags: list[Any] = []
        if activation.tags:
            for context in contexts:
                tags.append(tagging().tag_for_entry(context, tuple(tags)))
        heirs = activation.heirs = lasting(contexts, activation.roots, tuple(tags))
        if heirs is not INACTIVE:
            heirs.heirs = heirs
    return heirs


def _before_fork() -> None:
    # A child in which somebody else was specialising would wait for it for ever.
    registry.lock.acquire()
    variants.lock.acquire()


def _after_fork() -> None:
    variants.lock.release()
    registry.lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
