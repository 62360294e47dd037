"""Event plans: which hooks and overloads a stack of contexts has for one kind of event, and which calls they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import joined, keywords_of, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Protocol, Record
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF, NAME_OF
from cassette_import.rewriting.shape import TAGGED
from cassette_import.rewriting.temporaries import FUNCTION_OF_CALLEE, SPLIT_CALLEE
from cassette_import.runtime.dispatch.callee_proxy import shown_callee
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import Activation

# ---- event plans: which hooks and overloads a stack of contexts has for one kind of event, and which calls they take

LevelHook = tuple[int, Callable[..., Any]]
"""The number of a context in the stack, and its hook."""


class Level(Record):
    """The hooks of one context of a stack for one kind of event; each takes the context as its first argument."""

    number: int
    prehook: Callable[..., Any] | None
    posthook: Callable[..., Any] | None
    errorhook: Callable[..., Any] | None
    overdub: Callable[..., Callable[..., Any] | None] | None
    """`find(context, function, arguments, keywords)`: the overload for a call, or None."""


class OverloadTable(Record):
    """The overloads of one context of a stack."""

    number: int
    """The number of the context."""
    context_type: type
    table: Any
    """Its `hook_points.Table`."""


class SoleOverload(Record):
    """The only overload of a target, which takes arguments of any types."""

    level: int
    """The number of its context."""
    context_type: type
    handler: Any


class EventPlan:
    """What a stack of contexts, outermost first, does with one kind of event.

    Parameters
    ----------
    kind:
        The kind of event.
    levels:
        One entry for each context of the stack.
    takes_everything:
        Whether some hook or overload takes every event of the kind, or values may be tagged.
    overloads_everything:
        Whether some overload takes every event of the kind.
    targets:
        The functions that hooks and overloads are registered for, by identity.
    overload_targets:
        Those of the overloads alone.
    single_overloads:
        The targets with one overload and nothing else: the number of its context, and its handler.
    typed_overloads:
        Other targets with overloads of one context and nothing else: its number, and its table.
    overload_tables:
        The overloads of each context, where values may be tagged.
    propagation:
        What calls a callee where values may be tagged; else None.
    only_targets:
        Whether hooks and overloads take events of targets alone.
    """

    def __init__(
        self,
        kind: Events,
        levels: list[Level],
        takes_everything: bool,
        overloads_everything: bool,
        targets: dict[int, Any],
        overload_targets: dict[int, Any],
        single_overloads: dict[int, tuple[int, Any]],
        typed_overloads: dict[int, tuple[int, Any]] | None = None,
        overload_tables: Sequence[OverloadTable] = (),
        propagation: Any = None,
        only_targets: bool = False,
    ) -> None:
        self.kind = kind
        self.levels = levels
        self.takes_everything = takes_everything
        self.overloads_everything = overloads_everything
        self.targets = targets
        self.overload_targets = overload_targets
        self.single_overloads = single_overloads
        self.typed_overloads = typed_overloads or {}
        self.overload_tables = overload_tables
        self.propagation = propagation
        self.only_targets = only_targets

    @cached_property
    def prehooks(self) -> list[LevelHook]:
        return [(level.number, level.prehook) for level in self.levels if level.prehook is not None]

    @cached_property
    def posthooks(self) -> list[LevelHook]:
        return [(level.number, level.posthook) for level in reversed(self.levels) if level.posthook is not None]

    @cached_property
    def errorhooks(self) -> list[LevelHook]:
        return [(level.number, level.errorhook) for level in reversed(self.levels) if level.errorhook is not None]

    @cached_property
    def overloads(self) -> list[LevelHook]:
        return [(level.number, level.overdub) for level in reversed(self.levels) if level.overdub is not None]

    @property
    def is_call(self) -> bool:
        return self.kind is Events.CALLS

    @property
    def redirects_everything(self) -> bool:
        """Whether each event of the kind must look for an overload, or propagate tags, instead of a plain call."""
        return self.overloads_everything or (self.propagation is not None and self.kind in TAGGED)

    @cached_property
    def is_overloaded(self) -> bool:
        """Whether an overload may take an event, or the call of a callback among its arguments."""
        own = self.targets if self.is_call else self._of_this_kind(self.overload_targets)
        return self.overloads_everything or bool(own)

    def _of_this_kind(self, targets: dict[int, Any]) -> list[int]:
        """The targets that are callees of events of the kind which are no calls."""
        return [key for key in targets if EVENT_OF.get(NAME_OF.get(key, "")) is self.kind]

    def sole_overload(self, target: Any) -> SoleOverload | None:
        """The overload of a target, if there is one only, and it takes arguments of any types."""
        tables = [level for level in self.overload_tables if id(target) in level.table.targets]
        if len(tables) != 1 or any(level.table.sees_everything for level in self.overload_tables):
            return None
        handler = tables[0].table.only_handler(target)
        return None if handler is None else SoleOverload(tables[0].number, tables[0].context_type, handler)

    @cached_property
    def only_propagates(self) -> bool:
        """Whether the events only propagate tags: prehooks and posthooks aside, nothing takes them."""
        return self.propagation is not None and not (self.is_overloaded or self.errorhooks)

    @property
    def leaves_alone_while_untagged(self) -> bool:
        """Whether events are as they are without tagging, targets and rules aside, as long as there is no metadata."""
        if self.propagation is None:
            return False
        return self.only_targets or (self.only_propagates and not (self.prehooks or self.posthooks))

    @cached_property
    def only_moves_metadata(self) -> bool:
        """Whether events that are no calls do nothing but move metadata: no hook or overload is for them."""
        return self.leaves_alone_while_untagged and not self._of_this_kind(self.targets)

    @cached_property
    def goes_to_callee(self) -> bool:
        """Whether the hooks of an event are followed directly by its callee."""
        return not (self.targets or self.overloads or self.propagation is not None)

    @cached_property
    def may_fail(self) -> bool:
        """Whether something may replace the result of the callee, or an errorhook is notified of its exception."""
        return bool(self.errorhooks or self.overloads) or self.propagation is not None

    @cached_property
    def targets_and_leaves(self) -> frozenset[int]:
        """The targets, and the higher-order leaves that may call them, by identity."""
        return frozenset((*self.targets, *(HIGHER_ORDER.by_id if self.targets else ())))

    @cached_property
    def targets_and_positional_leaves(self) -> frozenset[int]:
        """The same for calls without keywords: `max(a, b)` calls no function."""
        return frozenset((*self.targets, *(HIGHER_ORDER.positional if self.targets else ())))

    @cached_property
    def builtin_names(self) -> frozenset[str]:
        """The names of the builtin functions and methods among these; a bound method has the name of its function."""
        functions = (*self.targets.values(), *HIGHER_ORDER.by_id.values())
        return frozenset(
            name
            for function in functions
            if type(function) is not FunctionType and isinstance(name := getattr(function, "__name__", None), str)
        )

    @property
    def classes(self) -> frozenset[int]:
        """The identities of the classes among these: a metaclass of the program may have no hash."""
        functions = (*self.targets.values(), *HIGHER_ORDER.by_id.values())
        return frozenset(id(function) for function in functions if isinstance(function, type))

    def make_target_test(self) -> Callable[[Any], bool] | None:
        """Whether a callee may be a target, or a leaf that calls one; None if there are no targets."""
        if not self.targets:
            return None
        functions, names, classes = self.python_functions(HIGHER_ORDER.by_id), self.builtin_names, self.classes

        @hidden
        def may_be_target(callee: Any) -> bool:
            kind = type(callee)
            if kind is MethodType:
                callee = callee.__func__
                kind = type(callee)
            if kind is FunctionType:
                return callee in functions
            if kind is BuiltinFunctionType:
                return callee.__name__ in names
            return kind is not type or id(callee) in classes

        return may_be_target

    def python_functions(self, leaves: dict[int, Any]) -> frozenset[FunctionType]:
        """The Python functions among the targets and some higher-order leaves."""
        functions = (*self.targets.values(), *leaves.values())
        return frozenset(function for function in functions if type(function) is FunctionType)


# ---- failed events: which errorhooks are notified of an exception, and what they are passed

_CALLS: Final = int(Events.CALLS)


@hidden
def notify_errorhooks(
    errorhooks: list[LevelHook], activation: Activation, below: int, error: BaseException, operands: Any, keywords: Any
) -> BaseException:
    """Call the errorhooks of the contexts below a level, innermost first; return the exception to raise.

    The contexts from that level on have not run their prehook, or have run their posthook. If an errorhook raises, the
    contexts outside it are notified of that exception instead.
    """
    raised = error
    for number, hook in errorhooks:
        if number < below:
            try:
                hook(activation.contexts[number], raised, *operands, **keywords)
            except BaseException as other:
                raised = other
    return raised


class _HasErrorhooks(Protocol):
    @property
    def errorhooks(self) -> list[LevelHook]: ...


def make_failed(
    runners: Mapping[int, _HasErrorhooks],
) -> Callable[[Activation, Any, BaseException, dict[str, Any]], None]:
    """`failed(activation, pending, error, variables)`, which the handler of a rewritten function calls.

    `pending` describes the event that raised: either its kind, level, operands and keywords, or a note of the rewriter
    that says where these are found.
    """

    @hidden
    def failed(activation: Activation, pending: Any, error: BaseException, variables: dict[str, Any]) -> None:
        kind, below, operands, keywords = pending if len(pending) == 4 else _resolved(pending, variables)
        raised = notify_errorhooks(runners[kind].errorhooks, activation, below, error, operands, keywords)
        if raised is not error:
            raise raised

    return failed


def make_failed_call(
    runners: Mapping[int, _HasErrorhooks],
) -> Callable[[Activation, Any, BaseException, dict[str, Any]], None]:
    """The same for the accelerated form, where the pending event is the callee of a call."""

    @hidden
    def failed_call(activation: Activation, callee: Any, error: BaseException, variables: dict[str, Any]) -> None:
        function = split(shown_callee(callee))[0]
        raised = notify_errorhooks(runners[_CALLS].errorhooks, activation, 1, error, (function,), {})
        if raised is not error:
            raise raised

    return failed_call


@hidden
def _resolved(pending: Any, variables: dict[str, Any]) -> tuple[int, int, list[Any], dict[str, Any]]:
    """The event that a note of the rewriter describes, with its operands read from where the note places them."""
    kind, below, places, names, _ = pending
    values: list[Any] = []
    callee = None
    for name, part in places:
        value = part if not name else variables[name] if name in variables else NAMES[name]
        if name and part == SPLIT_CALLEE:
            callee = value
        elif name and part == FUNCTION_OF_CALLEE:
            value = split(value)[0]
        elif name and part is not None:
            value = getattr(value, part)
        values.append(value)
    count = len(values) - len(names)
    operands, keywords = values[:count], dict(zip(names, values[count:], strict=True))
    if callee is None:
        return kind, below, operands, keywords
    function, *leading = split(callee)
    return kind, below, [function, *joined(leading, tuple(operands[1:]))], {**keywords_of(callee), **keywords}
