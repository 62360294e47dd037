"""Handlers that were never applied because calls of their targets passed other arguments than they take.

Such an overload or hook does nothing without a sign. One warning for each is issued when the process ends; pytest
reports them with the targets that no call has matched. Knows handlers and calls; must not know how a handler is chosen.
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
_misses: Final[dict[int, tuple[Any, dict[tuple[int, tuple[str, ...]], None]]]] = {}
"""The handlers that did not match a call: each with the numbers of arguments and the keywords of such calls."""


def note_miss(handlers: list[Any], count: int, keywords: Any) -> None:
    """No handler has matched a call with so many positional arguments and these keyword arguments."""
    if not _misses:
        atexit.register(issue_at_end, take_unfitting, _process)
    for handler in handlers:
        if (
            handler.targets
            and not handler.is_applied
            and not is_ready_made(handler)
            and not handler.fits(count, keywords)
        ):
            _misses.setdefault(id(handler), (handler, {}))[1][count, tuple(keywords)] = None


def is_ready_made(handler: Any) -> bool:
    """Whether a context of this package has the handler: some leave calls with other arguments alone on purpose."""
    return str(getattr(handler.function, "__module__", None)).partition(".")[0] == _PACKAGE


def take_unfitting() -> list[tuple[str, str, int]]:
    """What to say of the handlers that were never applied, with the file and line of each; the same only once."""
    taken = []
    for handler, calls in _misses.values():
        if not handler.is_applied:
            taken.append((_description(handler, list(calls)), *place_of(handler)))
    _misses.clear()
    return taken


def place_of(handler: Any) -> tuple[str, int]:
    """The file and line of a handler."""
    code = getattr(handler.function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("<unknown>", 0)


def _description(handler: Any, calls: list[tuple[int, tuple[str, ...]]]) -> str:
    kind = "overload" if handler.kind == "overdub" else handler.kind
    names = ", ".join(dict.fromkeys(name_of(target) for target in handler.targets))
    passed = " or ".join(dict.fromkeys(_arguments(*call) for call in sorted(calls)))
    takes = _capacity(handler, any(keywords for _, keywords in calls))
    return (
        f"the {kind} {handler.function.__qualname__} of {handler.owner.__qualname__} for {names} was never applied: "
        f"it takes {takes}, calls passed {passed}"
    )


def _capacity(handler: Any, with_keywords: bool) -> str:
    most = len(handler.types)
    if handler.has_rest:
        found = f"at least {handler.required}" if handler.required else "any number of"
    else:
        found = str(most) if handler.required == most else f"{handler.required} to {most}"
    text = f"{found} argument{'' if found == '1' else 's'}"
    return (
        text if handler.has_keywords or not with_keywords else f"{text} and {_keywords(tuple(sorted(handler.names)))}"
    )


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
