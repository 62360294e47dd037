"""Hooks that raise: which hook of which context an exception came from, and at which call site.

A traceback shows the hook below the line of the program as if this line had called it.
"""

from __future__ import annotations

import itertools
import os
from types import FrameType, TracebackType
from typing import Final

from cassette_import.activation.context import Context
from cassette_import.contexts.common.function_names import display
from cassette_import.frontends.programs.event_text import event_text
from cassette_import.frontends.programs.tracebacks import entries_of
from cassette_import.runtime.dispatch.hook_analysis import argument_free_kind
from cassette_import.runtime.dispatch.hook_functions import HOOK_FUNCTIONS

__all__ = ["failed_hook"]

_WITH_RESULT: Final = ("posthook", "errorhook")


def failed_hook(traceback: TracebackType | None) -> str | None:
    """A sentence that names the hook in which an exception was raised, its context, event and call site.

    Returns None if no hook of the traceback was called by the program.
    """
    for at, following in itertools.pairwise(entries_of(traceback)):
        frame = following.tb_frame
        context = _context_of(frame)
        if context is not None and HOOK_FUNCTIONS.has_place(frame.f_code):
            place = f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}"
            event = _event_of(frame, at)
            return (
                f"This exception was raised by {frame.f_code.co_name} of the context {type(context).__qualname__}, "
                f"at {place} in {at.tb_frame.f_code.co_name}{f', for {event}' if event else ''}."
            )
    return None


def _context_of(frame: FrameType) -> Context | None:
    """The context that a hook got; None if it is no hook."""
    names = frame.f_code.co_varnames[:1]
    context = frame.f_locals.get(names[0]) if names else None
    return context if isinstance(context, Context) else None


def _event_of(frame: FrameType, at: TracebackType) -> str | None:
    """What a hook was called for; None if the hook takes it otherwise.

    A hook that uses nothing but its context got no function: the source at the call site says which it was.
    """
    code = frame.f_code
    kind = argument_free_kind(code)
    if kind is not None:
        text = event_text(at, kind)
        return text and (f"the call of {text}" if kind == "CALLS" else f"the {kind} event {text}")
    position = 2 if code.co_name in _WITH_RESULT else 1
    parameters = code.co_varnames[: code.co_argcount]
    return f"the call of {display(frame.f_locals.get(parameters[position]))}" if len(parameters) > position else None
