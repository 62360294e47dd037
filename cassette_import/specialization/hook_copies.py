"""Copies of hooks that are overdubbed themselves, because their module is.

Hooks are called through copies of their functions (`hook_functions.positional_only`). Knows which code is live; must
not know contexts.
"""

from __future__ import annotations

from types import FunctionType

from cassette_import.specialization.registry import registry


def adopt(function: FunctionType, copy: FunctionType) -> None:
    """A copy of a hook that is itself overdubbed, because its module is, gets a gate of its own.

    The gate of the original would go on in the original, whose frames are not those of a hook.
    """
    unit = registry.unit_of(function.__code__)
    if unit is None or function.__code__ is unit.plain:
        return
    copy.__code__ = unit.plain.replace(co_posonlyargcount=copy.__code__.co_posonlyargcount)
    own = registry.unit_of(copy.__code__)
    assert own is not None
    own.add_function(copy)
    copy.__code__ = registry.trampoline_of(own)
