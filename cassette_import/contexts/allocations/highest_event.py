"""What was alive at the event with the most memory: the blocks there are looked at as memory rises.

To look at all blocks takes time for each of them. So it happens at each new highest event as long as that costs less
than the events themselves, and otherwise when memory has risen by an eighth.
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
    far_above:
        The level at which the blocks are looked at again, however few events there were since then.
    waiting:
        The number of events until a higher level is enough; each event counts it down.
    """

    __slots__ = ("blocks", "far_above", "level", "waiting")

    def __init__(self) -> None:
        self.level = self.far_above = self.waiting = 0
        self.blocks = LiveBlocks()

    def note(self, level: int) -> None:
        """Look at the blocks of an event that has more memory than any before."""
        self.level = level
        self.far_above = -(-level * _NINE // _EIGHTHS)
        self.blocks = LiveBlocks()
        self.blocks.add_all()
        self.waiting = -(-len(self.blocks) // _BLOCKS_FOR_AN_EVENT)
