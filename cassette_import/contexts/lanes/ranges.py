"""`range` with bounds that differ between lanes: a loop over it is left by each lane in its own time."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from cassette_import.contexts.lanes.lane import Lane, agreed

__all__ = ["LaneRange"]


class LaneRange:
    """`range(start, stop, step)`, where `start` or `stop` differ between lanes."""

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start = start
        self.stop = stop
        self.step = step

    @classmethod
    def of(cls, *arguments: Any) -> Any:
        """The range of these arguments: an ordinary one where all lanes agree, or the types are wrong."""
        arguments = tuple(map(_bare, arguments))  # bounds decide: nothing is computed from them
        start, stop, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
        step = agreed(step, "is the step of a range")
        kinds: Any = [one.__class__ for one in (start, stop)]
        if step == 0 or type(step) is not int or any(kind not in (int, bool) for kind in kinds):
            return range(*map(agreed, arguments))
        return cls(start, stop, step)

    def plain(self) -> range:
        """The range, for code that needs one; the lanes are split by value."""
        return range(agreed(self.start, "bounds a range"), agreed(self.stop, "bounds a range"), self.step)

    def __iter__(self) -> Iterator[int]:
        return iter(self.plain())

    def __len__(self) -> int:
        return len(self.plain())

    def __getitem__(self, key: Any) -> Any:
        return self.plain()[key]

    def __contains__(self, value: Any) -> bool:
        return value in self.plain()

    def __reversed__(self) -> Iterator[int]:
        return reversed(self.plain())

    def steps(self, loop: Any) -> Iterator[Any]:
        """The items for a converted loop. The loop's `counter` tells which lanes have an item."""
        item = self.start
        compare = operator.lt if self.step > 0 else operator.gt
        while True:
            test = compare(item, self.stop)
            if type(test) is not Lane:
                if not test:
                    loop.counter = None
                    return
                loop.counter = (True, item)
            else:
                loop.counter = (test, item)
                if not test.now().any():
                    loop.counter = None
                    return
            yield item
            item = item + self.step


def _bare(value: Any) -> Any:
    """A value without the annotations of contexts within the run."""
    while type(value) is Lane and value.annotation is not None:
        value = value.annotation.bare
    return value
