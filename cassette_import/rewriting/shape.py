"""`Shape`: all that rewriting knows of the contexts for which a body is specialised.

A shape is plain data. The trees of two variants with equal shapes differ only in the prefix of their names.
"""

from __future__ import annotations

import functools
from enum import Enum
from typing import Final

from cassette_import.interpreter.records import Record
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF

TAGGED: Final = Events.ALL & ~(Events.TRUTH | Events.CONTROL)
"""The kinds of events at which metadata is propagated; at the others rewriting takes the wrappers off."""


class Interest(Enum):
    """What a kind of event means to a stack of contexts."""

    NOTHING = 0
    TARGETS = 1  # some functions are intercepted: each callee is looked up
    EVERYTHING = 2  # hooks see every event: they are inlined


class ContextShape(Record):
    """The hooks of one context of the stack that are called at inlined events.

    Parameters
    ----------
    events:
        The kinds of events at which they are called.
    prehook, posthook:
        Whether there are any.
    without_arguments:
        The names of its hooks that never read the arguments of calls, nor the operands of other events.
    is_accelerated:
        Whether its hooks of calls take the callee as it is (see `forms.inlined`).
    """

    events: Events = Events.NONE
    prehook: bool = False
    posthook: bool = False
    without_arguments: tuple[str, ...] = ()
    is_accelerated: bool = False


class Shape(Record):
    """What a body is specialised for: a stack of contexts, outermost first.

    Parameters
    ----------
    prefix:
        The prefix of the variant's names (`VariantNames`).
    contexts:
        One entry per context.
    everything:
        Kinds of events that some hook sees without exception: they are inlined.
    targets:
        Kinds of events in which chosen functions, or functions with chosen arguments, are intercepted.
    primitives:
        Names of primitives (``operator.add``) that are intercepted even if their kind is not.
    overloads:
        Kinds of events in which an overload may replace the function.
    has_errorhooks:
        Kinds of events for which some context has an errorhook.
    passes:
        Whether passes make a body for it.
    tagging:
        Whether some context tags values (see `forms.tagged`).
    argument_free:
        Kinds of events whose hooks are all argument-free: they read nothing but their context.
    follows_bodies:
        Whether some context follows the bodies of generators and coroutines (see `forms.followed_bodies`).
    tags_beside_targets:
        Whether values may be tagged, and hooks and overloads take calls of chosen functions alone: as long as nothing
        is tagged, all other calls are plain.
    has_overloads:
        Where values may be tagged, whether an overload may take events of some kind without exception.
    watches:
        Whether a context may watch attributes: its type has the method `loaded`.
    sees_super:
        Whether `super()` is an event. If no hook and no overload takes its calls, they keep the interpreter's fast way.
    """

    prefix: str
    contexts: tuple[ContextShape, ...] = ()
    everything: Events = Events.NONE
    targets: Events = Events.NONE
    primitives: frozenset[str] = frozenset()
    overloads: Events = Events.NONE
    has_errorhooks: Events = Events.NONE
    passes: bool = False
    tagging: bool = False
    argument_free: Events = Events.NONE
    follows_bodies: bool = False
    tags_beside_targets: bool = False
    has_overloads: bool = False
    watches: bool = False
    sees_super: bool = False

    def interest(self, event: Events, primitive: str | None = None) -> Interest:
        """What an event of this kind, and of this primitive, means to the stack."""
        known = self._interests.get((event._value_, primitive))
        if known is None:
            known = self._interests[event._value_, primitive] = self._interest(event, primitive)
        return known

    @functools.cached_property
    def _interests(self) -> dict[tuple[int, str | None], Interest]:
        """What events mean, as far as it was asked for: each call site asks several times."""
        return {}

    def _interest(self, event: Events, primitive: str | None) -> Interest:
        if event in self.everything:
            return Interest.EVERYTHING
        if event in self.overloads or event in self.targets or primitive in self.primitives:
            return Interest.TARGETS
        return Interest.NOTHING

    def wants(self, event: Events) -> bool:
        """Whether the stack intercepts any event of this kind."""
        return self.interest(event) is not Interest.NOTHING or any(
            EVENT_OF.get(name) in (event, None) for name in self.primitives
        )

    @property
    def guarded(self) -> bool:
        """Whether only calls of chosen functions are intercepted, so that guards serve (`forms.guarded`)."""
        if self.passes or self.everything or self.primitives or self.has_errorhooks or self.tagging:
            return False
        return bool(self.targets | self.overloads) and not (self.targets | self.overloads) & ~Events.CALLS

    @property
    def is_accelerated(self) -> bool:
        """Whether the hooks of calls are in C: those of the only context of the stack."""
        return len(self.contexts) == 1 and self.contexts[0].is_accelerated and not self.passes

    @property
    def intercepts_nothing(self) -> bool:
        """Whether no event is intercepted, so that the overdubbed body is the plain one."""

        return not (self.passes or self.everything or self.targets or self.primitives or self.overloads)
