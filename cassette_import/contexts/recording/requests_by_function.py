"""Which functions and methods carry HTTP requests, and the names of their positional parameters, as data.

Users may add to `FUNCTIONS` and `_CLIENTS`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = [
    "DEFAULT_PARTS",
    "FUNCTIONS",
    "PREPARED",
    "Parameters",
    "family_of_title",
    "is_connection",
    "parameters_of_method",
]

PREPARED: Final = "prepared request"
"""The family of the methods that make a request object and send nothing."""
CONNECTION: Final = "connection"
"""The family of the methods that send a request over a connection, from which the response is then read."""


DEFAULT_PARTS: Final = ("method", "scheme", "host", "port", "path", "query")
"""The parts of requests that VCR.py compares by default."""


class Parameters(NamedTuple):
    """The parameters of a function that carries requests.

    `method` is its HTTP method; None if it is one of the arguments, and empty for a function that makes a client.
    `names` are those of the positional parameters. The functions of one `family` return the same kind of object.
    `scheme` is that of a client which is made from a host and a port.
    """

    method: str | None
    names: tuple[str, ...]
    family: str = ""
    scheme: str = ""


_VERBS: Final = ("get", "post", "put", "patch", "delete", "head", "options")


def _verbs(family: str, *names: str) -> dict[str, Parameters]:
    return {verb: Parameters(verb.upper(), ("url", *names), family) for verb in _VERBS}


def _any(names: str, family: str = "") -> Parameters:
    return Parameters(None, tuple(names.split()), family)


def _client(names: str, scheme: str = "") -> Parameters:
    return Parameters("", tuple(names.split()), scheme=scheme)


_REQUESTS: Final = {
    **_verbs("requests"),
    "get": Parameters("GET", ("url", "params"), "requests"),
    "post": Parameters("POST", ("url", "data", "json"), "requests"),
    "put": Parameters("PUT", ("url", "data"), "requests"),
    "patch": Parameters("PATCH", ("url", "data"), "requests"),
    "request": _any("method url params data headers", "requests"),
}
_SESSION: Final = {
    **_REQUESTS,
    "get": Parameters("GET", ("url",), "requests"),
    "send": _any("request", "requests"),
    "prepare_request": _any("request", PREPARED),
}
_URLLIB3: Final = {
    "request": _any("method url body fields headers"),
    "urlopen": _any("method url body headers"),
    "request_encode_url": _any("method url fields headers"),
    "request_encode_body": _any("method url fields headers"),
}


def _httpx(family: str) -> dict[str, Parameters]:
    one = _any("method url", family)
    return {**_verbs(family), "request": one, "send": _any("request", family), "stream": _any("method url"),
            "build_request": _any("method url", PREPARED)}  # fmt: skip


FUNCTIONS: Final[dict[str, Parameters]] = {
    **{f"requests.{name}": parameters for name, parameters in _REQUESTS.items()},
    **{
        f"requests.Session.{name}": parameters._replace(names=("self", *parameters.names))
        for name, parameters in _SESSION.items()
    },
    **{f"httpx.{name}": parameters for name, parameters in _verbs("httpx").items()},
    "requests.Session": _client(""),
    "requests.session": _client(""),
    "httpx.request": _any("method url", "httpx"),
    "httpx.stream": _any("method url"),
    "httpx.Client": _client(""),
    "httpx.AsyncClient": _client(""),
    "urllib3.request": _any("method url"),
    "urllib3.PoolManager": _client("num_pools headers"),
    "urllib3.ProxyManager": _client("proxy_url num_pools headers"),
    "urllib3.HTTPConnectionPool": _client("host port", "http"),
    "urllib3.HTTPSConnectionPool": _client("host port", "https"),
    "aiohttp.request": _any("method url"),
    "aiohttp.ClientSession": _client("base_url"),
    "websockets.connect": Parameters("GET", ("uri",)),
    "websocket.create_connection": Parameters("GET", ("url",)),
    "urllib.request.urlopen": _any("url data"),
    "urllib.request.urlretrieve": _any("url filename reporthook data"),
    "urllib.request.OpenerDirector.open": _any("self url data"),
    "http.client.HTTPConnection": _client("host port", "http"),
    "http.client.HTTPSConnection": _client("host port", "https"),
}
"""The functions of the boundary that carry requests, or make a client that adds to its requests."""

_CLIENTS: Final[dict[str, dict[str, Parameters]]] = {
    "requests.sessions.Session": _SESSION,
    "httpx.Client": _httpx("httpx"),
    "httpx.AsyncClient": _httpx("httpx.AsyncClient"),
    "urllib3._request_methods.RequestMethods": _URLLIB3,
    "urllib3.poolmanager.PoolManager": {"urlopen": _any("method url")},
    "urllib3.connectionpool.HTTPConnectionPool": {"urlopen": _any("method url body headers")},
    "aiohttp.client.ClientSession": {**_verbs(""), "request": _any("method url"), "ws_connect": _any("url")},
    "http.client.HTTPConnection": {
        "request": _any("method url body headers", CONNECTION),
        "putrequest": _any("method url", CONNECTION),
    },
}
"""The methods that carry requests, by class: of objects that the program gets as proxies."""


def parameters_of_method(kind: type, name: str) -> Parameters | None:
    """The parameters of a method of a client that carries requests; None for other methods and other classes."""
    return _methods_of(kind).get(name)


@functools.lru_cache
def _methods_of(kind: type) -> Mapping[str, Parameters]:
    bases = type.mro(kind) if type(kind) is type else kind.__mro__
    return {
        name: parameters
        for base in reversed(bases)
        for name, parameters in _CLIENTS.get(f"{base.__module__}.{base.__qualname__}", {}).items()
    }


def family_of_title(title: str) -> str:
    """The family of a method, given as ``Class.method``."""
    class_name, _, name = title.rpartition(".")
    for client, methods in _CLIENTS.items():
        if name in methods and client.rpartition(".")[2] == class_name:
            return methods[name].family
    return ""


def is_connection(title: str) -> bool:
    """Whether a method, given as ``Class.method``, sends a request whose response is read from the same object."""
    return title.rpartition(".")[2] in ("request", "putrequest") and family_of_title(title) == CONNECTION
