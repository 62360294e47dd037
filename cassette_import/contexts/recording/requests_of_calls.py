"""The HTTP request that an external call carries: which functions send requests, and which arguments they take.

`Request` has the attributes that matchers, filters and hooks of VCR.py expect.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cassette_import.contexts.recording.requests_by_function import Parameters

__all__ = ["Matcher", "Request", "RequestMatcher", "request_from", "split_address"]

# ---- the HTTP request that an external call carries: which functions send requests, and which arguments they take

_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_BOUNDARY: Final = re.compile(r"boundary=\"?([^\";,]+)")


@dataclasses.dataclass
class Request:
    """An HTTP request, or what is known of one: the address and the headers that a client adds to each request.

    A hook may change it.

    >>> request = Request("GET", "https://example.org/tea?size=2")
    >>> request.host, request.port, request.path, request.query
    ('example.org', 443, '/tea', [('size', '2')])
    """

    method: str
    uri: str
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """The headers that the program passes, with their names in lower case."""
    body: Any = None
    """Text or bytes; None if there is no body. Bodies in JSON and of forms have their keys in alphabetical order."""

    @property
    def url(self) -> str:
        """The same as `uri`."""
        return self.uri

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return split_address(self.uri).scheme

    protocol = scheme

    @property
    def host(self) -> str | None:
        """The name or address of the server, in lower case."""
        return split_address(self.uri).hostname

    @property
    def port(self) -> int | None:
        """The port; that of the scheme if the address has none."""
        parts = split_address(self.uri)
        try:
            return parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            return None

    @property
    def path(self) -> str:
        """The path, without parameters."""
        return split_address(self.uri).path

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters of the address, in alphabetical order."""
        return sorted(urllib.parse.parse_qsl(split_address(self.uri).query, keep_blank_values=True))


def split_address(address: str) -> urllib.parse.SplitResult:
    """The parts of an address; if it is invalid, which the library will report, all of it is the path."""
    try:
        return urllib.parse.urlsplit(address)
    except ValueError:
        return urllib.parse.SplitResult("", "", address, "", "")


def request_from(
    parameters: Parameters,
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    base: Request | None = None,
    known: Callable[[Any], Request | None] = lambda value: None,
) -> Request:
    """The request that a call carries.

    Parameters
    ----------
    parameters:
        Those of the function.
    arguments, keywords:
        The arguments of the call, without the receiver.
    base:
        What the client adds to each of its requests.
    known:
        The request of an object that was made by an earlier call, if it is one.

    >>> request_from(Parameters("GET", ("url",)), ["http://example.org"], {"params": {"q": "tea"}}).uri
    'http://example.org?q=tea'
    """
    parts = dict(zip(parameters.names, arguments, strict=False))
    parts |= keywords
    for name in ("url", "request"):
        if (whole := parts.get(name)) is not None and not isinstance(whole, str | bytes):
            request = known(whole)
            if request is not None:
                return request
            parts = {**parts, name: None, **_parts_of(whole)}
    base = base or Request("", "")
    headers = {**base.headers, **_headers(parts.get("headers"))}
    body, content_type = _body(parts)
    if content_type and "content-type" not in headers:
        headers["content-type"] = content_type
    method = parameters.method
    if method is None:
        method = _text(parts.get("method")) or ("GET" if body is None else "POST")
    uri = _joined(base.uri, _address(parts, parameters.scheme))
    if parameters.method is None and "fields" in parts and method.upper() in ("GET", "HEAD", "DELETE", "OPTIONS"):
        uri, body = _with_parameters(uri, parts["fields"]), None
        headers.pop("content-type", None)
    uri = _with_parameters(uri, parts.get("params"))
    content_type = headers.get("content-type", "")
    if content_type:
        headers["content-type"] = _BOUNDARY.sub("boundary=BOUNDARY", content_type)
    return Request(method.upper(), uri, headers, _canonical(body, content_type))


def _parts_of(whole: Any) -> dict[str, Any]:
    """The parts of a request object of `urllib`, `requests` or `httpx`; an address is one part."""
    if hasattr(whole, "full_url") and hasattr(whole, "get_method"):
        headers = dict(whole.header_items())
        return {"method": whole.get_method(), "url": whole.full_url, "headers": headers, "body": whole.data}
    if not (hasattr(whole, "method") and hasattr(whole, "url")):
        return {"url": str(whole)}
    parts = {}
    for name in ("method", "url", "headers", "params", "data", "json", "files", "body", "content"):
        try:
            value = getattr(whole, name, None)
        except Exception:
            continue
        if value is not None and not callable(value) and not (name in ("data", "files", "params") and not value):
            parts[name] = value
    return parts


def _address(given: Mapping[str, Any], scheme: str) -> str:
    """The address that a call names: a URL, or a host and a port."""
    for name in ("url", "base_url", "fullurl", "uri"):
        if given.get(name) is not None:
            return _text(given[name])
    host, port = _text(given.get("host")), given.get("port")
    address = f"{scheme}://{host}" if host else ""
    return f"{address}:{port}" if host and port and port != _PORTS.get(scheme) else address


def _joined(base: str, address: str) -> str:
    if not base or "://" in address:
        return address
    return f"{base.rstrip('/')}/{address.lstrip('/')}" if address else base


def _with_parameters(uri: str, parameters: Any) -> str:
    if not parameters:
        return uri
    address, mark, fragment = uri.partition("#")
    return f"{address}{'&' if '?' in address else '?'}{_urlencoded(parameters)}{mark}{fragment}"


