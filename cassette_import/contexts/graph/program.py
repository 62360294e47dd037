"""Paths through a function as one readable program: its expressions, names, straight-line code, and `if` for guards."""

from __future__ import annotations

import ast
import builtins
import datetime
import functools
import keyword
import linecache
import math
import operator
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.graph.arrays import Change
from cassette_import.contexts.graph.known_functions import BINARY, UNARY, makes_text, module_of, never_raises
from cassette_import.contexts.graph.nodes import (
    LITERALS,
    Built,
    Constant,
    Guard,
    Made,
    Node,
    NotRepresentable,
    Step,
    Template,
    key_of,
    leaves_in,
    mapped,
    nodes_in,
    same,
    sources,
    template_key,
)
from cassette_import.contexts.graph.tracing import Argument, Trace, parts_of
from cassette_import.kits.events import CallSite, characters_before
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.rewriting import primitives

__all__ = [
    "DEEPEST",
    "FEWEST",
    "Loop",
    "LoopFinder",
    "Names",
    "ProgramFrame",
    "aligned",
    "as_name",
    "assigned_name",
    "bare",
    "check_result",
    "condition",
    "expression",
    "negated",
    "operation",
    "program",
]

# ---- operations, guards and constants as text of Python programs

_BINARY: Final = {**BINARY, operator.is_: "is", operator.is_not: "is not"}
_UNARY: Final = {**UNARY, operator.not_: "not "}
_OWN: Final = "cassette_import"


