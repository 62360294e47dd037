"""The steps of an event that is carried out in the body itself: prehooks, the operation, posthooks.

Knows which hooks there are, and what they are called with; must not know what the operation is.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.pending_event import note, split_one
from cassette_import.rewriting.shape import TAGGED, ContextShape, Shape
from cassette_import.rewriting.symbols import VariantNames, When
from cassette_import.rewriting.trees.node_builder import At

Operands = Callable[[], tuple[list[ast.expr], list[ast.keyword]]]
"""Gives new nodes for what hooks are called with: positional arguments and keywords."""

Read = Callable[[], ast.expr]
"""Gives a new node that reads a temporary or a constant."""


class HookedEvents:
    """Builds events of one shape.

    Parameters
    ----------
    shape:
        The stack of contexts.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    """

    def __init__(self, shape: Shape, read_by_handlers: set[str]) -> None:
        self.shape = shape
        self.names = VariantNames(shape.prefix)
        self._read_by_handlers = read_by_handlers

    def event(
        self,
        at: At,
        event: Events,
        operands: Operands,
        native: ast.expr,
        result: str,
        later: tuple[list[ast.expr], Operands] | None = None,
    ) -> ast.expr:
        """`(prehooks…, result := native, posthooks…)[…]`. With `later`, steps after the prehooks, and what the
        operands are from then on."""
        before = self._hooks(at, "pre", event, operands, result)
        steps, told = later if later is not None else ([], operands)
        after = self._hooks(at, "post", event, told, result)
        if event in self.shape.watched:
            before = self._pending_before(at, event, operands if self._tells_functions_only() else told, before)
            steps.append(self._going_on(at, event, len(self.shape.contexts), self._told(told)))
            after = self._pending_after(at, event, told, after)
        before += steps
        return at.pick([*before, at.let(result, native) if after else native, *after], len(before))

    def has_no_hooks(self, event: Events) -> bool:
        """Whether no hook is called at a kind of event, but values may be tagged there."""
        if not self.shape.tagging or event not in TAGGED or event in self.shape.watched:
            return False
        return not any(
            event in context.events and (context.prehook or context.posthook) for context in self.shape.contexts
        )

    def reads_arguments(self, context: ContextShape, hook: str) -> bool:
        """Whether a context has a hook of calls that reads their arguments."""
        if hook == "errorhook":
            has = Events.CALLS in self.shape.watched
        else:
            has = Events.CALLS in context.events and (context.prehook if hook == "prehook" else context.posthook)
        return has and hook not in context.without_arguments

    def _hooks(self, at: At, which: When, event: Events, operands: Operands, result: str) -> list[ast.expr]:
        """The calls of all prehooks (outermost first) or posthooks (innermost first) of an event."""
        calls: list[ast.expr] = []
        contexts = list(enumerate(self.shape.contexts))
        if which == "post":
            contexts.reverse()
        for number, context in contexts:
            if event not in context.events or not (context.prehook if which == "pre" else context.posthook):
                continue
            positional, keywords = operands()
            leading: list[ast.expr] = [at.load(temporaries.context(number))]
            if which == "post":
                leading.append(at.load(result))
            given = leading + positional
            hook = self.names.hook(which, number, event)
            if f"{which}hook" in context.without_arguments:
                hook, given, keywords = symbols.without_arguments(hook), leading + self._alone(positional), []
            elif not keywords and not any(isinstance(argument, ast.Starred) for argument in given):
                hook = symbols.with_arity(hook, len(given))
            calls.append(at.call(at.load(hook), given, keywords))
        return calls

    @staticmethod
    def _alone(positional: list[ast.expr]) -> list[ast.expr]:
        """What was called, without what it was called with."""
        first = positional[0]
        if not isinstance(first, ast.Starred):
            return [first]
        at, carried = At(first), first.value
        callee = split_one(carried)
        if callee is not None:  # `*@split(@f0)`, whose first part is in @q0
            return [at.load(temporaries.callee_parts(callee))]
        return [at.put(ast.Subscript(carried, at.constant(0), ast.Load()))]  # of `*@q0`

    def _pending_before(self, at: At, event: Events, operands: Operands, prehooks: list[ast.expr]) -> list[ast.expr]:
        """The prehooks, each with a note of who is to be told if it fails: those whose prehook has been."""
        operands = self._told(operands)
        levels = [
            number for number, context in enumerate(self.shape.contexts) if event in context.events and context.prehook
        ]
        steps: list[ast.expr] = []
        for number, prehook in zip(levels, prehooks, strict=True):
            if number > 0:
                steps.append(self._going_on(at, event, number, operands))
            steps.append(prehook)
        return steps

    def _pending_after(self, at: At, event: Events, operands: Operands, posthooks: list[ast.expr]) -> list[ast.expr]:
        """The posthooks, with a note of who is to be told if one of them fails: the contexts further out."""
        levels = [
            number for number, context in enumerate(self.shape.contexts) if event in context.events and context.posthook
        ]
        steps: list[ast.expr] = []
        for number, posthook in zip(reversed(levels), posthooks, strict=True):
            if number > 0:
                steps.append(self._going_on(at, event, number, self._told(operands)))
            else:
                steps.append(at.let(temporaries.PENDING, at.constant(None)))
            steps.append(posthook)
        return [*steps, at.let(temporaries.PENDING, at.constant(None))] if 0 not in levels else steps

    def _going_on(self, at: At, event: Events, below: int, operands: Operands) -> ast.expr:
        told = at.let(temporaries.PENDING, note(at, event, below, *operands(), self._read_by_handlers))
        # What is no constant holds operands; it is not to stand among the steps, where it would live as long as they.
        return told if isinstance(told.value, ast.Constant) else at.same(told, at.constant(None))

    def _told(self, operands: Operands) -> Operands:
        """What errorhooks are told of the operands."""
        if not self._tells_functions_only():
            return operands
        return lambda: (self._alone(operands()[0]), [])

    def _tells_functions_only(self) -> bool:
        return all("errorhook" in context.without_arguments for context in self.shape.contexts)


def into_temporaries(
    at: At, values: list[ast.expr], prefix: str, steps: list[ast.expr], used: list[str], lean: bool = False
) -> list[Read]:
    """Evaluate values into temporaries; what reads each of them. A constant needs none.

    They are read on the line of the event: tracers are told when the line changes. If `lean` says that each is read
    once, the variables among them that come last need none either.
    """
    reads: list[Read] = []
    first_read = len(values)
    while lean and first_read and at.is_variable_here(values[first_read - 1]):
        first_read -= 1
    for number, value in enumerate(values):
        if number >= first_read and isinstance(value, ast.Name):
            reads.append(functools.partial(_identity, value))
            continue
        if isinstance(value, ast.Constant):
            reads.append(functools.partial(at.constant, value.value))
            continue
        name = temporaries.part(prefix, number)
        steps.append(At(value).let(name, value))
        used.append(name)
        reads.append(functools.partial(at.load, name))
    return reads


def _identity(value: ast.expr) -> ast.expr:
    return value


def as_written(values: list[ast.expr], reads: list[Read]) -> list[ast.expr]:
    """The operands for the operation itself, whose constants stand where they were written."""
    return [value if isinstance(value, ast.Constant) else read() for value, read in zip(values, reads, strict=True)]
