"""Buffers that a call fills: what they contain before the call means nothing, and is often memory that was never set.

`pickle` gives `readinto` such memory. So a recording compares only the length of the buffer, and has all bytes that the
call has written, also those that happen to be equal to what was there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

__all__ = ["bytes_written", "length_of", "place_of_filled_buffer"]

_PLACES: Final = {
    "readinto": 0,
    "readinto1": 0,
    "recv_into": 0,
    "recvfrom_into": 0,
    "sock_recv_into": 1,
    "sock_recvfrom_into": 1,
}
"""Which argument a method of files, sockets or event loops fills. The result is or begins with the number of bytes."""


def place_of_filled_buffer(what: Sequence[Any], arguments: Sequence[Any]) -> int | None:
    """The index of the argument that a call fills; None if it fills none."""
    place = _PLACES.get(what[1].rpartition(".")[2]) if what[0] == "call" else None
    return None if place is None or place >= len(arguments) or length_of(arguments[place]) is None else place


def length_of(buffer: Any) -> int | None:
    """The length of a buffer in bytes; None if there is no buffer that can be written."""
    try:
        with memoryview(buffer) as memory:
            return None if memory.readonly else memory.nbytes
    except (TypeError, BufferError, ValueError):
        return None


def bytes_written(result: Any, most: int) -> int:
    """How many bytes a call has written, as its result says; all of them if it does not.

    The result is None if there were no data yet, or if the call raised an exception.
    """
    if result is None:
        return 0
    number = result[0] if isinstance(result, tuple) and result else result
    return number if type(number) is int and 0 <= number <= most else most