class Names:
    """The names of a program: what it imports, the tables that it has, and the names that are taken."""

    def __init__(self) -> None:
        self.modules: dict[str, None] = {}
        self.tables: dict[str, str] = {}
        self.helpers: dict[Any, str] = {}
        """The functions that the program has beside its own, by what they do."""
        self._counts: Counter[str] = Counter()
        self._taken = {*keyword.kwlist, *dir(builtins), "math", "numpy"}

    def new(self, wanted: str) -> str:
        """A name that is not taken yet."""
        name = wanted
        while name in self._taken:
            self._counts[wanted] += 1
            name = f"{wanted}_{self._counts[wanted] + 1}"
        self._taken.add(name)
        return name

    def table(self, text: str) -> str:
        """The name of a constant that is made once."""
        if text not in self.tables:
            self.tables[text] = self.new("TABLE")
        return self.tables[text]

    def helper(self, function: Change) -> str:
        """The name of a function that changes a copy of an array."""
        if function not in self.helpers:
            self.helpers[function] = self.new(function.__name__)
        return self.helpers[function]

    def constant(self, value: Any) -> str:
        """A known value as an expression.

        Raises
        ------
        NotRepresentable
            If there is no expression for it.
        """
        kind = type(value)
        if kind in (int, str, bytes, bool, type(None), type(Ellipsis)):
            return repr(value) if kind is not int or value >= 0 else f"({value!r})"
        if issubclass(kind, str):
            return str.__repr__(value)  # `call` and `check_result` see to it that nothing asks for its class
        if kind is float:
            if not math.isfinite(value):
                return f"float('{value!r}')"
            return repr(value) if math.copysign(1.0, value) > 0 else f"({value!r})"
        if kind is complex:
            return f"complex({self.constant(value.real)}, {self.constant(value.imag)})"
        if kind is tuple:
            return f"({''.join(f'{self.constant(one)}, ' for one in value)})"
        if kind in (set, frozenset):
            return f"{kind.__name__}(({''.join(f'{self.constant(one)}, ' for one in value)}))"
        if kind in _WRITTEN and getattr(value, "tzinfo", None) is None:
            module, prefix = _WRITTEN[kind]
            self.modules[module] = None
            return self.table(f"{prefix}{value!r}")
        if kind is range:
            return repr(value)
        if kind is re.Pattern:
            self.modules["re"] = None
            return self.table(f"re.compile({value.pattern!r}, {value.flags})")
        if is_array(value) and value.dtype.kind in "fiub" and value.dtype.isnative:
            return self._array(value)
        return self.function(value)

    def _array(self, value: Any) -> str:
        import numpy

        if value.dtype.kind == "f" and not numpy.isfinite(value).all():
            raise NotRepresentable("the program needs an array with NaN or infinity, which has no literal")
        self.modules["numpy"] = None
        if value.ndim == 0 and not isinstance(value, numpy.ndarray):
            return f"numpy.{value.dtype.name}({value.item()!r})"
        return self.table(f"numpy.array({value.tolist()!r}, dtype={value.dtype.name!r})")

    def function(self, value: Any) -> str:
        """The name of a function or class of `builtins`, the standard library or NumPy."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        module = module_of(value)
        public = {"_operator": "operator"}.get(module, module)
        for place in (public, "numpy", "math") if isinstance(name, str) else ():
            if place.partition(".")[0] == _OWN or not _is_foundation(place):
                continue
            found = sys.modules.get(place)
            for part in str(name).split("."):
                found = getattr(found, part, None)
            if found is value:
                if place == "builtins":
                    return str(name)
                self.modules[place] = None
                return f"{place}.{name}"
        raise NotRepresentable(
            f"the program needs {value!r}, which has no literal and is no part of the standard library or of NumPy\n"
            "Use `graph`, whose `run` calls it, or compute with its numbers"
        )


_WRITTEN: Final[dict[type, tuple[str, str]]] = {
    Fraction: ("fractions", "fractions."),
    Decimal: ("decimal", "decimal."),
    **dict.fromkeys((datetime.date, datetime.time, datetime.datetime, datetime.timedelta), ("datetime", "")),
}
"""The immutable types of the standard library whose text is an expression for them: their module, and what the text
lacks."""


def _is_foundation(module: str) -> bool:
    root = module.partition(".")[0]
    return root == "numpy" or root in sys.stdlib_module_names


def call(node: Node, operands: Sequence[str], keywords: dict[str, str], names: Names) -> str:
    """The expression of an operation; it has brackets where an operator is around."""
    f: Any = node.function
    _check_texts(node)
    if isinstance(f, Change):
        return f"{names.helper(f)}({_arguments(operands, keywords)})"
    if f in _BINARY and len(operands) == 2:
        return f"({operands[0]} {_BINARY[f]} {operands[1]})"
    if f in _UNARY:
        return f"({_UNARY[f]}{operands[0]})"
    known = _SYNTAX.get(f)
    if known is not None:
        return known(node, operands)
    if isinstance(f, (MethodDescriptorType, WrapperDescriptorType)) and getattr(builtins, f.__name__, None) is not f:
        receiver, *rest = operands
        return f"({receiver}).{f.__name__}({_arguments(rest, keywords)})"
    return f"{names.function(f)}({_arguments(operands, keywords)})"


def operands_of(node: Node) -> Sequence[Template]:
    """The operands; neighbouring constants of a list that `"".join` gets are one."""
    if node.function is not str.join or len(node.operands) != 2:
        return node.operands
    separator, items = node.operands
    if not (isinstance(separator, Constant) and separator.value == "" and isinstance(items, Built)):
        return node.operands
    parts: list[Template] = []
    for part in items.parts:
        before = parts[-1] if parts else None
        if (
            isinstance(before, Constant)
            and isinstance(part, Constant)
            and type(part.value) is type(before.value) is str
        ):
            parts[-1] = Constant(before.value + part.value)
        else:
            parts.append(part)
    return separator, Built(items.kind, tuple(parts))


def text_made(node: Node) -> Template | None:
    """What a text of a class of the program is made of; None if the node does not make one.

    In a program it is a text without a class, since functions in C ask for its characters alone.
    """
    if not makes_text(node.function) or node.keywords:
        return None
    given = node.operands[1 if node.function is str.__new__ else 0 :]
    return given[0] if len(given) == 1 else None


def text(given: Template, operand: str) -> str:
    """The text of a value."""
    kind: Any = object if isinstance(given, Built) else type(given.value)
    if not issubclass(kind, str):
        return f"str({operand})"
    if kind.__str__ is not str.__str__:
        raise NotRepresentable(f"the program needs the text of a {kind.__name__}, which its class makes\nUse `graph`")
    return operand


def check_result(result: Template) -> None:
    """Refuse a text of a class of the program as a result, since the program has no such class."""
    for kind in _classes_of_texts([result]):
        raise NotRepresentable(
            f"the result has a {kind.__name__}, which is no part of the standard library"
            "\nReturn str(text), or use `graph`"
        )


def _classes_of_texts(templates: Iterable[Template]) -> Iterator[Any]:
    """The classes of texts that are not `str` itself."""
    kinds: list[Any] = [type(leaf.value) for template in templates for leaf in leaves_in(template)]
    return (kind for kind in kinds if issubclass(kind, str) and kind is not str)


def _check_texts(node: Node) -> None:
    """Refuse a function in C that may call methods of a text's class."""
    for kind in _classes_of_texts([*node.operands, *node.keywords.values()]):
        f: Any = node.function
        asks = _METHODS_ASKED.get(f, () if _is_method_of_text(f) else None)
        if asks is None or any(getattr(kind, name) is not getattr(str, name) for name in asks):
            raise NotRepresentable(
                f"the program gives a {kind.__name__} to {node.label}, which may ask for its class\n"
                "Use `graph`, or give it str(text)"
            )


