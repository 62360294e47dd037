"""The requests that the calls of a run carry: as they are written to a recording, and as two runs compare them.

Most calls carry none, and most runs have no HTTP library. So what reads requests is imported when the first call
carries one.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.masking import Mask
from cassette_import.contexts.recording.request_options import NO_OPTIONS, RequestOptions
from cassette_import.contexts.recording.requests_by_function import (
    CONNECTION,
    FUNCTIONS,
    PREPARED,
    Parameters,
    parameters_of_method,
)
from cassette_import.contexts.recording.values import Encoder, shortened

if TYPE_CHECKING:
    from cassette_import.contexts.recording.request_filters import RequestFilter
    from cassette_import.contexts.recording.requests_of_calls import Request

__all__ = ["NO_RESPONSE", "Carried", "CarriedRequests", "ResponsePart", "decoded_request"]


class Carried:
    """What a call carries: a request, or the address and the headers that a client adds to its requests.

    Attributes
    ----------
    request:
        The request after filters, without secrets.
    parameters:
        Those of the function that is called.
    encoded:
        The request as it is written.
    is_ignored:
        Whether the call is left to the network.
    """

    __slots__ = ("encoded", "is_ignored", "parameters", "request", "unfiltered")

    def __init__(self, parameters: Parameters, unfiltered: Request, request: Request, encoded: dict[str, Any]) -> None:
        self.parameters = parameters
        self.unfiltered = unfiltered
        self.request = request
        self.encoded = encoded
        self.is_ignored = False

    @property
    def is_sent(self) -> bool:
        """Whether the call sends a request, and does not only make a client or a request object."""
        return self.parameters.method != "" and self.parameters.family != PREPARED


class CarriedRequests:
    """Reads the requests of calls.

    Parameters
    ----------
    options:
        What is filtered and ignored.
    mask:
        Hides secrets.
    """

    def __init__(self, options: RequestOptions, mask: Mask) -> None:
        self._options = options
        self._mask = mask
        self._filter: RequestFilter | None = None
        if options != NO_OPTIONS:
            self._filter = self._new_filter()  # now, so that a wrong option is an error at once
        self._by_proxy: dict[int, Carried] = {}
        self._last_of_connection: dict[int, Carried] = {}
        self._encode = Encoder(lambda value: (f"<{type(value).__name__}>", value))

    @property
    def hides_arguments(self) -> bool:
        """Whether the arguments of calls that carry requests are not written, because requests are filtered."""
        return self._filter is not None and self._filter.hides_arguments

    @property
    def changes_responses(self) -> bool:
        """Whether there is a hook for responses."""
        return self._filter is not None and self._filter.changes_responses

    def of_function(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Carried | None:
        """What a call of a function of the boundary carries; None if it is no request."""
        parameters = FUNCTIONS.get(name)
        return None if parameters is None else self._read(parameters, arguments, keywords, None)

    def of_method(self, proxy: Any, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Carried | None:
        """What a call of a method of a proxy carries; None if it is no request."""
        parameters = parameters_of_method(proxy.__class__, name)
        if parameters is None:
            return None
        number = proxies.number_of(proxy)
        client = self._by_proxy.get(number)
        carried = self._read(parameters, arguments, keywords, None if client is None else client.unfiltered)
        if parameters.family == CONNECTION:
            self._last_of_connection[number] = carried
        return carried

    def is_ignored(self, proxy: Any, carried: Carried | None) -> bool:
        """Whether a use of a proxy is left to the network. A connection stays there after an ignored request."""
        if carried is None:
            carried = self._last_of_connection.get(proxies.number_of(proxy))
        return carried is not None and carried.is_ignored

    def made(self, value: Any, carried: Carried) -> None:
        """Note that a call that carries this has made an object, which the program gets as a proxy."""
        if proxies.is_proxy(value):
            self._by_proxy[proxies.number_of(value)] = carried

    def of_proxy(self, proxy: Any) -> Carried | None:
        """What the call carried that made a proxy, or the last request of a connection."""
        number = proxies.number_of(proxy)
        return self._last_of_connection.get(number) or self._by_proxy.get(number)

    def renumbered(self, before: int, after: int) -> None:
        """Note that a connection has become the recorded one of another number."""
        for known in (self._by_proxy, self._last_of_connection):
            if before in known:
                known[after] = known[before]

    def response(self, carried: Carried, part: str, value: Any) -> Any:
        """The value of a part of a response as it is written."""
        return value if self._filter is None else self._filter.response(carried.request, part, value)

    def as_compared(self, encoded: dict[str, Any]) -> dict[str, Any]:
        """A recorded request as the requests of this run are compared with it."""
        if self._filter is None:
            return encoded
        recorded = decoded_request(encoded)
        compared = self._filter.without_removed(recorded)
        return encoded if compared == recorded else self._encoded(compared)

    def _new_filter(self) -> RequestFilter:
        from cassette_import.contexts.recording.request_filters import RequestFilter

        return RequestFilter(self._options)

    def _read(
        self, parameters: Parameters, arguments: Sequence[Any], keywords: Mapping[str, Any], base: Request | None
    ) -> Carried:
        from cassette_import.contexts.recording.requests_of_calls import request_from

        plain = [self._plain(argument) for argument in arguments]
        unfiltered = request_from(parameters, plain, self._plain(dict(keywords)), base, self._known)
        if self._filter is None:
            self._filter = self._new_filter()
        filtered = self._filter.filtered(unfiltered)
        encoded = self._encoded(unfiltered if filtered is None else filtered)
        carried = Carried(parameters, unfiltered, decoded_request(encoded), encoded)
        carried.is_ignored = filtered is None and parameters.method != ""
        return carried

    def _plain(self, value: Any) -> Any:
        """An argument without proxies: reading one would be an external call. Those of requests stay."""
        if proxies.is_proxy(value):
            return value if self.of_proxy(value) is not None else f"<{type(value).__qualname__}>"
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value] if type(value) is list else tuple(map(self._plain, value))
        if type(value) is dict:
            return {key: self._plain(item) for key, item in value.items()}
        return value

    def _known(self, value: Any) -> Request | None:
        if not proxies.is_proxy(value):
            return None
        carried = self.of_proxy(value)
        return None if carried is None else carried.unfiltered

    def _encoded(self, request: Request) -> dict[str, Any]:
        headers = [[name, value] for name, value in request.headers.items()]
        parts = [[request.method], [request.uri], headers, [self._encode(request.body)[0]]]
        [method], [uri], headers, [body] = shortened(self._mask.arguments(parts))
        found: dict[str, Any] = {"method": method, "uri": uri}
        if headers:
            found["headers"] = headers
        if body is not None:
            found["body"] = body
        return found


def decoded_request(encoded: Mapping[str, Any]) -> Request:
    """The request that a line of a recording contains."""
    from cassette_import.contexts.recording.requests_of_calls import Request

    parts = {name: _text_or_bytes(encoded.get(name)) for name in ("method", "uri", "body")}
    headers = {str(name): _text_or_bytes(value) for name, value in encoded.get("headers", ())}
    return Request(headers=headers, **parts)


def _text_or_bytes(encoded: Any) -> Any:
    if not isinstance(encoded, dict):
        return encoded
    [(tag, content)] = encoded.items()
    decode = _DECODERS.get(tag)
    return str(content) if decode is None else decode(content)


_DECODERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "base64": base64.b64decode,
    "long": lambda content: f"{content[1]}… ({content[0]} characters, SHA-256 {content[2]})",
}


class ResponsePart:
    """The part of a response that a call gets: that of the request which it carries, or of the one that made its
    receiver."""

    __slots__ = ("_carried", "_part", "_requests")

    def __init__(self, requests: CarriedRequests, title: str, carried: Carried | None, made_by: Carried | None) -> None:
        self._requests = requests
        self._carried = carried or made_by
        self._part = "" if carried is not None else title

    def made(self, shown: Any) -> Any:
        """The value as it is written; `shown` is the value that the program gets."""
        self.note(shown)
        if self._carried is None or proxies.is_proxy(shown):
            return shown
        return self._requests.response(self._carried, self._part, shown) if self._carried.is_sent else shown

    def note(self, shown: Any) -> None:
        """Note that the program gets this value."""
        if self._carried is not None and proxies.is_proxy(shown) and (not self._part or self._carried.is_sent):
            self._requests.made(shown, self._carried)


NO_RESPONSE: Final = ResponsePart(CarriedRequests(NO_OPTIONS, Mask()), "", None, None)
"""For calls that have nothing to do with a request."""