def _urlencoded(parameters: Any) -> str:
    if isinstance(parameters, str | bytes):
        return _text(parameters)
    pairs = parameters.items() if isinstance(parameters, Mapping) else parameters
    if iter(pairs) is pairs:
        return f"<{type(pairs).__name__}>"  # a generator: reading it would take it from the program
    try:
        return urllib.parse.urlencode([(name, value) for name, value in pairs if value is not None], doseq=True)
    except (TypeError, ValueError):
        return str(parameters)


def _headers(headers: Any) -> dict[str, str]:
    """Headers with their names in lower case, in alphabetical order."""
    if headers is None:
        return {}
    pairs = headers.items() if hasattr(headers, "items") else headers
    if not isinstance(pairs, Iterable) or iter(pairs) is pairs:
        return {}
    return dict(sorted((_text(name).lower(), _text(value)) for name, value in pairs))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)


def _body(given: Mapping[str, Any]) -> tuple[Any, str]:
    """The body that the arguments describe, and its content type if the library sets it."""
    if given.get("json") is not None:
        return _dumped(given["json"]), _JSON
    body = next((given[name] for name in ("body", "content", "data", "fields") if given.get(name) is not None), None)
    content_type = ""
    if isinstance(body, Mapping) or (isinstance(body, list | tuple) and all(isinstance(one, tuple) for one in body)):
        body, content_type = _urlencoded(body), _FORM
    elif isinstance(body, bytearray | memoryview):
        body = bytes(body)
    elif body is not None and not isinstance(body, str | bytes):
        body = f"<{type(body).__name__}>"  # a file or a generator: reading it would take it from the program
    files = given.get("files")
    if files:
        names = sorted(map(str, files if isinstance(files, Mapping) else (one[0] for one in files)))
        return f"{_text(body)}<files: {', '.join(names)}>", ""
    return body, content_type


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError):
        return f"<{type(value).__name__}>"


def _canonical(body: Any, content_type: str) -> Any:
    """A body that is equal for equal contents: as text, with sorted keys, and without a random boundary."""
    if isinstance(body, bytes):
        try:
            body = body.decode()
        except UnicodeDecodeError:
            boundary = _BOUNDARY.search(content_type)
            return body if boundary is None else body.replace(boundary[1].encode(), b"BOUNDARY")
    if not body:
        return None
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == _JSON:
            return json.dumps(json.loads(body), sort_keys=True)
        if kind == _FORM:
            return urllib.parse.urlencode(sorted(urllib.parse.parse_qsl(body, keep_blank_values=True)))
    except ValueError:
        return body
    boundary = _BOUNDARY.search(content_type)
    return body if boundary is None else body.replace(boundary[1], "BOUNDARY")


# ---- request matching: which parts of a request must be equal for a recorded call to replay the call of this run
#
# The names of the parts and their meaning are those of VCR.py.

RequestMatcher: TypeAlias = Callable[[Request, Request], Any]
"""Called with the request of this run and the recorded one. They differ if it returns False or fails an assertion."""

_PARTS: Final[Mapping[str, Callable[[Request], Any]]] = {
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
        Names of `_PARTS`; ``headers.NAME`` for one header; functions of two requests, or ``module:function``.

    Raises
    ------
    ValueError
        If there is no such part or function.

    >>> Matcher(["path"]).is_match(Request("GET", "http://a/x"), Request("POST", "http://b/x"))
    True
    """

    def __init__(self, match_on: Iterable[str | RequestMatcher]) -> None:
        self._checks: list[tuple[str, RequestMatcher]] = [_check_of(matcher) for matcher in match_on]

    def is_match(self, request: Request, recorded: Request) -> bool:
        """Whether all compared parts are equal."""
        return all(_is_equal(check, request, recorded) for _, check in self._checks)

    def differences(self, request: Request, recorded: Request) -> list[str]:
        """The names of the parts that differ."""
        return [name for name, check in self._checks if not _is_equal(check, request, recorded)]


def _check_of(matcher: str | RequestMatcher) -> tuple[str, RequestMatcher]:
    if not isinstance(matcher, str):
        if not callable(matcher):
            raise ValueError(f"match_on: {matcher!r} is neither the name of a part nor a function of two requests")
        return getattr(matcher, "__name__", str(matcher)), matcher
    if matcher.startswith("headers."):
        header = matcher.partition(".")[2].lower()
        return matcher, lambda request, recorded: bool(request.headers.get(header) == recorded.headers.get(header))
    part_of = _PARTS.get(matcher)
    if part_of is not None:
        return matcher, lambda request, recorded: part_of(request) == part_of(recorded)
    if ":" in matcher:
        return matcher, named_function(matcher, "match_on")
    raise ValueError(
        f"match_on={matcher!r} names no part of a request: there are {', '.join(_PARTS)}, and headers.NAME"
    )


def named_function(name: str, option: str) -> Callable[..., Any]:
    """The function that a text of the form ``module:function`` names; a ValueError if there is none."""
    module, _, path = name.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for part in path.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{option}={name!r} cannot be found: {error}") from error
    if not callable(target):
        raise ValueError(f"{option}={name!r} is not a function")
    return target  # type: ignore[no-any-return]  # what was looked up by name may be of any kind


def _is_equal(check: RequestMatcher, request: Request, recorded: Request) -> bool:
    try:
        return check(request, recorded) is not False
    except AssertionError:
        return False
