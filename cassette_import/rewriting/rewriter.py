"""Rewriting of a function, lambda or module: the tree that is compiled instead of the plain one.

Knows the surroundings of an event, and so which form it takes; must not know what a form builds.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.branch_frames import (
    assigned_contexts,
    handled,
    hook_context,
    with_contexts,
    with_handler,
)
from cassette_import.rewriting.changing_nodes import changing_kinds
from cassette_import.rewriting.entry_test import Entry, Surroundings
from cassette_import.rewriting.forms.bound_variables import NO_VARIABLES
from cassette_import.rewriting.forms.callee import CalleeForm
from cassette_import.rewriting.forms.followed_bodies import (
    follow_body,
    follow_call,
    follow_expression,
    follow_lambda,
    follow_module,
    is_entered_otherwise,
)
from cassette_import.rewriting.forms.guarded import GuardedForm
from cassette_import.rewriting.forms.hooked_event import Variables
from cassette_import.rewriting.forms.inlined import InlinedForm
from cassette_import.rewriting.forms.plain_reads import (
    free_names,
    insert_reads_where_active,
    with_plain_reads_of,
)
from cassette_import.rewriting.forms.tagged import (
    VARIABLES,
    insert_unwrapping,
    lambda_parameters,
    rest_parameters,
    returned,
)
from cassette_import.rewriting.forms.untagged import has_untagged_form
from cassette_import.rewriting.forms.untagged_branches import is_too_deep
from cassette_import.rewriting.forms.untagged_expressions import in_order
from cassette_import.rewriting.function_blocks import (
    block_of_passes,
    first_evaluated,
    has_events,
    plain_branch,
    with_unwrapping,
)
from cassette_import.rewriting.modes import BARE_LAMBDA, Inside, Mode, make_lambdas_bare, modes_inside
from cassette_import.rewriting.nested_bodies import NestedBodies
from cassette_import.rewriting.resumed_parts import ResumedParts
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.syntax.operation import Form
from cassette_import.rewriting.syntax.replacement import replaced
from cassette_import.rewriting.trees.annotations import CHANGING, NOOVERDUB, annotate
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import (
    FUNCTIONS,
    Function,
    clone,
    hoist_declarations,
    is_suspendable,
    reads_locals,
    split_docstring,
    survey,
)
from cassette_import.rewriting.trees.traversal import DEPTH, rebuild
from cassette_import.rewriting.uninterrupted import insert_parts
from cassette_import.rewriting.untagged_blocks import UntaggedBlocks
from cassette_import.rewriting.untagged_generators import GeneratorClauses, has_untagged_clauses
from cassette_import.rewriting.untagged_resumed import ResumedBlocks, shape_of_untagged_body


def overdub_function(
    function: Function,
    shapes: Sequence[Shape],
    entry: Entry | None = None,
    bodies: Mapping[str, Function] | None = None,
    surroundings: Surroundings | None = None,
) -> Function:
    """Add a branch for each shape beside the plain body of a function, and of each function in it.

    Parameters
    ----------
    function:
        The node, which is changed in place.
    shapes:
        The shapes of the variants.
    entry:
        Builds the test that chooses the branch.
    bodies:
        The bodies that passes made of the function, by the prefix of the variant that they are for.
    surroundings:
        What stands around the function.

    Returns
    -------
    The node.
    """
    surroundings = surroundings or Surroundings()
    kinds = None if bodies else changing_kinds(shapes)
    for made in (function, *(bodies or {}).values()):
        annotate(made, surroundings.class_name, surroundings.free_names, kinds)
    rewriter = _Rewriter(tuple(shapes), entry or Entry(), surroundings=surroundings, pruned=kinds is not None)
    for prefix, made in (bodies or {}).items():
        rewriter.nested.add(prefix, made)
    return rewriter.function(function, bodies or {})


def overdub_module(module: ast.Module, shapes: Sequence[Shape]) -> ast.Module:
    """Overdub the module level and the class bodies of a module, in place; its functions stay plain."""
    kinds = changing_kinds(shapes, of_module=True)
    rewriter = _Rewriter(tuple(shapes), Entry(), keep_functions=True, pruned=kinds is not None)
    is_tagging = any(shape.tagging for shape in shapes)
    annotate(module, kinds=kinds, into_functions=False)
    body: list[ast.stmt] = []
    for part in module.body:
        made = insert_unwrapping(part, shapes) if is_tagging else part
        result = rewriter.rewrite(made, Mode.CLASS_BODY, None)
        body += result if isinstance(result, list) else [result]
    module.body = follow_module(body) if rewriter.follows_bodies else body
    return module


class _Rewriter:
    """Rewrites one function, or the module level of one module.

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
                guarded = GuardedForm(prefix, digest, around.objects, True, temporaries)
            form = CalleeForm(self.shapes, temporaries, in_branch, guarded)
            self._callee_forms[mode, in_branch] = form
        return form

    @property
    def _has_guards(self) -> bool:
        """Whether guards serve where a body may run in any context."""
        is_single = len(self.shapes) == 1 and self.shapes[0].guarded
        return is_single and self.entry.root is None and not self.keep_functions

    # ---- functions

    def _nested_function(self, node: Function) -> Function:
        """Rewrite a function in the function, in place."""
        outer, variables = (self._variables.names, self._variables.lasting), self._variables
        variables.names, variables.lasting = frozenset(), NO_VARIABLES
        try:
            return self.function(node, self.nested.of(node), is_nested=True)
        finally:
            variables.names, variables.lasting = outer

    def _is_entered_otherwise(self, node: Function, is_nested: bool) -> bool:
        around = self.surroundings
        return is_entered_otherwise(node, around.passed, is_nested or around.is_nested)

    def function(
        self, node: Function, bodies: Mapping[str, Function] = MappingProxyType({}), is_nested: bool = False
    ) -> Function:
        """Rewrite a function in place; `bodies` are those that passes made of it."""
        if not self.shapes:
            return node
        follows = self.follows_bodies and (is_suspendable(node) or self._is_entered_otherwise(node, is_nested))
        if self.kept is not None and not has_events(node) and not follows:
            return node
        if isinstance(node, ast.Lambda):
            return self._lambda(node, bodies, follows)
        docstring, body = split_docstring(node.body)
        names = free_names(node, self.surroundings.free_names) if self.is_tagging else frozenset()
        declarations = hoist_declarations(node, body) if survey(node).declares else []
        at = At(first_evaluated(body[0] if body else node.body[0]))
        body = body or [at.put(ast.Pass())]
        blocks = {prefix: block_of_passes(made, declarations) for prefix, made in bodies.items()}
        bare = reads_locals(node)
        if is_suspendable(node):
            elsewhere = self.entry.elsewhere(at)
            copies: list[Any] = [] if elsewhere is None else [clone(statement, self.kept) for statement in body]
            if self.is_tagging:
                body = with_unwrapping(at, node, body, self.shapes)
                body = [insert_reads_where_active(statement, names) for statement in body] if names else body
                blocks = {prefix: with_unwrapping(at, node, block, self.shapes) for prefix, block in blocks.items()}
            rewritten = self._suspendable(at, body, blocks, Mode.BARE if bare else Mode.CALLEE)
            if elsewhere is not None:
                rewritten = [at.put(ast.If(elsewhere, plain_branch(at, copies, names), rewritten))]
        else:
            rewritten = self._branches(node, at, body, blocks, bare, names, follows)
        node.body = [*docstring, *declarations, *rewritten]
        return node

    def _suspendable(
        self, at: At, body: list[ast.stmt], blocks: dict[str, list[ast.stmt]], mode: Mode
    ) -> list[ast.stmt]:
        """One body for all contexts, since it may be resumed in another one. Only bodies by passes have branches."""
        chain = self._body_block(body, mode)
        for shape in self.shapes:
            if shape.prefix in blocks:
                branch = self._body_block(blocks[shape.prefix], mode)
                chain = [at.put(ast.If(self.entry.test(at, shape, True, False), branch, chain))]
        return chain

    def _body_block(self, statements: list[ast.stmt], mode: Mode) -> list[ast.stmt]:
        """The body of a function that can be suspended. Where it reads its `locals()`, it cannot be followed."""
        shape = shape_of_untagged_body(self.shapes) if mode is Mode.CALLEE else None
        if shape is not None and self.entry.root is None:
            around, form = self.surroundings, self._callee_form(mode, False)
            names = around.objects, self._variables
            return ResumedBlocks(shape, self, form, around.file_digest, *names).build(statements)
        if mode is Mode.CALLEE and self._may_be_inlined:
            statements = insert_parts(statements, ResumedParts(self), self.kept)
        block = self.block(statements, mode, None)
        if not self.follows_bodies or mode is not Mode.CALLEE:
            return block
        if len(self.shapes) == 1 and self.shapes[0].is_accelerated and self._may_be_inlined:
            at = At(block[0])
            return follow_body(block, self.test(at, 0, resumed=True), hook_context(at, self.shapes[0], 0))
        return follow_body(block)

    @property
    def _may_be_inlined(self) -> bool:
        """Whether hooks may be called in the body itself where it runs without a suspension."""
        return not any(
            shape.passes or variant_names.is_wildcard(shape.prefix) or (shape.guarded and self.entry.root is None)
            for shape in self.shapes
        )

    def test(self, at: At, number: int, in_variables: bool = True, resumed: bool = False) -> ast.expr:
        """The test for the branch of a shape."""
        return self.entry.test(at, self.shapes[number], number == 0, in_variables, len(self.shapes) == 1, resumed)

    def _branches(
        self,
        node: Function,
        at: At,
        body: list[ast.stmt],
        blocks: dict[str, list[ast.stmt]],
        bare: bool,
        names: frozenset[str],
        follows: bool,
    ) -> list[ast.stmt]:
        copies: list[Any] = [
            blocks[shape.prefix] if shape.prefix in blocks else [clone(statement, self.kept) for statement in body]
            for shape in self.shapes
        ]
        for number, shape in enumerate(self.shapes):
            if shape.tagging:
                copies[number] = with_unwrapping(at, node, copies[number], [shape])
        chain = plain_branch(at, body, names)
        for number in reversed(range(len(self.shapes))):
            shape = self.shapes[number]
            branch = self.block(copies[number], Mode.BARE if bare else Mode.INLINED, shape)
            if not bare:
                branch = handled(at, branch, shape, self.read_by_handlers)
                prologue = assigned_contexts(at, shape)
                if follows and shape.follows_bodies:
                    is_alone = len(shape.contexts) == 1 and bool(prologue)
                    branch = follow_call(branch, temporaries.context(0) if is_alone else None, shape.is_accelerated)
                branch = [*prologue, *branch]
            chain = [at.put(ast.If(self.test(at, number, not bare), branch, chain))]
        return chain

    def _lambda(self, node: ast.Lambda, bodies: Mapping[str, Function], follows: bool) -> ast.Lambda:
        at = At(node.body)
        if is_suspendable(node):
            elsewhere = self.entry.elsewhere(at)
            plain: Any = clone(node.body, self.kept)
            if self.is_tagging:
                node.body = returned(insert_unwrapping(node.body, self.shapes, VARIABLES))
            body = self.rewrite(node.body, Mode.BARE, None)
            node.body = body if elsewhere is None else at.either(elsewhere, plain, body)
            return node
        bare = reads_locals(node) or hasattr(node, BARE_LAMBDA)
        copies: list[Any] = [
            bodies[shape.prefix].body if shape.prefix in bodies else clone(node.body, self.kept)
            for shape in self.shapes
        ]
        if hasattr(node, BARE_LAMBDA):
            make_lambdas_bare(*copies)  # also in what passes have made of the body
        value: ast.expr = node.body
        if self.is_tagging:
            names = free_names(node, self.surroundings.free_names)
            made = with_plain_reads_of(value, names) if names else None
            value = value if made is None else at.either(at.symbol(symbols.METADATA_EXISTS), made, value)
        for number in reversed(range(len(self.shapes))):
            shape = self.shapes[number]
            plain = bare or shape.has_errorhooks  # there is no `try` in an expression
            if shape.tagging:
                copies[number] = returned(insert_unwrapping(copies[number], [shape], VARIABLES))
            if not plain and has_untagged_form(shape) and not is_too_deep(node.body):
                restored = lambda_parameters(at, node)
                branch = self._untagged_blocks(shape).build_expression(copies[number], restored)
                branch = in_order(at, [*rest_parameters(at, node), branch])
            else:
                branch = self.rewrite(copies[number], Mode.BARE if plain else Mode.INLINED, shape)
                if shape.tagging and not bare:
                    given = [*rest_parameters(at, node), *lambda_parameters(at, node)]
                    branch = at.pick([*given, branch], len(given))
            if not bare and follows and shape.follows_bodies:
                branch = follow_lambda(branch, temporaries.context(0) if shape.is_accelerated else None)
            if not bare:
                branch = with_contexts(at, shape, branch)
            value = at.either(self.test(at, number, not bare), branch, value)
        node.body = value
        return node

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
            form = InlinedForm(shape, around.file_digest, around.objects, self.read_by_handlers, self._variables)
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
            made = node if self.keep_functions or elsewhere else self._nested_function(node)
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
