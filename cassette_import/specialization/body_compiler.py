"""Bodies: the code of a unit with a branch per variant, compiled from source or read from the cache beside the `.pyc`.

Knows units, trees and files; must not know which code is live.
"""

from __future__ import annotations

import atexit
import hashlib
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.entry_test import Entry, Surroundings
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.rewriter import overdub_function, overdub_module
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.code_matching import all_names, find_function, graft, key_of, requalify, skeleton
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import disk_cache
from cassette_import.specialization.function_unit import FileRecord, Unit

_File = tuple[str, str, bytes]
"""Source file, tag, hash of the source: what identifies a file of the cache."""


_NESTING: Final = inspect.CO_NESTED | getattr(inspect, "CO_METHOD", 0)  # from 3.14 on


class Bodies:
    """Makes bodies. Those of installed modules are kept on disk, by source, shapes of the variants and versions."""

    def __init__(self) -> None:
        self._files: dict[_File, dict[str, Any]] = {}
        self._fresh: dict[_File, dict[str, Any]] = {}

    def make(self, unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        """The unit's code with a branch per variant; None, with the reason in the unit, if it is left alone."""
        if all(_shape(unit.record, variant).silent for variant in variants):
            return unit.plain
        name = repr((unit.plain.co_qualname, key_of(unit.plain)))
        return self._keep(unit.record, variants, name, unit.plain, lambda: self._compile(unit, variants))

    def module_level(self, record: FileRecord, variant: Variant, source: bytes, plain: CodeType) -> CodeType:
        """The code of a module with its module level and class bodies overdubbed; its functions are plain."""
        if variant.shape.silent:
            return plain

        def compile_module() -> CodeType:
            tree = record.source.parse(source)
            return record.source.compile(overdub_module(tree, [variant.shape]), plain.co_flags)

        return self._keep(record, [variant], "<module>", plain, compile_module) or plain

    def _keep(
        self,
        record: FileRecord,
        variants: Sequence[Variant],
        name: str,
        plain: CodeType,
        make: Callable[[], CodeType | None],
    ) -> CodeType | None:
        """Code from the cache, or made and kept there."""
        file = self._file(record, variants)
        if file is None:
            return make()
        prefixes = {variant.shape.prefix: symbols.cached_prefix(number) for number, variant in enumerate(variants)}
        kept = self._kept(file).get(name)
        if isinstance(kept, CodeType) and _fits(kept, plain):
            return _rename(kept, {mark: prefix for prefix, mark in prefixes.items()})
        code = make()
        if code is not None:
            made = _rename(code, prefixes)
            self._files[file][name] = made
            self._fresh.setdefault(file, {})[name] = made
        return code

    def _file(self, record: FileRecord, variants: Sequence[Variant]) -> _File | None:
        if not record.installed or any(variant.shape.passes for variant in variants):
            return None  # what a pass does is not known
        digest = record.source.digest()
        if digest is None:
            return None
        shapes = [replace(variant.shape, prefix="", primitives=frozenset()) for variant in variants]
        what = repr((shapes, [sorted(variant.shape.primitives) for variant in variants]))
        return record.filename, hashlib.sha256(what.encode()).hexdigest()[:16], digest

    def _kept(self, file: _File) -> dict[str, Any]:
        found = self._files.get(file)
        if found is None:
            value = disk_cache.read(*file)
            found = self._files[file] = value if isinstance(value, dict) else {}
        return found

    def flush(self) -> None:
        """Write what is new; other processes may have written meanwhile, and lose nothing."""
        for file, fresh in list(self._fresh.items()):
            if os.path.exists(file[0]):
                value = disk_cache.read(*file)
                disk_cache.write(*file, {**(value if isinstance(value, dict) else {}), **fresh})
        self._fresh.clear()

    def _compile(self, unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        plain, source = unit.plain, unit.record.source
        place = source.find(plain)
        if place is None:
            unit.reason = source.problem or "its source is not found"
            return None
        reason = source.reason_to_leave_alone(place)
        if reason is not None:
            unit.reason = reason
            return None
        if not source.trusted and not any(_same(plain, code) for code in source.functions()):
            unit.reason = "its code is not what its source says"
            return None
        names = source.names()
        imported = names.imported & set(all_names(plain))
        module, function = skeleton(place, plain.co_freevars, imported)
        made = {}
        for variant in variants:
            if variant.shape.passes:
                copy: Any = clone(function)
                made[variant.shape.prefix] = variant.passed(unit.some_function(), copy, source.text_of(place))
        entry = Entry(None if unit.record.installed else unit.record.filename)
        file = symbols.unit_of(unit.record.filename)
        objects = names.assigned | _no_modules(imported, unit.some_function())
        surroundings = Surroundings(place.class_name, plain.co_freevars, file, objects)
        overdub_function(function, [_shape(unit.record, variant) for variant in variants], entry, made, surroundings)
        compiled = source.compile(module, plain.co_flags)
        code = find_function(compiled, plain)
        if code is None:
            raise RuntimeError("the rewritten function was not found after compiling")
        # `types.coroutine` marks a function by a flag that no source shows; the skeleton nests it otherwise.
        marks = plain.co_flags & (inspect.CO_ITERABLE_COROUTINE | _NESTING)
        # So may hooks: their first parameters have become positional-only (`functions.positional_only`).
        code = code.replace(co_flags=code.co_flags & ~_NESTING | marks, co_posonlyargcount=plain.co_posonlyargcount)
        return graft(requalify(code, plain))


def _no_modules(names: Iterable[str], function: FunctionType) -> set[str]:
    """Which of the names that a module imports hold something else than modules, as far as it is known now."""
    held = function.__globals__
    return {name for name in names if name in held and type(held[name]) is not ModuleType}


def _shape(record: FileRecord, variant: Variant) -> Shape:
    """The shape that functions of a file are made for.

    Those beside a root function are ready for the first overload of a context type that has none: who registers while
    functions run stands there, mostly.
    """
    shape = variant.shape
    if record.installed or not shape.silent or not variant.may_get_overloads:
        return shape
    return replace(shape, targets=Events.CALLS, overloads=Events.CALLS)


def _same(code: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same; line tables and nested functions are not compared."""
    consts = [const for const in code.co_consts if not isinstance(const, CodeType)]
    other_consts = [const for const in other.co_consts if not isinstance(const, CodeType)]
    return code.co_code == other.co_code and code.co_names == other.co_names and repr(consts) == repr(other_consts)


def _fits(code: CodeType, plain: CodeType) -> bool:
    return code.co_freevars == plain.co_freevars and code.co_argcount == plain.co_argcount


def _rename(code: CodeType, prefixes: dict[str, str]) -> CodeType:
    """The code with the names of other variants."""
    names = tuple(symbols.with_prefix(name, prefixes) for name in code.co_names)
    consts = tuple(_rename(const, prefixes) if isinstance(const, CodeType) else const for const in code.co_consts)
    return code.replace(co_names=names, co_consts=consts)


bodies: Final = Bodies()
atexit.register(bodies.flush)
