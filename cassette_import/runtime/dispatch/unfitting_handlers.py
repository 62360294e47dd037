"""Handlers that were not applied to calls of their targets because these passed other arguments than they take.

Such calls pass an overload or hook by without a sign. One warning for each is issued when the process ends; pytest
reports them with the targets that no call has matched.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

from cassette_import.errors import CassetteWarning

_PACKAGE: Final = __name__.partition(".")[0]
_process: Final = os.getpid()
_misses: Final[dict[int, tuple[Any, dict[tuple[int, tuple[str, ...]], int]]]] = {}
"""The handlers that did not match a call: each with the numbers of arguments and the keywords of such calls, and how
many of these no handler of the target could have taken."""


def note_miss(handlers: list[Any], count: int, keywords: Any) -> bool:
    """No handler has matched a call with so many positional arguments and these keyword arguments.

    Return whether further calls of this form are to be noted, too: none of the handlers takes such arguments.
    """
    passes_by = not any(handler.fits(count, keywords) for handler in handlers)
    is_noted = False
    for handler in handlers:
        if handler.targets and not is_ready_made(handler) and not handler.fits(count, keywords):
            if not _misses:
                atexit.register(issue_at_end, take_unfitting, _process)
            calls = _misses.setdefault(id(handler), (handler, {}))[1]
            form = count, tuple(keywords)
            calls[form] = calls.get(form, 0) + passes_by
            is_noted = True
    return is_noted and passes_by


def is_ready_made(handler: Any) -> bool:
    """Whether a context of this package has the handler: some leave calls with other arguments alone on purpose."""
    return str(getattr(handler.function, "__module__", None)).partition(".")[0] == _PACKAGE


def take_unfitting() -> list[tuple[str, str, int]]:
    """What to say of the handlers that calls have passed by, with the file and line of each; the same only once."""
    taken = []
    for handler, calls in _misses.values():
        passed_by = {form: number for form, number in calls.items() if number or not handler.is_applied}
        if passed_by:
            taken.append((_description(handler, passed_by), *place_of(handler)))
    _misses.clear()
    return taken


def place_of(handler: Any) -> tuple[str, int]:
    """The file and line of a handler."""
    code = getattr(handler.function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("<unknown>", 0)


def _description(handler: Any, calls: dict[tuple[int, tuple[str, ...]], int]) -> str:
    kind = "overload" if handler.kind == "overdub" else handler.kind
    names = ", ".join(dict.fromkeys(name_of(target) for target in handler.targets))
    passed = " or ".join(dict.fromkeys(_arguments(*call) for call in sorted(calls)))
    takes = _capacity(handler, any(keywords for _, keywords in calls))
    number = sum(calls.values())
    applied = f"not applied to {number} call{'' if number == 1 else 's'}" if handler.is_applied else "never applied"
    return (
        f"the {kind} {handler.function.__qualname__} of {handler.owner.__qualname__} for {names} was {applied}: "
        f"it takes {takes}, {'these' if handler.is_applied else 'calls'} passed {passed}"
    )


def _capacity(handler: Any, with_keywords: bool) -> str:
    most = len(handler.types)
    if handler.has_rest:
        found = f"at least {handler.required}" if handler.required else "any number of"
    else:
        found = str(most) if handler.required == most else f"{handler.required} to {most}"
    text = f"{found} argument{'' if found == '1' else 's'}"
    names = handler.names if with_keywords and not handler.has_keywords else handler.needed_names
    is_told = names or (with_keywords and not handler.has_keywords)
    return f"{text} and {_keywords(tuple(sorted(names)))}" if is_told else text


def _keywords(names: tuple[str, ...]) -> str:
    return f"the keyword{'' if len(names) == 1 else 's'} {', '.join(names)}" if names else "no keywords"


def _arguments(count: int, keywords: tuple[str, ...]) -> str:
    return f"{count} and {_keywords(keywords)}" if keywords else str(count)


def name_of(target: Any) -> str:
    """The name of a target in messages."""
    module = getattr(target, "__module__", None)
    name = str(getattr(target, "__qualname__", None) or repr(target))
    return name if not isinstance(module, str) or module in ("builtins", "__main__") else f"{module.lstrip('_')}.{name}"


def issue_at_end(take: Callable[[], list[tuple[str, str, int]]], process: int) -> None:
    """Issue warnings of a process, each a text with its file and line; called when the process ends."""
    if os.getpid() != process:  # a fork: its parent warns
        return
    for text, filename, line in take():
        try:
            warnings.warn_explicit(text, CassetteWarning, filename, line, registry={})
        except CassetteWarning as error:  # the filters make it an error, which nothing could catch here
            print(f"{filename}:{line}: CassetteWarning: {error}", file=sys.stderr)
