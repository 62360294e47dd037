"""Copies of hook functions that are overdubbed themselves, because their module is.

Hooks are called through copies of their functions (see `runtime.dispatch.hook_functions`).
"""

from __future__ import annotations

from types import FunctionType

from cassette_import.runtime.dispatch.hook_functions import set_code
from cassette_import.specialization.registry import registry


def instrument_copy(function: FunctionType, copy: FunctionType) -> None:
    """Make a trampoline for the copy of an overdubbed hook.

    The trampoline of the original would go on in the original, whose frames are not recognised as those of a hook.
    """
    index = registry.index
    unit = index.unit_of(function.__code__)
    if unit is None or function.__code__ is unit.plain:
        return
    own = index.unit_of(copy.__code__)
    assert own is not None
    own.add_function(copy)
    set_code(copy, index.trampoline_of(own))
