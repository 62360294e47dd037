"""A flow as statements of Python: `if`, `while`, `for` over a range, and blocks that are left early."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from cassette_import.contexts.graph.flow.blocks import Assign, Block, Branch, Check, Counter, Item, Jump, Part, Repeat
from cassette_import.contexts.graph.flow.recording import Flow
from cassette_import.contexts.graph.nodes import (
    Built,
    Constant,
    Kind,
    Node,
    NotRepresentable,
    Template,
    is_value,
    kind_of,
    nodes_in,
)

__all__ = [
    "Choice",
    "Copies",
    "Early",
    "Leave",
    "Loop",
    "Missing",
    "Return",
    "Select",
    "Statement",
    "all_items",
    "ends",
    "has_open_loops",
    "inner",
    "inner_blocks",
    "iterations_of",
    "join_kinds",
    "lowered",
    "nodes_read",
    "read_by",
    "read_outside",
    "used_numbers",
]

# ---- what a flow reads: which numbers are used, what is read outside of its block, and the types of joins


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


# ---- a flow as statements of Python: `if`, `while`, `for` over a range, and blocks that are left early


class Copies:
    """Assignments that happen at once. `live` are the targets that are read afterwards, once that is known."""

    __slots__ = ("live", "pairs")

    def __init__(self, pairs: Sequence[tuple[Node, Template | None]]) -> None:
        self.pairs = pairs
        self.live: set[int] = set()


class Choice:
    """A decision, and the statements for each outcome that some run has had."""

    __slots__ = ("node", "sides")

    def __init__(self, node: Node, sides: dict[bool, list[Statement]]) -> None:
        self.node = node
        self.sides = sides


class Select(Node):
    """A decision between two expressions: ``if``, or ``and`` and ``or``, where one of them is what is tested.

    `parts` are the operations that the expressions consist of.
    """

    __slots__ = ("kind", "parts")

    def __init__(self, target: Node, kind: str, operands: tuple[Template, ...], parts: list[Node]) -> None:
        super().__init__(target.number, None, operands, {}, target.value, None, target.name)
        self.kind = kind
        self.parts = parts


class Loop:
    """A loop. One with a `counter` is a `for`, and has what runs after its last iteration in `orelse`."""

    __slots__ = ("body", "counter", "key", "orelse", "start")

    def __init__(self, key: Hashable, body: list[Statement]) -> None:
        self.key = key
        self.body = body
        self.counter: Counter | None = None
        self.start: Template | None = None
        self.orelse: list[Statement] = []


class Early:
    """Statements that some jump leaves early. They are a loop of one iteration if a jump out of a loop does."""

    __slots__ = ("body", "is_loop", "key")

    def __init__(self, key: Hashable, body: list[Statement], is_loop: bool) -> None:
        self.key = key
        self.body = body
        self.is_loop = is_loop


class Leave:
    """A jump: to the next iteration of a loop, or out of it."""

    __slots__ = ("again", "key")

    def __init__(self, key: Hashable, again: bool = False) -> None:
        self.key = key
        self.again = again


class Return:
    """The end of the function."""

    __slots__ = ("value",)

    def __init__(self, value: Template) -> None:
        self.value = value


class Missing:
    """A place to which no run has come, after a decision."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node


Statement: TypeAlias = Node | Check | Copies | Choice | Loop | Early | Leave | Return | Missing


def read_by(statement: Statement) -> Iterator[Node]:
    """The nodes whose results a statement reads, statements in it excepted."""
    if isinstance(statement, Node):
        yield from statement.sources
    elif isinstance(statement, (Check, Choice)):
        yield statement.node
    elif isinstance(statement, Copies):
        for _, source in statement.pairs:
            yield from () if source is None else nodes_in(source)
    elif isinstance(statement, Return):
        yield from nodes_in(statement.value)
    elif isinstance(statement, Loop) and statement.counter is not None:
        for part in (statement.start, statement.counter.stop):
            yield from () if part is None else nodes_in(part)


def inner(statement: Statement) -> Iterable[list[Statement]]:
    """The statements in a statement."""
    if isinstance(statement, Choice):
        return statement.sides.values()
    if isinstance(statement, Loop):
        return (statement.body, statement.orelse)
    return (statement.body,) if isinstance(statement, Early) else ()


def lowered(flow: Flow) -> list[Statement]:
    """The statements of a flow.

    Raises
    ------
    NotRepresentable
        If they cannot be arranged.
    """
    made = _Lowering(flow).body(flow.body)
    if not (made and ends(made)):
        made.append(Return(flow.result))
    return made


