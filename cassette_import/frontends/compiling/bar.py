"""The progress of compiling: a bar by rich, if it is installed and there is a terminal, otherwise lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from cassette_import.interpreter.clock import perf_counter

__all__ = ["with_bar"]

_Item = TypeVar("_Item")
_SECONDS_BETWEEN_LINES: Final = 10.0


def with_bar(items: Iterable[_Item], total: int, title: str) -> Iterator[_Item]:
    """The items, as they come; meanwhile a bar on standard error, which disappears afterwards.

    Without rich or a terminal, a line says every ten seconds how many items there were.
    """
    if sys.stderr is None:
        yield from items
        return
    if not sys.stderr.isatty():
        yield from _with_lines(items, total, title)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        print(f"{title} …", file=sys.stderr, flush=True)
        yield from _with_lines(items, total, title)
        return
    columns = TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        for item in items:
            progress.advance(task)
            yield item


def _with_lines(items: Iterable[_Item], total: int, title: str) -> Iterator[_Item]:
    """The items, as they come; meanwhile a line on standard error now and then, if they take long."""
    last = perf_counter()
    for count, item in enumerate(items, 1):
        if perf_counter() - last >= _SECONDS_BETWEEN_LINES and count < total:
            last = perf_counter()
            print(f"{title}: {count} of {total} modules", file=sys.stderr, flush=True)
        yield item
