"""Request matching: which parts of a request must be equal for a recorded call to replay the call of this run.

The names of the parts and their meaning are those of VCR.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from cassette_import.contexts.recording.requests_of_calls import Request

__all__ = ["PARTS", "Matcher", "RequestMatcher"]

RequestMatcher: TypeAlias = Callable[[Request, Request], Any]
"""Called with the request of this run and the recorded one. They differ if it returns False or fails an assertion."""

PARTS: Final[Mapping[str, Callable[[Request], Any]]] = {
    "method": lambda request: request.method,
    "scheme": lambda request: request.scheme,
    "host": lambda request: request.host,
    "port": lambda request: request.port,
    "path": lambda request: request.path,
    "query": lambda request: request.query,
    "uri": lambda request: request.uri,
    "headers": lambda request: dict(request.headers),
    "body": lambda request: request.body,
}
"""The parts of a request by name."""


class Matcher:
    """Compares two requests by some of their parts.

    Parameters
    ----------
    match_on:
        Names of `PARTS`; ``headers.NAME`` for one header; functions of two requests, or ``module:function``.

    Raises
    ------
    ValueError
        If there is no such part or function.

    >>> Matcher(["path"]).is_match(Request("GET", "http://a/x"), Request("POST", "http://b/x"))
    True
    """

    def __init__(self, match_on: Iterable[str | RequestMatcher]) -> None:
        self._checks: list[tuple[str, RequestMatcher]] = [_check_of(one) for one in match_on]

    def is_match(self, request: Request, recorded: Request) -> bool:
        """Whether all compared parts are equal."""
        return all(_is_equal(check, request, recorded) for _, check in self._checks)

    def differences(self, request: Request, recorded: Request) -> list[str]:
        """The names of the parts that differ."""
        return [name for name, check in self._checks if not _is_equal(check, request, recorded)]


def _check_of(one: str | RequestMatcher) -> tuple[str, RequestMatcher]:
    if not isinstance(one, str):
        if not callable(one):
            raise ValueError(f"match_on: {one!r} is neither the name of a part nor a function of two requests")
        return getattr(one, "__name__", str(one)), one
    if one.startswith("headers."):
        header = one.partition(".")[2].lower()
        return one, lambda request, recorded: bool(request.headers.get(header) == recorded.headers.get(header))
    part = PARTS.get(one)
    if part is not None:
        return one, lambda request, recorded: part(request) == part(recorded)
    if ":" in one:
        return one, named_function(one, "match_on")
    raise ValueError(f"match_on={one!r} names no part of a request: there are {', '.join(PARTS)}, and headers.NAME")


def named_function(name: str, option: str) -> Callable[..., Any]:
    """The function that a text of the form ``module:function`` names; a ValueError if there is none."""
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{option}={name!r} cannot be found: {error}") from error
    if not callable(found):
        raise ValueError(f"{option}={name!r} is not a function")
    return found  # type: ignore[no-any-return]  # what was looked up by name may be of any kind


def _is_equal(check: RequestMatcher, request: Request, recorded: Request) -> bool:
    try:
        return check(request, recorded) is not False
    except AssertionError:
        return False
