"""The steps of an event that is carried out in the body itself: prehooks, the operation, posthooks."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.interpreter.protocols import Protocol
from cassette_import.rewriting import temporaries, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.bound_variables import NO_VARIABLES, LastingVariables
from cassette_import.rewriting.shape import TAGGED, Shape
from cassette_import.rewriting.symbols import When
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames

# ---- the note of a pending event: kind and operands, kept in a variable of the frame for the handler of exceptions
#
# The handler passes them to the errorhooks. Where temporaries hold the operands, the note is a constant that names the
# temporaries: building tuples would take as long as a Python call.


def note(
    at: At,
    event: Events,
    below: int,
    positional: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    """The note of an event.

    Parameters
    ----------
    at:
        The position of the event.
    event:
        Its kind.
    below:
        The errorhooks of the contexts below this level are called if the event fails.
    positional, keywords:
        The operands, as errorhooks are called with them.
    read_by_handlers:
        The temporaries that the handler of exceptions reads. Those of this event are added.
    """
    places = _places(positional, keywords)
    if None in places:
        return at.pending(int(event), below, positional, keywords)
    return _note(at, event, below, places, keywords, read_by_handlers)


def note_of_callee(
    at: At,
    event: Events,
    below: int,
    callee: str,
    positional: Sequence[ast.expr] | None,
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    """The note of a call whose callee the handler splits into its function and the arguments that it carries.

    Parameters
    ----------
    at, event, below, keywords, read_by_handlers:
        As for `note`.
    callee:
        The temporary that holds the callee.
    positional:
        The arguments, which are constants or in temporaries; None if errorhooks get the function alone.
    """
    first = callee, temporaries.FUNCTION_OF_CALLEE if positional is None else temporaries.SPLIT_CALLEE
    return _note(at, event, below, [first, *_places(positional or (), keywords)], keywords, read_by_handlers)


def _note(
    at: At,
    event: Events,
    below: int,
    places: Sequence[_Place | None],
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    read_by_handlers.update(
        place[0] for place in places if place is not None and temporaries.is_numbered_temporary(place[0])
    )
    names = tuple(keyword.arg for keyword in keywords)
    return at.constant((int(event), below, (*places,), names, None))


def _places(positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[_Place | None]:
    return [_place(value) for value in (*positional, *(keyword.value for keyword in keywords))]


_Place = tuple[str, Any]
"""Where the handler finds an operand: the name of a variable, and an attribute of its value or None.

