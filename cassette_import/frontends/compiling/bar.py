"""The progress bar of compiling: by rich, if it is installed, and only on a terminal.

Knows rich; must not know what is compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["with_bar"]

_Item = TypeVar("_Item")


def with_bar(items: Iterable[_Item], total: int, title: str) -> Iterator[_Item]:
    """The items, as they come; meanwhile a bar on standard error, which disappears afterwards.

    Without rich there is one line in the place of the bar; without a terminal there is nothing.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        print(f"{title} …", file=sys.stderr, flush=True)
        yield from items
        return
    columns = TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        for item in items:
            progress.advance(task)
            yield item
