"""The untagged form where no statement is possible: in comprehensions, and in lambdas.

The steps of such an expression are made as statements, and become parts of one expression, which are evaluated in
order: ``b if (a is None or True) else None`` evaluates ``a``, then ``b``. The compiler leaves a single jump of it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.forms.untagged import MAKERS, Steps
from cassette_import.rewriting.forms.untagged_branches import is_too_deep, spans_lines
from cassette_import.rewriting.forms.untagged_steps import Value
from cassette_import.rewriting.modes import make_lambdas_bare
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.uninterrupted import suspends

_ARE_IN_THE_FRAME: Final = sys.version_info >= (3, 12)
"""Whether comprehensions are in the frame of their function, so that they have its variables (PEP 709)."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp


def in_order(at: At, parts: Sequence[ast.expr]) -> ast.expr:
    """An expression that evaluates parts in order; its value is that of the last one."""
    *others, value = parts
    for part in reversed(others):
        evaluated = at.put(ast.BoolOp(ast.Or(), [at.same(part, at.constant(None)), at.constant(True)]))
        value = at.either(evaluated, value, at.constant(None))
    return value


def as_expressions(statements: Sequence[ast.stmt]) -> list[ast.expr]:
    """What evaluates the same as the statements of steps."""
    made: list[ast.expr] = []
    for statement in statements:
        at = At(statement)
        if isinstance(statement, ast.Assign):
            assert isinstance(statement.targets[0], ast.Name)
            made.append(at.let(statement.targets[0].id, statement.value))
        elif isinstance(statement, ast.Delete):
            made.append(at.clear([target.id for target in statement.targets]))  # type: ignore[attr-defined]  # by kind
        elif isinstance(statement, ast.If):
            none = at.constant(None)
            then, otherwise = (as_expressions(block) or [none] for block in (statement.body, statement.orelse))
            made.append(at.either(statement.test, in_order(at, then), in_order(at, otherwise)))
        else:
            assert isinstance(statement, ast.Expr), statement
            made.append(statement.value)
    return made


class ExpressionSteps(Steps):
    """Makes steps of expressions, of those in comprehensions too."""

    def __init__(
        self, *given: Any, clause: Callable[[ast.comprehension, bool], Any], whole: Callable[[Any], Any]
    ) -> None:
        super().__init__(*given)
        self._clause, self._whole = clause, whole

    def inside(self, at: At, make: Callable[[], ast.expr]) -> ast.expr:
        """The value that a function returns, after the steps that it emits."""
        outer, self.out = self.out, []
        value = make()
        made, self.out = self.out, outer
        return in_order(at, [*as_expressions(made), value])

    def _comprehended(self, node: Comprehension) -> Value | None:
        """A comprehension; None if it takes the inlined form."""
        items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        tests = [test for generator in node.generators for test in generator.ifs]
        targets = [generator.target for generator in node.generators]
        if not _ARE_IN_THE_FRAME or suspends(node) or not all(map(_is_of_names, targets)):
            return None
        if any(spans_lines(part) or is_too_deep(part) for part in (*items, *tests)) or is_too_deep(node):
            return None
        at, (first, *others) = At(node), node.generators
        first.iter, _ = self.operand(first.iter)
        self.flush(at)
        clauses: list[ast.comprehension] = []
        for generator in (first, *others):
            make_lambdas_bare(generator.iter, generator.target)
            generator.ifs = [self.test_inside(test) for test in generator.ifs]
            made = self._clause(generator, generator is not first)
            clauses += made if isinstance(made, list) else [made]
        for clause in clauses:
            item = clause.iter.elts[0] if isinstance(clause.iter, ast.Tuple) and clause.iter.elts else None
            if isinstance(item, ast.IfExp) and _is_metadata(item.test):
                item.test = self.notified(at, item.test)
        node.generators = clauses
        made_items = [self._item_inside(item, isinstance(node, ast.ListComp)) for item in items]
        if isinstance(node, ast.DictComp):
            node.key, node.value = made_items
        else:
            (node.elt,) = made_items
        self.is_unsettled = True
        made = self._whole(node)
        return Value(made, made, is_inlined=True)

    def test_inside(self, node: ast.expr) -> ast.expr:
        """A condition that is evaluated again and again: of a comprehension, or of `while`."""
        at, mark = At(node), len(self.used)
        self.is_unsettled = True

        def make() -> ast.expr:
            test = self.tested(node)
            used = self.taken(mark)
            self.pending = [claim for claim in self.pending if claim[0] not in used]
            if not used:
                return test
            none = at.constant(None)
            cleared = at.put(ast.Compare(at.clear(used), [ast.IsNot()], [none]))
            return at.either(test, at.same(at.clear(used), none), cleared)  # the truth of the test is asked for once

        return self.inside(at, make)

    def _item_inside(self, node: ast.expr, is_held: bool) -> ast.expr:
        """What a comprehension collects. With `is_held`, it is in the container, and may be in a temporary as well."""
        at, mark = At(node), len(self.used)
        self.is_unsettled = True

        def make() -> ast.expr:
            value = self.value(node)
            if not (value.is_event or value.is_inlined or value.tests):
                return self.chosen(at, value)
            read, _ = self.kept(at, value, mark)
            self.flush(at)
            return read

        made = self.inside(at, make)
        used = self.used[mark:]
        if used and is_held:
            self.out += [at.put(ast.Assign([at.store(name)], at.constant(None))) for name in used]
        elif used:
            made = at.pick([made, at.clear(self.taken(mark))], 0)
        return made

    makers = {**MAKERS, **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp), _comprehended)}


def _is_metadata(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == symbols.METADATA_EXISTS


def _is_of_names(target: ast.expr) -> bool:
    """Whether the target of a clause binds variables alone, none of them in an inner tuple."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return all(isinstance(part, ast.Name) for part in parts)
