"""`Shape`: all that the rewriter is told of the contexts that a body is specialised for.

A shape is plain data. Two variants with equal shapes get equal trees but for the prefix of the names that they use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF

TAGGED: Final = Events.ALL & ~(Events.TRUTH | Events.CONTROL)
"""The kinds of events at which tagged values are conducted; at the others the rewriter takes the wrappers off."""


class Interest(Enum):
    """What a kind of event means to a stack of contexts."""

    NOTHING = 0
    TARGETS = 1  # some functions only: the callee is asked for
    EVERYTHING = 2  # hooks that see every event: they are inlined


@dataclass(frozen=True)
class ContextShape:
    """Which hooks of one context of the stack take part in an inlined event of the kinds in `events`."""

    events: Events = Events.NONE
    prehook: bool = False
    posthook: bool = False
    without_arguments: tuple[str, ...] = ()
    """Which of its hooks never look at the arguments of calls, nor at the operands of others."""


@dataclass(frozen=True)
class Shape:
    """What a body is specialised for: a stack of contexts, outermost first.

    Parameters
    ----------
    prefix:
        What the names in `builtins` start with that belong to the variant, ``@7`` for example.
    contexts:
        One entry per context.
    everything:
        Kinds of events of which some hook sees every one: they are inlined.
    targets:
        Kinds of events in which chosen functions, or functions with chosen arguments, are intercepted.
    primitives:
        Names of primitives (``operator.add``) that are intercepted although their kind may not be asked for.
    overloads:
        Kinds of events in which an overload may take the place of the function.
    watched:
        Kinds of events for which some context has an errorhook.
    passes:
        Whether passes make a body of its own for it.
    tagging:
        Whether some context tags values (see `tagged_form`).
    argument_free:
        Kinds of events whose hooks, all of them, look at nothing but their context: they need no arguments.
    """

    prefix: str
    contexts: tuple[ContextShape, ...] = ()
    everything: Events = Events.NONE
    targets: Events = Events.NONE
    primitives: frozenset[str] = field(default_factory=frozenset)
    overloads: Events = Events.NONE
    watched: Events = Events.NONE
    passes: bool = False
    tagging: bool = False
    argument_free: Events = Events.NONE

    def interest(self, event: Events, primitive: str | None = None) -> Interest:
        """What an event of this kind (and of this primitive) means to the stack."""
        if event in self.everything:
            return Interest.EVERYTHING
        if event in self.overloads or event in self.targets or primitive in self.primitives:
            return Interest.TARGETS
        return Interest.NOTHING

    def wants(self, event: Events) -> bool:
        """Whether some event of this kind means anything to the stack."""
        return self.interest(event) is not Interest.NOTHING or any(
            EVENT_OF.get(name) in (event, None) for name in self.primitives
        )

    @property
    def guarded(self) -> bool:
        """Whether calls of chosen functions are all that is intercepted, so that guards can tell (`guarded_form`)."""
        if self.passes or self.everything or self.primitives or self.watched or self.tagging:
            return False
        return bool(self.targets | self.overloads) and not (self.targets | self.overloads) & ~Events.CALLS

    @property
    def intercepts_nothing(self) -> bool:
        """Whether nothing is intercepted at all, so that the overdubbed body is the plain one."""
        return not (self.passes or self.everything or self.targets or self.primitives or self.overloads)
