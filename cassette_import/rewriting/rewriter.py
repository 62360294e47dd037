"""Rewriting of a function, lambda or module: the tree that is compiled instead of the plain one.

A function gets a branch for each shape, or one body for all contexts if it can be suspended.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.entry_test import (
    Entry,
    Surroundings,
    assigned_contexts,
    handled,
    hook_context,
    needs_contexts,
    with_contexts,
)
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.binding_statements import Names
from cassette_import.rewriting.forms.bound_variables import NO_VARIABLES
from cassette_import.rewriting.forms.followed_bodies import (
    BETWEEN_CALL_AND_BODY,
    FOLLOWED,
    follow_body,
    follow_call,
    follow_lambda,
    follow_module,
    is_entered_otherwise,
)
from cassette_import.rewriting.forms.tagged import (
    CATCHING,
    VARIABLES,
    free_names,
    insert_reads_where_active,
    insert_unwrapping,
    lambda_parameters,
    parameters,
    rest_parameters,
    returned,
    with_plain_reads,
    with_plain_reads_of,
    with_returns_kept,
)
from cassette_import.rewriting.forms.untagged import has_untagged_form, in_order
from cassette_import.rewriting.forms.untagged_branches import is_too_deep
from cassette_import.rewriting.modes import BARE_LAMBDA, Mode, make_lambdas_bare
from cassette_import.rewriting.node_rewriter import NodeRewriter
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.annotations import CHANGING, NOOVERDUB, annotate
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import (
    Function,
    clone,
    hoist_declarations,
    is_suspendable,
    reads_locals,
    split_docstring,
    survey,
)
from cassette_import.rewriting.trees.traversal import DEPTH, depth_of, first_evaluated
from cassette_import.rewriting.uninterrupted import insert_parts

# ---- branches in a body that can be suspended
#
# An expression cannot catch exceptions. So if there are errorhooks, the statement around it has the handler. What the
# variable of the pending event holds while the body is suspended is None: an event that was carried out here is over.

_READ: Final = "_read"
"""The attribute of an expression that holds the temporaries which a handler reads if an event in it fails."""


class Rewriter(Protocol):
    """What rewrites the parts."""

    shapes: tuple[Shape, ...]
    kept: str | None
    read_by_handlers: set[str]

    def block(self, statements: list[ast.stmt], mode: Mode, shape: Shape | None) -> list[ast.stmt]:
        """Rewrite statements."""

    def rewrite(self, node: ast.AST, mode: Mode, shape: Shape | None) -> Any:
        """Rewrite a node."""

    def test(self, at: At, number: int, in_variables: bool = True, resumed: bool = False) -> ast.expr:
        """The test for the branch of a shape."""


class ResumedParts:
    """Builds the branches of parts (see `uninterrupted.Parts`).

    Parameters
    ----------
    rewriter:
        Rewrites the parts.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._watching = [shape for shape in rewriter.shapes if shape.has_errorhooks]
        # A suspended body holds no activation if it can do without: that refers to all that its contexts have tagged.
        self._in_variables = any(needs_contexts(shape) or not shape.tagging for shape in rewriter.shapes)

    def run(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A run of statements, with a branch for each shape beside the one for all contexts."""
        rewriter = self._rewriter
        at = At(statements[0]).on_line_of(first_evaluated(statements[0]))
        copies: list[Any] = [[clone(statement, rewriter.kept) for statement in statements] for _ in rewriter.shapes]
        chain = rewriter.block(statements, Mode.CALLEE, None)
        for number in reversed(range(len(rewriter.shapes))):
            shape = rewriter.shapes[number]
            read, outer = rewriter.read_by_handlers, {*rewriter.read_by_handlers}
            read.clear()
            branch = handled(at, rewriter.block(copies[number], Mode.INLINED, shape), shape, read)
            read |= outer
            branch = [*assigned_contexts(at, shape), *branch]
            chain = [at.put(ast.If(rewriter.test(at, number, self._in_variables, resumed=True), branch, chain))]
        setattr(chain[0], NOOVERDUB, True)
        return chain

    def expression(self, node: ast.expr) -> ast.expr:
        """The same for an expression. One handler serves one shape: with more errorhooks, it looks up the context."""
        if len(self._watching) > 1:
            return node
        rewriter = self._rewriter
        at = At(node)
        copies: list[Any] = [clone(node, rewriter.kept) for _ in rewriter.shapes]
        value = rewriter.rewrite(node, Mode.CALLEE, None)
        depth = depth_of(value)
        read, outer = rewriter.read_by_handlers, {*rewriter.read_by_handlers}
        read.clear()
        for number in reversed(range(len(rewriter.shapes))):
            shape = rewriter.shapes[number]
            branch = rewriter.rewrite(copies[number], Mode.INLINED, shape)
            depth = max(depth, depth_of(branch))
            value = at.either(
                rewriter.test(at, number, self._in_variables, resumed=True), with_contexts(at, shape, branch), value
            )
        setattr(value, NOOVERDUB, True)
        setattr(value, DEPTH, depth)
        setattr(value, _READ, frozenset(read))
        read |= outer
        return value  # type: ignore[no-any-return]  # what replaces a node may be of any kind

    def around(self, statement: ast.stmt, made: list[ast.expr]) -> list[ast.stmt]:
        """The statement, with the handler for events in such expressions."""
        if len(self._watching) != 1:
            return [statement]
        read: set[str] = set().union(*(getattr(value, _READ) for value in made))
        unbound, watched = handled(
            At(statement).on_line_of(first_evaluated(statement)), [statement], self._watching[0], read
        )
        assert isinstance(watched, ast.Try)
        for added in (unbound, *watched.handlers):
            setattr(added, NOOVERDUB, True)
        if self._rewriter.kept is not None:
            setattr(watched, self._rewriter.kept, True)
        return [unbound, watched]


# ---- the blocks of a function before its events are rewritten: what each branch of it begins with


def has_events(function: Function) -> bool:
    """Whether anything in a function may be an event. Without any, it needs no branch and no test at its entry."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return any(hasattr(part, CHANGING) for part in body)


def with_unwrapping(at: At, function: Function, block: list[ast.stmt], shapes: Sequence[Shape]) -> list[ast.stmt]:
    """A block of a function whose values may be tagged, with the calls that take wrappers off."""
    rest: list[ast.stmt] = [at.put(ast.Expr(part)) for part in rest_parameters(at, function)]
    rest += parameters(at, function, is_suspendable(function))
    block = with_returns_kept(function, block)
    is_catching = any(isinstance(part, CATCHING) for statement in block for part in ast.walk(statement))
    # The awaiting code fetches the wrapper of the value that a function that can be suspended returned last.
    names = Names(survey(function).declared, is_catching=is_catching or is_suspendable(function))
    return [*rest, *(insert_unwrapping(statement, shapes, names) for statement in block)]


def plain_branch(at: At, body: list[ast.stmt], names: frozenset[str]) -> list[ast.stmt]:
    """The branch without any context. A closure reads these names without wrappers, if any value may be tagged."""
    made = with_plain_reads(body, names) if names else None
    return body if made is None else [at.put(ast.If(at.symbol(symbols.METADATA_EXISTS), made, body))]


def block_of_passes(made: Function, declarations: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a body that passes made; its declarations go to the top of the function."""
    assert not isinstance(made, ast.Lambda)
    _, body = split_docstring(made.body)
    # For the type checker: declarations have names.
    known = {name for declaration in declarations for name in declaration.names}  # type: ignore[attr-defined]
    for declaration in hoist_declarations(made, body):
        if not known.issuperset(declaration.names):  # type: ignore[attr-defined]  # its kind is known
            declarations.append(declaration)
    return body or [At(made).put(ast.Pass())]


# ---- which kinds of nodes rewriting may change for some shapes, so that all others are neither copied
# nor visited

_ALWAYS: Final[frozenset[type[ast.AST]]] = frozenset({ast.ClassDef})
_BY_EVENT: Final[dict[Events, frozenset[type[ast.AST]]]] = {
    Events.CALLS: frozenset({ast.Call}),
    Events.OPERATORS: frozenset(
        {ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete}
    ),
}


def changing_kinds(shapes: Sequence[Shape], of_module: bool = False) -> frozenset[type[ast.AST]] | None:
    """The kinds of nodes that become events, or that rewriting changes otherwise; None if they may be of any kind.

    Parameters
    ----------
    shapes:
        The shapes.
    of_module:
        Whether it is the module level that is rewritten.
    """
    if any(shape.tagging or (shape.passes and not of_module) for shape in shapes):
        return None
    kinds: set[type[ast.AST]] = set() if of_module else set(_ALWAYS)
    for event in Events:
        if any(shape.wants(event) for shape in shapes):
            if event not in _BY_EVENT:
                return None
            kinds |= _BY_EVENT[event]
    if any(shape.follows_bodies for shape in shapes):
        kinds |= FOLLOWED
    if any(shape.has_errorhooks for shape in shapes):
        kinds |= {ast.Try, ast.TryStar}
    return frozenset(kinds)


# ---- rewriting of a function, lambda or module: the tree that is compiled instead of the plain one


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


class _Rewriter(NodeRewriter):
    """Rewrites one function, with the functions in it, or the module level of one module."""

    def nested_function(self, node: Function) -> Function:
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
        begin = body[0] if body else node.body[0]
        at = At(begin).on_line_of(first_evaluated(begin))
        body = body or [at.put(ast.Pass())]
        blocks = {prefix: block_of_passes(made, declarations) for prefix, made in bodies.items()}
        bare = reads_locals(node) or any(map(reads_locals, bodies.values()))
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

    def _branches(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        at: At,
        body: list[ast.stmt],
        blocks: dict[str, list[ast.stmt]],
        bare: bool,
        names: frozenset[str],
        follows: bool,
    ) -> list[ast.stmt]:
        begin = body[0]
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
                # On the line of a compound statement, the handler would be a branch of it to the end of the function.
                ends = at.on_line_of(node) if hasattr(begin, "body") or hasattr(begin, "cases") else at
                branch = handled(at, branch, shape, self.read_by_handlers, ends)
                prologue = assigned_contexts(at, shape)
                if follows and shape.follows_bodies:
                    asks = len(shape.contexts) == 1 and bool(prologue)
                    asks = asks and (shape.is_accelerated or node.name not in BETWEEN_CALL_AND_BODY)
                    branch = follow_call(branch, temporaries.context(0) if asks else None, shape.is_accelerated)
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
        bare = any(map(reads_locals, (node, *bodies.values()))) or hasattr(node, BARE_LAMBDA)
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
            if follows and shape.follows_bodies:
                branch = follow_lambda(branch, temporaries.context(0) if shape.is_accelerated and not bare else None)
            if not bare:
                branch = with_contexts(at, shape, branch)
            value = at.either(self.test(at, number, not bare), branch, value)
        node.body = value
        return node
