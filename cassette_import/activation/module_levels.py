"""Module levels: a module that is imported runs in those active contexts that have `module_level`.

For the other contexts the import is one event: a call of a `ModuleImport`.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

from cassette_import.activation.activations import ModuleLevelActivation, module_level_activation, without_module_level
from cassette_import.activation.entering import innermost_entered, is_within, on_another
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.module_imports import Execute, ModuleImport
from cassette_import.runtime.state import ACTIVE, Activation


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