def _is_method_of_text(f: Any) -> bool:
    """Whether it is a method of `str` that reads nothing but characters."""
    is_method = isinstance(f, (MethodDescriptorType, WrapperDescriptorType))
    return (
        is_method
        and f.__objclass__ is str
        and f.__name__ not in ("format", "format_map", "__mod__", "__rmod__", "__format__", "__repr__")
    )


_METHODS_ASKED: Final[dict[Any, tuple[str, ...]]] = {
    **dict.fromkeys(
        (len, operator.contains, operator.getitem, operator.truth, operator.not_, primitives.build_string), ()
    ),
    **dict.fromkeys((str, operator.mod), ("__str__",)),
    **dict.fromkeys((format, str.format), ("__format__", "__str__")),
}
"""Functions in C that may get a text of a class of the program, and the methods of it that they call."""


def _arguments(operands: Sequence[str], keywords: dict[str, str]) -> str:
    return ", ".join([*operands, *(f"{name}={text}" for name, text in keywords.items())])


def _attribute(node: Node, operands: Sequence[str]) -> str:
    name = node.operands[1]
    if len(operands) == 2 and isinstance(name, Constant) and str(name.value).isidentifier():
        return f"({operands[0]}).{name.value}"
    return f"getattr({', '.join(operands)})"


_SYNTAX: Final[dict[Any, Callable[[Node, Sequence[str]], str]]] = {
    operator.getitem: lambda node, operands: f"{operands[0]}[{operands[1]}]",
    operator.contains: lambda node, operands: f"({operands[1]} in {operands[0]})",
    primitives.build_string: lambda node, operands: f'"".join(({"".join(f"{one}, " for one in operands)}))',
    getattr: _attribute,
}


def expression(template: Template, text_of: Callable[[Node], str], names: Names) -> str:
    """A value as an expression; `text_of` gives the text of each node."""
    if isinstance(template, Node):
        return text_of(template)
    if isinstance(template, Constant):
        made = names.constant(template.value)
        return f"{made}.copy()" if type(template) is Made and can_change(template.value) else made
    parts = [expression(part, text_of, names) for part in template.parts]
    if template.kind is list:
        return f"[{', '.join(parts)}]"
    if template.kind is tuple:
        return f"({''.join(f'{part}, ' for part in parts)})" if len(parts) < 2 else f"({', '.join(parts)})"
    if template.kind is dict:
        keys = map(names.constant, template.keys)
        return f"{{{', '.join(f'{key}: {part}' for key, part in zip(keys, parts, strict=True))}}}"
    if template.kind is slice:
        return f"slice({', '.join(parts)})"
    raise NotRepresentable(
        f"a program cannot name {template.kind.__qualname__}, of which the function makes an object\n"
        "Return its parts, or use `graph`"
    )


def operation(node: Node, text_of: Callable[[Node], str], names: Names) -> str:
    """The expression of an operation with its operands."""
    made_of = text_made(node)
    if made_of is not None:
        return text(made_of, expression(made_of, text_of, names))
    operands = [expression(part, text_of, names) for part in operands_of(node)]
    holder = node.operands[0] if node.function in (operator.getitem, operator.contains) else None
    if holder is not None and not isinstance(holder, Node) and _is_table(holder):
        operands[0] = names.table(operands[0])
    keywords = {name: expression(part, text_of, names) for name, part in node.keywords.items()}
    return call(node, operands, keywords, names)


def _is_table(holder: Built | Constant) -> bool:
    """Whether it is a known container, which is made once."""
    return not list(nodes_in(holder)) if isinstance(holder, Built) else type(holder.value) is tuple


def condition(guard: Guard, text: str, names: Names) -> str:
    """The expression that is true where a guard holds."""
    expected = guard.expected
    if guard.test == "truth":
        return text if expected else f"not {text}"
    if guard.test == "length":
        return f"len({text}) == {expected}"
    if guard.test == "type":
        return f"type({text}) is {names.function(expected)}"
    if type(expected) is not getattr(builtins, type(expected).__name__, None):
        raise NotRepresentable(f"the program decides by a {type(expected).__name__}, which has no literal")
    kind = f"type({text}) is {type(expected).__name__} and "
    if type(expected) in (float, complex) and (expected == 0 or expected != expected):
        return f"{kind}repr({text}) == {expected!r}"
    return f"{'' if guard.node.fixed else kind}{text} == {names.constant(expected)}"


def bare(text: str) -> str:
    """An expression without brackets around it."""
    return text[1:-1] if _has_brackets(text) else text


def negated(text: str) -> str:
    """The expression that is true where another one is not."""
    if text.startswith("not "):
        return text[4:]
    return f"not {text}" if text.isidentifier() or _has_brackets(text) else f"not ({text})"


