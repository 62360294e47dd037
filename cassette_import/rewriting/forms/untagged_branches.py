"""Expressions that decide what is evaluated, in the untagged form: their parts are steps in the branches of `if`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from cassette_import.rewriting.forms.bound_variables import BoundVariables
from cassette_import.rewriting.forms.untagged_calls import is_plain_call
from cassette_import.rewriting.forms.untagged_events import EventsHere
from cassette_import.rewriting.forms.untagged_steps import StepWriter, Value, is_temporary
from cassette_import.rewriting.syntax.expressions import is_own_callee
from cassette_import.rewriting.trees.annotations import GLOBAL, NOOVERDUB, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.traversal import parts

_DEEPEST: Final = 30
"""How deeply expressions may nest: to make steps of them takes two Python frames for each level."""


class Branches(StepWriter):
    """Makes steps of expressions that have branches, and of the operands of others.

    Parameters
    ----------
    events:
        Says how to ask whether events have to be carried out.
    bound:
        The variables that are bound.
    """

    def __init__(self, events: EventsHere, bound: BoundVariables) -> None:
        super().__init__(events)
        self.bound = bound

    def value(self, node: ast.expr) -> Value:
        """The two forms of an expression, whose parts are evaluated by then."""
        raise NotImplementedError

    # ---- operands

    def operand(self, node: ast.expr, is_kept: bool = False) -> tuple[ast.expr, ast.expr]:
        """Evaluate an operand; return what reads it, plainly and for an event."""
        mark = len(self.used)
        value = self.value(node)
        is_new = value.is_event or value.is_inlined or bool(value.tests)
        if is_kept:
            is_new = is_new or not (isinstance(value.light, ast.Constant) or is_temporary(value.light))
            is_new = is_new and not self.bound.stays(value.light)
        if not is_new:
            return value.light, value.full
        return self.kept(At(node), value, mark)

    def operands(self, at: At, nodes: Sequence[ast.expr]) -> list[tuple[ast.expr, ast.expr]]:
        """Evaluate operands in order; what is read on the line of the event needs no temporary if it is last."""
        still = len(nodes)
        while still and at.is_variable_here(nodes[still - 1]):
            still -= 1
        return [self.at_event(at, *self.operand(node, number < still - 1)) for number, node in enumerate(nodes)]

    @staticmethod
    def at_event(at: At, light: ast.expr, full: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Temporaries are read on the line of the event, since tracers are notified when the line changes."""
        if light is full and isinstance(light, ast.Name) and is_temporary(light):
            light = full = at.load(light.id)
        return light, full

    # ---- branches

    def tested(self, node: ast.expr) -> ast.expr:
        """The test of a statement, whose parts have been evaluated before it."""
        if isinstance(node, ast.BoolOp):
            are_still = all(map(is_still, node.values[1:]))
            return self._all_tested(node) if are_still else self._tested_in_turn(node)
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and not has(node, NOOVERDUB):
            return self.tested(self.chain(node))
        return self.chosen(At(node), self.value(node))

    def _all_tested(self, node: ast.BoolOp) -> ast.expr:
        """An ``and`` or ``or`` of tests of which only the first one may need statements before it."""
        tests = [self.tested(node.values[0])]
        self.flush(At(node))
        for value in node.values[1:]:
            self.is_unsettled = True
            tests.append(self.tested(value))
        self.is_unsettled = True
        node.values = tests
        return node

    def _tested_in_turn(self, node: ast.BoolOp) -> ast.expr:
        """Any other: a temporary holds what has been decided, since the truth of each part is asked for once."""
        at, name, is_and = At(node), self.temporary(), isinstance(node.op, ast.And)

        def decide(values: list[ast.expr]) -> None:
            decided: list[ast.stmt] = [at.put(ast.Assign([at.store(name)], at.constant(not is_and)))]
            if not values:
                self.out.append(at.put(ast.Assign([at.store(name)], at.constant(is_and))))
                return
            mark = len(self.used)
            test = self.tested(values[0])
            cleared = self.cleared(at, self.taken(mark))
            others = self.apart(lambda: decide(values[1:]))
            branches = ([*cleared, *others], [*cleared, *decided])
            then, otherwise = branches if is_and else branches[::-1]
            self.out.append(at.put(ast.If(test, then, otherwise)))
            self.is_unsettled = True

        decide(node.values)
        return at.load(name)

    def _into(self, name: str, node: ast.expr) -> list[ast.stmt]:
        """The statements that evaluate an expression into a temporary."""

        def make() -> None:
            at, mark = At(node), len(self.used)
            self.assign(at, name, self.value(node))
            self.clear(at, self.taken(mark))
            self.flush(at)

        return self.apart(make)

    def conditional(self, node: ast.IfExp) -> Value | None:
        """`a if b else c`; None if its parts are on several lines."""
        if spans_lines(node):
            return None
        at, mark = At(node), len(self.used)
        test = self.tested(node.test)
        cleared = self.cleared(at, self.taken(mark))
        name = self.temporary()
        before = self.is_unsettled
        then = self._into(name, node.body)
        after, self.is_unsettled = self.is_unsettled, before
        otherwise = self._into(name, node.orelse)
        self.is_unsettled = self.is_unsettled or after
        self.out.append(at.put(ast.If(test, [*cleared, *then], [*cleared, *otherwise])))
        return Value(at.load(name), at.load(name))

    def connected(self, node: ast.BoolOp) -> Value | None:
        """The value of ``and`` or ``or``; None if its parts are on several lines."""
        if len(node.values) > _DEEPEST or spans_lines(node):
            return None
        at, name, is_and = At(node), self.temporary(), isinstance(node.op, ast.And)
        first, *others = node.values
        self.out.extend(self._into(name, first))

        def go_on(values: list[ast.expr]) -> None:
            self.out.extend(self._into(name, values[0]))
            if values[1:]:
                self.out.append(going_on(values[1:]))

        def going_on(values: list[ast.expr]) -> ast.stmt:
            read: ast.expr = at.load(name)
            test = read if is_and else at.put(ast.UnaryOp(ast.Not(), read))
            made = at.put(ast.If(test, self.apart(lambda: go_on(values)), []))
            self.is_unsettled = True
            return made

        self.out.append(going_on(others))
        return Value(at.load(name), at.load(name))

    def chain(self, node: ast.Compare) -> ast.BoolOp:
        """``a < b < c`` as ``a < @e0 and @e0 < c``; the operands of the first comparison are evaluated."""
        at = At(node)
        first, second = node.left, node.comparators[0]
        left, left_full = self.operand(first, True)
        assert left is left_full
        middle, _ = self.operand(second, True)
        compared = at.put(ast.Compare(left, [node.ops[0]], [middle]))
        others = at.put(ast.Compare(middle, node.ops[1:], node.comparators[1:]))
        return at.put(ast.BoolOp(ast.And(), [compared, others]))


def spans_lines(node: ast.expr) -> bool:
    """Whether an expression has several lines: tracers would see the line of its begin again behind its branches."""
    return node.lineno != node.end_lineno


def is_still(node: ast.expr) -> bool:
    """Whether a test needs no statements before it."""
    here = At(node).is_variable_here
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and here(node.left) and here(node.comparators[0])
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and here(node.operand)
    if isinstance(node, ast.Attribute):
        return here(node.value)
    if isinstance(node, ast.Subscript):
        return here(node.value) and here(node.slice)
    if isinstance(node, ast.Call) and not is_own_callee(node.func) and is_plain_call(node):
        if isinstance(node.func, ast.Attribute) and has(node.func.value, GLOBAL):
            return False
        callee = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        return isinstance(callee, ast.Name) and all(map(here, arguments))
    return False


def is_too_deep(node: ast.AST) -> bool:
    """Whether an expression nests too deeply for steps."""
    level: list[ast.AST] = [node]
    for _ in range(_DEEPEST):
        if any(isinstance(part, ast.Compare) and len(part.ops) > _DEEPEST for part in level):
            return True  # each comparison of a chain decides over the next one
        level = [part for above in level for part in parts(above)]
        if not level:
            return False
    return True
