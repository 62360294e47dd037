"""Generator expressions in the untagged form: their steps are clauses.

A generator expression has neither statements nor assignment expressions of its own. But ``for @e0 in (value,)`` is an
assignment to a variable of its frame, which the compiler knows. So ``(x * x + 1 for x in xs)`` becomes::

    (… @e0 + 1 … for x in @loop(xs) for @d in (@7.resumed,) for @e0 in (… if … else x * x,))

Any context may resume it, at each item. Calls, and what decides what is evaluated, take the form that looks up the
context. Knows the clauses of generator expressions; must not know statements.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.forms.untagged import MAKERS
from cassette_import.rewriting.forms.untagged_branches import is_too_deep, spans_lines
from cassette_import.rewriting.forms.untagged_expressions import ExpressionSteps
from cassette_import.rewriting.forms.untagged_steps import Value
from cassette_import.rewriting.modes import Mode, make_lambdas_bare
from cassette_import.rewriting.syntax.replacement import replaced
from cassette_import.rewriting.trees.annotations import GLOBAL, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.traversal import parts
from cassette_import.rewriting.uninterrupted import suspends
from cassette_import.rewriting.untagged_resumed import ResumedBlocks


def has_untagged_clauses(node: ast.GeneratorExp) -> bool:
    """Whether a generator expression may have this form."""
    targets = [generator.target for generator in node.generators]
    parts = [node.elt, *(test for generator in node.generators for test in generator.ifs)]
    are_names = all(
        isinstance(part, ast.Name)
        for target in targets
        for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    )
    return are_names and not suspends(node) and not any(spans_lines(part) or is_too_deep(part) for part in parts)


class ClauseSteps(ExpressionSteps):
    """Makes steps of expressions that decide nothing and call nothing."""

    def _single_compare(self, node: ast.Compare) -> Value | None:
        return self._compare(node) if len(node.ops) == 1 else None

    makers = {
        **{kind: MAKERS[kind] for kind in (ast.Name, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)},
        **{kind: MAKERS[kind] for kind in (ast.List, ast.Tuple)},
        ast.Compare: _single_compare,
    }

    def read(self, at: At, light: ast.expr, full: ast.expr) -> ast.expr:
        """A value that is read here."""
        return light if light is full else at.either(self._test(at, ()), full, light)

    def event_at_end(self, at: At, value: Value) -> tuple[ast.expr, ast.expr]:
        """The test whether an event has to be carried out, after all values before it were claimed."""
        self.flush(at)
        return self._test(at, value.tests, value.takes_wrapper_off), value.full


class GeneratorClauses(ResumedBlocks):
    """Rewrites generator expressions."""

    _steps_type = ClauseSteps
    _steps: ClauseSteps

    def _rewrite(self, node: ast.AST) -> Any:
        """What replaces a node in the form that looks up the context, without temporaries."""
        return self._rewriter.rewrite(node, Mode.BARE, None)

    def build_clauses(self, node: ast.GeneratorExp, first_iterable: ast.expr) -> ast.expr:
        """What replaces a generator expression, in place; its first iterable has been rewritten."""
        clauses: list[ast.comprehension] = []
        for number, generator in enumerate(node.generators):
            make_lambdas_bare(generator.iter, generator.target)
            tests, generator.ifs = generator.ifs, []
            generator.iter = self._rewrite(generator.iter) if number else first_iterable
            made = replaced(generator, self._inlined, 0)
            clauses += made if isinstance(made, list) else [made]
            self._steps.pending, self._steps.is_unsettled = [], True
            if tests or generator is node.generators[-1]:
                at = At(generator.target)
                clauses.append(_bound(at, temporaries.EPOCH, at.symbol(self._events.begun)))
            for test in _all_of(tests):
                self._add_test(clauses, test)
        node.elt = self._item(clauses, node.elt)
        node.generators = clauses
        made_whole: ast.expr = replaced(node, self._inlined, 0)
        return made_whole

    def _emitted(self) -> list[ast.comprehension]:
        made, self._steps.out = self._steps.out, []
        return [clause for statement in made for clause in _clauses_of(statement, None)]

    def _add_test(self, clauses: list[ast.comprehension], node: ast.expr) -> None:
        """A condition; what it holds is let go before the next step."""
        steps, at = self._steps, At(node)
        if type(node) not in ClauseSteps.makers and not isinstance(node, ast.Constant):
            steps.flush(at)
            clauses += self._emitted()
            clauses[-1].ifs.append(self._rewrite(node))
            steps.is_unsettled = True
            return
        light, full = steps.operand(node)
        steps.flush(at)
        clauses += self._emitted()
        clauses[-1].ifs.append(steps.read(at, light, full))
        clauses += [_unbound(at, name) for name in steps.taken(0)]
        steps.is_unsettled = True

    def _item(self, clauses: list[ast.comprehension], node: ast.expr) -> ast.expr:
        """What is yielded. No temporary holds it, or a part of it, since that may die before the next item."""
        steps, at = self._steps, At(node)
        assert isinstance(node, ast.Call)
        given = node.args[0]
        if not _is_flat(given):
            steps.flush(at)
            clauses += self._emitted()
            looked_up: ast.expr = self._rewrite(node)
            return looked_up
        value = steps.value(given)
        test, full = steps.event_at_end(at, value._replace(takes_wrapper_off=True))
        clauses += self._emitted()
        light = value.light
        if value.claim is not None:
            light = at.call(at.symbol(symbols.RETURNED_CLAIMED), [light])
        elif value.is_event:
            light = at.call(node.func, [light])
        return at.either(test, at.call(node.func, [full]), light)


def _is_flat(node: ast.expr) -> bool:
    """Whether the parts of an expression are variables and constants, so that it needs no temporary."""
    is_known = type(node) in ClauseSteps.makers or isinstance(node, ast.Constant)
    return is_known and all(
        isinstance(part, ast.Constant) or (isinstance(part, ast.Name) and not has(part, GLOBAL))
        for part in ([node] if isinstance(node, ast.Name) else parts(node))
        if isinstance(part, ast.expr)
    )


def _all_of(tests: Sequence[ast.expr]) -> list[ast.expr]:
    """The tests that decide together: those of an `and` are tested one after the other."""
    found: list[ast.expr] = []
    for test in tests:
        is_and = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
        found += _all_of(test.values) if is_and else [test]  # type: ignore[attr-defined]  # its kind is known
    return found


def _bound(at: At, name: str, value: ast.expr) -> ast.comprehension:
    """The clause that assigns a variable."""
    return ast.comprehension(at.store(name), at.put(ast.Tuple([value], ast.Load())), [], 0)


def _unbound(at: At, name: str) -> ast.comprehension:
    """The clause that lets a value go. With a constant, it would be a loop."""
    return _bound(at, name, at.symbol(symbols.NOTHING))


def _clauses_of(statement: ast.stmt, condition: ast.expr | None) -> list[ast.comprehension]:
    """The clauses for a statement of steps, which is carried out under a condition."""
    at = At(statement)
    if isinstance(statement, ast.Delete):
        names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        return [_unbound(at, name) for name in names]
    if isinstance(statement, ast.Assign):
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        value = statement.value if condition is None else at.either(condition, statement.value, at.load(target.id))
        return [_bound(at, target.id, value)]
    assert isinstance(statement, ast.If)
    test = statement.test if condition is None else at.put(ast.BoolOp(ast.And(), [condition, statement.test]))
    body, otherwise = statement.body, statement.orelse
    if not otherwise:
        return [clause for part in body for clause in _clauses_of(part, test)]
    (plain,), event = otherwise, body[-1]
    assert isinstance(plain, ast.Assign)
    assert isinstance(event, ast.Assign)
    target = event.targets[0]
    assert isinstance(target, ast.Name)
    first = [clause for part in body[:-1] for clause in _clauses_of(part, test)]
    return [*first, _bound(at, target.id, at.either(test, event.value, plain.value))]