def _has_brackets(text: str) -> bool:
    """Whether the brackets at both ends belong together."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth and place < len(text) - 1:
            return False
    return "'" not in text and '"' not in text


# ---- the names that variables of a program have: those of the source to which a call site's result is assigned

_Place: TypeAlias = tuple[int, int | None, int, int | None]


def as_name(place: str) -> str:
    """The name of a part of an argument: ``xs[0]`` is ``xs_0``."""
    return "_".join("".join(one if one.isalnum() or one == "_" else " " for one in place).split())


@functools.lru_cache(maxsize=64)
def _assignments(filename: str) -> dict[_Place, str]:
    """The names of the variables of a file, by the position of what is assigned to them."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target: Any = node.targets[0]
            name = getattr(target, "id", None) or getattr(target, "attr", None)
            if isinstance(name, str):
                found[_position(filename, node.value)] = name
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found[_position(filename, node)] = node.target.id
    return found


def _position(filename: str, node: Any) -> _Place:
    """The position of a node, with columns in characters: those of trees count bytes of UTF-8."""
    first, last = node.lineno, node.end_lineno
    start, end = node.col_offset, node.end_col_offset
    return first, characters_before(filename, first, start), last, characters_before(filename, last, end)


def assigned_name(site: CallSite | None) -> str | None:
    """The name of the variable that gets what a call site computes; None if there is none."""
    if site is None or site.column is None or site.end_column is None:
        return None
    place = site.lineno, site.column, site.end_lineno, site.end_column
    return _assignments(site.filename).get(place)


# ---- the frame of a program: its imports and tables, the head of the function, and the tests of its arguments

DEEPEST: Final = 60
"""How deeply blocks may be nested; Python's parser has a limit of 100."""


class ProgramFrame:
    """A program that is being written.

    Parameters
    ----------
    name:
        The name of the function.

    Attributes
    ----------
    names:
        The names that are taken.
    lines:
        The lines of the function.
    """

    def __init__(self, name: str) -> None:
        self.names = Names()
        self.lines: list[str] = []
        self._function = self.names.new(name if name.isidentifier() else "function")
        self._parameters: list[str] = []

    def line(self, indent: int, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * indent + text)

    def read_arguments(self, arguments: Sequence[Argument]) -> dict[int, str]:
        """Write the tests of the arguments; returns the names of the inputs, by number."""
        self._parameters = [self.names.new(argument.name) for argument in arguments]
        known: dict[int, str] = {}
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            self._read(parameter, argument.template, known)
        return known

    def module(self) -> str:
        """The text of the module."""
        head = [f"import {module}" for module in sorted(self.names.modules)]
        tables = [f"{name} = {text}" for text, name in self.names.tables.items()]
        helpers = [function.source.replace("NAME", name, 1) + "\n" for function, name in self.names.helpers.items()]
        parts = ["\n".join(head), *helpers, "\n".join(tables), f"def {self._function}({', '.join(self._parameters)}):"]
        return "\n\n".join(part for part in parts if part) + "\n" + "\n".join(self.lines) + "\n"

    def _read(self, place: str, template: Template, known: dict[int, str]) -> None:
        """The tests of an argument, and the names of its inputs."""
        if isinstance(template, Node):
            self.unless(1, f"type({place}) is {self.names.function(template.type)}", f"the type of {template.name}")
            name = place if place.isidentifier() else self.names.new(as_name(template.name))
            if name != place:
                self.line(1, f"{name} = {place}")
            known[template.number] = name
        elif isinstance(template, Constant):
            self.unless(1, f"{place} is {self.names.constant(template.value)}", f"{place}, which was a known value")
        else:
            if template.kind not in (list, tuple, dict):
                raise NotRepresentable(
                    f"a program cannot name {template.kind.__qualname__}, the type of {place}\n"
                    "Give its attributes as unknown values, or use `graph`"
                )
            size = f"len({place}) == {len(template.parts)}"
            if template.kind is dict:
                size = f"list({place}) == [{', '.join(map(self.names.constant, template.keys))}]"
            self.unless(1, f"type({place}) is {template.kind.__name__} and {size}", f"the structure of {place}")
            for key, part, _ in parts_of(place, template):
                self._read(f"{place}[{self.names.constant(key)}]", part, known)

    def unless(self, indent: int, test: str, what: str) -> None:
        """Take another path where a test fails."""
        self.line(indent, f"if {bare(negated(test))}:")
        self.line(indent + 1, f"raise LookupError({what!r})")


# ---- loops in straight-line code: runs of steps that do the same with the results of the run before
#
# A loop has columns, the constants and results that differ from iteration to iteration, and variables, whose results
# are used in the next iteration.