A constant is in no temporary, so the note has the constant, and no name.
"""


def _place(value: ast.expr) -> _Place | None:
    if isinstance(value, ast.Constant):
        return "", value.value
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.value.id, value.attr
    return (value.id, None) if isinstance(value, ast.Name) else None


# ---- the steps of an event that is carried out in the body itself: prehooks, the operation, posthooks

Read = Callable[[], ast.expr]
"""Returns a node that reads a temporary or a constant."""

_WHENS: Final[tuple[When, ...]] = ("pre", "post")


class Operands(Protocol):
    """What the hooks of an event are called with, after their context and the result."""

    def passed_to(self, hook: str, leading: list[ast.expr], alone: bool) -> ast.expr:
        """The call of a hook. `alone` says that the hook gets the function without its arguments."""

    def noted(self, event: Events, below: int, alone: bool) -> ast.expr:
        """The note of the pending event (see the section of that name)."""


class OperandsOfPrimitive:
    """The operands of an event that is no call: a primitive and its arguments.

    Parameters
    ----------
    at:
        The position of the event.
    function:
        The primitive.
    arguments:
        Its arguments.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    """

    def __init__(self, at: At, function: ast.expr, arguments: list[ast.expr], read_by_handlers: set[str]) -> None:
        self._at = at
        self._operands = [function, *arguments]
        self._has_splats = any(isinstance(argument, ast.Starred) for argument in arguments)
        self._read_by_handlers = read_by_handlers

    def passed_to(self, hook: str, leading: list[ast.expr], alone: bool) -> ast.expr:
        """The call of a hook."""
        at, given = self._at, [*leading, *self._of(alone)]
        if alone:
            hook = variant_names.without_arguments(hook)
        elif not self._has_splats:
            hook = variant_names.with_arity(hook, len(given))
        return at.call(at.symbol(hook), given)

    def noted(self, event: Events, below: int, alone: bool) -> ast.expr:
        """The note of the event."""
        return note(self._at, event, below, self._of(alone), (), self._read_by_handlers)

    def _of(self, alone: bool) -> list[ast.expr]:
        return self._operands[:1] if alone else self._operands


Stays = Callable[[str], bool]


def _always(name: str) -> bool:
    return True


def _never(name: str) -> bool:
    return False


class Variables:
    """The variables of the function that is being rewritten which no other code can assign.

    While an event runs, they keep their values. An operand that is such a variable is read several times, and needs no
    temporary, if no other operand is evaluated after it. Nested functions have none: their code is not known.
    """

    __slots__ = ("lasting", "names")

    def __init__(self, names: frozenset[str] = frozenset(), lasting: LastingVariables = NO_VARIABLES) -> None:
        self.names = names
        self.lasting = lasting


class HookedEvents:
    """Builds events of one shape.

    Parameters
    ----------
    shape:
        The stack of contexts.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    variables:
        The variables of the function that need no temporaries.
    """

    def __init__(self, shape: Shape, read_by_handlers: set[str], variables: Variables) -> None:
        self.shape = shape
        self._variables = variables
        self.names = VariantNames(shape.prefix)
        self.read_by_handlers = read_by_handlers
        self._levels = {when: functools.cache(functools.partial(self._levels_of, when)) for when in _WHENS}
        self._errorhooks_get_function_alone = all(
            "errorhook" in context.without_arguments for context in self.shape.contexts
        )

    def event(
        self, at: At, event: Events, operands: Operands, steps: list[ast.expr], native: ast.expr, result: str
    ) -> tuple[list[ast.expr], int]:
        """``steps..., prehooks..., result := native, posthooks...``, and the place of the result among them.

        Parameters
        ----------
        at, event:
            The position of the event, and its kind.
        operands:
            What hooks are called with.
        steps:
            What is evaluated first.
        native:
            The operation.
        result:
            The temporary for its value.
        """
        before = self._hooks(at, "pre", event, operands, result)
        after = self._hooks(at, "post", event, operands, result)
        if event in self.shape.has_errorhooks:
            before = self._pending_before(at, event, operands, before)
            before.append(self._note(at, event, len(self.shape.contexts), operands))
            after = self._pending_after(at, event, operands, after)
        return [*steps, *before, at.let(result, native) if after else native, *after], len(steps) + len(before)

    def has_no_hooks(self, event: Events) -> bool:
        """Whether no hook is called at a kind of event, but values may be tagged there."""
        if not self.shape.tagging or event not in TAGGED or event in self.shape.has_errorhooks:
            return False
        return not (self._levels["pre"](event) or self._levels["post"](event))

    def stays(self, event: Events) -> Stays:
        """Tells of a variable whether an operand that is read last may stay in it, and needs no temporary."""
        if self.has_no_hooks(event):  # it is read once
            return _always
        if self.shape.tagging or event in self.shape.has_errorhooks:
            return _never
        return self._variables.names.__contains__

    def alone(self, when: When, event: Events) -> list[bool]:
        """Of each prehook or posthook, whether it gets the function without its arguments."""
        contexts, name = self.shape.contexts, f"{when}hook"
        return [name in contexts[number].without_arguments for number in self._levels[when](event)]

    def _levels_of(self, when: When, event: Events) -> list[int]:
        """The levels of the contexts with such a hook, in the order in which the hooks are called.

        Prehooks are called outermost first, posthooks innermost first.
        """
        levels = [
            number
            for number, context in enumerate(self.shape.contexts)
            if event in context.events and (context.prehook if when == "pre" else context.posthook)
        ]
        return levels if when == "pre" else levels[::-1]

    def _hooks(self, at: At, when: When, event: Events, operands: Operands, result: str) -> list[ast.expr]:
        """The calls of all prehooks or posthooks of an event."""
        calls: list[ast.expr] = []
        for number in self._levels[when](event):
            leading: list[ast.expr] = [at.load(temporaries.context(number))]
            if when == "post":
                leading.append(at.load(result))
            alone = f"{when}hook" in self.shape.contexts[number].without_arguments
            calls.append(operands.passed_to(self.names.hook(when, number, event), leading, alone))
        return calls

    def _pending_before(self, at: At, event: Events, operands: Operands, prehooks: list[ast.expr]) -> list[ast.expr]:
        """The prehooks, with a note before each: if it fails, the contexts whose prehook has returned are notified."""
        steps: list[ast.expr] = []
        for number, prehook in zip(self._levels["pre"](event), prehooks, strict=True):
            if number > 0:
                steps.append(self._note(at, event, number, operands))
            steps.append(prehook)
        return steps

    def _pending_after(self, at: At, event: Events, operands: Operands, posthooks: list[ast.expr]) -> list[ast.expr]:
        """The posthooks, with a note before each: if it fails, the contexts further out are notified."""
        levels = self._levels["post"](event)
        steps: list[ast.expr] = []
        for number, posthook in zip(levels, posthooks, strict=True):
            if number > 0:
                steps.append(self._note(at, event, number, operands))
            else:
                steps.append(at.let(temporaries.PENDING, at.constant(None)))
            steps.append(posthook)
        return [*steps, at.let(temporaries.PENDING, at.constant(None))] if 0 not in levels else steps

    def _note(self, at: At, event: Events, below: int, operands: Operands) -> ast.expr:
        noted = at.let(temporaries.PENDING, operands.noted(event, below, self._errorhooks_get_function_alone))
        # A note that is no constant holds the operands. As a step of its own it would live as long as the other steps.
        return at.same(noted, at.constant(None)) if isinstance(noted.value, ast.Tuple) else noted


def into_temporaries(
    at: At, values: list[ast.expr], prefix: str, steps: list[ast.expr], used: list[str], stays: Stays = _never
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
    stays:
        Tells which variables need no temporary either if they are among the last values.

    Returns
    -------
    For each value, what makes a node that reads it.
    """
    reads: list[Read] = []
    first_read = len(values)
    while first_read and _stays(at, values[first_read - 1], stays):
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


def _stays(at: At, value: ast.expr, stays: Stays) -> bool:
    return at.is_variable_here(value) and (not isinstance(value, ast.Name) or stays(value.id))


def _identity(value: ast.expr) -> ast.expr:
    return value


def as_written(values: list[ast.expr], reads: list[Read]) -> list[ast.expr]:
    """The operands for the operation itself, whose constants stay where they were written."""
    return [value if isinstance(value, ast.Constant) else read() for value, read in zip(values, reads, strict=True)]
