"""What was alive at the event with the most memory: the blocks there are looked at as memory rises.

To look at all blocks takes time for each of them. So it happens at each new highest event as long as that costs less
than the events themselves, and otherwise when memory has risen by an eighth. Knows live blocks; must not know calls.
"""

from __future__ import annotations

from typing import Final

from cassette_import.contexts.allocations.live_blocks import LiveBlocks

__all__ = ["HighestEvent"]

_BLOCKS_FOR_AN_EVENT: Final = 8
"""To look at so many blocks takes a fifth of the time that the hooks of an event take."""
_NINE: Final = 9
_EIGHTHS: Final = 8
"""Integers: a float that a hook frees would be the next one of the program, as if that allocated nothing."""


class HighestEvent:
    """The event at which the most memory was alive, of those at which all blocks were looked at.

    Attributes
    ----------
    level:
        How many bytes were alive.
    blocks:
        The blocks that were alive.
    events:
        How many events there were since then; whoever has an event counts it.
    """

    __slots__ = ("blocks", "events", "level")

    def __init__(self) -> None:
        self.level = self.events = 0
        self.blocks = LiveBlocks()

    def note(self, level: int) -> None:
        """An event has more memory than any before: look at its blocks, if that is worth its time."""
        if self.events * _BLOCKS_FOR_AN_EVENT >= len(self.blocks) or level * _EIGHTHS >= self.level * _NINE:
            self.level = level
            self.events = 0
            self.blocks = LiveBlocks()
            self.blocks.add_all()
