"""What a trace consists of: nodes, guards, and templates of values that contain results of nodes."""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.errors import CassetteError
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.kits.tagging import leaf_name

__all__ = [
    "LITERALS",
    "NUMBERS",
    "ArrayKind",
    "Built",
    "Constant",
    "Guard",
    "GuardFailed",
    "Kind",
    "Made",
    "Node",
    "NotRepresentable",
    "Step",
    "Template",
    "common_subexpressions",
    "critical_path",
    "dead_nodes",
    "dtype_of",
    "evaluated",
    "is_value",
    "key_of",
    "kind_of",
    "leaves_in",
    "levels",
    "mapped",
    "name_of",
    "nodes_in",
    "numpy_number",
    "recorded_value",
    "refusal",
    "run_steps",
    "same",
    "shape_of",
    "shown",
    "sources",
    "template_key",
    "widths",
]


# ---- the errors of graphs


class NotRepresentable(CassetteError):
    """The function does something that a graph cannot represent exactly.

    The message names the call site, and what to do.
    """


class GuardFailed(CassetteError):
    """The arguments take another path through the function than those that were traced."""


def refusal(what: str, advice: str) -> NotRepresentable:
    """The error for what the program does now."""
    site = nearest_site()
    return NotRepresentable(f"a graph cannot represent this: {what}, at {site}: {site.source}\n{advice}")


# ---- what a trace consists of: nodes, guards, and templates of values that contain results of nodes


class Node:
    """An operation of a trace: the call of a leaf; or an input, which has no function.

    Attributes
    ----------
    number:
        The number in the graph, from 0.
    function:
        The function that is called, such as `operator.mul`; None for an input.
    operands, keywords:
        The templates of the arguments.
    value:
        The result in the traced run.
    site:
        The call site; None for an input.
    name:
        The name of an input, with its place in the argument: ``"xs[0]"``; empty for an operation.
    fixed:
        Whether the type of the result is the same whenever all guards hold.
    """

    __slots__ = ("fixed", "function", "keywords", "name", "number", "operands", "site", "value")

    def __init__(
        self,
        number: int,
        function: Callable[..., Any] | None,
        operands: tuple[Template, ...],
        keywords: Mapping[str, Template],
        value: Any,
        site: CallSite | None,
        name: str = "",
    ) -> None:
        self.number = number
        self.function = function
        self.operands = operands
        self.keywords = keywords
        self.value = value
        self.site = site
        self.name = name
        self.fixed = function is None

    @property
    def label(self) -> str:
        """The name of the input, or of the function."""
        return self.name or leaf_name(self.function).removeprefix("operator.")

    @property
    def type(self) -> builtins.type:
        """The type of the result in the traced run."""
        return type(self.value)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of an array; None for other results."""
        found = getattr(self.value, "shape", None)
        return found if isinstance(found, tuple) else None

    @property
    def sources(self) -> list[Node]:
        """The nodes whose results are among the operands, in order."""
        return [node for part in (*self.operands, *self.keywords.values()) for node in nodes_in(part)]

    def compute(self, results: Mapping[int, Any]) -> Any:
        """Call the function with the results of other nodes."""
        named = {name: evaluated(part, results) for name, part in self.keywords.items()}
        # For the type checker: an operation has a function.
        return self.function(*[evaluated(part, results) for part in self.operands], **named)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<Node {self.number} {self.label}>"


class Constant:
    """A known value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Made(Constant):
    """A known object that the call makes: each run has a copy of its own."""

    __slots__ = ()


class Built:
    """A container or object that is made anew of its parts. `keys` are those of a dict, or the attributes' names."""

    __slots__ = ("keys", "kind", "parts")

    def __init__(self, kind: type, parts: tuple[Template, ...], keys: tuple[Any, ...] = ()) -> None:
        self.kind = kind
        self.parts = parts
        self.keys = keys


Template: TypeAlias = Node | Constant | Built


_LONGEST: Final = 60


def shown(template: Template) -> str:
    """An operand as text."""
    if isinstance(template, Node):
        return f"%{template.number}"
    if isinstance(template, Constant):
        text = repr(template.value)
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return f"{template.kind.__name__}({', '.join(map(shown, template.parts))})"


