"""Rewriting of whole modules for contexts of every kind, and the search for errors in the code that results.

Nothing is executed. Knows how bodies are compiled from sources; must not know where sources come from.
"""

import ast
import warnings

from cassette_import import Context, Events
from cassette_import.activation.variants import VariantKey, variants
from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.specialization.body_compiler import BodyCompiler
from cassette_import.specialization.function_unit import FileRecord, Unit
from helpers.contexts import ArgumentFree, ReadsArguments, ReadsEverything, Tagging

FILENAME = "<rewritten>"


class Replacing(Context):
    """An overload replaces every event."""

    def overdub(self, f, *args, **kwargs):
        return f(*args, **kwargs)


class ChosenFunctions(Context):
    """Overloads of chosen functions only: calls are guarded."""


@ChosenFunctions.overdub.register(len)
def _(ctx, f, x):
    return f(x)


class TaggingAll(Replacing, tagging=True):
    """An overload replaces every event, and values could carry metadata."""


def _variant(*kinds):
    """The variant of a stack of contexts, given as pairs of type and events."""
    return variants.of(tuple(VariantKey.of(kind, events, tagging=kind._tagging) for kind, events in kinds))


SINGLE = {
    f"{kind.__name__} {event.name}": [_variant((kind, event))]
    for kind in (ArgumentFree, ReadsArguments)
    for event in Events
}
"""Variants that see one kind of event alone."""

SHAPES = {
    "calls": [_variant((ReadsArguments, Events.CALLS))],
    "all, argument-free": [_variant((ArgumentFree, Events.ALL))],
    "all, reading arguments": [_variant((ReadsArguments, Events.ALL))],
    "all, with errorhook": [_variant((ReadsEverything, Events.ALL))],
    "all, replacing": [_variant((Replacing, Events.ALL))],
    "chosen functions": [ChosenFunctions()._variant_alone()],
    "tagging": [Tagging()._variant_alone()],
    "tagging all": [_variant((TaggingAll, Events.ALL))],
    "two contexts": [_variant((ReadsEverything, Events.DEFAULT), (ArgumentFree, Events.ALL))],
    "two variants": [_variant((ArgumentFree, Events.ALL)), _variant((ReadsArguments, Events.ALL))],
}
"""Variants by their hooks; several in one list are branches of one body."""


class Rewritten:
    """A source and its rewritten functions.

    `left_alone` has the functions that were not rewritten, which is allowed, with the reasons that users are shown.
    """

    def __init__(self, source, filename=FILENAME):
        self.record = FileRecord(filename)
        self.record.module_names.add("rewritten")  # as if it were installed
        self.record.source.refresh("rewritten", None, source)
        self.source = source
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.plain = compile(source, filename, "exec", dont_inherit=True)
        self.units = [Unit(number, self.record, code) for number, code in enumerate(_all_functions(self.plain))]
        self.left_alone = {}

    def problems(self, variants):
        """What is wrong with the bodies for these variants."""
        found = []
        compiler = BodyCompiler(cache=None)
        for unit in self.units:
            where = f"{unit.plain.co_qualname}, line {unit.plain.co_firstlineno}"
            try:
                code = compiler.body_of(unit, variants)
            except Exception as error:
                found.append(f"{where}: {type(error).__name__}: {error}")
                continue
            if code is None:
                self.left_alone[unit.plain.co_qualname] = unit.reason
                continue
            place = self.record.source.find(unit.plain)
            found += [f"{where}: {problem}" for problem in _differences(code, unit.plain)]
            found += [f"{where}: {problem}" for problem in _strange_positions(code, unit.plain, place.node)]
        tree = self.record.source.parse(self.source)
        for variant in variants:
            try:
                code = compiler.module_level_of(self.record, variant, self.source, self.plain)
            except Exception as error:
                found.append(f"module level: {type(error).__name__}: {error}")
                continue
            found += [f"module level: {problem}" for problem in _strange_positions(code, self.plain, tree)]
        return found


def _all_functions(code):
    for inner in nested_functions(code):
        yield inner
        yield from _all_functions(inner)


def _differences(code, plain):
    """Differences from the plain code object that callers and frames would notice."""
    for name in ("co_name", "co_qualname", "co_filename", "co_firstlineno", "co_argcount", "co_posonlyargcount"):
        if getattr(code, name) != getattr(plain, name):
            yield f"{name} is {getattr(code, name)!r}, not {getattr(plain, name)!r}"
    if code.co_freevars != plain.co_freevars:
        yield f"free names are {code.co_freevars}, not {plain.co_freevars}"
    if code.co_flags != plain.co_flags:
        yield f"flags are {code.co_flags:#x}, not {plain.co_flags:#x}"
    names = [name for name in code.co_varnames if not name.startswith("@")]
    if set(names) != set(plain.co_varnames) or names[: plain.co_argcount] != [*plain.co_varnames[: plain.co_argcount]]:
        yield f"names of variables are {names}, not {plain.co_varnames}"
    if set(code.co_cellvars) != set(plain.co_cellvars):
        yield f"cells are {code.co_cellvars}, not {plain.co_cellvars}"


def _strange_positions(code, plain, node):
    """Find instructions at positions where the program has neither a node nor a plain instruction.

    An instruction that rewriting adds may stand at the beginning of a node, and is no longer than the node.
    """
    longest = {}
    for start, end in _spans(plain, node):
        longest[start] = max(end, longest.get(start, end))
    for part in _all_code(code):
        for line, end_line, column, end_column in set(part.co_positions()):
            start, end = (line, column), (end_line, end_column)
            if line is None or column is None or start == end:  # nowhere, or the beginning of the code
                continue
            if end > longest.get(start, ()):
                yield f"an instruction of {part.co_qualname} is at {line}:{column} to {end_line}:{end_column}"


def _spans(plain, node):
    """Where nodes and plain instructions start and end."""
    for part in ast.walk(node):
        if hasattr(part, "lineno"):
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)
        if isinstance(part, ast.DictComp) and part.value is not None:  # each pair, which is no node; from 3.15 on `**`
            yield (part.key.lineno, part.key.col_offset), (part.value.end_lineno, part.value.end_col_offset)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            # The compiler positions a call over several lines at the name of its callee, unless the callee is a
            # function of an imported module and the name of the module is no event.
            name = part.func
            yield (name.end_lineno, name.end_col_offset - len(name.attr)), (part.end_lineno, part.end_col_offset)
    for part in _all_code(plain):
        for line, end_line, column, end_column in part.co_positions():
            if line is not None and column is not None:
                yield (line, column), (end_line, end_column)


def _all_code(code):
    work = [code]
    while work:
        code = work.pop()
        yield code
        work += [const for const in code.co_consts if isinstance(const, type(code))]
