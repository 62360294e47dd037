"""The test at a function's entry, which chooses the branch of a variant."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.forms.bound_variables import NO_VARIABLES, LastingVariables
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames

# ---- what stands around the events of a branch: the variables of its contexts, and the handler for errorhooks


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


# ---- the test at a function's entry, which chooses the branch of a variant


class Surroundings(NamedTuple):
    """The surroundings of a function."""

    class_name: str | None = None
    """The class whose private names it uses."""
    free_names: tuple[str, ...] = ()
    """The names of the functions around it that it uses."""
    file_digest: str = ""
    """A digest of the name of its file (`guard_keys.file_digest`)."""
    objects: frozenset[str] = frozenset()
    """The names that its module assigns."""
    variables: frozenset[str] = frozenset()
    """Its variables that no other code can assign."""
    lasting: LastingVariables = NO_VARIABLES
    """Those of them that nothing unbinds."""
    passed: frozenset[str] = frozenset()
    """Where bodies are followed: the names of functions that its module may pass to other functions."""
    is_nested: bool = False
    """Whether it is a function in another function."""


class Entry:
    """Builds the test at a function's entry.

    Parameters
    ----------
    root:
        The file of the function, if it is overdubbed only for the sake of a root function; None if it is installed.
    asks_containers:
        Whether containers are in C, so that ``@7 in @families`` takes less time than to read the family of the
        activation, and ``self in @7.i.…`` less than to look its type up (`forms.guarded`).
    """

    def __init__(self, root: str | None = None, asks_containers: bool = False) -> None:
        self.root = root
        self.asks_containers = asks_containers

    def test(
        self, at: At, shape: Shape, is_first: bool, in_variables: bool, is_only: bool = True, resumed: bool = False
    ) -> ast.expr:
        """The test for the branch of a shape.

        It is ``@on and (@a := @get()).family is @7``, or ``@on and @7 in @families`` if nothing reads the activation;
        for further branches ``@v is @7``. Where all events have guards, it is ``@on``: what a guard calls for a target
        looks up the active context.

        Parameters
        ----------
        at:
            The position of the test.
        shape:
            The shape of the branch.
        is_first, is_only:
            Whether it is the first branch that is tested, and whether there are no others.
        in_variables:
            Whether the activation and its family may be kept in variables. Nothing reads the activation where
            values may be tagged and there are no hooks.
        resumed:
            Whether the test stands in a body that may have been suspended since it was entered. It is exact then: if a
            hook was registered meanwhile, another variant of the family has replaced that of the body.
        """
        if is_only and shape.guarded and self.root is None:
            return at.symbol(symbols.IS_ANY_ACTIVE)
        activation: ast.expr = at.call(at.symbol(symbols.GET_ACTIVATION), [])
        is_kept = in_variables and not (is_only and shape.tagging and not needs_contexts(shape))
        if is_kept:
            activation = at.let(temporaries.ACTIVATION, activation)
        family: ast.expr = at.attribute(activation, "variant" if resumed else "family")
        own = at.symbol(VariantNames(shape.prefix).current if resumed else shape.prefix)
        tests: list[ast.expr] = []
        if in_variables and not is_only:
            read: ast.expr = at.load(temporaries.FAMILY)
            if is_first:
                known = at.put(ast.BoolOp(ast.And(), [at.symbol(symbols.IS_ANY_ACTIVE), family]))
                read = at.let(temporaries.FAMILY, known)
            tests.append(at.same(read, own))
        elif self.asks_containers and not is_kept and not resumed:
            active = at.put(ast.Compare(own, [ast.In()], [at.symbol(symbols.ACTIVE_FAMILIES)]))
            tests += [at.symbol(symbols.IS_ANY_ACTIVE), active]
        else:
            tests += [at.symbol(symbols.IS_ANY_ACTIVE), at.same(family, own)]
        if self.root is not None:
            roots = at.attribute(at.call(at.symbol(symbols.GET_ACTIVATION), []), "roots")
            tests.append(at.put(ast.Compare(at.constant(self.root), [ast.In()], [roots])))
        return at.put(ast.BoolOp(ast.And(), tests)) if len(tests) > 1 else tests[0]

    def elsewhere(self, at: At) -> ast.expr | None:
        """The test whether the context that is active does not cover the file of the function; None if it always does.

        It is for a body that all contexts share, which the file keeps when its root function has returned.
        """
        if self.root is None:
            return None
        active = at.attribute(at.call(at.symbol(symbols.GET_ACTIVATION), []), "variant")
        roots = at.attribute(at.call(at.symbol(symbols.GET_ACTIVATION), []), "roots")
        other = at.put(ast.Compare(at.constant(self.root), [ast.NotIn()], [roots]))
        return at.put(ast.BoolOp(ast.And(), [at.symbol(symbols.IS_ANY_ACTIVE), active, other]))
