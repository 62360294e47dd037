"""What a flow reads: which numbers are used, what is read outside of its block, and the types of joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cassette_import.contexts.graph.flow.blocks import Assign, Block, Branch, Check, Item, Jump, Part, Repeat
from cassette_import.contexts.graph.flow.recording import Flow
from cassette_import.contexts.graph.kinds import Kind, is_value, kind_of
from cassette_import.contexts.graph.nodes import Constant, Node, nodes_in

__all__ = [
    *("all_items", "has_open_loops", "inner_blocks", "iterations_of", "join_kinds", "nodes_read", "read_outside"),
    "used_numbers",
]


def inner_blocks(item: Item) -> Iterable[Block]:
    """The blocks of a branch, loop or part."""
    if isinstance(item, Branch):
        return item.sides.values()
    return (item.body,) if isinstance(item, (Repeat, Part)) else ()


def used_numbers(flow: Flow) -> set[int]:
    """The numbers of joins that something reads."""
    used = {node.number for node in nodes_in(flow.result)}
    sources: dict[int, set[int]] = {}
    _collect(flow.body, used, sources)
    work = list(used)
    while work:
        for number in sources.get(work.pop(), ()):
            if number not in used:
                used.add(number)
                work.append(number)
    return used


def _collect(block: Block, used: set[int], sources: dict[int, set[int]]) -> None:
    for item in block.items:
        if isinstance(item, Node):
            used.update(node.number for node in item.sources)
        elif isinstance(item, (Branch, Check)):
            used.add(item.node.number)
        elif isinstance(item, Assign) and item.source is not None:
            sources.setdefault(item.target.number, set()).update(node.number for node in nodes_in(item.source))
        for inner in inner_blocks(item):
            _collect(inner, used, sources)


def read_outside(flow: Flow) -> dict[int, Kind]:
    """The operations that something reads outside of their block, with their kinds: no other way leads there."""
    places: dict[int, tuple[Block, ...]] = {}
    kinds: dict[int, Kind] = {}
    found: set[int] = set()

    def visit(block: Block, around: tuple[Block, ...]) -> None:
        here = (*around, block)
        for item in block.items:
            reads(nodes_read(item), here)
            if isinstance(item, Node) and is_value(item.value):
                places[item.number], kinds[item.number] = here, kind_of(item.value)
            for inner in inner_blocks(item):
                visit(inner, here)

    def reads(nodes: Iterable[Node], here: tuple[Block, ...]) -> None:
        found.update(one.number for one in nodes if places.get(one.number, here)[-1] not in here)

    visit(flow.body, ())
    reads(nodes_in(flow.result), (flow.body,))
    return {number: kinds[number] for number in found}


def all_items(block: Block) -> Iterator[Item]:
    """The items of a block, and those in them."""
    for item in block.items:
        yield item
        for inner in inner_blocks(item):
            yield from all_items(inner)


def iterations_of(item: Repeat) -> int | None:
    """The number of iterations of a loop; None if more than the test at its head ends it."""
    head = next((one for one in item.body.items if isinstance(one, Branch)), None)
    end = None if head is None else head.sides.get(False)
    if end is None or not (end.items and isinstance(end.items[-1], Jump)):
        return None
    inside = {one.key for one in all_items(item.body) if isinstance(one, (Repeat, Part))}
    jumps = [one for one in all_items(item.body) if isinstance(one, Jump) and not one.again]
    return item.iterations if [one for one in jumps if one.target not in inside] == [end.items[-1]] else None


def has_open_loops(block: Block) -> bool:
    """Whether the number of iterations of a loop is not known."""
    return any(isinstance(one, Repeat) and iterations_of(one) is None for one in all_items(block))


def nodes_read(item: Item) -> Iterable[Node]:
    """The nodes whose results an item reads, blocks in it excepted."""
    if isinstance(item, Node):
        return item.sources
    if isinstance(item, (Branch, Check)):
        return (item.node,)
    return nodes_in(item.source) if isinstance(item, Assign) and item.source is not None else ()


def join_kinds(flow: Flow) -> tuple[dict[int, Kind], dict[int, Kind]]:
    """The types of the numbers of joins that have one type, and of those that some way comes to without a value."""
    assigned: list[Assign] = []
    work = [flow.body]
    while work:
        for item in work.pop().items:
            assigned += [item] if isinstance(item, Assign) else []
            work += inner_blocks(item)
    kinds: dict[int, set[Kind]] = {}
    found: set[int] = set()
    for one in assigned:
        source = one.source
        if isinstance(source, (Node, Constant)):
            kinds.setdefault(one.target.number, set()).add(kind_of(source.value))
    before = -1
    while len(found) > before:
        before = len(found)
        for one in assigned:
            if one.source is None or (isinstance(one.source, Node) and one.source.number in found):
                found.add(one.target.number)
    single = {number: next(iter(found_kinds)) for number, found_kinds in kinds.items() if len(found_kinds) == 1}
    return single, {number: kind for number, kind in single.items() if number in found}
