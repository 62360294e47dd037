"""Call sites whose results are needed at once: as tasks, their calls only cost, so most are made in this process.

A call site is one of these after some of its tasks in a row were waited for before any other one was submitted. Its
calls are made here then, for as long as all of these took; after that, one is a task again, and shows whether the call
site has changed. So a call site whose tasks can run beside others loses no more time than the program has taken there
before.
"""

from __future__ import annotations

import threading
from typing import Final, TypeAlias

from cassette_import.interpreter.clock import perf_counter

__all__ = ["FIRST_TASKS", "NeededAtOnce", "Place"]

FIRST_TASKS: Final = 8
"""So many tasks of a call site in a row are waited for at once before a call is made here."""

Place: TypeAlias = tuple[int, int]
"""A call site: the `id()` of its code, and its place there."""


class _CallSite:
    """What is known of a call site: tasks in a row that were waited for at once, and times in seconds."""

    __slots__ = ("here", "tasks", "total")

    def __init__(self) -> None:
        self.tasks = 0
        self.total = 0.0
        self.here = 0.0


class NeededAtOnce:
    """Which call sites they are. Calls that run at the same time in several threads are none.

    Parameters
    ----------
    is_used:
        Whether any call may be made in this process.
    """

    def __init__(self, *, is_used: bool) -> None:
        self._is_used = is_used
        self._lock = threading.Lock()
        self._sites: dict[Place, _CallSite] = {}
        self._running = 0

    def begins_here(self, place: Place) -> bool:
        """Whether a call is made in this process: it has begun then, and `ended` is called after it."""
        site = self._sites.get(place)
        if site is None or site.here <= 0.0 or self._running:
            return False
        with self._lock:
            self._running += 1
        return True

    def ended_here(self, place: Place, began: float) -> None:
        """A call was made in this process."""
        took = perf_counter() - began
        with self._lock:
            self._running -= 1
            site = self._sites.get(place)
            if site is not None:
                site.total += took
                site.here -= took

    def submitted(self, others_of_thread: int) -> bool:
        """A task was submitted; return whether those of other threads run as well."""
        with self._lock:
            is_shared = self._running > others_of_thread
            self._running += 1
        return is_shared

    def waited_for(self, place: Place, began: float, *, at_once: bool) -> None:
        """A task has ended."""
        took = perf_counter() - began
        with self._lock:
            self._running -= 1
            if not at_once or not self._is_used:
                self._sites.pop(place, None)
                return
            site = self._sites.setdefault(place, _CallSite())
            site.tasks += 1
            site.total += took
            if site.tasks >= FIRST_TASKS:
                site.here = site.total

    def given_up(self, count: int) -> None:
        """Tasks are not waited for any more."""
        with self._lock:
            self._running -= count
