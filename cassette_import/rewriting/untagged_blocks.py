"""Blocks of statements in the untagged form: compound statements, and the statements in them.

All statements without a handler take the inlined form.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.forms.untagged_branches import is_too_deep, spans_lines
from cassette_import.rewriting.forms.untagged_expressions import in_order
from cassette_import.rewriting.syntax.assignments import is_event
from cassette_import.rewriting.syntax.replacement import replaced
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.untagged_statements import SIMPLE_HANDLERS, SimpleStatements


class UntaggedBlocks(SimpleStatements):
    """Rewrites the statements of one block, and those in it."""

    make_others: Callable[[frozenset[str]], UntaggedBlocks] | None = None
    """Makes what rewrites blocks that may run in any context, of the variables that are bound there."""

    _settles_at_end = True

    def build(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that replace those of a block that no other one is around."""
        at = At(statements[0])
        plain = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(self._events.begun)))
        begin = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(symbols.EPOCH)))
        restored: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            if _tests_metadata(statement):
                assert isinstance(statement, ast.If)
                restored = statement.body
                statements = [*statements[:number], *statements[number + 1 :]]
                break
        first = at.put(ast.If(self._steps.notified(at, at.symbol(symbols.METADATA_EXISTS)), [*restored, begin], []))
        return [plain, first, *self._block(statements, settle=self._settles_at_end)]

    def build_expression(self, node: ast.expr, restored: list[ast.expr]) -> ast.expr:
        """What replaces the body of a lambda; `restored` takes the wrappers of its parameters."""
        steps, at = self._steps, At(node)
        begun = at.let(temporaries.EPOCH, at.symbol(self._events.begun))
        begin = at.let(temporaries.EPOCH, at.symbol(symbols.EPOCH))
        exists = self._steps.notified(at, at.symbol(symbols.METADATA_EXISTS))
        first = at.either(exists, in_order(at, [*restored, begin]), at.constant(None))
        made = steps.inside(at, lambda: steps.chosen(at, steps.value(node)))
        return in_order(at, [begun, first, made])

    def _block(self, statements: list[ast.stmt], settle: bool = False, branch: bool = False) -> list[ast.stmt]:
        """The statements that replace those of a block; at its end, all values are claimed.

        Behind any other block than the branch of an `if`, what it has bound may be unbound.
        """
        steps = self._steps
        outer, steps.out = steps.out, []
        bound = self._bound.names
        for statement in statements:
            self._bound.begin(statement)
            if not self._handled(statement):
                self._other(statement)
        if statements:
            steps.flush(At(statements[-1]), settle)
        made, steps.out = steps.out, outer
        self._bound.names = self._bound.names if branch else bound
        return made

    def _handled(self, statement: ast.stmt) -> bool:
        """Rewrite a statement, unless it takes the inlined form."""
        handler = None if hasattr(statement, NOOVERDUB) else _HANDLERS.get(type(statement))
        return handler is not None and handler(self, statement)

    def _other(self, statement: ast.stmt) -> None:
        """A statement in the inlined form. If it has blocks, that is the form of its head."""
        steps, at = self._steps, At(statement)
        steps.flush(at)
        places: list[tuple[ast.stmt, list[ast.stmt]]] = []
        for owner, name in self._blocks_of(statement):
            given = getattr(owner, name)
            place = _placeholder(given[0])
            setattr(owner, name, [place])
            steps.is_unsettled = True
            places.append((place, self._block(given)))
        made = self._rewrite(statement)
        statements = made if isinstance(made, list) else [made]
        for place, block in places:
            _put_in_place(statements, place, block)
        steps.out.extend(statements)
        steps.is_unsettled = steps.is_unsettled or bool(places)

    def _blocks_of(self, statement: ast.stmt) -> list[tuple[Any, str]]:
        """The blocks of a statement that run in the same context as it, each by what has it and its name there."""
        found: list[tuple[Any, str]] = []
        if isinstance(statement, ast.For):
            found = [(statement, "body"), (statement, "orelse")]
        elif isinstance(statement, ast.Match):
            found = [(case, "body") for case in statement.cases]
        elif isinstance(statement, ast.If):
            found, part = [(statement, "body")], statement
            while len(part.orelse) == 1 and isinstance(part.orelse[0], ast.If):
                part = part.orelse[0]
                found.append((part, "body"))
            found.append((part, "orelse"))
        return [(owner, name) for owner, name in found if getattr(owner, name)]

    # ---- compound statements

    def _if(self, node: ast.If) -> bool:
        if _chain(node) > _LONGEST_CHAIN or is_too_deep(node.test):
            return False
        steps, at = self._steps, At(node.test)
        if isinstance(node.test, (ast.BoolOp, ast.Compare, ast.IfExp)) and spans_lines(node.test):
            steps.flush(at)
            node.test = self._rewrite(node.test)
        else:
            self._bound.begin(node.test)
            node.test = steps.tested(node.test)
        cleared = steps.cleared(at, steps.taken(0))
        before = steps.pending, steps.is_unsettled
        blocks: list[list[ast.stmt]] = []
        unsettled = False
        bound, after = self._bound.names, []
        for block in (node.body, node.orelse):
            self._bound.names = bound
            steps.pending, steps.is_unsettled = before
            steps.pending = list(steps.pending)
            goes_on = not (block and isinstance(block[-1], _LEAVING))
            blocks.append([*cleared, *self._block(block, branch=True)])
            after += [self._bound.names] if goes_on else []
            unsettled = unsettled or steps.is_unsettled
        node.body, node.orelse = blocks
        self._bound.names = frozenset.intersection(*after) if after else bound
        steps.out.append(node)
        steps.pending, steps.is_unsettled = [], unsettled
        return True

    def _while(self, node: ast.While) -> bool:
        """A loop, whose test is evaluated again and again: the steps of that are parts of one expression."""
        steps = self._steps
        steps.flush(At(node))
        self._bound.begin(node.test)
        is_deciding = isinstance(node.test, (ast.BoolOp, ast.Compare, ast.IfExp))
        if is_too_deep(node.test) or (is_deciding and spans_lines(node.test)):
            node.test = self._rewrite(node.test)
        else:
            node.test = steps.test_inside(node.test)
        steps.is_unsettled = True
        node.body = self._block(node.body)
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        steps.out.append(node)
        steps.is_unsettled = True
        return True

    def _for(self, node: ast.For) -> bool:
        if is_event(node.target, self._inlined) or is_too_deep(node.iter):
            return False
        steps, at = self._steps, At(node.iter)
        self._bound.begin(node.iter)
        light, _ = steps.operand(node.iter)
        node.iter = light
        steps.flush(at)
        used = steps.taken(0)
        if used:
            node.iter = at.pick([light, at.clear(used)], 0)
        steps.is_unsettled = True
        bound = self._bound.names
        unpacked = self._item_unpacked(node.target)
        self._bound.bind(node.target)
        node.body = self._block(node.body)
        self._bound.names = bound
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        made = replaced(node, self._inlined, 0)
        for statement in made if isinstance(made, list) else [made]:
            if isinstance(statement, ast.For) and _tests_metadata(statement.body[0]):
                assert isinstance(statement.body[0], ast.If)
                statement.body[0].test = steps.notified(at, at.symbol(symbols.METADATA_EXISTS))
                if isinstance(statement.target, ast.Name) and statement.target.id == temporaries.UNPACKED:
                    statement.body[1:2] = unpacked
            steps.out.append(statement)
        steps.is_unsettled = True
        return True

    def _item_unpacked(self, target: ast.expr) -> list[ast.stmt]:
        """The statements that unpack the item of a loop."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            return []
        steps, at = self._steps, At(target)
        item = at.put(ast.Assign([clone(target)], at.load(temporaries.UNPACKED)))

        def make() -> None:
            if self._unpack(item, item.targets[0]):
                steps.out += steps.cleared(at, [temporaries.UNPACKED])

        made = steps.apart(make)
        steps.is_unsettled = True
        return made

    def _try(self, node: Any) -> bool:
        steps = self._steps
        steps.flush(At(node))
        node.body = self._block(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                handler.type = self._rewrite(handler.type)
            steps.is_unsettled = True
            handler.body = self._block(handler.body)
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        steps.is_unsettled = True
        node.finalbody = self._block(node.finalbody)
        steps.out.append(node)
        steps.is_unsettled = True
        return True

    def _with(self, node: ast.With) -> bool:
        """A block of `with`, in which the context may be active that it enters, or another one afterwards."""
        blocks = self.in_any_context()
        return blocks is not None and self._block_elsewhere(node, blocks)

    def in_any_context(self) -> UntaggedBlocks | None:
        """What rewrites blocks that may run in any context; None if they look it up at each event."""
        return None if self.make_others is None else self.make_others(self._bound.names)

    def _block_elsewhere(self, node: Any, blocks: UntaggedBlocks, begin: Sequence[ast.stmt] = ()) -> bool:
        """`with` and `async for`, whose head takes the inlined form; `begin` is what the block begins with."""
        steps, at = self._steps, At(node)
        steps.flush(at)
        places: list[tuple[ast.stmt, list[ast.stmt]]] = []
        for name in ("body", "orelse"):
            given = getattr(node, name, None)
            if given:
                place = _placeholder(given[0])
                blocks._steps.is_unsettled = False
                added = begin if name == "body" else ()
                places.append((place, [blocks.resumed(At(given[0])), *added, *blocks._block(given)]))
                setattr(node, name, [place])
        made = self._rewrite(node)
        statements = made if isinstance(made, list) else [made]
        for place, block in places:
            _put_in_place(statements, place, block)
        steps.out.extend(statements)
        steps.out.append(self.resumed(at))
        steps.is_unsettled = False
        return True

    def resumed(self, at: At) -> ast.stmt:
        """The statement where a frame goes on that others could not notify, or in another context."""
        return at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(self._events.begun)))

    def _return(self, node: ast.Return) -> bool:
        """`return a if b else c` becomes an `if` with two returns."""
        at, given = At(node), node.value
        chosen = given.args[0] if isinstance(given, ast.Call) and is_returned(given) else None
        if not isinstance(chosen, ast.IfExp) or is_too_deep(node):
            return super()._return(node)
        then, otherwise = (
            [at.put(ast.Return(at.call(at.symbol(symbols.RETURNED), [part])))] for part in (chosen.body, chosen.orelse)
        )
        return self._if(at.put(ast.If(chosen.test, [*then], [*otherwise])))


_LEAVING: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)

_LONGEST_CHAIN: Final = 30
"""How many `elif` an `if` may have: each is a block in that of the one before."""


def _placeholder(statement: ast.stmt) -> ast.stmt:
    """A statement that stands for a block that begins with another one."""
    place: ast.stmt = At(statement).put(ast.Pass())
    setattr(place, NOOVERDUB, True)
    return place


def _put_in_place(statements: list[ast.stmt], place: ast.stmt, block: list[ast.stmt]) -> None:
    """Put a block in the place of a statement that stands for it."""
    work = [statements]
    while work:
        known = work.pop()
        for number, statement in enumerate(known):
            if statement is place:
                known[number : number + 1] = block
                return
            work += [part for name in ("body", "orelse") if isinstance(part := getattr(statement, name, None), list)]
            work += [case.body for case in getattr(statement, "cases", ())]


def _tests_metadata(statement: ast.stmt) -> bool:
    """Whether it is the statement of `tagged.parameters`, or that for an item of a loop."""
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Name) and test.id == symbols.METADATA_EXISTS


def is_returned(node: ast.Call) -> bool:
    """Whether it is the call of the helper for returned values."""
    return isinstance(node.func, ast.Name) and node.func.id == symbols.RETURNED


def _chain(node: ast.If) -> int:
    """How many tests a chain of `elif` has."""
    count = 1
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        count, node = count + 1, node.orelse[0]
    return count


_HANDLERS: Final[dict[type[ast.stmt], Callable[[UntaggedBlocks, Any], bool]]] = {
    **SIMPLE_HANDLERS,
    ast.Return: UntaggedBlocks._return,
    ast.If: UntaggedBlocks._if,
    ast.While: UntaggedBlocks._while,
    ast.For: UntaggedBlocks._for,
    ast.Try: UntaggedBlocks._try,
    ast.With: UntaggedBlocks._with,
}
