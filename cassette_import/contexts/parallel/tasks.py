"""Tasks: calls that were submitted to workers, the placeholders of their results, and what came of them.

Tasks of a thread end in the order of their calls. A task that a worker could not run is run in this process.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

from cassette_import.contexts.parallel.needed_at_once import Place
from cassette_import.contexts.parallel.submissions import Call, in_one_line
from cassette_import.contexts.parallel.tracebacks import rebuilt
from cassette_import.contexts.parallel.worker import Dependency, Outcome, execute
from cassette_import.errors import CassetteError
from cassette_import.interpreter.clock import perf_counter

__all__ = ["HasPlaceholder", "NotTransferable", "ParallelError", "Placeholder", "Site", "Task", "pickled"]

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
                failure = in_one_line(error)
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
        raise NotTransferable(f"its arguments cannot be pickled: {in_one_line(error)}") from error
