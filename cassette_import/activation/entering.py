"""Entering and leaving contexts, also while other threads do the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Final

from cassette_import.activation import inheritance
from cassette_import.activation.activations import (
    EnteredActivation,
    ModuleLevelActivation,
    module_level_activation,
    refresh,
    variant_of,
    without_module_level,
)
from cassette_import.activation.tagging_modules import tag_scopes
from cassette_import.activation.variants import variants
from cassette_import.interpreter import observers
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import IS_ANY_ACTIVE
from cassette_import.runtime.module_imports import Execute, ModuleImport
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, IN_USE, INACTIVE, Activation
from cassette_import.specialization.registry import registry

# ---- entering and leaving contexts, also while other threads do the same


def active_here() -> Activation:
    """What is active in this thread and task. A copy of the context variables may hold what has been left."""
    found = ACTIVE.get()
    return INACTIVE if found.left else found


_ROOTS: Final[dict[frozenset[str], frozenset[str]]] = {}
"""One object for each set of roots."""


def files_of(modules: tuple[str, ...]) -> frozenset[str]:
    """The names of the files of modules that have been imported, so that their functions are overdubbed with a root."""
    found: set[str] = set()
    for name in modules:
        module = sys.modules.get(name)
        if module is not None:
            known = _FUNCTIONS_IN.get(name) or _FUNCTIONS_IN.setdefault(name, _function_in(module))
            found.update(file for file in (registry.add_root(known), module.__file__) if file is not None)
    return frozenset(found)


def _function_in(module: Any) -> FunctionType:
    """Some function of a module: not one whose code is a copy, as that of `namedtuple` may be."""
    kinds = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    functions = [one for space in (module, *kinds) for one in vars(space).values() if type(one) is FunctionType]
    names = (module.__file__, f"<frozen {module.__spec__.name}>")
    return next(one for one in functions if one.__globals__ is vars(module) and one.__code__.co_filename in names)


_FUNCTIONS_IN: Final[dict[str, FunctionType]] = {}


def activation_of(context: Any, root: str | None = None, further: Iterable[str] = ()) -> Activation:
    """The activation that entering `context` here makes; a suspended context takes its own place in the stack again.

    `root` and `further` are files that are overdubbed in it although they are not installed.
    """
    inheritance.prepare()
    here = active_here()
    roots = here.roots
    if context._entered_modules:
        further = (*further, *files_of(context._entered_modules))
    if further or (root is not None and root not in roots):
        wider = roots.union(further, () if root is None else (root,))
        roots = _ROOTS.setdefault(wider, wider)  # they are compared by identity first, which is quick
    contexts = (*here.contexts, context)
    number, left, resumed = len(here.contexts), here.suspended, None
    if left is not None:
        old = left.contexts[number]
        if old is context or (context._copy_of is not None and original(context) is original(old)):
            contexts = (*contexts, *left.contexts[number + 1 :])
            resumed = left
    tags = _tags(here, context, len(contexts), resumed)
    return EnteredActivation(contexts, variant_of(contexts), roots, outer=here, entered=context, tags=tags)


def _tags(here: Activation, context: Any, count: int, resumed: Activation | None) -> tuple[Any, ...]:
    """The tags of an activation: those of the activations around it, and a new one if the context tags values."""
    if resumed is not None and (resumed.tags or not context._tagging):
        outer = here.tags or (None,) * len(here.contexts)
        return (*outer, *resumed.tags[len(here.contexts) :]) if resumed.tags else ()
    if not (context._tagging or here.tags):
        return ()
    outer = (here.tags or (None,) * (count - 1))[: count - 1]
    around = here.contexts[: count - 1]
    return (*outer, tag_scopes().tag_for_entry(context, around, outer) if context._tagging else None)


def original(context: Any) -> Any:
    """The context that this one is a changed copy of, or itself."""
    while context._copy_of is not None:
        context = context._copy_of
    return context


def enter(activation: Activation) -> None:
    """Make an activation the one of this thread and task."""
    observers.filter_observers()
    variant = activation.variant
    try:
        if variant is None or activation.tags:
            start(activation)
        else:  # the same, without a frame for each step
            variant.family.active += 1
            IN_USE.entered[activation] = None
            FLAGS[IS_ANY_ACTIVE] = True
            is_current = variants.by_keys.get(variant.keys) is variant
            if not is_current or variant.instrumented_at.get(activation.roots) != registry.generation:
                refresh(activation)
    except BaseException:  # a RecursionError, for example
        activation.end()
        raise
    ACTIVE.set(activation)


def start(activation: Activation) -> None:
    """Note that an activation is in use, until its `end`."""
    if activation.variant is not None:
        activation.variant.family.active += 1  # first: `end` takes it back, whatever fails in between
    if activation.tags:
        tag_scopes().note_entry(activation)
    IN_USE.add(activation)
    refresh(activation)


def leave(activation: Activation, result: Any = None) -> None:
    """End an activation of this thread and task, and go back to the one outside it.

    Usually this takes no further frames than entering did, so it cannot exceed the recursion limit where that did not.
    """
    if activation.successor is not None:
        leave(activation.successor, result)
        return
    if activation.left or activation.tags or activation.hook_activations is not None:
        activation.end(result)
    else:
        activation.left = True
        IN_USE.entered.pop(activation, None)
        if not IN_USE.entered and not IN_USE.held:
            FLAGS[IS_ANY_ACTIVE] = False
        activation.inherited = activation.variant = None
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
    ACTIVE.set(outer if outer is not None and not outer.left else innermost_entered(outer))


def innermost_entered(activation: Activation | None) -> Activation:
    """The innermost activation, from this one outwards, that is not over."""
    while activation is not None and activation.left:
        activation = activation.outer
    return activation or INACTIVE


def exit_context(context: Any) -> None:
    """Leave the innermost entry of a context in this thread and task. If there is none, leave its only entry elsewhere.

    The context need not be the one that was entered last: a generator may be closed after another context was entered.
    """
    here = ACTIVE.get()
    found: Activation | None = here
    while found is not None and (found.left or found.entered is not context):
        found = found.outer
    if found is here:
        leave(here)
    elif found is not None:
        found.end()
        ACTIVE.set(on_another(here, found, innermost_entered(found.outer)))
    else:
        elsewhere = [item for item in IN_USE.values() if item.entered is context]
        if len(elsewhere) == 1:  # a task that cleans up after another one, for example
            elsewhere[0].end()


def is_within(activation: Activation, outer: Activation) -> bool:
    """Whether an activation is another one or was entered inside it."""
    found: Activation | None = activation
    while found is not None and found is not outer:
        found = found.outer
    return found is not None


def on_another(activation: Activation, gone: Activation, base: Activation) -> Activation:
    """What is active instead of an activation after `base` has replaced `gone`, which is that one or further out."""
    if activation is gone or activation.outer is None:
        return base
    if type(activation) is ModuleLevelActivation:
        return module_level_activation(on_another(activation.outer, gone, base))
    if activation.suspended is not None or activation.left:
        return activation  # a hook that leaves a context: the next event is without it
    outer = on_another(activation.outer, gone, base)
    contexts = (*outer.contexts, activation.entered)
    tags = (*(outer.tags or (None,) * len(outer.contexts)), activation.tags[-1]) if activation.tags else ()
    new = EnteredActivation(contexts, variant_of(contexts), activation.roots, outer, None, activation.entered, tags)
    start(new)
    activation.successor = new
    activation.end()
    return new


def _before_fork() -> None:
    # If another thread held a lock while it specialises, the child would wait for it for ever.
    registry.lock.acquire()
    variants.lock.acquire()


def _after_fork() -> None:
    variants.lock.release()
    registry.lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


# ---- module levels: a module that is imported runs in those active contexts that have `module_level`
#
# For the other contexts the import is one event: a call of a `ModuleImport`.


def _whole(here: Activation) -> Activation:
    """The activation in which the outermost import began that is in progress here; `here` itself if there is none."""
    return here.outer if type(here) is ModuleLevelActivation and here.outer is not None else here


def is_one_event() -> bool:
    """Whether an import here is one event for some active context."""
    return bool(without_module_level(_whole(ACTIVE.get())))


@hidden
def execute(name: str, filename: str, execute_module: Execute, module: ModuleType) -> None:
    """Execute a module that is overdubbed; the import is an event for the contexts that have no `module_level`.

    In a nested import, these contexts are active again while their hooks run.
    """
    here = ACTIVE.get()
    whole = _whole(here)
    left_out = without_module_level(whole)
    if not left_out or whole.variant is None:
        execute_module(module)
        return
    event = whole.variant.import_event(left_out)
    callee = ModuleImport(name, filename, partial(_execute_module_level, execute_module, module))
    if here is whole:
        event(callee)
        return
    ACTIVE.set(whole)
    try:
        event(callee)
    finally:
        now = ACTIVE.get()
        ACTIVE.set(here if now is whole else module_level_activation(now))


@hidden
def _execute_module_level(execute_module: Execute, module: ModuleType) -> None:
    """Execute a module in the active contexts that have `module_level`."""
    here = ACTIVE.get()
    inner = module_level_activation(here)
    ACTIVE.set(inner)
    try:
        execute_module(module)
    finally:
        now = ACTIVE.get()
        ACTIVE.set(here if now is inner and not here.left else _after(now, inner, here))


def _after(now: Activation, inner: Activation, here: Activation) -> Activation:
    """What is active after an import in which contexts were left, or entered and not left.

    Parameters
    ----------
    now, inner:
        What is active at the end of the module level, and what was active at its beginning.
    here:
        What was active before the import.
    """
    while here.successor is not None:
        here = here.successor
    if is_within(now, inner):
        return on_another(now, inner, innermost_entered(here))
    return _whole(now)
