"""The code of a flow: blocks of operations, branches and loops; and the union of what two runs have recorded.

Each operation has a number that depends on its place alone, so two runs that come to one place agree on it. A value
that differs between the ways to a place has a number of its own, which each way assigns before it gets there.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.contexts.graph.nodes import Built, Constant, Node, Template, kind_of, same
from cassette_import.kits.numbers.numeric_values import is_array

__all__ = [
    "Assign",
    "Block",
    "Branch",
    "Check",
    "Conflict",
    "Counter",
    "Item",
    "Jump",
    "Part",
    "Repeat",
    "alike",
    "union",
]


class Conflict(Exception):
    """Two runs that come to one place differ in more than numbers."""


@dataclass(slots=True, eq=False)
class Assign:
    """The value that a number of a join gets on this way; None for a variable that is not bound."""

    target: Node
    source: Template | None


@dataclass(slots=True, eq=False)
class Check:
    """A decision of which one outcome is known."""

    node: Node
    expected: bool


@dataclass(slots=True, eq=False)
class Jump:
    """The end of a block: `break` or `continue` of a loop, or the end of a part."""

    target: Hashable
    again: bool = False


@dataclass(slots=True, eq=False)
class Branch:
    """A decision, and what runs for each outcome that some run has had."""

    node: Node
    sides: dict[bool, Block]


class Counter(NamedTuple):
    """How a loop over a range counts: the join that is its index, the limit, the step, and the name of its target."""

    join: Node
    stop: Template
    step: int
    target: str


@dataclass(slots=True, eq=False)
class Repeat:
    """A loop. It ends by a jump; `iterations` is their number if nothing but the test at its head ends it."""

    key: Hashable
    body: Block
    iterations: int | None = None
    counter: Counter | None = None


@dataclass(slots=True, eq=False)
class Part:
    """A block that jumps may leave: the body of a function with several returns."""

    key: Hashable
    body: Block


Item: TypeAlias = Node | Assign | Check | Jump | Branch | Repeat | Part


@dataclass(slots=True, eq=False)
class Block:
    """Items one after the other. It is `cut` if the run has left it before its end."""

    key: Hashable
    items: list[Item] = field(default_factory=list)
    cut: bool = False


def alike(one: Template | None, other: Template | None) -> bool:
    """Whether two operands are the same."""
    if isinstance(one, Node) and isinstance(other, Node):
        return one.number == other.number and kind_of(one.value) is kind_of(other.value)
    if isinstance(one, Constant) and isinstance(other, Constant):
        return one is other or same(one.value, other.value) or _same_array(one.value, other.value)
    if isinstance(one, Built) and isinstance(other, Built):
        return ((one.kind, one.keys, len(one.parts)) == (other.kind, other.keys, len(other.parts))) and all(
            map(alike, one.parts, other.parts)
        )
    return one is None and other is None


def _same_array(one: Any, other: Any) -> bool:
    """Whether two known arrays have the same content."""
    return is_array(one) and kind_of(one) is kind_of(other) and one.tobytes() == other.tobytes()


def union(one: Block, other: Block) -> Block:
    """The block that does what two runs of it have done.

    Raises
    ------
    Conflict
        If the runs differ in more than the sides that they have taken.
    """
    items = [_union(first, second) for first, second in zip(one.items, other.items, strict=False)]
    longer, shorter = (one, other) if len(one.items) >= len(other.items) else (other, one)
    if len(longer.items) > len(shorter.items) and not shorter.cut:
        raise Conflict(f"one run ends where another one goes on, in {one.key}")
    items += longer.items[len(items) :]
    return Block(one.key, items, one.cut and other.cut)


def _union(one: Item, other: Item) -> Item:
    if type(one) is not type(other) or not _SAME[type(one)](one, other):
        raise Conflict(f"{_shown(one)} and {_shown(other)}")
    if isinstance(one, Branch) and isinstance(other, Branch):
        sides = dict(one.sides)
        for truth, block in other.sides.items():
            sides[truth] = union(sides[truth], block) if truth in sides else block
        return Branch(one.node, sides)
    if isinstance(one, Repeat) and isinstance(other, Repeat):
        return Repeat(one.key, union(one.body, other.body), one.iterations, one.counter)
    if isinstance(one, Part) and isinstance(other, Part):
        return Part(one.key, union(one.body, other.body))
    return one


def _shown(item: Item) -> str:
    if isinstance(item, Assign):
        return f"assignment to {item.target.number}"
    return f"{type(item).__name__} {item.label}" if isinstance(item, Node) else type(item).__name__


def _same_node(one: Node, other: Node) -> bool:
    return (
        one.number == other.number
        and one.function is other.function
        and kind_of(one.value) is kind_of(other.value)
        and len(one.operands) == len(other.operands)
        and all(map(alike, one.operands, other.operands))
        and one.keywords.keys() == other.keywords.keys()
        and all(alike(part, other.keywords[name]) for name, part in one.keywords.items())
    )


_SAME: Final[dict[type, Any]] = {
    Node: _same_node,
    Assign: lambda one, other: one.target.number == other.target.number and alike(one.source, other.source),
    Check: lambda one, other: one.expected is other.expected and alike(one.node, other.node),
    Jump: lambda one, other: (one.target, one.again) == (other.target, other.again),
    Branch: lambda one, other: alike(one.node, other.node),
    Repeat: lambda one, other: one.key == other.key,
    Part: lambda one, other: one.key == other.key,
}