class Guard:
    """A decision of the traced run: `test` of a result was `expected`.

    The tests: ``"truth"``, ``"value"`` (equal, and of the same type), ``"type"``, ``"length"``.
    """

    __slots__ = ("expected", "node", "site", "test")

    def __init__(self, test: str, node: Node, expected: Any, site: CallSite | None) -> None:
        self.test = test
        self.node = node
        self.expected = expected
        self.site = site

    def outcome(self, value: Any) -> Any:
        """What the test gives for a result."""
        return _OUTCOMES[self.test](value)

    def holds(self, value: Any) -> bool:
        """Whether a result passes the test."""
        return same(self.outcome(value), self.expected)

    def __repr__(self) -> str:
        return f"<Guard {self.test} of {self.node.number} is {self.expected!r}>"

    def __str__(self) -> str:
        where = "" if self.site is None else f", at {self.site}: {self.site.source}"
        return f"the {self.test} of {self.node.label} was {self.expected!r}{where}"


_OUTCOMES: Final[dict[str, Callable[[Any], Any]]] = {
    "truth": operator.truth,
    "value": lambda value: value,
    "type": type,
    "length": len,
}

Step: TypeAlias = Node | Guard


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same for every program: equal, of one type, and zeros of one sign.

    >>> same(1, True), same(0.0, -0.0), same(float("nan"), float("nan")), same((1, "a"), (1, "a"))
    (False, False, True, True)
    """
    if type(one) is not type(other):
        return False
    if type(one) in (float, complex):
        return repr(one) == repr(other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) in (int, str, bytes, bool, type(None)):
        return bool(one == other)
    return one is other


def leaves_in(template: Template) -> Iterator[Node | Constant]:
    """The nodes and constants of a template."""
    if isinstance(template, Built):
        for part in template.parts:
            yield from leaves_in(part)
    else:
        yield template


def nodes_in(template: Template) -> Iterator[Node]:
    """The nodes of a template."""
    return (one for one in leaves_in(template) if isinstance(one, Node))


def mapped(template: Template, change: Callable[[Node | Constant], Template]) -> Template:
    """The template with what a function gives in the place of each node and constant."""
    if isinstance(template, Built):
        return Built(template.kind, tuple(mapped(part, change) for part in template.parts), template.keys)
    return change(template)


def sources(step: Step) -> list[Node]:
    """The nodes whose results a step reads."""
    return [step.node] if isinstance(step, Guard) else step.sources


def evaluated(template: Template, results: Mapping[int, Any]) -> Any:
    """The value of a template, from the results of nodes by number."""
    if isinstance(template, Node):
        return results[template.number]
    if isinstance(template, Constant):
        return template.value.copy() if type(template) is Made else template.value
    return _made(template, [evaluated(part, results) for part in template.parts])


def recorded_value(template: Template) -> Any:
    """The value that a template had in the recorded run."""
    return evaluated(mapped(template, lambda one: Constant(one.value) if isinstance(one, Node) else one), {})


def _made(built: Built, parts: list[Any]) -> Any:
    kind = built.kind
    if kind is dict:
        return dict(zip(built.keys, parts, strict=True))
    if kind is slice:
        return slice(*parts)
    if kind in (list, tuple, set, frozenset):
        return kind(parts)
    if issubclass(kind, tuple):  # a named tuple
        return tuple.__new__(kind, parts)
    made = object.__new__(kind)
    for name, part in zip(built.keys, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def run_steps(steps: list[Step], results: dict[int, Any]) -> None:
    """Compute the results of all nodes. `results` has those of the inputs.

    Raises
    ------
    GuardFailed
        If a guard does not hold.
    """
    for step in steps:
        if isinstance(step, Guard):
            if not step.holds(results[step.node.number]):
                raise GuardFailed(f"another path: {step}")
        elif step.function is not None:
            results[step.number] = step.compute(results)


# ---- what a graph says about the computation: common subexpressions, dead nodes, the critical path, parallelism

LITERALS: Final = (int, float, complex, str, bytes, bool, type(None))


def key_of(node: Node, numbers: Mapping[int, Hashable]) -> Hashable:
    """What two nodes have in common that compute the same; `numbers` says which earlier nodes are equal."""
    named = tuple((name, template_key(part, numbers)) for name, part in sorted(node.keywords.items()))
    return id(node.function), tuple(template_key(part, numbers) for part in node.operands), named


def template_key(template: Template, numbers: Mapping[int, Hashable]) -> Hashable:
    """What two templates have in common that are the same; `numbers` says which earlier nodes are equal."""
    if isinstance(template, Node):
        return "node", numbers.get(template.number, template.number)
    if isinstance(template, Constant):
        value = template.value
        by_value = type(value) in LITERALS
        return ("value", type(value), repr(value)) if by_value else ("object", id(value))
    return template.kind, tuple(map(repr, template.keys)), tuple(template_key(part, numbers) for part in template.parts)


def common_subexpressions(nodes: Iterable[Node]) -> list[list[Node]]:
    """Groups of nodes that compute the same from the same operands, the largest group first."""
    groups: dict[Hashable, list[Node]] = {}
    numbers: dict[int, Hashable] = {}
    for node in nodes:
        if node.function is not None:
            group = groups.setdefault(key_of(node, numbers), [])
            group.append(node)
            numbers[node.number] = group[0].number
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: -len(group))


def dead_nodes(nodes: Sequence[Node], used: Iterable[Node]) -> list[Node]:
    """The nodes on which nothing that is `used` depends."""
    alive = {node.number for node in used}
    for node in reversed(nodes):
        if node.number in alive:
            alive.update(source.number for source in node.sources)
    return [node for node in nodes if node.number not in alive]


def levels(nodes: Iterable[Node]) -> dict[int, int]:
    """For each node, by number, how many operations its result waits for, its own included."""
    found: dict[int, int] = {}
    for node in nodes:
        found[node.number] = (node.function is not None) + max(
            (found[source.number] for source in node.sources), default=0
        )
    return found


def critical_path(nodes: Sequence[Node]) -> list[Node]:
    """The longest chain of operations of which each needs the result of the one before."""
    level = levels(nodes)
    if not level:
        return []
    path = [max(nodes, key=lambda node: level[node.number])]
    while path[-1].sources:
        path.append(max(path[-1].sources, key=lambda node: level[node.number]))
    return [node for node in reversed(path) if node.function is not None]


def widths(nodes: Sequence[Node]) -> list[int]:
    """How many operations can run at the same time, for each step of a machine with enough processors."""
    counts = Counter(levels(node for node in nodes).values())
    return [counts[level] for level in sorted(counts) if level]


# ---- what is the same for a value in every run

NUMBERS: Final = (bool, int, float)
_DTYPES: Final = {float: "float64", int: "int64", bool: "bool"}
_ELEMENTS: Final = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    }
)


class ArrayKind(NamedTuple):
    """The kind of an array, or of a number of NumPy's own types. There is one object for each kind."""

    owner: type
    dtype: str
    shape: tuple[int, ...]

    @property
    def is_number(self) -> bool:
        """Whether it has one element, and no axis."""
        return not self.shape

    @property
    def number(self) -> type:
        """The type in Python of what has no axis: `bool`, `int` or `float`."""
        return {"b": bool, "i": int, "u": int}.get(self.dtype[0], float)


