"""The registry: which modules and root functions are overdubbed, and for which variants functions are instrumented.

This is the face of the package: the packages above call its methods.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.errors import CassetteWarning
from cassette_import.interpreter import code_objects, heap
from cassette_import.interpreter.generated_names import is_generated
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.namespaces import class_attribute, module_namespace
from cassette_import.interpreter.observers import unobserved
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.interpreter.own_work import OWN_WORK, own_work
from cassette_import.rewriting import symbols
from cassette_import.rewriting.module_names import ModuleNames
from cassette_import.runtime.dispatch.hook_functions import set_code
from cassette_import.runtime.names import FLAGS, is_rewritten
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import generated_code, registry_port, trampolines
from cassette_import.specialization.code_consumers import update_keepers
from cassette_import.specialization.code_index import CodeIndex
from cassette_import.specialization.compilation_listeners import making_code
from cassette_import.specialization.function_unit import FileRecord
from cassette_import.specialization.instrumentation import Instrumentation
from cassette_import.specialization.live_code import cached_module
from cassette_import.specialization.module_cache import MODULE_CACHE

if TYPE_CHECKING:
    import ast

    from cassette_import.specialization import body_compiler, specialiser
    from cassette_import.specialization.specialiser import Specialiser
    from cassette_import.specialization.trampolines import Reference
else:
    body_compiler, specialiser = late("cassette_import.specialization", "body_compiler", "specialiser")


class Registry:
    """All overdubbed modules and root functions; there is one, `registry`."""

    def __init__(self) -> None:
        self.index = CodeIndex()
        self.lock = self.index.lock
        self.records = self.index.records
        self.instrumentation = Instrumentation(self.index)
        self.is_over = False
        """Whether the interpreter shuts down: functions run their plain code, and nothing is specialised any more."""
        self._specialiser: Specialiser | None = None
        self.generation = 0
        """Counts changes of what is overdubbed: variants that were instrumented before are outdated."""

    # ---- modules and root functions

    def add_module(self, module_name: str, filename: str | None, stamp: tuple[int, int] | None = None) -> None:
        """Overdub the module's functions from now on. Each execution of the module calls this again.

        `stamp` is that of the file when it was executed; None for the present one.
        """
        if filename is None:
            return
        with self.lock:
            record = self.index.record_of(filename)
            if not record.installed:
                record.forget_bodies()  # they are for activations of its root functions
            record.add_module(module_name)
            record.source.refresh(module_name, stamp=stamp)
            self.generation += 1

    def remove_modules(self, module_names: Iterable[str]) -> None:
        """Undo `add_module`: every live function of these modules gets its original code object back."""
        names = set(module_names)
        with self.lock:
            files: set[str] = set()
            for record in self.records.values():
                if record.module_names & names:
                    record.remove_modules(names)
                    if not record.installed:
                        files.add(record.filename)
                        record.forget_bodies()  # they are for all activations
            for function in heap.functions_of(files | self.index.text_names):
                unit = self.index.find_unit(function.__code__)
                if unit is not None and unit.record.filename in files:
                    update_keepers([function.__code__], unit.plain)
                    set_code(function, unit.plain)
            self.generation += 1

    def add_root(self, function: FunctionType) -> str | None:
        """Overdub the file of a root function for its activation.

        Returns
        -------
        The name of the file; None if it is installed or has no source.
        """
        code = function.__code__
        if is_generated(code.co_filename) and (name := generated_code.module_of_method(function)) is not None:
            namespace = module_namespace(sys.modules[name])
            if isinstance(filename := namespace.get("__file__"), str):
                return self.add_root_code(code, name, namespace, filename)
        return self.add_root_code(code, function.__module__, function.__globals__)

    def add_root_code(
        self, code: CodeType, module_name: str, namespace: dict[str, Any], filename: str | None = None
    ) -> str | None:
        """Overdub the file of some code, as `add_root` does for a function.

        Parameters
        ----------
        code:
            The code of a function or a module.
        module_name, namespace:
            The name and the globals of its module.
        filename:
            The file that the code belongs to, if it is another one than the code says.
        """
        filename = filename or code.co_filename
        record = self.records.get(filename)
        if (record is not None and record.installed) or filename.startswith(PACKAGE_FOLDER):
            return None
        if record is not None and record.source.is_read and self.index.find_unit(code) is not None:
            return filename
        with self.lock:
            record = self.records.get(filename)
            is_new = record is None
            if record is None:
                record = self.index.record_of(filename)
            # A module that is not installed is not noticed when it is reloaded: its functions have new code then.
            if is_new or (self.index.find_unit(code) is None and not record.source.is_current()):
                record.source.adopt(module_name, namespace)
                self.generation += 1
            if record.installed:
                return None
            is_available = unobserved(lambda: record.source.available)
        is_of_program = module_name == "__main__" and code.co_name != "<module>"  # blocks have a warning of their own
        if not is_available and is_new and is_of_program:
            _warn_of_no_source(code)
        return filename if is_available else None

    # ---- instrumentation

    def instrument(self, variant: Variant, roots: frozenset[str]) -> None:
        """Have every live function test the variant at its entry: by a branch of its body, or by a trampoline."""
        with self.lock, own_work():
            unobserved(self._instrument, variant, roots)

    def _instrument(self, variant: Variant, roots: frozenset[str]) -> None:
        with making_code():
            self.instrumentation.add(variant, roots, self.generation)

    def instrument_active(self) -> None:
        """Instrument functions that were made since, for all variants that are in use in some thread or task.

        If none is active, instrument at least functions that can be suspended: they may be resumed in a context.
        """
        with self.lock:
            active = self.instrumentation.active()
            for variant in active:
                for roots in list(variant.instrumented_at):
                    self.instrument(variant, roots)
            if self.instrumentation.ever_used and not active:
                self.instrumentation.add_suspendable()

    def ensure_instrumented(self, function: FunctionType, variant: Variant, roots: frozenset[str]) -> None:
        """Instrument functions once more if a root function does not test the variant at its entry.

        Its code object may come from a frame that was running before functions were instrumented for the variant. The
        same holds for other functions that the frame made.
        """
        unit = self.index.unit_of(function.__code__)
        if unit is None or unit.reason is not None or function.__code__ is unit.trampoline:
            return
        if not (unit.record.installed or unit.record.filename in roots):
            return  # its file has no source, as `os.path` in frozen modules: no search instruments it
        # The compiled body of a function without events is its plain code.
        if function.__code__ is not unit.code or variant not in unit.variants:
            self.instrument(variant, roots)
            with self.lock:  # the search does not find it if `gc.freeze` hides it
                self.instrumentation.instrument_function(function)

    def given_text(self, record: FileRecord, code: CodeType, text: str | bytes | ast.Module) -> CodeType:
        """The code to execute for a text that a module of a file has given to `compile`, `exec` or `eval`."""
        with self.lock:
            has_functions = self.index.add_text(record, code, text)
            if not has_functions or not self.wants_trampolines():
                return code
            return self.index.with_trampolines(code, self.wants_module_level()).code

    @hidden
    def instrument_class(self, kind: Any) -> None:
        """Instrument the generated methods of a class that was made while a context is active."""
        if not self.instrumentation.active() or OWN_WORK.now or not issubclass(type(kind), type):
            return
        OWN_WORK.now = True
        try:
            with self.lock:
                name = class_attribute(kind, "__module__")
                record = self.index.record_of_module(name) if type(name) is str else None
                if record is not None:
                    self.instrumentation.instrument_class(kind, record)
        finally:
            OWN_WORK.now = False

    @hidden
    def runs_overdubbed(self, function: FunctionType) -> bool:
        """Whether a call of the function runs a compiled body. What was not entered yet is specialised now.

        A function that turns out to be left alone must not get wrapped arguments.
        """
        unit = self.index.find_unit(function.__code__)
        if unit is not None and unit.code is None and function.__code__ is unit.trampoline:
            self.enter(unit.reference, function)
        return self.index.overdubbable(function)

    def instrument_new(self, function: FunctionType) -> None:
        """Instrument a function, if it has its plain code: it may be new."""
        with self.lock:
            unit = self.index.unit_of(function.__code__)
            if unit is not None and function.__code__ is unit.plain:
                self.instrumentation.instrument_function(function)

    def instrument_maker(self, function: FunctionType) -> None:
        """Instrument the function that has made a generator or coroutine; that of a generator expression is known to
        the generator alone, and has a unit from now on."""
        with self.lock:
            self.index.unit_of(function.__code__, code_objects.can_be_suspended)
            self.instrumentation.instrument_function(function)

    def runs_plain(self, code: CodeType, roots: frozenset[str]) -> bool:
        """Whether a frame with this code runs plain, although its file is overdubbed where these roots are."""
        record = self.records.get(code.co_filename)
        return record is not None and (record.installed or record.filename in roots) and not is_rewritten(code)

    def ensure_argument_instrumented(self, function: FunctionType, variant: Variant, roots: frozenset[str]) -> None:
        """Instrument a function that a root function gets as an argument, if it does not test the variant at its entry.

        A frame that was running before functions were instrumented for the variant may have made it just now.
        """
        filename = function.__code__.co_filename
        record = self.records.get(filename)
        if record is None or not (record.installed or filename in roots):
            return
        with self.lock:
            unit = self.index.unit_of(function.__code__)
            if unit is not None and (function.__code__ is unit.plain or variant not in unit.variants):
                self.instrumentation.instrument_function(function)

    # ---- entering functions

    @property
    @hidden
    def specialiser(self) -> Specialiser:
        """What specialises functions; most processes find all bodies in the cache, and do without it."""
        if self._specialiser is None:
            self._specialiser = specialiser.Specialiser(self.index, self.instrumentation)
        return self._specialiser

    @hidden
    def enter(self, reference: Reference, environment: Callable[[], Any], *constants: Any) -> Callable[..., Any]:
        """The function that a trampoline calls in place of the one that was called, as `Specialiser.enter` finds it."""
        assert isinstance(environment, FunctionType)
        if self.is_over or OWN_WORK.now:
            return self._plain_function(reference, environment, constants)
        activation = ACTIVE.get()
        with own_work():
            return unobserved(self._enter, reference, environment, activation, constants)

    def _enter(self, *arguments: Any) -> Callable[..., Any]:
        with making_code():  # which may import what specialises functions
            return self.specialiser.enter(*arguments)

    def _plain_function(
        self, reference: Reference, environment: FunctionType, constants: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """A function that runs plain; making it causes audit events, about which the program is not told."""
        if OWN_WORK.makes_function:
            return _unnoticed
        OWN_WORK.makes_function = True
        try:
            plain = self.index.unit_at(reference, environment.__code__.co_filename).plain
            plain = (trampolines.patched(plain, constants) if constants else None) or plain
            return FunctionType(plain, environment.__globals__, plain.co_name, None, environment.__closure__)
        finally:
            OWN_WORK.makes_function = False

    # ---- modules imported while a context is active

    def wants_module_level(self, filename: str | None = None) -> bool:
        """Whether a module that is executed now gets rewritten code.

        If a context is active in this thread, its module level is overdubbed. If one is active elsewhere, or if the
        module was executed before while contexts were active, its functions have trampolines from the beginning: no
        thread can call them without.
        """
        record = self.records.get(filename) if filename is not None else None
        return bool(FLAGS[symbols.IS_ANY_ACTIVE]) or (record is not None and record.was_executed)

    def wants_trampolines(self, filename: str | None = None) -> bool:
        """Whether functions of a module that is executed now get trampolines: all, or those that can be suspended."""
        return self.instrumentation.ever_used or self.wants_module_level(filename)

    def cached_module_code(self, module_name: str, filename: str) -> CodeType | None:
        """The code to execute for a module, as an earlier run left it for the active contexts; None if there is none.

        Most of its functions have compiled bodies or trampolines already. Neither its source nor its bytecode is read.
        """
        with self.lock:
            record = self.index.record_of(filename)
            variant = self._only_variant()
            if variant is None:
                return None
            is_active = ACTIVE.get().variant is variant
            with own_work():
                module = MODULE_CACHE.module(record, variant, is_active)
            if module is None:
                return None
            variant.bind_names(module.names)
            variant.family.note_meeting()
            record.add_module(module_name)
            record.unindexed.append((module, variant))
            if module.bound_names is not None:
                record.source.set_names(ModuleNames(*map(frozenset, module.bound_names)))
            return module.code

    def _only_variant(self) -> Variant | None:
        """The variant for which whole modules may be cached: the only active one, if the module level is overdubbed for
        no other one."""
        active = self.instrumentation.active()
        if len(active) != 1 or ACTIVE.get().variant not in (None, active[0]):
            return None
        return None if active[0].shape.intercepts_nothing else active[0]

    def module_code(self, module_name: str, filename: str, source: bytes, plain: CodeType) -> CodeType:
        """The code to execute for a module instead of the plain code."""
        variant = ACTIVE.get().variant
        cached_for = self._only_variant()
        with self.lock, own_work():
            record = self.index.record_of(filename)
            record.add_module(module_name)
            everything = self.wants_module_level(filename)
            if everything:
                record.source.refresh(module_name, source=source, plain=plain)
            if not everything or cached_for is None:
                made = plain
                if variant is not None:
                    made = body_compiler.body_compiler.cached_module_level_of(record, variant, source, plain)
                return self.index.with_trampolines(made, everything).code
            made = (
                plain
                if variant is None
                else body_compiler.body_compiler.module_level_of(record, variant, source, plain)
            )
            return self._cached(record, cached_for, variant is not None, made)

    def _cached(self, record: FileRecord, variant: Variant, is_level_overdubbed: bool, code: CodeType) -> CodeType:
        """The code of a module with trampolines, which is cached for later runs."""
        digest = record.source.digest() if record.source.has_digest else None
        made = self.index.with_trampolines(code, True, digest)
        if digest is not None and made.is_cacheable:
            names, prefixes = record.source.known_names(), (variant.shape.prefix,)
            module = cached_module(prefixes, made.code, digest, made.functions, names)
            MODULE_CACHE.add_module(record, variant, is_level_overdubbed, module)
            variant.bind_names(module.names)
        return made.code

    # ---- reports

    def functions_left_alone(self, module_name: str) -> dict[str, str]:
        """The functions of a module that are left alone: qualified names with reasons."""
        return self.index.functions_left_alone(module_name)

    def specialised_functions(self, module_name: str) -> dict[str, list[str]]:
        """The functions of a module with compiled bodies: qualified names with the names of the bodies' variants."""
        return self.index.specialised_functions(module_name)


def _warn_of_no_source(code: CodeType) -> None:
    """Warn that a function of the program is in no file: it was passed to `python -c` or `exec`, typed, or piped."""
    warnings.warn_explicit(
        f"{code.co_qualname} has no source, so nothing in it is an event: it is in no file, as code that Python "
        "gets by -c, from standard input or by exec. Put it into a file",
        CassetteWarning,
        code.co_filename,
        code.co_firstlineno,
        module="__main__",
    )


registry: Final = Registry()
OVERDUBBED.connect(registry.index, registry.runs_overdubbed)
registry_port.registry.connect(registry)
trampolines.connect(registry.enter)


def _unnoticed(*_args: object, **_kwargs: object) -> None:
    """Replaces an audit hook that is called for the making of its own plain function (`function.__new__`)."""
