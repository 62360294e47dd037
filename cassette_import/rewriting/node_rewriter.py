"""Rewriting of nodes: which form an event takes, by its surroundings, and which blocks have a form of their own."""

from __future__ import annotations

import ast
from typing import Any

from cassette_import.rewriting.entry_test import Entry, Surroundings, with_handler
from cassette_import.rewriting.forms.callee import CalleeForm
from cassette_import.rewriting.forms.followed_bodies import follow_expression
from cassette_import.rewriting.forms.guarded import GuardedForm
from cassette_import.rewriting.forms.inlined import InlinedForm, Variables
from cassette_import.rewriting.forms.untagged import has_untagged_form
from cassette_import.rewriting.modes import Inside, Mode, modes_inside
from cassette_import.rewriting.nested_bodies import NestedBodies
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.syntax.operation import Form
from cassette_import.rewriting.syntax.statements import replaced
from cassette_import.rewriting.trees.annotations import CHANGING, NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import DEPTH, rebuild
from cassette_import.rewriting.untagged_blocks import UntaggedBlocks

__all__ = ["NodeRewriter"]

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
        return UntaggedBlocks(shape, self, inlined, around.file_digest, around.objects, self._variables)

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
        if NOOVERDUB in node.__dict__:
            return []
        return modes_inside(node, mode, self.kept)

    def _leave(self, node: ast.AST, mode: Mode, shape: Shape | None, inlined: InlinedForm, depth: int) -> Any:
        if hasattr(node, NOOVERDUB):
            return node
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
