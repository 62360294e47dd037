"""Tasks: calls that were submitted to workers, the placeholders of their results, and what came of them.

Tasks of a thread end in the order of their calls. A task that a worker could not run is run in this process.
"""

from __future__ import annotations

import itertools
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from types import FrameType, TracebackType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.parallel.worker import Dependency, Outcome, execute, rebuilt, settings_of_program
from cassette_import.errors import CassetteError
from cassette_import.interpreter.clock import perf_counter

__all__ = [
    "FIRST_TASKS",
    "HasPlaceholder",
    "NeededAtOnce",
    "NotTransferable",
    "ParallelError",
    "Placeholder",
    "Site",
    "Submissions",
    "Task",
    "pickled",
]

# ---- call sites whose results are needed at once: as tasks, their calls only cost, so most are made in this process
#
# A call site is one of these after some of its tasks in a row were waited for before any other one was submitted. Its
# calls are made here then, for as long as all of these took; after that, one is a task again, and shows whether the
# call site has changed. So a call site whose tasks can run beside others loses no more time than the program has taken
# there before.

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


# ---- how tasks get to the workers of a client, and their outcomes back: several of them in one message
#
# The first task of a batch is sent by the client's own thread, as soon as that has time; whatever the program has
# called until then goes with it. Who waits for a task sends the rest.

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
            task.problem = _in_one_line(error)
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
                        one.problem = _in_one_line(error)
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


def _in_one_line(error: BaseException) -> str:
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


# ---- tasks: calls that were submitted to workers, the placeholders of their results, and what came of them

_UNSET: Final = object()


class ParallelError(CassetteError):
    """A function cannot be a task. The message names the call site, and what to do."""


class HasPlaceholder(Exception):
    """An argument contains a placeholder, which has to be waited for."""


class NotTransferable(Exception):
    """A call cannot be sent to a worker. The message says why."""


class Placeholder:
    """The result of a task, until it is needed; or a tuple, list or dictionary that has such results in it.

    Parameters
    ----------
    task:
        The task; of several ones, the last.
    make:
        Makes the container when the results are there.
    """

    __slots__ = ("_make", "_value", "task")

    def __init__(self, task: Task, make: Callable[[], Any] | None = None) -> None:
        self.task = task
        self._make = make
        self._value: Any = _UNSET

    @property
    def is_known(self) -> bool:
        """Whether the value is there."""
        return self._value is not _UNSET or (self._make is not None and self.task.placeholder.is_known)

    @property
    def is_result(self) -> bool:
        """Whether the value is the result of the task itself."""
        return self._make is None

    @property
    def value(self) -> Any:
        """The value, which is known."""
        if self._value is _UNSET and self._make is not None:
            self._value = self._make()
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def __reduce__(self) -> Any:
        raise HasPlaceholder


class Site:
    """The line of a call."""

    __slots__ = ("frame", "frames", "line", "place")

    def __init__(self, frame: FrameType) -> None:
        self.place: Place = id(frame.f_code), frame.f_lasti
        self.line = frame.f_lineno
        self.frames = [(frame, frame.f_lasti, frame.f_lineno)]
        while frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:  # frames of their own before 3.12
            frame = frame.f_back
            self.frames.append((frame, frame.f_lasti, frame.f_lineno))
        self.frame = frame

    def __str__(self) -> str:
        return f"{self.frame.f_code.co_filename}:{self.line}"

    def traceback(self, below: TracebackType | None) -> TracebackType:
        """The traceback of an exception that was raised in the call."""
        for frame, lasti, line in self.frames:
            below = TracebackType(below, frame, lasti, line)
        assert below is not None
        return below


_COMPREHENSIONS: Final = ("<listcomp>", "<dictcomp>")


class Task(Call):
    """One call of the program.

    Attributes
    ----------
    number:
        How many calls were submitted before it in this region of the program.
    site:
        Where it was called.
    reason:
        Why it ran in this process; or empty.
    began:
        When it was called.
    before:
        The values of the variables of a module level before the call; None for a call of a function's.
    handled:
        The exception that was handled when the call was made.
    """

    __slots__ = ("before", "began", "function", "handled", "number", "placeholder", "reason", "site")

    def __init__(self, number: int, function: Any, payload: bytes, earlier: list[Task], site: Site) -> None:
        super().__init__(payload, earlier)
        self.number = number
        self.function = function
        self.site = site
        self.began = perf_counter()
        self.reason = ""
        self.before: dict[str, Any] | None = None
        self.handled: BaseException | None = None
        self.placeholder = Placeholder(self)

    def wait(self, name: str, problem: Callable[[], str] = str) -> Outcome:
        """What came of the task. If the workers say nothing, it is run here; `problem` says why there are none."""
        failure = ""
        if self.submissions is not None:
            self.submissions.send()  # also what needs the future of this one, which is released now
        if self.outcome is None and self.future is not None:
            try:
                self.outcome = self.future.result()
            except Exception as error:  # the worker died, or the scheduler is gone
                failure = _in_one_line(error)
        if self.outcome is None or self.outcome.problem:
            self.reason = self.outcome.problem if self.outcome is not None else problem() or self.problem or failure
            self.outcome = self._here()
        self.future = self.sent = None
        if self.outcome.refusal:
            raise ParallelError(
                f"{name} {self.outcome.refusal}, at {self.site}: a task works on a copy, so take it out of the targets "
                "of parallel"
            )
        return self.outcome

    def _here(self) -> Outcome:
        """Run the call in this process. Its result or exception need not be pickled."""
        return execute(self.payload, *(one.outcome for one in self.earlier if one.outcome is not None), here=True)

    def traceback(self) -> TracebackType:
        """The traceback of the task's exception: the call site, and what is below it."""
        outcome = self.outcome
        assert outcome is not None
        return self.site.traceback(outcome.below if outcome.frames is None else rebuilt(outcome.frames))


def pickled(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[bytes, list[Task]]:
    """A call as bytes, and the tasks whose results it needs.

    The task works with the arguments as they are now, whatever the program does to them afterwards.

    Raises
    ------
    HasPlaceholder
        If an argument has a placeholder in it.
    NotTransferable
        If the call cannot be pickled.
    """
    earlier: list[Task] = []

    def sent(value: Any) -> Any:
        if type(value) is not Placeholder:
            return value
        if value.is_known:
            return value.value
        if not value.is_result:
            raise HasPlaceholder
        if value.task not in earlier:
            earlier.append(value.task)
        return Dependency(earlier.index(value.task))

    call = function, tuple([sent(one) for one in arguments]), {key: sent(one) for key, one in keywords.items()}
    try:
        return pickle.dumps(call, protocol=pickle.HIGHEST_PROTOCOL), earlier
    except HasPlaceholder:
        raise
    except Exception as error:
        raise NotTransferable(f"its arguments cannot be pickled: {_in_one_line(error)}") from error
