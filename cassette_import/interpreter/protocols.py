"""`Protocol` for modules that most starts import: for type checkers that of `typing`, at run time an ordinary class.

A class of `typing.Protocol` takes ten times as long to make, and what it adds is for `isinstance`, which is never used
with protocols here.

Knows type checkers; must not know any protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Protocol"]

if TYPE_CHECKING:
    from typing import Protocol
else:

    class Protocol:
        """The base of protocols, without behaviour."""
