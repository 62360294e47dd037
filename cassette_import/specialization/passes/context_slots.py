"""Context slots: the placeholder `contextslot()` becomes the expression for the active context."""

from __future__ import annotations

import ast
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import Function, is_suspendable
from cassette_import.specialization.passes.function_nodes import origin_of
from cassette_import.specialization.passes.tree_tools import SLOT, nooverdub, replace_match


def fill_module(tree: ast.Module, level: int) -> None:
    """Replace each slot in a module level by the context of this level of the stack."""
    replace_match(lambda node: _active(node, level), _is_slot, tree)


def fill(tree: Function, level: int) -> None:
    """Replace each slot by the context of this level of the stack.

    A generator or coroutine may be resumed while another context is active, or none. So it reads its context at entry
    and holds it in a local variable.
    """
    if not any(map(_is_slot, ast.walk(tree))):
        return

    def held(node: ast.AST) -> ast.expr:
        at = At(node)  # the name alone would count as a callee of the rewriter's, whose calls are no events
        return nooverdub(at.pick([at.load(name), at.constant(None)], 0))

    name = temporaries.slot(level)
    if isinstance(tree, ast.Lambda) or not is_suspendable(origin_of(tree)):
        body: Any = tree.body
        tree.body = replace_match(lambda node: _active(node, level), _is_slot, body)
        return
    replace_match(held, _is_slot, tree.body)
    at = At(tree.body[0])
    hold = at.put(ast.Assign([at.store(name)], _active(tree.body[0], level)))
    setattr(hold, NOOVERDUB, True)
    tree.body.insert(0, hold)


def _active(node: ast.AST, level: int) -> ast.expr:
    at = At(node)
    contexts = at.attribute(at.call(at.symbol(symbols.GET_ACTIVATION), []), "contexts")
    return nooverdub(at.put(ast.Subscript(contexts, at.constant(level), ast.Load())))


def _is_slot(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == SLOT
