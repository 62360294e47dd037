"""Which results of statements share a variable, which are written where they are used, and which are not needed.

The values that a variable has one after the other have numbers of their own in a flow: each iteration and each side
assigns to the number of a join. Numbers that are assigned to one another share a variable if no statement needs both
at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from cassette_import.contexts.graph.flow.statements import (
    Choice,
    Copies,
    Early,
    Leave,
    Loop,
    Missing,
    Return,
    Select,
    Statement,
    inner,
    read_by,
)
from cassette_import.contexts.graph.known_functions import never_raises
from cassette_import.contexts.graph.nodes import Built, Constant, Node, NotRepresentable, Template, kind_of
from cassette_import.contexts.graph.program import assigned_name

__all__ = ["Variables"]

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
        self.uses: Counter[int] = Counter()
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
        work: list[int] = []
        for one in _all(self._statements):
            if isinstance(one, Copies):
                for target, source in one.pairs:
                    sources.setdefault(target.number, []).extend([source.number] if isinstance(source, Node) else [])
            elif isinstance(one, Node):
                sources[one.number] = [node.number for node in one.sources]
                work += [] if never_raises(one) else [one.number]
            else:
                work += [node.number for node in read_by(one)]
        while work:
            number = work.pop()
            if number not in self.needed:
                self.needed.add(number)
                work += sources.get(number, ())
        for one in _all(self._statements):
            if not isinstance(one, Node) or one.number in self.needed:
                self.uses.update(node.number for node in self._reads(one))

    def _reads(self, one: Statement) -> Iterator[Node]:
        if isinstance(one, Copies):
            return (s for target, s in one.pairs if target.number in self.needed and isinstance(s, Node))
        return read_by(one)

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
            elif isinstance(one, Leave):
                live = set(self._exits.get((one.key, one.again), ()))
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
                live |= set(self.leaves(read_by(one)))
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
    found: set[int] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for target, source in pairs:
            if source is None or (isinstance(source, Node) and source.number in found):
                found.add(target.number)
    return found
