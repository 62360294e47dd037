"""Allocations by call site, and the peak: what is computed from call trees when measuring is over."""

from __future__ import annotations

import linecache
from collections import Counter
from typing import NamedTuple

from cassette_import.contexts.allocations.call_tree import NO_PLACE, Node, walk
from cassette_import.contexts.allocations.memory import Memory

__all__ = ["Peak", "Site", "SiteAllocations", "peak_of", "roots_of", "sites_of"]


class Site(NamedTuple):
    """A line of the program with calls. What runs outside of all calls has the file ``"~"``.

    >>> Site("shop.py", 12)
    Site(file='shop.py', line=12)
    """

    file: str
    line: int

    @property
    def text(self) -> str:
        """The line itself; empty if there is no source."""
        return linecache.getline(self.file, self.line).strip() if self.file != "~" else ""


class SiteAllocations:
    """What the calls of one line have allocated.

    Attributes
    ----------
    function:
        The name of the function that has the line; empty if no call was measured there.
    calls:
        How many calls were made there.
    bytes:
        By how many bytes memory rose in these calls, without the calls in them.
    cumulative:
        The same, with the calls in them.
    left:
        How many bytes these calls had allocated and not freed when they returned, less what they freed of others.
    peak:
        How far memory rose at most above what it was when one of these calls began.
    alive:
        How many bytes that the line itself allocated were alive at the peak.
    kept, blocks:
        How many bytes and blocks that the line itself allocated are alive at the end.

    Example
    -------
    >>> from cassette_import import overdub
    >>> from cassette_import.contexts import Allocations
    >>> def load():
    ...     return bytes(100_000)
    >>> allocations = Allocations()
    >>> _ = overdub(allocations, load)
    >>> [found] = [found for found in allocations.by_site.values() if found.bytes > 10_000]
    >>> found.calls, round(found.bytes, -4)
    (1, 100000)
    """

    __slots__ = ("alive", "blocks", "bytes", "calls", "cumulative", "function", "kept", "left", "peak")

    def __init__(self) -> None:
        self.function = ""
        self.calls = self.bytes = self.cumulative = self.left = self.peak = 0
        self.alive = self.kept = self.blocks = 0

    def __repr__(self) -> str:
        return f"SiteAllocations({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"


class Peak(NamedTuple):
    """The most memory at once.

    Attributes
    ----------
    bytes:
        How many bytes there were.
    stack:
        The calls in progress, outermost first, as file, line and function.
    alive:
        How many bytes there were at the highest event, whose blocks `SiteAllocations.alive` counts by line. The peak
        may be higher: between two events.
    """

    bytes: int
    stack: tuple[tuple[str, int, str], ...]
    alive: int


def roots_of(memory: Memory) -> list[Node]:
    """The roots of all trees that have something to show."""
    roots = [thread.root for thread in list(memory.trees.values())]
    return roots + ([memory.shared] if memory.shared.own or memory.shared.left else [])


def sites_of(memory: Memory) -> dict[Site, SiteAllocations]:
    """What was allocated by call site, those with the most bytes first."""
    found: dict[Site, SiteAllocations] = {}
    for root in roots_of(memory):
        _add_tree(root, found)
    for (file, line), (size, count) in memory.kept_now().by_line().items():
        site = found.setdefault(Site(file, line), SiteAllocations())
        site.kept, site.blocks = size, count
    for (file, line), (size, _) in memory.highest.blocks.by_line().items():
        found.setdefault(Site(file, line), SiteAllocations()).alive = size
    return dict(sorted(found.items(), key=lambda entry: (-entry[1].bytes, -entry[1].kept, entry[0])))


def _add_tree(root: Node, found: dict[Site, SiteAllocations]) -> None:
    """Add each node to its site. A recursive call is part of the outermost one of the same site."""
    in_progress: Counter[Site] = Counter()
    below = [0]
    for node, leaving in walk(root):
        site = _site(node)
        if not leaving:
            in_progress[site] += 1
            below.append(0)
            continue
        in_progress[site] -= 1
        inside = node.own + below.pop()
        below[-1] += inside
        totals = found.setdefault(site, SiteAllocations())
        totals.calls += node.calls
        totals.bytes += node.own
        totals.function = totals.function or _function(node)
        totals.peak = max(totals.peak, node.peak)
        if not in_progress[site]:
            totals.cumulative += inside
            totals.left += node.left


def _site(node: Node) -> Site:
    """The line that makes the calls of a node; of a body without a call, the line of its `def`."""
    return Site(*(node.label[:2] if node.place is NO_PLACE else node.place))


def _function(node: Node) -> str:
    return node.label[2] if node.place is NO_PLACE or node.parent is None else node.parent.label[2]


def peak_of(memory: Memory) -> Peak:
    """The most memory that the program had at once, and the calls in progress at that moment."""
    node = memory.peak_node
    stack = () if node is None else tuple(each.label for each in node.path())
    return Peak(memory.peak, stack, memory.highest.level)
