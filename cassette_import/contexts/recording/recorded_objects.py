"""The objects in recorded results: external ones get proxies, and those of the program are recognised."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.encoding import Encoder
from cassette_import.contexts.recording.exceptions import encoded_error

__all__ = ["RecordedObjects"]


class RecordedObjects:
    """Encodes results, with a reference for each object that cannot be serialised.

    Parameters
    ----------
    handler:
        Handles the uses of proxies.
    program_objects:
        The objects that the program has passed out, and their numbers, by identity.
    write:
        Writes the line that describes a class.
    first_proxy, first_class:
        The first number of a proxy and of a class: a recording that is extended has some.
    """

    def __init__(
        self,
        handler: proxies.UseHandler,
        program_objects: Mapping[int, tuple[Any, int]],
        write: Callable[[Mapping[str, Any]], None],
        first_proxy: int = 1,
        first_class: int = 0,
    ) -> None:
        self.encode = Encoder(self._encode_reference)
        self._handler = handler
        self._program_objects = program_objects
        self._write = write
        self._proxy_numbers = itertools.count(first_proxy)
        self._class_numbers = itertools.count(first_class)
        self._proxy_types: dict[type, tuple[int, type[proxies.Proxy]]] = {}
        self._proxies_by_object: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def _encode_reference(self, value: Any) -> tuple[Any, Any]:
        """A result that cannot be serialised: a proxy, an object of the program that it passed out before, an
        exception, or an external object, which gets a proxy."""
        if proxies.is_proxy(value):
            return self._handle(value), value
        own = self._program_objects.get(id(value))
        if own is not None and own[0]() is value:
            return {"own": own[1]}, value
        if isinstance(value, BaseException):
            return {"error": encoded_error(value, self.encode)}, value
        proxy = self._proxies_by_object.get(id(value))
        if proxy is None or proxies.real_of(proxy) is not value:
            proxy = self._new_proxy(value)
        return self._handle(proxy), proxy

    def _handle(self, proxy: Any) -> dict[str, Any]:
        return {"handle": [proxies.number_of(proxy), self._type_of(type(proxies.real_of(proxy)))[0]]}

    def _new_proxy(self, value: Any) -> Any:
        kind = type(value)
        made = self._type_of(kind)[1]
        proxy = proxies.make_proxy(made, kind, next(self._proxy_numbers), self._handler, value)
        self._proxies_by_object[id(value)] = proxy
        return proxy

    def _type_of(self, kind: type) -> tuple[int, type[proxies.Proxy]]:
        known = self._proxy_types.get(kind)
        if known is None:
            description = proxies.described_class(kind)
            known = self._proxy_types[kind] = next(self._class_numbers), proxies.proxy_type(description)
            self._write({"class": known[0], **description})
        return known