class _Lowering:
    def __init__(self, flow: Flow) -> None:
        self._result = flow.result
        last = flow.body.items[-1] if flow.body.items else None
        self._last: Hashable = last.key if isinstance(last, Part) else None
        """The part that the function ends with: who leaves it returns."""

    def body(self, block: Block) -> list[Statement]:
        """The statements of a block."""
        made: list[Statement] = []
        for item in block.items:
            if isinstance(item, Assign):
                if made and isinstance(made[-1], Copies):
                    made[-1].pairs = [*made[-1].pairs, (item.target, item.source)]
                else:
                    made.append(Copies([(item.target, item.source)]))
            elif isinstance(item, (Node, Check)):
                made.append(item)
            elif isinstance(item, Jump):
                made += self._jump(item, made)
            elif isinstance(item, Branch):
                made.append(Choice(item.node, {truth: self.body(side) for truth, side in item.sides.items()}))
            elif isinstance(item, Repeat):
                made.append(self._loop(item, made))
            elif item.key == self._last:
                made += self._with_return(self.body(item.body))
            else:
                made.append(_early(item.key, self.body(item.body)))
        return made

    def _jump(self, item: Jump, before: list[Statement]) -> list[Statement]:
        if item.target != self._last or item.again:
            return [Leave(item.target, item.again)]
        return [self._returned(before)]

    def _with_return(self, body: list[Statement]) -> list[Statement]:
        return body if ends(body) else [*body, self._returned(body)]

    def _returned(self, before: list[Statement]) -> Return:
        """The result, read from what the last assignments before a jump would assign."""
        sources: dict[int, Template] = {}
        if before and isinstance(before[-1], Copies):
            sources = {target.number: source for target, source in before.pop().pairs if source is not None}  # type: ignore[union-attr]
        return Return(_replaced(self._result, sources))

    def _loop(self, item: Repeat, before: list[Statement]) -> Loop:
        made = Loop(item.key, self.body(item.body))
        if not ends(made.body):
            raise NotRepresentable("a loop has no end of an iteration")
        if item.counter is not None:
            self._count(made, item.counter, before)
        return made

    def _count(self, loop: Loop, counter: Counter, before: list[Statement]) -> None:
        """Make a loop a `for`, if nothing but the test at its head and the ends of iterations use its index."""
        index = counter.join.number
        start = _taken(before, index, remove=False)
        if start is None or len(loop.body) != 2:
            return
        test, choice = loop.body
        if not (isinstance(test, Node) and isinstance(choice, Choice) and choice.node is test and True in choice.sides):
            return
        going, ending = choice.sides[True], choice.sides.get(False, [])
        if False not in choice.sides:
            ending = [Missing(test), Leave(loop.key)]
        if not (ending and isinstance(ending[-1], Leave) and not ending[-1].again and ending[-1].key == loop.key):
            return
        if not _counts(going, loop.key, index, remove=False) or any(index in _reads(one) for one in ending):
            return
        _taken(before, index, remove=True)
        _counts(going, loop.key, index, remove=True)
        loop.counter, loop.start, loop.body, loop.orelse = counter, start, going, ending[:-1]


def _reads(statement: Statement) -> set[int]:
    return {node.number for node in read_by(statement)}.union(
        *(_reads(one) for body in inner(statement) for one in body)
    )


def _taken(body: list[Statement], index: int, remove: bool) -> Template | None:
    """What the last assignments of some statements assign to a join."""
    last = body[-1] if body else None
    if not isinstance(last, Copies):
        return None
    found = next((source for target, source in last.pairs if target.number == index), None)
    if remove:
        last.pairs = [pair for pair in last.pairs if pair[0].number != index]
    return found


def _counts(body: list[Statement], key: Hashable, index: int, remove: bool) -> bool:
    """Whether each way to the next iteration counts once, at its end."""
    for place, statement in enumerate(body):
        if isinstance(statement, Leave) and statement.again and statement.key == key:
            step = _taken(body[:place], index, remove=remove)
            if not (isinstance(step, Node) and step.function is operator.add and step.operands[0] is not None):
                return False
            first = step.operands[0]
            if not (isinstance(first, Node) and first.number == index):
                return False
        for one in inner(statement):
            if not _counts(one, key, index, remove):
                return False
    return True


def _replaced(template: Template, sources: dict[int, Template]) -> Template:
    if isinstance(template, Node):
        return sources.get(template.number, template)
    if isinstance(template, Constant):
        return template
    return Built(template.kind, tuple(_replaced(part, sources) for part in template.parts), template.keys)


def ends(body: Sequence[Statement]) -> bool:
    """Whether control never comes to the end of some statements, whatever jumps there are."""
    last: Any = body[-1] if body else None
    if isinstance(last, Choice):
        return all(map(ends, last.sides.values()))
    if isinstance(last, Loop):
        return last.counter is None and not _leaves(last.body, last.key)
    if isinstance(last, Early):
        return ends(last.body) and not _leaves(last.body, last.key)
    return isinstance(last, (Leave, Return, Missing))


def _leaves(body: Iterable[Statement], key: Hashable) -> bool:
    """Whether some jump leaves for a place."""
    return any(
        (isinstance(one, Leave) and one.key == key and not one.again) or any(_leaves(part, key) for part in inner(one))
        for one in body
    )


# ---- statements that are left early


def _early(key: Hashable, body: list[Statement]) -> Early:
    """What follows a branch of which one side leaves goes into the other side, so that no jump is needed."""
    nested = _nested(body, key)
    return Early(key, body, is_loop=True) if nested is None else Early(key, nested, is_loop=False)


def _nested(body: Sequence[Statement], key: Hashable) -> list[Statement] | None:
    """The statements with jumps at their ends alone; None if there is no such order without repeating some."""
    for place, statement in enumerate(body):
        rest = body[place + 1 :]
        if isinstance(statement, Leave):
            return list(body[: place + 1])
        if not any(_leaves(part, key) for part in inner(statement)):
            continue
        if not isinstance(statement, Choice):
            return None
        falling = [truth for truth, side in statement.sides.items() if not ends(side)]
        if rest and len(falling) > 1:
            return None
        sides: dict[bool, list[Statement]] = {}
        for truth, side in statement.sides.items():
            found = _nested([*side, *rest] if truth in falling else side, key)
            if found is None:
                return None
            sides[truth] = found
        return [*body[:place], Choice(statement.node, sides)]
    return list(body)
