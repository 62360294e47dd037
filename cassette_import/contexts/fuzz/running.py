"""Runs of the function under test, bounded in time, in the depth of recursion and in memory."""

from __future__ import annotations

import asyncio
import itertools
import signal
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any, Final, NamedTuple, NoReturn

__all__ = ["LaterResult", "Limits", "TooSlow", "run_to_end"]

# ---- results of the function under test that run later: generators and coroutines, which are run to their end

_MOST_ITEMS: Final = 10_000
"""A generator may have no end."""


class LaterResult(NamedTuple):
    """A type of results that run later.

    Attributes
    ----------
    run:
        Runs one to its end.
    module:
        The module that a test needs for that.
    lines:
        The statements of a test that do it; `{call}` stands for the call of the function.
    """

    run: Callable[[Any], None]
    module: str
    lines: tuple[str, ...]


def _generator(result: Generator[Any, Any, Any]) -> None:
    for _ in itertools.islice(result, _MOST_ITEMS):
        pass
    result.close()


def _coroutine(result: Coroutine[Any, Any, Any]) -> None:
    asyncio.run(result)


def _asynchronous_generator(result: AsyncGenerator[Any, Any]) -> None:
    async def items() -> None:
        left = _MOST_ITEMS
        async for _ in result:
            left -= 1
            if not left:
                break
        await result.aclose()

    asyncio.run(items())


# Abstract classes: a context that follows generators and coroutines has types of its own for them.
_LATER_RESULTS: Final[dict[type, LaterResult]] = {
    Coroutine: LaterResult(_coroutine, "asyncio", ("asyncio.run({call})",)),
    AsyncGenerator: LaterResult(
        _asynchronous_generator,
        "asyncio",
        ("async def items():", "    async for _ in {call}:", "        pass", "", "asyncio.run(items())"),
    ),
    Generator: LaterResult(
        _generator, "itertools", (f"for _ in itertools.islice({{call}}, {_MOST_ITEMS}):", "    pass")
    ),
}


def run_to_end(result: Any) -> LaterResult | None:
    """Run a result to its end, if it is one that runs later; how that is done, or None.

    >>> run_to_end("text")
    >>> run_to_end(character for character in "text").module
    'itertools'
    """
    found = next((later for kind, later in _LATER_RESULTS.items() if isinstance(result, kind)), None)
    if found is not None:
        found.run(result)
    return found


# ---- runs of the function under test, bounded in time, in the depth of recursion and in memory

resource: ModuleType | None
try:
    import resource
except ModuleNotFoundError:  # pragma: no cover - not on Unix
    resource = None


_TICKS: Final = 4
"""How often the clock is looked at in the time that a run may take."""


class TooSlow(BaseException):
    """A run took longer than it may. It is no `Exception`, so that a program which handles those does not go on."""


class Limits:
    """Bounds of runs.

    Parameters
    ----------
    timeout:
        The seconds that a run may take, or None.
    memory:
        How many bytes of address space the process may use beyond what it uses now, or None.

    Attributes
    ----------
    is_interrupted:
        Whether Ctrl-C was pressed.

    Raises
    ------
    ValueError
        If a bound makes no sense, or cannot be had here.
    """

    def __init__(self, timeout: float | None, memory: int | None) -> None:
        for name, value in (("timeout", timeout), ("memory", memory)):
            if value is not None and not (value > 0):
                raise ValueError(f"{name} is a positive number or None, not {value!r}")
        can_interrupt = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if timeout is not None and not can_interrupt:
            raise ValueError(
                "a timeout needs signals: fuzz in the main thread of a process on Unix, or with timeout=None"
            )
        self.timeout = timeout
        self.memory = memory
        self.is_interrupted = False
        self._began: float | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the bounds, and restore what was before."""
        with self._memory(), self._clock(), self._interruptions():
            yield

    @contextmanager
    def _memory(self) -> Iterator[None]:
        used = _address_space()
        if self.memory is None or resource is None or used is None:
            yield
            return
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = used + int(self.memory)
        resource.setrlimit(resource.RLIMIT_AS, (wanted if soft < 0 else min(soft, wanted), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    @contextmanager
    def _clock(self) -> Iterator[None]:
        if self.timeout is None:
            yield
            return
        old = signal.signal(signal.SIGALRM, self._tick)
        before = signal.setitimer(signal.ITIMER_REAL, self.timeout / _TICKS, self.timeout / _TICKS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *before)
            signal.signal(signal.SIGALRM, old)

    @contextmanager
    def _interruptions(self) -> Iterator[None]:
        """Note Ctrl-C: a function that handles all exceptions would keep it to itself."""
        before = signal.getsignal(signal.SIGINT)
        if not callable(before) or threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupted(number: int, frame: FrameType | None) -> Any:
            self.is_interrupted = True
            return before(number, frame)

        signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        if self._began is not None and self.timeout and time.monotonic() - self._began > self.timeout:
            self._stop()

    def _stop(self) -> NoReturn:
        raise TooSlow(f"a run took longer than {self.timeout:g} seconds")

    def error_of(self, call: Callable[[Any], Any], argument: Any) -> BaseException | None:
        """The exception that a call raises, or None; Ctrl-C ends the fuzzing and not the run."""
        self._began = time.monotonic()
        try:
            call(argument)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        finally:
            self._began = None
        return None


def released(error: BaseException | None) -> None:
    """Drop the tracebacks of an exception that is not kept, and of those that it was raised from.

    Its frames refer to their callers, which may still refer to it: it would live until the garbage collector runs, and
    so would the values of the program with their metadata. Besides, the interpreter has sixteen objects in reserve for
    MemoryError, and while all are alive it takes one and the same object, with its former traceback, again and again.

    >>> error = Limits(None, None).error_of(int, "x")
    >>> released(error)
    >>> error.__traceback__ is None
    True
    """
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        BaseException.with_traceback(one, None)  # its class may refuse changes of attributes, as frozen dataclasses do
        waiting += (one.__context__, one.__cause__)
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def _address_space() -> int | None:
    """How many bytes of addresses the process uses, where the system says so."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * (4096 if resource is None else resource.getpagesize())
    except (OSError, ValueError):
        return None
