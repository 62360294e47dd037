"""Specialising ahead of time: all functions of a module get compiled bodies, although the module is not executed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

from cassette_import.interpreter.fresh_stack import on_a_fresh_stack
from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.variant import Variant
from cassette_import.specialization.body_compiler import body_compiler
from cassette_import.specialization.function_unit import Unit
from cassette_import.specialization.module_cache import MODULE_CACHE
from cassette_import.specialization.registry import registry

__all__ = ["Specialised", "specialise_module"]


class Specialised(NamedTuple):
    """What became of the functions of a module: how many have compiled bodies, and why others are left alone."""

    functions: int
    left_alone: dict[str, str]
    size: int | None
    """The bytes of the cache files; None if they cannot be written."""


def specialise_module(
    name: str, filename: str, source: bytes, plain: CodeType, names_of_objects: Iterable[str], at_import: Activation
) -> Specialised:
    """Make and cache what a run needs of a module in the active contexts.

    Parameters
    ----------
    name, filename, source, plain:
        The module, and the code that Python compiles from its source.
    names_of_objects:
        The names that the module imports and that are not names of modules; in a run, its functions' globals tell.
    at_import:
        What is active while a module level runs that is imported in the active contexts.
    """
    registry.add_module(name, filename)
    token = ACTIVE.set(at_import)
    try:
        registry.module_code(name, filename, source, plain)
    finally:
        ACTIVE.reset(token)
    units = list(registry.records[filename].units)
    # A function may be entered by the program, or at module level, where other contexts may be active.
    entered_in = {ACTIVE.get().variant, at_import.variant} - {None}
    namespace = dict.fromkeys(names_of_objects)
    for unit in units:
        # A nested function has its body in that of the outer one. It needs one of its own where the outer function ran
        # before a context was entered, as decorators do.
        for one in (unit, *_units_in(unit)):
            for variant in entered_in:
                _make_body(one, variant, namespace)
    MODULE_CACHE.flush()
    left_alone = {unit.plain.co_qualname: unit.reason for unit in units if unit.reason is not None}
    size = MODULE_CACHE.size_on_disk(registry.records[filename])
    return Specialised(len(units) - len(left_alone), left_alone, size)


def _make_body(unit: Unit, variant: Variant | None, namespace: dict[str, None]) -> None:
    """Make the body that a function gets when it is entered in a variant; note the reason if there is none."""
    function = _function_of(unit, namespace)
    unit.add_function(function)
    wanted = registry.specialiser.wanted_variants(unit, variant)
    if unit.reason is not None:
        return
    try:
        on_a_fresh_stack(lambda: body_compiler.body_of(unit, wanted))
    except Exception as error:
        unit.reason = f"{type(error).__name__}: {error}"


def _units_in(unit: Unit) -> Iterator[Unit]:
    """The units of the functions in a function."""
    work = list(nested_functions(unit.plain)) if unit.reason is None else []
    while work:
        code = work.pop()
        work += nested_functions(code)
        inner = registry.index.unit_of(code)
        if inner is not None:
            yield inner


def _function_of(unit: Unit, namespace: dict[str, None]) -> FunctionType:
    """A function with the code of a unit, in whose globals these names are bound to something that is no module."""
    alike = unit.some_function()
    return FunctionType(unit.plain, namespace, unit.plain.co_name, None, alike.__closure__)
