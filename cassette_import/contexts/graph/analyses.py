"""What a graph says about the computation: common subexpressions, dead nodes, the critical path, parallelism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from cassette_import.contexts.graph.nodes import Constant, Node, Template

__all__ = ["common_subexpressions", "critical_path", "dead_nodes", "key_of", "levels", "widths"]

_BY_VALUE = (int, float, complex, str, bytes, bool, type(None))


def key_of(node: Node, numbers: Mapping[int, Hashable]) -> Hashable:
    """What two nodes have in common that compute the same; `numbers` says which earlier nodes are equal."""
    named = tuple((name, _key(part, numbers)) for name, part in sorted(node.keywords.items()))
    return id(node.function), tuple(_key(part, numbers) for part in node.operands), named


def _key(template: Template, numbers: Mapping[int, Hashable]) -> Hashable:
    if isinstance(template, Node):
        return "node", numbers.get(template.number, template.number)
    if isinstance(template, Constant):
        value = template.value
        by_value = type(value) in _BY_VALUE
        return ("value", type(value), repr(value)) if by_value else ("object", id(value))
    return template.kind, tuple(map(repr, template.keys)), tuple(_key(part, numbers) for part in template.parts)


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
