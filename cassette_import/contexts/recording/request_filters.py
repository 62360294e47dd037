"""Filters: what of a request is written and compared, and which requests are left to the network.

The names and their meaning are those of VCR.py.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from cassette_import.contexts.recording.request_options import LEFT_OUT, Names, RequestOptions, listed
from cassette_import.contexts.recording.requests_of_calls import Request, named_function, split_address

__all__ = ["RequestFilter"]

LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "0.0.0.0", "::1")


class _Response(NamedTuple):
    """A part of a response, as the hook `before_record_response` gets it."""

    request: Request
    part: str
    """The method or attribute of the response that the program uses, such as `Response.json`; empty for the result of
    the request itself."""
    value: Any


class RequestFilter:
    """Applies the options to requests.

    >>> only = RequestFilter(RequestOptions(filter_query_parameters=["key"], ignore_hosts=["*.internal"]))
    >>> only.filtered(Request("GET", "https://example.org/?key=abc&size=2")).uri
    'https://example.org/?size=2'
    >>> only.filtered(Request("GET", "https://a.internal/")) is None
    True
    """

    def __init__(self, options: RequestOptions) -> None:
        self.options = options
        self._ignored_hosts = [host.lower() for host in listed(options.ignore_hosts)]
        if options.ignore_localhost:
            self._ignored_hosts += LOCAL_HOSTS
        self._filters: list[tuple[Callable[..., Request], Mapping[str, Any]]] = [
            (apply, replacements)
            for apply, names in (
                (_with_filtered_headers, options.filter_headers),
                (_with_filtered_query, options.filter_query_parameters),
                (_with_filtered_body, options.filter_post_data_parameters),
            )
            if (replacements := _replacements(names))
        ]
        self._hook = _function(options.before_record_request, "before_record_request")
        self._response_hook = _function(options.before_record_response, "before_record_response")
        self.hides_arguments = bool(self._filters) or self._hook is not None
        """Whether requests are changed, so that the arguments of their calls must not be written."""
        self.changes_responses = self._response_hook is not None

    def filtered(self, request: Request) -> Request | None:
        """The request as it is written and compared; None if it is left to the network."""
        if self._ignored_hosts and any(fnmatch.fnmatch(request.host or "", host) for host in self._ignored_hosts):
            return None
        for apply, replacements in self._filters:
            request = apply(request, replacements)
        if self._hook is not None and request.method:
            changed: Request | None = self._hook(request)
            return changed
        return request

    def without_removed(self, request: Request) -> Request:
        """A recorded request without what is removed now: a function, which is not recorded, has put a value there."""
        for apply, replacements in self._filters:
            request = apply(request, {name: None for name, replacement in replacements.items() if replacement is None})
        return request

    def response(self, request: Request, part: str, value: Any) -> Any:
        """The value of a part of a response as it is written; `LEFT_OUT` if it is not written.

        As in VCR.py, a hook may return the response that it gets, and None for one that is not recorded.
        """
        if self._response_hook is None:
            return value
        written = self._response_hook(_Response(request, part, value))
        if isinstance(written, _Response):
            return written.value
        return LEFT_OUT if written is None and value is not None else written


def _function(given: Callable[..., Any] | str | None, option: str) -> Callable[..., Any] | None:
    if given is None or callable(given):
        return given
    return named_function(given, option)


def _replacements(names: Names) -> dict[str, Any]:
    """The replacement by name, in lower case; None removes the value."""
    pairs = [(one, None) if isinstance(one, str) else tuple(one) for one in listed(names)]
    return {name.lower(): replacement for name, replacement in pairs}


def _replaced(
    pairs: Iterable[tuple[str, Any]], replacements: Mapping[str, Any], request: Request
) -> list[tuple[str, Any]]:
    """Pairs without those that are filtered, or with other values."""
    found = []
    for name, value in pairs:
        key = name.lower()
        if key in replacements:
            new = replacements[key]
            value = new(key=name, value=value, request=request) if callable(new) else new
            if value is None:
                continue
        found.append((name, value))
    return found


def _with_filtered_headers(request: Request, replacements: Mapping[str, Any]) -> Request:
    return dataclasses.replace(request, headers=dict(_replaced(request.headers.items(), replacements, request)))


def _with_filtered_query(request: Request, replacements: Mapping[str, Any]) -> Request:
    parts = split_address(request.uri)
    pairs = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    left = _replaced(pairs, replacements, request)
    if left == pairs:
        return request
    return dataclasses.replace(request, uri=urllib.parse.urlunsplit(parts._replace(query=urllib.parse.urlencode(left))))


def _with_filtered_body(request: Request, replacements: Mapping[str, Any]) -> Request:
    if not isinstance(request.body, str) or request.method == "GET":
        return request
    if "json" in request.headers.get("content-type", ""):
        try:
            data = json.loads(request.body)
        except ValueError:
            return request
        if not isinstance(data, dict):
            return request
        return dataclasses.replace(
            request, body=json.dumps(dict(_replaced(data.items(), replacements, request)), sort_keys=True)
        )
    pairs = urllib.parse.parse_qsl(request.body, keep_blank_values=True)
    left = _replaced(pairs, replacements, request)
    return request if left == pairs else dataclasses.replace(request, body=urllib.parse.urlencode(left))