FEWEST: Final = 16
"""Loops of fewer iterations stay unrolled."""
_TRIES: Final = 8


class Loop:
    """Iterations of steps that are alike.

    Attributes
    ----------
    steps:
        The steps of all iterations, in order.
    period, iterations:
        How many steps a iteration has, and how many iterations there are.
    columns:
        For each column, its values in each iteration.
    variables:
        By place in the iteration: what a result of the iteration before is in the first iteration.
    kept:
        The places in the iteration whose results in the last iteration are used after the loop.
    body:
        The steps of a iteration. Inputs with negative numbers stand for columns: -1 is the first one.
    """

    def __init__(self, steps: Sequence[Step], period: int, of: Callable[[Node], Node]) -> None:
        self.period = period
        self._of = of
        self._places = {step.number: place for place, step in enumerate(steps) if isinstance(step, Node)}
        self.columns: list[list[Template]] = []
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self.variables: dict[int, Template] = {}
        self.kept: set[int] = set()
        self.is_possible = True
        self.iterations = len(steps) // period
        rows = [self._row(steps, place) for place in range(period)]
        self.iterations = min([self._checked(leaf, place) for place, row in enumerate(rows) for leaf in row], default=0)
        self.steps = steps[: self.iterations * period]
        if self.iterations >= FEWEST and self.is_possible:
            self.body = [self._step(steps[period + place], place, rows[place]) for place in range(period)]
        else:
            self.is_possible = False

    def _row(self, steps: Sequence[Step], place: int) -> list[list[Template]]:
        """For each leaf of the operands of a step, what it is in each iteration."""
        iterations = steps[place : self.iterations * self.period : self.period]
        found = [[self._shared(leaf) for leaf in _leaves(step)] for step in iterations]
        return [list(column) for column in zip(*found, strict=True)]

    def _shared(self, leaf: Template) -> Template:
        return self._of(leaf) if isinstance(leaf, Node) else leaf

    def _place(self, leaf: Template) -> int | None:
        return self._places.get(leaf.number) if isinstance(leaf, Node) else None

    def _checked(self, column: list[Template], place: int) -> int:
        """The number of iterations in which a leaf is the same kind of thing."""
        source = self._place(column[1])
        offset = None if source is None else source - self.period  # negative: of the iteration before
        for number, leaf in enumerate(column):
            found = self._place(leaf)
            if offset is None:
                fits = found is None and isinstance(leaf, Node) is isinstance(column[1], Node)
                fits = fits and (isinstance(leaf, Node) or _is_literal(leaf) or _same(leaf, column[1]))
            elif offset < 0 and not number:
                fits = found is None and (isinstance(leaf, Node) or _is_literal(leaf)) and self._begins(source, leaf)
            else:
                fits = found == number * self.period + offset
            if not fits:
                self.is_possible &= number > 0
                return number
        return len(column)

    def _begins(self, source: int | None, leaf: Template) -> bool:
        """Note the first value of a variable; False if it has another one already."""
        assert source is not None
        return _same(self.variables.setdefault(source, leaf), leaf)

    # ---- the body

    def _step(self, step: Step, place: int, row: list[list[Template]]) -> Step:
        parts = iter([self._leaf(column[: self.iterations]) for column in row])
        if isinstance(step, Guard):
            node: Any = next(parts)
            return Guard(step.test, node, step.expected, step.site)
        operands = tuple(mapped(part, lambda leaf: next(parts)) for part in step.operands)
        named = {name: mapped(part, lambda leaf: next(parts)) for name, part in step.keywords.items()}
        made = Node(step.number, step.function, operands, named, step.value, step.site)
        made.fixed = step.fixed
        return made

    def _leaf(self, column: list[Template]) -> Template:
        """A leaf of the body: of the second iteration, or an input that stands for a column."""
        if self._place(column[1]) is not None or all(_same(one, column[1]) for one in column):
            return column[1]
        key = tuple(template_key(leaf, {}) for leaf in column)
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self.columns):
            self.columns.append(column)
        leaf = column[1]
        return Node(-1 - number, None, (), {}, leaf.value if isinstance(leaf, (Node, Constant)) else None, None)


