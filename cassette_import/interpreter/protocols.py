"""`Protocol` and `cast`: for type checkers those of `typing`; at run time an ordinary class, and a function of ours.

A class of `typing.Protocol` takes ten times as long to make, and what it adds is for `isinstance`, which is never used
with protocols here. `typing.cast` may be overdubbed, and hooks call `cast`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Protocol", "cast"]

if TYPE_CHECKING:
    from typing import Protocol, cast
else:

    class Protocol:
        """The base of protocols, without behaviour."""

    def cast(kind, value):
        """The value."""
        return value
