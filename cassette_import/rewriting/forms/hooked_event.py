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
"""Returns new nodes for what hooks are called with: positional arguments and keywords."""

Read = Callable[[], ast.expr]
"""Returns a new node that reads a temporary or a constant."""


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
        """``(prehooks..., result := native, posthooks...)[...]``.

        Parameters
        ----------
        at, event:
            The position of the event, and its kind.
        operands:
            What hooks are called with.
        native:
            The operation.
        result:
            The temporary for its value.
        later:
            Steps between the prehooks and the operation, and what hooks are called with after them.
        """
        before = self._hooks(at, "pre", event, operands, result)
        steps, later_operands = later if later is not None else ([], operands)
        after = self._hooks(at, "post", event, later_operands, result)
        if event in self.shape.has_errorhooks:
            noted = operands if self._errorhooks_read_no_arguments() else later_operands
            before = self._pending_before(at, event, noted, before)
            steps.append(self._note(at, event, len(self.shape.contexts), self._of_errorhooks(later_operands)))
            after = self._pending_after(at, event, later_operands, after)
        before += steps
        return at.pick([*before, at.let(result, native) if after else native, *after], len(before))

    def has_no_hooks(self, event: Events) -> bool:
        """Whether no hook is called at a kind of event, but values may be tagged there."""
        if not self.shape.tagging or event not in TAGGED or event in self.shape.has_errorhooks:
            return False
        return not any(
            event in context.events and (context.prehook or context.posthook) for context in self.shape.contexts
        )

    def reads_arguments(self, context: ContextShape, hook: str) -> bool:
        """Whether a context has a hook of calls that reads their arguments."""
        if hook == "errorhook":
            has = Events.CALLS in self.shape.has_errorhooks
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
        """The function alone, without its arguments."""
        first = positional[0]
        if not isinstance(first, ast.Starred):
            return [first]
        at, carried = At(first), first.value
        callee = split_one(carried)
        if callee is not None:  # `*@split(@f0)`, whose first part is in @q0
            return [at.load(temporaries.callee_parts(callee))]
        return [at.put(ast.Subscript(carried, at.constant(0), ast.Load()))]  # of `*@q0`

    def _pending_before(self, at: At, event: Events, operands: Operands, prehooks: list[ast.expr]) -> list[ast.expr]:
        """The prehooks, with a note before each: if it fails, the contexts whose prehook has returned are notified."""
        operands = self._of_errorhooks(operands)
        levels = [
            number for number, context in enumerate(self.shape.contexts) if event in context.events and context.prehook
        ]
        steps: list[ast.expr] = []
        for number, prehook in zip(levels, prehooks, strict=True):
            if number > 0:
                steps.append(self._note(at, event, number, operands))
            steps.append(prehook)
        return steps

    def _pending_after(self, at: At, event: Events, operands: Operands, posthooks: list[ast.expr]) -> list[ast.expr]:
        """The posthooks, with a note before each: if it fails, the contexts further out are notified."""
        levels = [
            number for number, context in enumerate(self.shape.contexts) if event in context.events and context.posthook
        ]
        steps: list[ast.expr] = []
        for number, posthook in zip(reversed(levels), posthooks, strict=True):
            if number > 0:
                steps.append(self._note(at, event, number, self._of_errorhooks(operands)))
            else:
                steps.append(at.let(temporaries.PENDING, at.constant(None)))
            steps.append(posthook)
        return [*steps, at.let(temporaries.PENDING, at.constant(None))] if 0 not in levels else steps

    def _note(self, at: At, event: Events, below: int, operands: Operands) -> ast.expr:
        noted = at.let(temporaries.PENDING, note(at, event, below, *operands(), self._read_by_handlers))
        # A note that is no constant holds the operands. As a step of its own it would live as long as the other steps.
        return noted if isinstance(noted.value, ast.Constant) else at.same(noted, at.constant(None))

    def _of_errorhooks(self, operands: Operands) -> Operands:
        """The operands that errorhooks are called with."""
        if not self._errorhooks_read_no_arguments():
            return operands
        return lambda: (self._alone(operands()[0]), [])

    def _errorhooks_read_no_arguments(self) -> bool:
        return all("errorhook" in context.without_arguments for context in self.shape.contexts)


def into_temporaries(
    at: At, values: list[ast.expr], prefix: str, steps: list[ast.expr], used: list[str], read_once: bool = False
) -> list[Read]:
    """Evaluate values into temporaries.

    Temporaries are read on the line of the event, since tracers are notified when the line changes.

    Parameters
    ----------
    at:
        The position of the event.
    values:
        The operands. Constants need no temporary.
    prefix:
        What the names of the temporaries start with.
    steps, used:
        The assignments and the names of the temporaries are added to these.
    read_once:
        Whether each value is read once. Then the variables among the last values need no temporary either.

    Returns
    -------
    For each value, what makes a node that reads it.
    """
    reads: list[Read] = []
    first_read = len(values)
    while read_once and first_read and at.is_variable_here(values[first_read - 1]):
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
    """The operands for the operation itself, whose constants stay where they were written."""
    return [value if isinstance(value, ast.Constant) else read() for value, read in zip(values, reads, strict=True)]
