"""Rewriting of nodes: which form an event takes, by its surroundings, and which blocks have a form of their own."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.entry_test import Entry, Surroundings, with_handler
from cassette_import.rewriting.forms.callee import CalleeForm
from cassette_import.rewriting.forms.followed_bodies import follow_expression
from cassette_import.rewriting.forms.guarded import GuardedForm
from cassette_import.rewriting.forms.inlined import InlinedForm, Variables
from cassette_import.rewriting.forms.untagged import MAKERS, ExpressionSteps, has_untagged_form
from cassette_import.rewriting.forms.untagged_branches import Value, is_too_deep, spans_lines
from cassette_import.rewriting.modes import Inside, Mode, make_lambdas_bare, modes_inside
from cassette_import.rewriting.nested_bodies import NestedBodies
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.syntax.operation import Form
from cassette_import.rewriting.syntax.statements import replaced
from cassette_import.rewriting.trees.annotations import CHANGING, NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import DEPTH, rebuild
from cassette_import.rewriting.uninterrupted import suspends
from cassette_import.rewriting.untagged_blocks import ResumedBlocks, UntaggedBlocks, shape_of_untagged_body

__all__ = ["ClauseSteps", "GeneratorClauses", "NodeRewriter", "has_untagged_clauses"]

# ---- generator expressions in the untagged form: their steps are clauses
#
# A generator expression has neither statements nor assignment expressions of its own. But ``for @e0 in (value,)`` is an
# assignment to a variable of its frame, which the compiler knows. So ``(x * x + 1 for x in xs)`` becomes::
#
#     (@e1.pop() for x in @loop(xs) for @d in (@7.resumed,)
#      for @e0 in (… if … else x * x,) for @e1 in ([… if … else @e0 + 1],) for @e0 in (@nothing,))
#
# What is yielded may die before the next item is asked for, so a list hands it on, and temporaries are let go before.
# Any context may resume the expression, at each item. What decides what is evaluated takes the form that looks up the
# context.


def has_untagged_clauses(node: ast.GeneratorExp) -> bool:
    """Whether a generator expression may have this form."""
    targets = [generator.target for generator in node.generators]
    parts = [node.elt, *(test for generator in node.generators for test in generator.ifs)]
    are_names = all(
        isinstance(part, ast.Name)
        for target in targets
        for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    )
    if not are_names or suspends(node) or any(spans_lines(part) or is_too_deep(part) for part in parts):
        return False
    # What a clause iterates over may hold no assignment expression.
    return not any(isinstance(below, ast.NamedExpr) for part in parts for below in ast.walk(part))


class ClauseSteps(ExpressionSteps):
    """Makes steps of expressions that decide nothing."""

    def _single_compare(self, node: ast.Compare) -> Value | None:
        return self._compare(node) if len(node.ops) == 1 else None

    makers = {
        **{kind: MAKERS[kind] for kind in (ast.Name, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)},
        **{kind: MAKERS[kind] for kind in (ast.List, ast.Tuple, ast.Call)},
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
        if type(given) not in ClauseSteps.makers and not isinstance(given, ast.Constant):
            steps.flush(at)
            clauses += self._emitted()
            looked_up: ast.expr = self._rewrite(node)
            return looked_up
        value = steps.value(given)
        if not (steps.used or value.is_inlined or value.tests or value.other):
            test, full = steps.event_at_end(at, value._replace(takes_wrapper_off=True))
            clauses += self._emitted()
            return at.either(test, at.call(node.func, [full]), value.light)
        read, _ = steps.kept(at, value, 0)
        steps.flush(at)
        used = steps.taken(0)
        clauses += self._emitted()
        name = temporaries.step(1 if used == [temporaries.step(0)] else 0)
        clauses.append(_bound(at, name, at.put(ast.List([read], ast.Load()))))
        clauses += [_unbound(at, other) for other in used]
        taken = at.call(at.attribute(at.load(name), "pop"), [])
        return at.either(steps.asked_of_metadata(at), at.call(node.func, [taken]), taken)


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
    event = body[-1]
    assert isinstance(event, ast.Assign)
    target = event.targets[0]
    assert isinstance(target, ast.Name)
    first = [clause for part in body[:-1] for clause in _clauses_of(part, test)]
    return [*first, _bound(at, target.id, at.either(test, event.value, _plain_value(at, otherwise)))]


def _plain_value(at: At, block: list[ast.stmt]) -> ast.expr:
    """The value that a block assigns, which has one statement."""
    (statement,) = block
    if isinstance(statement, ast.Assign):
        return statement.value
    assert isinstance(statement, ast.If)
    return at.either(statement.test, _plain_value(at, statement.body), _plain_value(at, statement.orelse))


# ---- rewriting of nodes: which form an event takes, by its surroundings, and which blocks have a form of their own


class NodeRewriter:
    """Rewrites nodes of one function, or of the module level of one module. A subclass rewrites the functions in it.

    Parameters
    ----------
    shapes:
        The shapes of the variants; those that intercept nothing are left out.
    entry:
        Builds the test that chooses a branch.
    keep_functions:
        Whether functions stay plain.
    surroundings:
        What stands around the function.
    pruned:
        Whether nodes that may change are annotated as `CHANGING`. All others are neither copied nor visited then.
    """

    def __init__(
        self,
        shapes: tuple[Shape, ...],
        entry: Entry,
        keep_functions: bool = False,
        surroundings: Surroundings | None = None,
        pruned: bool = False,
    ) -> None:
        self.shapes = tuple(shape for shape in shapes if not shape.intercepts_nothing)
        self.entry = entry
        self.keep_functions = keep_functions
        self.surroundings = surroundings or Surroundings()
        self.kept = CHANGING if pruned else None
        self.is_tagging = any(shape.tagging for shape in self.shapes)
        self.follows_bodies = any(shape.follows_bodies for shape in self.shapes)

        self._inlined_forms: dict[str, InlinedForm] = {}
        self.read_by_handlers: set[str] = set()  # temporaries that handlers of exceptions read
        self.nested = NestedBodies()
        self._callee_forms: dict[tuple[Mode, bool], CalleeForm] = {}
        self._variables = Variables(self.surroundings.variables, self.surroundings.lasting)

    def _callee_form(self, mode: Mode, in_branch: bool) -> CalleeForm:
        """The form of events in a mode other than `Mode.INLINED`."""
        form = self._callee_forms.get((mode, in_branch))
        if form is None:
            temporaries = mode is Mode.CALLEE
            guarded = None
            if mode is not Mode.CLASS_BODY and self._has_guards:
                around = self.surroundings
                prefix, digest = self.shapes[0].prefix, around.file_digest
                guarded = GuardedForm(
                    prefix, digest, around.objects, True, temporaries, asks_containers=self.entry.asks_containers
                )
            form = CalleeForm(self.shapes, temporaries, in_branch, guarded)
            self._callee_forms[mode, in_branch] = form
        return form

    @property
    def _has_guards(self) -> bool:
        """Whether guards serve where a body may run in any context."""
        is_single = len(self.shapes) == 1 and self.shapes[0].guarded
        return is_single and self.entry.root is None and not self.keep_functions

    def test(self, at: At, number: int, in_variables: bool = True, resumed: bool = False) -> ast.expr:
        """The test for the branch of a shape."""
        return self.entry.test(at, self.shapes[number], number == 0, in_variables, len(self.shapes) == 1, resumed)

    def nested_function(self, node: Function) -> Function:
        """Rewrite a function in the function, in place."""
        raise NotImplementedError

    # ---- blocks and expressions

    def block(self, statements: list[ast.stmt], mode: Mode, shape: Shape | None) -> list[ast.stmt]:
        if mode is Mode.INLINED and shape is not None and statements and has_untagged_form(shape):
            return self._untagged_blocks(shape).build(statements)
        rewritten: list[ast.stmt] = []
        for statement in statements:
            result = self.rewrite(statement, mode, shape)
            rewritten.extend(result) if isinstance(result, list) else rewritten.append(result)
        return rewritten

    def _untagged_blocks(self, shape: Shape) -> UntaggedBlocks:
        around, inlined = self.surroundings, self._inlined_form(shape)
        blocks = UntaggedBlocks(shape, self, inlined, around.file_digest, around.objects, self._variables)
        if shape_of_untagged_body([shape]) is not None and self.entry.root is None:
            blocks.make_others = functools.partial(self._blocks_in_any_context, shape)
        return blocks

    def _blocks_in_any_context(self, shape: Shape, bound: frozenset[str]) -> UntaggedBlocks:
        around, form = self.surroundings, self._callee_form(Mode.CALLEE, True)
        made = ResumedBlocks(shape, self, form, around.file_digest, around.objects, self._variables)
        made.bind(bound)
        return made

    def rewrite(self, node: ast.AST, mode: Mode, shape: Shape | None) -> Any:
        if self.kept is not None and self.kept not in node.__dict__:
            return node
        inlined = self._inlined_form(shape or self.shapes[0])

        def leave(node: ast.AST, mode: Mode, depth: int) -> Any:
            return self._leave(node, mode, shape, inlined, depth)

        return rebuild(node, mode, self._enter, leave)

    def _inlined_form(self, shape: Shape) -> InlinedForm:
        form = self._inlined_forms.get(shape.prefix)
        if form is None:
            around = self.surroundings
            form = InlinedForm(
                shape,
                around.file_digest,
                around.objects,
                self.read_by_handlers,
                self._variables,
                self.entry.asks_containers,
            )
            self._inlined_forms[shape.prefix] = form
        return form

    def _enter(self, node: ast.AST, mode: Mode) -> list[Inside]:
        """The children to rewrite, each with its mode."""
        if NOOVERDUB in node.__dict__ or self._has_clauses(node, mode):
            return []
        return modes_inside(node, mode, self.kept)

    def _has_clauses(self, node: ast.AST, mode: Mode) -> bool:
        """Whether a node is a generator expression in the untagged form."""
        if not isinstance(node, ast.GeneratorExp) or mode not in (Mode.INLINED, Mode.CALLEE) or self.keep_functions:
            return False
        is_known = shape_of_untagged_body(self.shapes) is not None and self.entry.root is None
        return is_known and not self.follows_bodies and has_untagged_clauses(node)

    def _with_clauses(self, node: ast.GeneratorExp, shape: Shape | None) -> ast.expr:
        first = node.generators[0]
        make_lambdas_bare(first.iter)
        iterable = self.rewrite(first.iter, Mode.BARE, shape)
        around, form = self.surroundings, self._callee_form(Mode.BARE, False)
        known = shape_of_untagged_body(self.shapes)
        assert known is not None
        clauses = GeneratorClauses(known, self, form, around.file_digest, around.objects, Variables())
        return clauses.build_clauses(node, iterable)

    def _leave(self, node: ast.AST, mode: Mode, shape: Shape | None, inlined: InlinedForm, depth: int) -> Any:
        if hasattr(node, NOOVERDUB):
            return node
        if isinstance(node, ast.GeneratorExp) and self._has_clauses(node, mode):
            return self._with_clauses(node, shape)
        form: Form = inlined if mode is Mode.INLINED else self._callee_form(mode, shape is not None)
        if isinstance(node, FUNCTIONS):
            if not isinstance(node, ast.Lambda):
                node.decorator_list = [form.decorator(decorator) for decorator in node.decorator_list]
            # One copy of a nested function is rewritten; `skeleton.graft` replaces the others by its code.
            elsewhere = shape is not None and shape is not self.shapes[0]
            made = node if self.keep_functions or elsewhere else self.nested_function(node)
            if depth:
                setattr(made, DEPTH, depth)  # of its defaults' temporaries
            return made
        if isinstance(node, ast.ClassDef):
            node.decorator_list = [form.decorator(decorator) for decorator in node.decorator_list]
            return node
        if isinstance(node, ast.GeneratorExp) and self.follows_bodies:
            return follow_expression(replaced(node, form, depth))
        if mode is Mode.INLINED and isinstance(node, (ast.Try, ast.TryStar)) and inlined.shape.has_errorhooks:
            # The errorhook runs before the program catches the exception or cleans up.
            node.body = [with_handler(At(node.body[0]), node.body, inlined.shape, self.read_by_handlers)]
        return replaced(node, form, depth)