Kind: TypeAlias = type | ArrayKind


@cache
def _array_kind(kind: Any, dtype: str, shape: tuple[int, ...]) -> ArrayKind:
    return ArrayKind(kind, dtype, shape)


def kind_of(value: Any) -> Kind:
    """The kind of a value; kinds that are equal are identical.

    >>> kind_of(1.5), kind_of("text")
    (<class 'float'>, <class 'str'>)
    """
    if not is_array(value):
        return type(value)
    kind: Any = type(value)
    return _array_kind(kind, str(value.dtype), value.shape)


def name_of(kind: Kind) -> str:
    """A kind as text."""
    if isinstance(kind, ArrayKind):
        return f"{kind.dtype}{list(kind.shape)}" if kind.shape else f"numpy.{kind.dtype}"
    return kind.__qualname__


def numpy_number(kind: Kind) -> Any:
    """The type in NumPy of a number of Python; of an array without an axis its own type, of others the kind."""
    import numpy

    if isinstance(kind, ArrayKind):
        return kind.owner if kind.is_number else kind
    return {float: numpy.float64, int: numpy.int64, bool: numpy.bool_}.get(kind, kind)


def is_value(value: Any) -> bool:
    """Whether it is a number, or an array that compiled code can have."""
    if type(value) in NUMBERS:
        return True
    return is_array(value) and type(value).__module__ == "numpy" and str(value.dtype) in _ELEMENTS


def dtype_of(kind: Kind) -> str:
    """The type of the elements."""
    return kind.dtype if isinstance(kind, ArrayKind) else _DTYPES[kind]


def shape_of(kind: Kind) -> tuple[int, ...]:
    """The shape; empty for a number."""
    return kind.shape if isinstance(kind, ArrayKind) else ()
