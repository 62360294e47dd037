"""Specialising ahead of time: all functions of a module get compiled bodies, although the module is not executed.

Knows the registry and the active variant. Must not know contexts, packages, or how code is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import NamedTuple

from cassette_import.runtime.state import ACTIVE
from cassette_import.specialization.body_compiler import MODULE_CACHE
from cassette_import.specialization.function_unit import Unit
from cassette_import.specialization.registry import registry

__all__ = ["Specialised", "specialise_module"]


class Specialised(NamedTuple):
    """What became of the functions of a module: how many have compiled bodies, and why others are left alone."""

    functions: int
    left_alone: dict[str, str]
    size: int
    """The bytes of the cache files; 0 if they cannot be written."""


def specialise_module(
    name: str, filename: str, source: bytes, plain: CodeType, names_of_objects: Iterable[str]
) -> Specialised:
    """Make and cache what a run needs of a module in the active contexts.

    Parameters
    ----------
    name, filename, source, plain:
        The module, and the code that Python compiles from its source.
    names_of_objects:
        The names that the module imports and that are not names of modules; in a run, its functions' globals tell.
    """
    variant = ACTIVE.get().variant
    assert variant is not None
    registry.add_module(name, filename)
    registry.module_code(name, filename, source, plain)
    units = list(registry.records[filename].units)
    namespace = dict.fromkeys(names_of_objects)
    for unit in units:
        function = _function_of(unit, namespace)
        unit.add_function(function)
        registry.specialiser.body(unit, variant)
    MODULE_CACHE.flush()
    left_alone = {unit.plain.co_qualname: unit.reason for unit in units if unit.reason is not None}
    size = MODULE_CACHE.size_on_disk(registry.records[filename])
    return Specialised(len(units) - len(left_alone), left_alone, size)


def _function_of(unit: Unit, namespace: dict[str, None]) -> FunctionType:
    """A function with the code of a unit, in whose globals these names are bound to something that is no module."""
    alike = unit.some_function()
    return FunctionType(unit.plain, namespace, unit.plain.co_name, None, alike.__closure__)
