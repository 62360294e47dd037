"""Operations, guards and constants as text of Python programs."""

from __future__ import annotations

import builtins
import datetime
import keyword
import math
import operator
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.contexts.graph.array_changes import Change
from cassette_import.contexts.graph.errors import NotRepresentable
from cassette_import.contexts.graph.known_functions import makes_text, module_of
from cassette_import.contexts.graph.nodes import Built, Constant, Guard, Made, Node, Template, nodes_in
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.rewriting import primitives

__all__ = ["Names", "bare", "check_result", "condition", "expression", "negated", "operation"]

_BINARY: Final[dict[Any, str]] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.matmul: "@", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.concat: "+",
    operator.lt: "<", operator.le: "<=", operator.eq: "==", operator.ne: "!=", operator.gt: ">", operator.ge: ">=",
    operator.is_: "is", operator.is_not: "is not",
}  # fmt: skip
_UNARY: Final[dict[Any, str]] = {
    operator.neg: "-", operator.pos: "+", operator.invert: "~", operator.not_: "not ",
}  # fmt: skip
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
    kind: Any = given.type if isinstance(given, Node) else type(given.value) if isinstance(given, Constant) else object
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
    for one in templates:
        if isinstance(one, Built):
            yield from _classes_of_texts(one.parts)
        else:
            kind = one.type if isinstance(one, Node) else type(one.value)
            if issubclass(kind, str) and kind is not str:
                yield kind


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


def expression(template: Template, known: Mapping[int, str], names: Names) -> str:
    """A value as an expression; `known` has the text of each node, by number."""
    if isinstance(template, Node):
        return known[template.number]
    if isinstance(template, Constant):
        made = names.constant(template.value)
        return f"{made}.copy()" if type(template) is Made and can_change(template.value) else made
    parts = [expression(part, known, names) for part in template.parts]
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


def operation(node: Node, known: Mapping[int, str], names: Names) -> str:
    """The expression of an operation with its operands."""
    made_of = text_made(node)
    if made_of is not None:
        return text(made_of, expression(made_of, known, names))
    operands = [expression(part, known, names) for part in operands_of(node)]
    holder = node.operands[0] if node.function in (operator.getitem, operator.contains) else None
    if holder is not None and not isinstance(holder, Node) and _is_table(holder):
        operands[0] = names.table(operands[0])
    keywords = {name: expression(part, known, names) for name, part in node.keywords.items()}
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