class LoopFinder:
    """Finds loops among steps.

    Parameters
    ----------
    steps:
        The steps.
    of:
        The node that computes the same as a node, and has computed it first.
    last_use:
        For each node, by number, the last place at which its result is used; beyond the steps if that is elsewhere.
    """

    def __init__(self, steps: Sequence[Step], of: Callable[[Node], Node], last_use: Mapping[int, int]) -> None:
        self._steps = steps
        self._of = of
        self._last_use = last_use
        numbers: dict[Hashable, int] = {}
        self._kinds = [numbers.setdefault(_kind(step), len(numbers)) for step in steps]
        self._next: list[int] = [len(steps)] * len(steps)
        """For each step, the next one of its kind."""
        latest: dict[int, int] = {}
        for place in reversed(range(len(steps))):
            self._next[place] = latest.get(self._kinds[place], len(steps))
            latest[self._kinds[place]] = place
        self._failed: dict[int, tuple[int, int]] = {}

    def find(self, start: int) -> Loop | None:
        """The loop that begins at a place; None if the steps do not repeat."""
        following = start
        for _ in range(_TRIES):
            following = self._next[following] if following < len(self._steps) else following
            period = following - start
            if start + period * FEWEST > len(self._steps):
                return None
            if not self._is_hopeless(period, start):
                found = self._loop(start, period)
                if found is not None:
                    return found
        return None

    def _loop(self, start: int, period: int) -> Loop | None:
        kinds, end = self._kinds, start + period
        while end < len(kinds) and kinds[end] == kinds[end - period]:
            end += 1
        if (end - start) // period < FEWEST:
            return None
        found = Loop(self._steps[start:end], period, self._of)
        if found.is_possible and self._is_own(found, start):
            found.kept = self._kept(found, start + len(found.steps))
            return found
        first = self._failed.get(period, (start, end))
        self._failed[period] = (first[0] if start < first[1] else start), end
        return None

    def _is_hopeless(self, period: int, start: int) -> bool:
        """Whether the loop is known to fail, from a few places at which it may begin."""
        first, end = self._failed.get(period, (start, start))
        return start < end and start - first >= _TRIES

    def _kept(self, loop: Loop, end: int) -> set[int]:
        last = enumerate(loop.steps[-loop.period :])
        return {place for place, step in last if isinstance(step, Node) and self._last_use.get(step.number, -1) >= end}

    def _is_own(self, loop: Loop, start: int) -> bool:
        """Whether the results of all iterations but the last are used in the loop alone."""
        end = start + len(loop.steps)
        return all(
            self._last_use.get(step.number, -1) < end for step in loop.steps[: -loop.period] if isinstance(step, Node)
        )


def _kind(step: Step) -> Hashable:
    """What a step does, its operands excepted."""
    if isinstance(step, Guard):
        return "guard", step.test, type(step.expected), repr(step.expected), str(step.site)
    shapes = [_shape(part) for part in (*step.operands, *step.keywords.values())]
    return id(step.function), step.type, step.fixed, tuple(step.keywords), tuple(shapes), str(step.site)


def _shape(template: Template) -> Hashable:
    if not isinstance(template, Built):
        return None
    return template.kind, tuple(map(repr, template.keys)), tuple(map(_shape, template.parts))


def _leaves(step: Step) -> Iterator[Node | Constant]:
    parts: tuple[Template, ...] = (step.node,) if isinstance(step, Guard) else (*step.operands, *step.keywords.values())
    for part in parts:
        yield from leaves_in(part)


def _is_literal(leaf: Template) -> bool:
    return isinstance(leaf, Constant) and type(leaf.value) in LITERALS


def _same(one: Template, other: Template) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return same(one.value, other.value)
    return isinstance(one, Node) and isinstance(other, Node) and one.number == other.number


# ---- paths through a function as one readable program: straight-line code, and `if` for guards

_LONGEST: Final = 100


def aligned(one: Trace, other: Trace) -> bool:
    """Whether two traces of a function do the same up to a guard at which they part."""
    for first, second in zip(one.steps, other.steps, strict=False):
        if isinstance(first, Guard) and isinstance(second, Guard):
            if (first.test, first.node.number) != (second.test, second.node.number):
                return False
            if not same(first.expected, second.expected):
                return True
        elif isinstance(first, Node) and isinstance(second, Node):
            if first.function is not second.function or key_of(first, {}) != key_of(second, {}):
                return False
        else:
            return False
    return False


