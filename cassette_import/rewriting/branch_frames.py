"""What stands around the events of a branch: the variables of its contexts, and the handler for errorhooks."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from cassette_import.rewriting import temporaries
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames


def needs_contexts(shape: Shape) -> bool:
    """Whether a branch calls hooks, which get their contexts from variables."""
    return bool(shape.has_errorhooks) or any(context.prehook or context.posthook for context in shape.contexts)


def assigned_contexts(at: At, shape: Shape) -> list[ast.stmt]:
    """The assignments of the contexts to variables, if the branch calls hooks with them."""
    if not shape.everything:
        return []
    return [
        at.put(ast.Assign([at.store(temporaries.context(number))], hook_context(at, shape, number)))
        for number, context in enumerate(shape.contexts)
        if context.prehook or context.posthook or shape.has_errorhooks
    ]


def with_contexts(at: At, shape: Shape, value: ast.expr) -> ast.expr:
    """The same before an expression."""
    if not shape.everything or (shape.tagging and not needs_contexts(shape)):
        return value
    lets = [
        at.let(temporaries.context(number), hook_context(at, shape, number)) for number in range(len(shape.contexts))
    ]
    return at.pick([*lets, value], len(lets))


def hook_context(at: At, shape: Shape, number: int) -> ast.expr:
    """A context as its hooks take it; hooks in C are methods of its recorder."""
    contexts = at.attribute(at.load(temporaries.ACTIVATION), "contexts")
    context = at.put(ast.Subscript(contexts, at.constant(number), ast.Load()))
    return at.attribute(context, "recorder") if shape.is_accelerated else context


def with_handler(at: At, block: list[ast.stmt], shape: Shape, read: Iterable[str]) -> ast.stmt:
    """A block whose exceptions are reported to errorhooks, with the temporaries that the handler reads."""
    return at.watch(block, VariantNames(shape.prefix).failed, temporaries.PENDING, sorted(read))


def handled(
    at: At, branch: list[ast.stmt], shape: Shape, read: Iterable[str], handler: At | None = None
) -> list[ast.stmt]:
    """A branch whose exceptions are reported to errorhooks, if its shape has some.

    `handler` is the position of the handler, if it is another one than that of the `try`.
    """
    if not shape.has_errorhooks:
        return branch
    unbound: list[ast.expr] = [at.store(name) for name in (temporaries.PENDING, *sorted(read))]
    watched = at.put(with_handler(handler or at, branch, shape, read))
    return [at.put(ast.Assign(unbound, at.constant(None))), watched]
