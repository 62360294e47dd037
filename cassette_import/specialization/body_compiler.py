"""The body compiler: rewrites and compiles the code of a function, with a branch for each variant."""

from __future__ import annotations

import ast
import opcode
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.generated_names import is_generated
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.observers import pause_garbage_collection
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.bound_variables import LastingVariables
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.code_matching import all_names, is_same
from cassette_import.rewriting.variant_names import file_digest
from cassette_import.runtime.dispatch.active_families import ARE_QUICK
from cassette_import.runtime.variant import Variant
from cassette_import.specialization.compilation_listeners import making_code
from cassette_import.specialization.function_unit import FileRecord, Unit
from cassette_import.specialization.live_code import digest_of, live, name_of
from cassette_import.specialization.module_cache import MODULE_CACHE, MODULE_LEVEL, ModuleCache
from cassette_import.specialization.progress import PROGRESS
from cassette_import.specialization.source_file import SourceFile

if TYPE_CHECKING:
    from cassette_import.rewriting import entry_test, rewriter
    from cassette_import.rewriting.trees import module_tree, places, scopes, skeleton
    from cassette_import.specialization import generated_code
else:
    (generated_code,) = late("cassette_import.specialization", "generated_code")
    entry_test, rewriter = late("cassette_import.rewriting", "entry_test", "rewriter")
    module_tree, scopes, skeleton = late("cassette_import.rewriting.trees", "module_tree", "scopes", "skeleton")

_MOST_BODIES_OF_TEXTS: Final = 256
"""How many bodies of functions in texts given to `compile` are kept."""

_NESTING: Final = code_objects.NESTED | code_objects.METHOD


