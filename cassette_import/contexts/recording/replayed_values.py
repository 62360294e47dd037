"""Recorded values of a replay: serialised values are made anew, references become proxies or the program's objects."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.calls_to_replay import object_numbers
from cassette_import.contexts.recording.decoding import BadValue, Decoder
from cassette_import.contexts.recording.encoding import decoded_error
from cassette_import.contexts.recording.masking import Mask
from cassette_import.contexts.recording.recording_file import Recording

__all__ = ["ReplayedValues"]


class ReplayedValues:
    """The values of a recording as the program gets them.

    Parameters
    ----------
    recording:
        Describes the classes of proxies.
    mask:
        Replaces the names of folders by the folders.
    handler:
        Handles the uses of proxies.
    """

    def __init__(self, recording: Recording, mask: Mask, handler: proxies.UseHandler) -> None:
        self._recording = recording
        self._mask = mask
        self._handler = handler
        self._proxies: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._proxy_types: dict[int, tuple[type, type[proxies.Proxy]]] = {}
        self._program_objects: dict[int, Any] = {}
        self._unused_number = 0
        self._returned = frozenset(_returned_objects([call.outcome for call in recording.calls.values()]))
        """The numbers of the program's objects that are results of calls. They stay alive: in the recorded run, the
        external object held them."""
        self.decode = Decoder(self._decode_reference)

    def value(self, encoded: Any) -> Any:
        """A recorded value. Raises `BadValue` if the recording is damaged."""
        return self.decode(self._mask.restored(encoded))

    def error(self, encoded: Any) -> BaseException:
        """A recorded exception. Raises `BadValue` if the recording is damaged."""
        return decoded_error(self._mask.restored(encoded), self.decode)

    def learn_program_objects(self, recorded: Any, encoded: Any, by_number: list[Any]) -> None:
        """Learn from the arguments of a call which object of the program has which number in the recording.

        Such an object can be the result of a later call. `by_number` are weak references to the objects of this run.
        """
        if not by_number:
            return
        for before, now in zip(object_numbers(recorded), object_numbers(encoded), strict=False):
            if before >= 0 and now >= 0:
                found = by_number[now]
                self._program_objects[before] = _holder_of(found()) if before in self._returned else found

    def _decode_reference(self, tag: str, content: Any) -> Any:
        if tag == "handle" and isinstance(content, list) and list(map(type, content)) == [int, int]:
            return self._proxy(*content)
        if tag == "own" and isinstance(content, int):
            known = self._program_objects.get(content)
            return None if known is None else known()
        if tag == "error":
            return decoded_error(content, self.decode)
        raise BadValue(f"no value is written as {tag!r}")

    def renumber(self, proxy: Any, number: int) -> int:
        """Let a proxy be the recorded object of another number.

        If another proxy has this number, it gets one that is not in the recording. Returns that one.
        """
        self._unused_number -= 1
        other = self._proxies.get(number)
        self._proxies.pop(proxies.number_of(proxy), None)
        if other is not None:
            proxies.change_proxy(other, number=self._unused_number)
            self._proxies[self._unused_number] = other
        proxies.change_proxy(proxy, number=number)
        self._proxies[number] = proxy
        return self._unused_number

    def _proxy(self, number: int, class_number: int) -> Any:
        proxy = self._proxies.get(number)
        if proxy is None:
            kind, made = self._proxy_type(class_number)
            proxy = self._proxies[number] = proxies.make_proxy(made, kind, number, self._handler)
        return proxy

    def _proxy_type(self, number: int) -> tuple[type, type[proxies.Proxy]]:
        known = self._proxy_types.get(number)
        if known is None:
            description = self._recording.classes.get(number)
            if description is None:
                raise BadValue(f"class {number} is not described")
            known = proxies.class_of(description), proxies.proxy_type(description, hide=False)
            self._proxy_types[number] = known
        return known


def _holder_of(value: Any) -> Callable[[], Any]:
    return lambda: value


def _returned_objects(encoded: Any) -> Iterator[int]:
    """The numbers of the program's own objects in encoded results."""
    if isinstance(encoded, list | tuple):
        for item in encoded:
            yield from _returned_objects(item)
    elif isinstance(encoded, dict):
        number = encoded.get("own")
        if isinstance(number, int):
            yield number
        for item in encoded.values():
            yield from _returned_objects(item)
