"""Failed events: which errorhooks are notified of an exception, and what they are passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cassette_import.interpreter.callables import joined, keywords_of, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.protocols import Protocol
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.temporaries import FUNCTION_OF_CALLEE, SPLIT_CALLEE
from cassette_import.runtime.dispatch.callee_proxy import shown_callee
from cassette_import.runtime.dispatch.event_plan import LevelHook
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import Activation

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