class BodyCompiler:
    """Compiles bodies.

    Parameters
    ----------
    cache:
        The cache of compiled bodies; None if every body is to be compiled anew.
    """

    def __init__(self, cache: ModuleCache | None) -> None:
        self.cache = cache
        self._bodies_of_texts: dict[Any, CodeType] = {}
        """The latest bodies of functions in texts given to `compile`: a program may compile one template often."""

    def body_of(self, unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        """The unit's code with a branch for each variant.

        Returns
        -------
        The compiled body; the plain code if no variant intercepts anything; None, with the reason in the unit, if it is
        left alone.
        """
        with making_code() as made:
            known, began = PROGRESS.begin(), perf_counter()
            try:
                return self._body_of(unit, variants)
            finally:
                made.functions = PROGRESS.end(perf_counter() - began) - known

    def _body_of(self, unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        if all(_shape(unit.record, variant).intercepts_nothing for variant in variants):
            return unit.plain
        if unit.source is not None:
            return self._body_in_text(unit, unit.source, variants)
        # The name of a generator expression does not tell it from others of its line.
        is_cached = unit.is_current and code_objects.is_function(unit.plain)
        if self.cache is None or not is_cached:
            return self._compile(unit, variants)
        name, plain = name_of(unit.plain), unit.plain
        if unit.generated_name is not None:
            name += digest_of(plain).hex()  # the methods of all dataclasses of a file have the same names and lines
        made = self.cache.get_or_compile(unit.record, variants, name, plain, lambda: self._compile(unit, variants))
        if made is None or unit.generated_name is None:
            return made
        return made.replace()  # classes with the same fields have the same text: code tells which unit runs

    def _body_in_text(self, unit: Unit, source: SourceFile, variants: Sequence[Variant]) -> CodeType | None:
        """The body of a function in a text that a module gave to `compile`, `exec` or `eval`."""
        plain, shapes = unit.plain, tuple([_shape(unit.record, variant) for variant in variants])
        digest = source.digest()
        if digest is None or any(shape.passes for shape in shapes):
            return self._compile(unit, variants)
        text = plain.co_filename, digest, name_of(plain), digest_of(plain)
        objects = frozenset(_not_modules(all_names(plain), unit.some_function()))
        key = shapes, text, unit.record.filename, unit.record.installed, objects
        body = self._bodies_of_texts.get(key)
        if body is None:
            body = self._compile(unit, variants)
            if body is not None:
                if len(self._bodies_of_texts) >= _MOST_BODIES_OF_TEXTS:
                    del self._bodies_of_texts[next(iter(self._bodies_of_texts))]
                self._bodies_of_texts[key] = body
        return None if body is None else body.replace()  # code tells which unit runs

    def module_level_of(self, record: FileRecord, variant: Variant, source: bytes, plain: CodeType) -> CodeType:
        """The code of a module with its module level and class bodies overdubbed; its functions are plain."""
        if variant.shape.intercepts_nothing:
            return plain
        with making_code() as made:
            known, began = PROGRESS.begin(), perf_counter()
            resume_garbage_collection = pause_garbage_collection()  # it would walk through the new trees
            try:
                PROGRESS.count(modules=1)
                return live(self._compile_module(record.source, variant, source, plain))
            finally:
                resume_garbage_collection()
                made.functions = PROGRESS.end(perf_counter() - began) - known

    def _compile_module(self, file: SourceFile, variant: Variant, source: bytes, plain: CodeType) -> CodeType:
        tree = file.module_tree(source, plain)
        if tree is not None:
            variant.apply_module_passes(tree)
            code = file.compile(rewriter.overdub_module(tree, [variant.shape]), plain.co_flags)
            made = module_tree.with_plain_functions(code, plain)
            if made is not None:
                return made
        tree = file.parse(source)
        variant.apply_module_passes(tree)
        return file.compile(rewriter.overdub_module(tree, [variant.shape]), plain.co_flags)

    def cached_module_level_of(self, record: FileRecord, variant: Variant, source: bytes, plain: CodeType) -> CodeType:
        """The same, from the cache if it is there."""
        if self.cache is None:
            return self.module_level_of(record, variant, source, plain)
        made = self.cache.get_or_compile(
            record, [variant], MODULE_LEVEL, plain, lambda: self.module_level_of(record, variant, source, plain)
        )
        return made or plain

    def _compile(self, unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        """Rewrite and compile a function; None, with the reason in the unit, if it is left alone."""
        plain, located = unit.plain, _located(unit)
        if located is None:
            return None
        PROGRESS.count(functions=1)
        source, place, module, function = located
        names = source.names()
        imported = names.imported & set(all_names(plain))
        bodies = {}
        for variant in variants:
            if variant.shape.passes:
                copy: Any = scopes.clone(function)
                bodies[variant.shape.prefix] = variant.apply_passes(unit.some_function(), copy, source.text_of(place))
        entry = entry_test.Entry(None if unit.record.installed else unit.record.filename, ARE_QUICK)
        mark = "" if unit.generated_name is None else digest_of(plain).hex()
        digest = file_digest(unit.record.filename + mark)
        objects = names.assigned | _not_modules(imported, unit.some_function())
        variables = frozenset(plain.co_varnames).difference(plain.co_cellvars)
        follows = any(variant.shape.follows_bodies for variant in variants)
        surroundings = entry_test.Surroundings(
            place.class_name,
            plain.co_freevars,
            digest,
            objects,
            variables,
            _lasting(plain, variables),
            passed=source.names_passed() if follows else frozenset(),
            is_nested="<locals>" in plain.co_qualname,
        )
        rewriter.overdub_function(
            function, [_shape(unit.record, variant) for variant in variants], entry, bodies, surroundings
        )
        compiled = source.compile(module, plain.co_flags)
        code = skeleton.find_function(compiled, plain)
        if code is None:
            raise LookupError("rewriting has changed its parameters or free variables")
        # `types.coroutine` marks a function by a flag that its source does not show; the skeleton nests it otherwise.
        marks = plain.co_flags & (code_objects.ITERABLE_COROUTINE | _NESTING)
        # The first parameters of hooks are positional-only, in the code alone (`hook_functions.positional_only`).
        code = code.replace(co_flags=code.co_flags & ~_NESTING | marks, co_posonlyargcount=plain.co_posonlyargcount)
        return live(skeleton.graft(skeleton.requalify(code, plain)))


_DELETES: Final = opcode.opmap["DELETE_FAST"]
_EXTENDS: Final = opcode.opmap["EXTENDED_ARG"]


def _lasting(plain: CodeType, variables: frozenset[str]) -> LastingVariables:
    """The variables that nothing unbinds, as `del x` and the end of `except E as x` do."""
    code, number = plain.co_code, 0
    if _DELETES in code[::2]:
        unbound = set()
        for operation, argument in zip(code[::2], code[1::2], strict=True):
            number = number << 8 | argument
            if operation == _DELETES:
                unbound.add(plain.co_varnames[number])
            number = number if operation == _EXTENDS else 0
        variables = variables - unbound
    flags = (code_objects.VARARGS, code_objects.VARKEYWORDS)
    count = plain.co_argcount + plain.co_kwonlyargcount + sum(bool(plain.co_flags & flag) for flag in flags)
    return LastingVariables(variables, variables.intersection(plain.co_varnames[:count]))


_Located = tuple[SourceFile, "places.Place", ast.Module, "scopes.Function"]
"""A function's source, its place there, and the function by itself: the module of the skeleton and the node in it."""


def _located(unit: Unit) -> _Located | None:
    """A function in its source; None, with the reason in the unit, if the function is left alone."""
    # The unit gets its reason at the end: other threads ask meanwhile whether the function is overdubbed.
    reason, plain = _NO_SOURCE, unit.plain
    for source in _sources(unit):
        place = source.find(plain)
        if place is None:
            reason = source.problem or "its source is not found"
            continue
        exclusion = source.reason_to_leave_alone(place)
        if exclusion is not None:
            reason = exclusion
            break
        imported = source.names().imported & set(all_names(plain))
        module, function = skeleton.skeleton(place, plain.co_freevars, imported)
        if _is_of_source(plain, source, module):
            return source, place, module, function
        reason = _OTHER_SOURCE
    unit.reason = reason
    return None


def _sources(unit: Unit) -> Iterator[SourceFile]:
    """The texts of which one is that of a function: its file, or what generated it."""
    filename, source = unit.plain.co_filename, unit.record.source
    if unit.source is not None:
        yield unit.source
    if filename == unit.record.filename:
        yield source
    if is_generated(filename):
        texts = generated_code.generated_texts(unit.some_function())
        for text in [*map(str.encode, texts), None]:  # the last one is what `linecache` has
            generated = SourceFile(filename)
            generated.refresh(source.module_name, source=text)
            if generated.available:
                yield generated


def _is_of_source(plain: CodeType, source: SourceFile, module: ast.Module) -> bool:
    """Whether the code of a function is what its source compiles to: in its skeleton, or else in the whole module.

    Decorators compile functions anew or patch their code, import hooks compile other text, and files are edited.
    """
    if not code_objects.is_function(plain):
        return any(is_same(plain, code) for code in source.generator_expressions())
    code = skeleton.find_function(source.compile(module, plain.co_flags), plain)
    if code is not None and is_same(skeleton.requalify(code, plain), plain):
        return True
    return any(is_same(plain, code) for code in source.functions(plain.co_flags))


def _not_modules(names: Iterable[str], function: FunctionType) -> set[str]:
    """The names that a module imports and that do not hold modules at present."""
    held = function.__globals__
    return {name for name in names if name in held and type(held[name]) is not ModuleType}


def _shape(record: FileRecord, variant: Variant) -> Shape:
    """The shape for which functions of a file are compiled.

    Functions in the file of a root function are ready for the first overload of a context type that has none: code that
    registers overloads while functions run is mostly there.
    """
    shape = variant.shape
    if record.installed or not shape.intercepts_nothing or not variant.may_get_overloads:
        return shape
    return shape._replace(targets=Events.CALLS, overloads=Events.CALLS)


_NO_SOURCE: Final = "there is no source"
_OTHER_SOURCE: Final = "its code is not what its source says"

body_compiler: Final = BodyCompiler(MODULE_CACHE)
