"""A flow as statements of Python: `if`, `while`, `for` over a range, and blocks that are left early.

The values that a variable has one after the other have numbers of their own in a flow: each iteration and each side
assigns to the number of a join. Numbers that are assigned to one another share a variable if no statement needs both
at a time.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from cassette_import.contexts.graph.flow.blocks import Assign, Block, Branch, Check, Counter, Item, Jump, Part, Repeat
from cassette_import.contexts.graph.flow.recording import Flow
from cassette_import.contexts.graph.known_functions import never_raises
from cassette_import.contexts.graph.nodes import (
    Built,
    Constant,
    Kind,
    Node,
    NotRepresentable,
    Template,
    is_value,
    kind_of,
    mapped,
    nodes_in,
)
from cassette_import.contexts.graph.program import assigned_name

__all__ = [
    "Choice",
    "Copies",
    "Early",
    "Loop",
    "Missing",
    "Return",
    "Select",
    "Statement",
    "Variables",
    "all_items",
    "ends",
    "has_open_loops",
    "inner",
    "inner_blocks",
    "iterations_of",
    "join_kinds",
    "lowered",
    "nodes_read",
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
    sources: dict[int, list[int]] = {}
    for item in all_items(flow.body):
        numbers = [node.number for node in nodes_read(item)]
        if isinstance(item, Assign):
            sources.setdefault(item.target.number, []).extend(numbers)
        else:
            used.update(numbers)
    return _with_sources(used, sources)


def _with_sources(numbers: Iterable[int], sources: Mapping[int, Iterable[int]]) -> set[int]:
    """Numbers, and those that they depend on."""
    reached: set[int] = set()
    work = list(numbers)
    while work:
        number = work.pop()
        if number not in reached:
            reached.add(number)
            work += sources.get(number, ())
    return reached


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


def join_kinds(flow: Flow) -> tuple[dict[int, Kind], dict[int, Kind]]:
    """The types of the numbers of joins that have one type, and of those that some way comes to without a value."""
    pairs = [(item.target, item.source) for item in all_items(flow.body) if isinstance(item, Assign)]
    kinds: dict[int, set[Kind]] = {}
    for target, source in pairs:
        if isinstance(source, (Node, Constant)):
            kinds.setdefault(target.number, set()).add(kind_of(source.value))
    unbound = _without_value(pairs)
    single = {number: next(iter(several)) for number, several in kinds.items() if len(several) == 1}
    return single, {number: kind for number, kind in single.items() if number in unbound}


def _without_value(pairs: Sequence[tuple[Node, Template | None]]) -> set[int]:
    """The targets of assignments that some way comes to without a value."""
    unbound: set[int] = set()
    before = -1
    while len(unbound) > before:
        before = len(unbound)
        for target, source in pairs:
            if source is None or (isinstance(source, Node) and source.number in unbound):
                unbound.add(target.number)
    return unbound


# ---- a flow as statements of Python: `if`, `while`, `for` over a range, and blocks that are left early


@dataclass(slots=True, eq=False)
class Copies:
    """Assignments that happen at once. `live` are the targets that are read afterwards, once that is known."""

    pairs: Sequence[tuple[Node, Template | None]]
    live: set[int] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Choice:
    """A decision, and the statements for each outcome that some run has had."""

    node: Node
    sides: dict[bool, list[Statement]]


class Select(Node):
    """A decision between two expressions: ``if``, or ``and`` and ``or``, where one of them is what is tested.

    `parts` are the operations that the expressions consist of.
    """

    __slots__ = ("kind", "parts")

    def __init__(self, target: Node, kind: str, operands: tuple[Template, ...], parts: list[Node]) -> None:
        super().__init__(target.number, None, operands, {}, target.value, None, target.name)
        self.kind = kind
        self.parts = parts


@dataclass(slots=True, eq=False)
class Loop:
    """A loop. One with a `counter` is a `for`, and has what runs after its last iteration in `orelse`."""

    key: Hashable
    body: list[Statement]
    counter: Counter | None = None
    start: Template | None = None
    orelse: list[Statement] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Early:
    """Statements that some jump leaves early. They are a loop of one iteration if a jump out of a loop does."""

    key: Hashable
    body: list[Statement]
    is_loop: bool


@dataclass(slots=True, eq=False)
class Return:
    """The end of the function."""

    value: Template


@dataclass(slots=True, eq=False)
class Missing:
    """A place to which no run has come, after a decision."""

    node: Node


Statement: TypeAlias = Node | Check | Copies | Choice | Loop | Early | Jump | Return | Missing


def nodes_read(item: Item | Statement) -> Iterable[Node]:
    """The nodes whose results an item or a statement reads, those in it excepted."""
    templates: Sequence[Template | None] = ()
    if isinstance(item, Node):
        return item.sources
    if isinstance(item, (Branch, Check, Choice)):
        return (item.node,)
    if isinstance(item, Assign):
        templates = (item.source,)
    elif isinstance(item, Copies):
        templates = [source for _, source in item.pairs]
    elif isinstance(item, Return):
        templates = (item.value,)
    elif isinstance(item, Loop) and item.counter is not None:
        templates = (item.start, item.counter.stop)
    return (node for template in templates if template is not None for node in nodes_in(template))


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
            return [item]
        return [self._returned(before)]

    def _with_return(self, body: list[Statement]) -> list[Statement]:
        return body if ends(body) else [*body, self._returned(body)]

    def _returned(self, before: list[Statement]) -> Return:
        """The result, read from what the last assignments before a jump would assign."""
        sources: dict[int, Template] = {}
        if before and isinstance(before[-1], Copies):
            sources = {target.number: source for target, source in before.pop().pairs if source is not None}  # type: ignore[union-attr]
        return Return(
            mapped(self._result, lambda leaf: sources.get(leaf.number, leaf) if isinstance(leaf, Node) else leaf)
        )

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
            ending = [Missing(test), Jump(loop.key)]
        if not (ending and isinstance(ending[-1], Jump) and not ending[-1].again and ending[-1].target == loop.key):
            return
        if not _counts(going, loop.key, index, remove=False) or any(index in _reads(one) for one in ending):
            return
        _taken(before, index, remove=True)
        _counts(going, loop.key, index, remove=True)
        loop.counter, loop.start, loop.body, loop.orelse = counter, start, going, ending[:-1]


def _reads(statement: Statement) -> set[int]:
    return {node.number for node in nodes_read(statement)}.union(
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
        if isinstance(statement, Jump) and statement.again and statement.target == key:
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


def ends(body: Sequence[Statement]) -> bool:
    """Whether control never comes to the end of some statements, whatever jumps there are."""
    last: Any = body[-1] if body else None
    if isinstance(last, Choice):
        return all(map(ends, last.sides.values()))
    if isinstance(last, Loop):
        return last.counter is None and not _leaves(last.body, last.key)
    if isinstance(last, Early):
        return ends(last.body) and not _leaves(last.body, last.key)
    return isinstance(last, (Jump, Return, Missing))


def _leaves(body: Iterable[Statement], key: Hashable) -> bool:
    """Whether some jump leaves for a place."""
    return any(
        (isinstance(one, Jump) and one.target == key and not one.again)
        or any(_leaves(part, key) for part in inner(one))
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
        if isinstance(statement, Jump):
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


# ---- which results of statements share a variable, which are written where they are used, and which are not needed

_LARGEST: Final = 8
"""So many operations at most are one expression."""


class Variables:
    """The variables of statements.

    Parameters
    ----------
    statements:
        The statements of the function. Their copies note which of their targets are live.
    inputs:
        The inputs.

    Attributes
    ----------
    folded:
        The numbers of the operations that are written where their result is used.
    needed:
        The numbers of the operations and joins that something needs.
    unbound:
        The joins that some way comes to without a value.

    Raises
    ------
    NotRepresentable
        If something is read that a way there has not computed, or a variable has several types.
    """

    def __init__(self, statements: list[Statement], inputs: Sequence[Node]) -> None:
        self._statements = statements
        self._inputs = inputs
        self.uses: collections.Counter[int] = collections.Counter()
        self.needed: set[int] = set()
        self._find_needed()
        self.unbound = _unbound(statements, self.needed)
        self.folded: set[int] = set()
        self._selects: dict[int, Select] = {}
        self._select(statements)
        self._fold(statements)
        self._class: dict[int, int] = {}
        self._conflicts: dict[int, set[int]] = {}
        self._exits: dict[tuple[Hashable, bool], set[int]] = {}
        live = self._walk(statements, set()) - {node.number for node in inputs}
        if live:
            raise NotRepresentable("a variable has different types on two ways, or none on one")
        self._merge()

    # ---- what is needed

    def _find_needed(self) -> None:
        sources: dict[int, list[int]] = {}
        roots: list[int] = []
        for one in _all(self._statements):
            numbers = [node.number for node in nodes_read(one)]
            if isinstance(one, Copies):
                for target, source in one.pairs:
                    sources.setdefault(target.number, []).extend([source.number] if isinstance(source, Node) else [])
            elif isinstance(one, Node):
                sources[one.number] = numbers
                roots += [] if never_raises(one) else [one.number]
            else:
                roots += numbers
        self.needed = _with_sources(roots, sources)
        for one in _all(self._statements):
            if not isinstance(one, Node) or one.number in self.needed:
                self.uses.update(node.number for node in self._reads(one))

    def _reads(self, one: Statement) -> Iterable[Node]:
        if isinstance(one, Copies):
            return (s for target, s in one.pairs if target.number in self.needed and isinstance(s, Node))
        return nodes_read(one)

    # ---- what is folded

    def _select(self, body: list[Statement]) -> None:
        """Branches that do nothing but give a variable one of two values become expressions."""
        for place, one in enumerate(body):
            for part in inner(one):
                self._select(part)
            if isinstance(one, Choice):
                found = self._selected(one)
                if found is not None:
                    body[place] = self._selects[found.number] = found

    def _selected(self, one: Choice) -> Select | None:
        values: dict[bool, Template] = {}
        parts: list[Node] = []
        targets: dict[int, Node] = {}
        for truth, side in one.sides.items():
            *operations, last = side or [one]
            pairs = [pair for pair in last.pairs if pair[0].number in self.needed] if isinstance(last, Copies) else []
            found = [node for node in operations if not isinstance(node, Node) or node.number in self.needed]
            target, source = pairs[0] if len(pairs) == 1 else (one.node, None)
            if source is None or not all(map(self._is_part, found)):
                return None
            targets[target.number], values[truth] = target, source
            parts += found  # type: ignore[arg-type]
        if len(values) < 2 or len(targets) > 1 or len(parts) > _LARGEST:
            return None
        self.folded.update(node.number for node in parts)
        (target,) = targets.values()
        for truth, kind in ((False, "and"), (True, "or")):
            value = values[truth]
            if isinstance(value, Node) and value.number == one.node.number:
                self.uses[value.number] -= 1
                return Select(target, kind, (one.node, values[not truth]), parts)
        return Select(target, "if", (one.node, values[True], values[False]), parts)

    def _is_part(self, one: Statement) -> bool:
        """Whether an operation can be a part of an expression: it has one use, and no name."""
        if not isinstance(one, Node):
            return False
        return self.uses[one.number] == 1 and not _is_named(one) and has_one_type(one)

    def _fold(self, body: list[Statement]) -> None:
        """Operations with one use are written there, if that is further on in the same block, and they still run."""
        places: dict[int, int] = {}
        sizes: dict[int, int] = {}
        latest = -1
        for place, one in enumerate(body):
            for node in self._reads(one) if not isinstance(one, Node) or one.number in self.needed else ():
                if node.number in places and (places[node.number] > latest or not self.may_raise(node, True)):
                    self.folded.add(node.number)
            if isinstance(one, Node) and one.number in self.needed:
                folded = [source.number for source in one.sources if source.number in self.folded]
                size = sizes[one.number] = 1 + sum(sizes.get(number, 1) for number in folded)
                if self._is_part(one) and size <= _LARGEST:
                    places[one.number] = place
            for part in inner(one):
                latest = place
                self._fold(part)

    def may_raise(self, node: Node, folded: bool = False) -> bool:
        """Whether the expression of an operation, which is `folded`, may raise an exception."""
        if not (folded or node.number in self.folded):
            return False
        itself = node.number not in self._selects and not never_raises(node)
        return itself or any(map(self.may_raise, self._sources(node)))

    def _sources(self, node: Node) -> list[Node]:
        return self._selects.get(node.number, node).sources

    def leaves(self, nodes: Iterable[Node]) -> Iterator[int]:
        """The numbers of the variables that are read for some results."""
        for node in nodes:
            if node.number in self.folded:
                yield from self.leaves(self._sources(node))
            else:
                yield node.number

    # ---- what is live

    def _walk(self, body: Sequence[Statement], live: set[int]) -> set[int]:
        """What is read after the beginning of some statements, if `live` is read after them."""
        for one in reversed(body):
            if isinstance(one, Node):
                live = self._before_node(one, live)
            elif isinstance(one, Copies):
                live = self._before_copies(one, live)
            elif isinstance(one, Jump):
                live = set(self._exits.get((one.target, one.again), ()))
            elif isinstance(one, (Return, Missing)):
                live = set()
            elif isinstance(one, Choice):
                live = set().union(*(self._walk(side, set(live)) for side in one.sides.values()))
            elif isinstance(one, Early):
                self._exits[one.key, False] = set(live)
                live = self._walk(one.body, set(live))
            elif isinstance(one, Loop):
                live = self._before_loop(one, live)
            if not isinstance(one, (Node, Copies)):
                live |= set(self.leaves(nodes_read(one)))
        return live

    def _before_node(self, one: Node, live: set[int]) -> set[int]:
        if one.number not in self.needed or one.number in self.folded:
            return live
        self._defines(one.number, live)
        live.discard(one.number)
        return live | set(self.leaves(one.sources))

    def _before_copies(self, one: Copies, live: set[int]) -> set[int]:
        targets = {target.number for target, _ in one.pairs}
        one.live |= targets & live
        for target, source in one.pairs:
            if target.number in one.live:
                is_kept = isinstance(source, Node) and source.number not in self.folded | targets
                # For the type checker: `is_kept` says that the source is a node.
                self._defines(target.number, (live | one.live) - ({source.number} if is_kept else set()))  # type: ignore[union-attr]
        read = [
            source
            for target, source in one.pairs
            if isinstance(source, Node) and (target.number in one.live or self.may_raise(source))
        ]
        return (live - targets) | set(self.leaves(read))

    def _before_loop(self, one: Loop, live: set[int]) -> set[int]:
        self._exits[one.key, False] = set(live)
        ending = self._walk(one.orelse, set(live)) if one.counter is not None else set()
        head: set[int] = set(ending)
        while True:
            self._exits[one.key, True] = set(head)
            begin = self._walk(one.body, set())
            if one.counter is not None:
                self._defines(one.counter.join.number, begin)
                begin.discard(one.counter.join.number)
            if begin <= head:
                return head
            head |= begin

    def _defines(self, number: int, live: set[int]) -> None:
        """The variable of a number must not be that of what is read afterwards."""
        for other in live:
            if other != number:
                self._conflicts.setdefault(number, set()).add(other)
                self._conflicts.setdefault(other, set()).add(number)

    # ---- what shares a variable

    def variable(self, number: int) -> int:
        """The number of the variable of a result."""
        while number in self._class:
            number = self._class[number]
        return number

    def _merge(self) -> None:
        copies = [one for one in _all(self._statements) if isinstance(one, Copies)]
        pairs = [(target, source) for one in copies for target, source in one.pairs if target.number in one.live]
        named = sorted(pairs, key=lambda pair: pair[0].name != self._name_of(pair[1]))
        for target, source in named:
            if not isinstance(source, Node) or source.number in self.folded:
                continue
            one, other = self.variable(target.number), self.variable(source.number)
            inputs = {node.number for node in self._inputs}
            if one == other or other in self._conflicts.get(one, ()):
                continue
            if one in inputs:
                one, other = other, one
            if one in inputs:
                continue  # two inputs have names of their own
            self._class[one] = other
            found = self._conflicts.pop(one, set())
            for number in found:
                self._conflicts[number].discard(one)
                self._conflicts[number].add(other)
            self._conflicts.setdefault(other, set()).update(found)

    def _name_of(self, source: object) -> str:
        return (source.name or assigned_name(source.site) or "") if isinstance(source, Node) else ""

    def names(self) -> dict[int, str]:
        """The names of the variables in the function's source, by the variable's number; empty if there is none."""
        found: dict[int, str] = {}
        for one in _all(self._statements):
            targets: list[tuple[Node, str]] = []
            if isinstance(one, Copies):
                targets = [(target, target.name) for target, _ in one.pairs if target.number in one.live]
            elif isinstance(one, Loop) and one.counter is not None:
                targets = [(one.counter.join, one.counter.target)]
            elif isinstance(one, Node) and one.number in self.needed and one.number not in self.folded:
                targets = [(one, one.name or assigned_name(one.site) or "")]
            for node, name in targets:
                number = self.variable(node.number)
                found[number] = found.get(number) or name
        return found


def _all(body: Iterable[Statement]) -> Iterator[Statement]:
    for one in body:
        yield one
        for part in inner(one):
            yield from _all(part)


def _is_named(node: Node) -> bool:
    """Whether an operation's result has a name in the source; the truth of a decision needs none."""
    return bool(node.name or assigned_name(node.site)) and type(node.value) is not bool


def has_one_type(node: Node) -> bool:
    """Whether the type of a result follows from the types of the operands: that of a power may not."""
    if getattr(node.function, "__name__", "") != "pow" or node.function.__module__ == "math":
        return True
    base, exponent = node.operands[:2]
    if isinstance(exponent, Built) or isinstance(base, Built):
        return False
    is_integer = type(exponent.value) in (int, bool)
    is_known = isinstance(exponent, Constant) and is_integer and exponent.value >= 0
    return is_known or (is_integer and type(base.value) is float)


def _unbound(statements: list[Statement], needed: set[int]) -> set[int]:
    """The joins that some way comes to without a value.

    Raises
    ------
    NotRepresentable
        If a join that something needs has several types.
    """
    pairs = [
        pair for one in _all(statements) if isinstance(one, Copies) for pair in one.pairs if pair[0].number in needed
    ]
    kinds: dict[int, object] = {}
    for target, source in pairs:
        if isinstance(source, (Node, Constant)):
            kind = kind_of(source.value)
            if isinstance(source, Node) and source.value is None:
                continue  # a join without a value
            if kinds.setdefault(target.number, kind) is not kind:
                raise NotRepresentable("a variable has different types on two ways, or none on one")
    return _without_value(pairs)