class _Path:
    """A trace without common subexpressions, how often each result is used, and which steps it needs.

    A step whose result nothing uses is needed if it may raise.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.number: dict[int, int] = {}
        seen: dict[Hashable, int] = {}
        returned = {node.number for node in nodes_in(trace.result) if can_change(node.value)}
        for step in trace.steps:
            if isinstance(step, Node) and step.number not in returned:  # each result is an array of its own
                key = key_of(step, self.number)
                self.number[step.number] = seen.setdefault(key, step.number)
        self.uses: Counter[int] = Counter(map(self.of, nodes_in(trace.result)))
        self.needed: set[int] = set()
        for step in reversed(trace.steps):
            if isinstance(step, Guard):
                self.uses[self.of(step.node)] += 2  # a guard is an expression of its own
            elif self.of(step) == step.number and (self.uses[step.number] or not never_raises(step)):
                self.needed.add(step.number)
                self.uses.update(map(self.of, step.sources))
        self.nodes = {node.number: node for node in (*trace.inputs, *trace.steps) if isinstance(node, Node)}

    def first(self, node: Node) -> Node:
        """The first node that computes the same."""
        return self.nodes[self.of(node)]

    def of(self, node: Node) -> int:
        """The number of the first node that computes the same."""
        return self.number.get(node.number, node.number)


def program(name: str, traces: Sequence[Trace]) -> str:
    """The source of a function of the unknown arguments, which takes the traced paths.

    Parameters
    ----------
    name:
        The name of the function.
    traces:
        The traces, which do the same up to a guard at which they part.

    Returns
    -------
    The text of a module. Its function raises `LookupError` where the arguments take another path.
    """
    return _Writer(name, traces).text()


class _Writer(ProgramFrame):
    def __init__(self, name: str, traces: Sequence[Trace]) -> None:
        super().__init__(name)
        self._paths = [_Path(trace) for trace in traces]

    def text(self) -> str:
        """The module."""
        self._block(self._paths, 0, 1, self.read_arguments(self._paths[0].trace.arguments))
        return self.module()

    # ---- steps

    def _block(self, paths: Sequence[_Path], start: int, indent: int, known: dict[int, str]) -> None:
        """The steps of some paths that have been the same so far. The block returns or raises."""
        if indent > DEEPEST:
            raise NotRepresentable("the paths are nested too deeply")
        steps, shown = paths[0].trace.steps, None
        loops = self._loops(paths, start, known)
        end_of_loop = start
        for number in range(start, len(steps)):
            step = steps[number]
            if number in loops:
                loop, end_of_loop = loops[number]
                self._loop(paths, loop, indent, known)
            if number < end_of_loop:
                if isinstance(step, Node) and paths[0].of(step) in known:
                    known[step.number] = known[paths[0].of(step)]
            elif isinstance(step, Guard):
                before, paths = paths, self._branch(paths, number, step, indent, known)
                if len(paths) < len(before):
                    loops = self._loops(paths, number + 1, known)
            elif step.number not in known and _is_needed(paths, step):
                if step.site is not None and step.site.function != shown:
                    shown = step.site.function
                    self.line(indent, f"# {step.site.module}.{shown}")
                self._statement(paths, step, indent, known)
            elif paths[0].of(step) in known:  # else it is in a loop, or nowhere, and nothing uses it afterwards
                known[step.number] = known[paths[0].of(step)]
        check_result(paths[0].trace.result)
        self.line(indent, f"return {self._expression(paths[0].trace.result, known)}")

    def _loops(self, paths: Sequence[_Path], start: int, known: dict[int, str]) -> dict[int, tuple[Loop, int]]:
        """The loops up to the next guard at which paths part, by the number of their first step; and their ends."""
        path, steps = paths[0], paths[0].trace.steps
        end = start
        while end < len(steps) and (isinstance(steps[end], Node) or _is_common(paths, end)):
            end += 1
        numbers = [
            number
            for number in range(start, end)
            if isinstance(step := steps[number], Guard) or (step.number not in known and _is_needed(paths, step))
        ]
        if len(numbers) < FEWEST:
            return {}
        last_use: dict[int, int] = {}
        for place, number in enumerate(numbers):
            last_use.update(dict.fromkeys(map(path.of, sources(steps[number])), place))
        for one in paths:
            later = [node for step in one.trace.steps[end:] for node in sources(step)]
            last_use.update(dict.fromkeys(map(one.of, (*later, *nodes_in(one.trace.result))), len(numbers)))
        finder = LoopFinder([steps[number] for number in numbers], path.first, last_use)
        found: dict[int, tuple[Loop, int]] = {}
        place = 0
        while place < len(numbers):
            loop = finder.find(place)
            if loop is not None:
                after = place + len(loop.steps)
                found[numbers[place]] = loop, numbers[after - 1] + 1
                place = after
            else:
                place += 1
        return found

    def _loop(self, paths: Sequence[_Path], loop: Loop, indent: int, known: dict[int, str]) -> None:
        """A loop. The results of the last iteration are known after it."""
        inner = dict(known)
        last = len(loop.steps) - loop.period
        variables = {}
        for place, first in loop.variables.items():
            step: Any = loop.steps[place]
            variables[place] = self.names.new(assigned_name(step.site) or "x")
            self.line(indent, f"{variables[place]} = {self._expression(first, known)}")
            inner[step.number] = variables[place]  # in the second iteration, the result of the first one
        columns = [self._column(column, known) for column in loop.columns]
        names = [self.names.new("number" if text.startswith("range(") else "value") for text in columns]
        inner |= {-1 - number: name for number, name in enumerate(names)}
        self.line(indent, f"for {', '.join(names) or '_'} in {_zipped(columns, loop.iterations)}:")
        moved, empty = [], len(self.lines)
        for place, step in enumerate(loop.body):
            if isinstance(step, Guard):
                text = condition(step, inner[step.node.number], self.names)
                self.unless(indent + 1, text, str(step).split(", at ")[0])
                continue
            result: Any = loop.steps[last + place]
            if place in variables and place == loop.period - 1:
                self.line(indent + 1, f"{variables[place]} = {bare(self._call(step, inner))}")
                inner[step.number] = variables[place]
            elif place in variables or place in loop.kept:
                inner[step.number] = self.names.new(assigned_name(step.site) or "x")
                self.line(indent + 1, f"{inner[step.number]} = {bare(self._call(step, inner))}")
                moved += [(variables[place], inner[step.number])] if place in variables else []
            else:
                self._statement(paths, step, indent + 1, inner)
            if place in variables or place in loop.kept:
                known[result.number] = inner[step.number]
        if moved:
            targets, values = zip(*moved, strict=True)
            self.line(indent + 1, f"{', '.join(targets)} = {', '.join(values)}")
        if len(self.lines) == empty:
            self.lines.pop()  # nothing uses the results

    def _column(self, column: Sequence[Template], known: dict[int, str]) -> str:
        """The values of a column, as an expression."""
        values: list[Any] = [one.value if isinstance(one, Constant) else None for one in column]
        if set(map(type, values)) == {int}:
            step = values[1] - values[0]
            if step and values == list(range(values[0], values[0] + step * len(values), step)):
                return f"range({values[0]}, {values[-1] + step}{f', {step}' if step != 1 else ''})"
        text = f"({', '.join(self._expression(one, known) for one in column)})"
        return self.names.table(text) if all(isinstance(one, Constant) for one in column) else text

    def _branch(
        self, paths: Sequence[_Path], number: int, guard: Guard, indent: int, known: dict[int, str]
    ) -> Sequence[_Path]:
        """The other outcomes of a guard; returns the paths that go on."""
        going_on = [path for path in paths if same(_guard(path, number).expected, guard.expected)]
        left = [path for path in paths if path not in going_on]
        text = known[paths[0].of(guard.node)]
        while left:
            other = _guard(left[0], number)
            group = [path for path in left if same(_guard(path, number).expected, other.expected)]
            left = [path for path in left if path not in group]
            self.line(indent, f"if {condition(other, text, self.names)}:")
            self._block(group, number + 1, indent + 1, dict(known))
        if guard.test != "truth" or len(going_on) == len(paths):
            self.unless(indent, condition(guard, text, self.names), str(guard).split(", at ")[0])
        return going_on

    def _statement(self, paths: Sequence[_Path], node: Node, indent: int, known: dict[int, str]) -> None:
        text = self._call(node, known)
        each = [path.uses[path.of(node)] for path in paths]
        uses = max(each)
        name = assigned_name(node.site)
        can_move = all(each) or never_raises(node)  # into the paths that use the result
        if not uses:
            self.line(indent, text)
            known[node.number] = text
        elif uses == 1 and can_move and len(text) < _LONGEST and (name is None or node.function in _COMPARISONS):
            known[node.number] = text
        elif node.function in _COMPARISONS and uses == 2 and can_move and len(text) < _LONGEST and name is None:
            known[node.number] = text  # of a guard
        else:
            made = self.names.new(name or "x")
            self.line(indent, f"{made} = {bare(text)}")
            known[node.number] = made

    def _call(self, node: Node, known: dict[int, str]) -> str:
        return operation(node, lambda source: known[source.number], self.names)

    def _expression(self, template: Template, known: dict[int, str]) -> str:
        return expression(template, lambda source: known[source.number], self.names)


_COMPARISONS: Final = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def _guard(path: _Path, number: int) -> Guard:
    step: Step = path.trace.steps[number]
    assert isinstance(step, Guard)
    return step


def _is_needed(paths: Sequence[_Path], node: Node) -> bool:
    """Whether a path needs a step, and no earlier one computes the same."""
    return any(node.number in path.needed for path in paths)


def _is_common(paths: Sequence[_Path], number: int) -> bool:
    """Whether a guard has the same outcome in all paths."""
    return all(same(_guard(path, number).expected, _guard(paths[0], number).expected) for path in paths)


def _zipped(columns: Sequence[str], iterations: int) -> str:
    """What a loop iterates."""
    if len(columns) > 1:
        return f"zip({', '.join(columns)})"
    return columns[0] if columns else f"range({iterations})"
