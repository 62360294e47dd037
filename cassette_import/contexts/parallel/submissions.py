"""How tasks get to the workers of a client, and their outcomes back: several of them in one message.

The first task of a batch is sent by the client's own thread, as soon as that has time; whatever the program has called
until then goes with it. Who waits for a task sends the rest.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from cassette_import.contexts.parallel.task_output import settings_of_program
from cassette_import.contexts.parallel.worker import Outcome, execute

__all__ = ["Call", "Submissions", "in_one_line"]

_BYTES_OF_A_BATCH: Final = 1 << 20
"""A message of more bytes holds up the scheduler, which warns of those of ten times the size."""
_LARGE: Final = 1 << 20
"""Calls of more bytes are sent as data: the scheduler passes them on, and does not keep them."""
_OUTCOMES_OF_A_BATCH: Final = 500


class Call:
    """A call as it is sent.

    Attributes
    ----------
    payload:
        The call, pickled.
    earlier:
        The calls whose results it needs.
    submissions, sent, future:
        The way to the workers; what stands for the payload there, if that is large; and what stands for the outcome.
    problem:
        Why it could not be sent; or empty.
    outcome:
        What came of it.
    """

    __slots__ = ("earlier", "future", "outcome", "payload", "problem", "sent", "submissions")

    def __init__(self, payload: bytes, earlier: Sequence[Call]) -> None:
        self.payload = payload
        self.earlier = earlier
        self.submissions: Submissions | None = None
        self.sent: Any = None
        self.future: Any = None
        self.problem = ""
        self.outcome: Outcome | None = None


class Submissions:
    """The way to one client.

    Parameters
    ----------
    client:
        A `distributed.Client`.
    follows:
        Whether the workers are those of this program, and change their current folder as it does.
    """

    def __init__(self, client: Any, *, follows: bool = False) -> None:
        self.client = client
        self._follows = follows
        self._lock = threading.Lock()
        self._waiting: list[Call] = []

    def add(self, task: Call) -> None:
        """Send a task soon: with the next ones, or when it is waited for."""
        task.submissions = self
        try:
            if len(task.payload) > _LARGE:
                task.sent = self.client.scatter(task.payload, hash=False)
        except Exception as error:  # the scheduler is gone
            task.problem = in_one_line(error)
            return
        with self._lock:
            self._waiting.append(task)
            is_first = len(self._waiting) == 1
        if is_first:
            self.client.loop.add_callback(self.send)

    def send(self) -> None:
        """Send all tasks that were added."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            for part in _batches(waiting):
                batch = [one for one in part if not _is_without(one)]
                if not batch:
                    continue
                payloads = [one.payload if one.sent is None else one.sent for one in batch]
                needed = zip(*([other.future for other in one.earlier] for one in batch), strict=True)
                process: dict[str, Any] = {"path": tuple(map(str, sys.path)), "settings": settings_of_program()}
                if self._follows:
                    process["folder"] = _current_folder()
                try:
                    futures = self.client.map(execute, payloads, *map(list, needed), **process, pure=False)
                except Exception as error:  # the scheduler is gone
                    for one in batch:
                        one.problem = in_one_line(error)
                else:
                    for one, future in zip(batch, futures, strict=True):
                        one.future = future

    def fetch(self, tasks: Iterable[Call]) -> None:
        """Get the outcomes of those tasks that have ended, from the first one on, up to one that has none."""
        ended = [
            (one, one.future)
            for one in itertools.takewhile(_has_ended, itertools.islice(tasks, _OUTCOMES_OF_A_BATCH))
            if one.outcome is None
        ]
        if len(ended) < 2:
            return
        try:
            outcomes = self.client.gather([future for _, future in ended])
        except Exception:  # a worker has died since: who waits for the task finds out what to do
            return
        for (one, _), outcome in zip(ended, outcomes, strict=True):
            one.outcome = outcome

    def give_up(self, tasks: Sequence[Call]) -> None:
        """Neither send nor run these tasks, as far as they have not begun."""
        given_up = set(map(id, tasks))
        with self._lock:
            self._waiting = [one for one in self._waiting if id(one) not in given_up]
        try:
            self.client.cancel([one.future for one in tasks if one.future is not None])
        except Exception:  # the scheduler is gone
            pass


def in_one_line(error: BaseException) -> str:
    """An exception as text."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # another process has removed it
        return ""


def _is_without(task: Call) -> bool:
    """Whether a task needs one that could not be sent; it is not sent either."""
    if all(other.future is not None for other in task.earlier):
        return False
    task.problem = "a task whose result it needs has none"
    return True


def _has_ended(task: Call) -> bool:
    return task.outcome is not None or (task.future is not None and task.future.status == "finished")


def _batches(tasks: Iterable[Call]) -> Iterable[list[Call]]:
    """Parts that can be sent in this order: no task needs another one of its part, all need as many, and few bytes."""
    depths: dict[int, int] = {}
    parts: dict[tuple[int, int], list[Call]] = {}
    for one in tasks:
        depths[id(one)] = depth = 1 + max((depths.get(id(other), -1) for other in one.earlier), default=-1)
        parts.setdefault((depth, len(one.earlier)), []).append(one)
    for _, part in sorted(parts.items()):
        batch: list[Call] = []
        size = 0
        for one in part:
            size += 0 if one.sent is not None else len(one.payload)
            if batch and size > _BYTES_OF_A_BATCH:
                yield batch
                batch, size = [], len(one.payload)
            batch.append(one)
        yield batch
