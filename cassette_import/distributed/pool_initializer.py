"""`PoolInitializer`: a context in the processes of a pool, and its results."""

from __future__ import annotations

import functools
import os
import pickle
import sys
import uuid
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import util
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.distributed.joined_process import Description, GatheredResults, JoinedProcess, checked
from cassette_import.distributed.recorded_tasks import EachTask
from cassette_import.interpreter.records import cast

__all__ = ["PoolInitializer", "call_around_tasks"]

# ---- the tasks of a process of a pool, and what is called around each of them

Around: TypeAlias = Callable[..., Any]
"""Called with the key of a task, its function and the arguments."""


def _tasks_so_far() -> int:
    """How many tasks, or maps of several ones, all `multiprocessing.Pool` of this process have had so far."""
    module: Any = sys.modules.get("multiprocessing.pool")
    return 0 if module is None else int(repr(module.job_counter).strip("count()"))


def call_around_tasks(around: Around, first: int = 0) -> None:
    """Call something around all tasks of this process. The initializer of a pool calls this.

    A key has the name of the function and the number of the task; where a pool sends several calls at a time, also the
    number of the call among them.

    Parameters
    ----------
    around:
        What is called.
    first:
        `_tasks_so_far` when the pool was made, in whose process numbers begin with 0 then.

    Raises
    ------
    RuntimeError
        If this process is none of a pool.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found = _LOOPS.get((frame.f_globals.get("__name__"), frame.f_code.co_name))
        if found is not None:
            name, watch = found
            watch(frame.f_locals[name], around, first)
            return
        frame = frame.f_back
    raise RuntimeError("tasks are those of a pool: give the initializer to ProcessPoolExecutor or multiprocessing.Pool")


def _watch_executor(queue: Any, around: Around, first: int) -> None:
    """Wrap the functions of what `ProcessPoolExecutor` puts into a queue; it numbers its tasks itself."""
    plain = queue.get

    def get(*arguments: Any, **keywords: Any) -> Any:
        item = plain(*arguments, **keywords)
        if item is not None:
            item.fn, item.args = _wrapped(item.fn, item.args, str(item.work_id), around)
        return item

    queue.get = get


def _watch_pool(queue: Any, around: Around, first: int) -> None:
    """Wrap the functions of what `multiprocessing.Pool` puts into a queue, whose method `get` it has looked up."""
    queue._reader = _Reader(queue._reader, around, first)


class _Reader:
    """A connection from which a process gets tasks."""

    def __init__(self, reader: Any, around: Around, first: int) -> None:
        self._reader = reader
        self._around = around
        self._first = first

    def recv_bytes(self) -> bytes:
        """A task, as bytes from which `pickle` makes this one."""
        task = pickle.loads(self._reader.recv_bytes())
        if task is not None:
            job, number, function, arguments, keywords = task
            function, arguments = _wrapped(function, arguments, f"{job - self._first}.{number}", self._around)
            task = job, number, function, arguments, keywords
        _received.append(task)
        return _LAST_RECEIVED

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)


_received: Final[list[Any]] = []


class _Received:
    """Stands for the task that was received last."""

    def __reduce__(self) -> Any:
        return _last_received, ()


def _last_received() -> Any:
    return _received.pop()


_LAST_RECEIVED: Final = pickle.dumps(_Received())


def _wrapped(function: Any, arguments: Sequence[Any], number: str, around: Around) -> tuple[Any, Any]:
    """The function and the arguments of a task, with `around` called for each call in it."""
    if isinstance(function, functools.partial) and _is_of_pools(function.func):  # `ProcessPoolExecutor.map`
        calls = _Calls(function.args[0], number, around)
        return functools.partial(function.func, calls, *function.args[1:]), arguments
    if _is_of_pools(function):  # `Pool.map`: it gets a function and its items
        ((inner, items),) = arguments
        return function, ((_Calls(inner, number, around), items),)
    return functools.partial(around, f"{_name(function)}-{number}", function), arguments


class _Calls:
    """A function whose calls are numbered."""

    def __init__(self, function: Any, number: str, around: Around) -> None:
        self._function = function
        self._prefix = f"{_name(function)}-{number}"
        self._around = around
        self._count = -1

    def __call__(self, *arguments: Any) -> Any:
        self._count += 1
        return self._around(f"{self._prefix}.{self._count}", self._function, *arguments)


def _is_of_pools(function: Any) -> bool:
    """Whether a function makes the calls of several items."""
    return (getattr(function, "__module__", None), getattr(function, "__name__", None)) in _OF_SEVERAL_ITEMS


def _name(function: Any) -> str:
    function = getattr(function, "func", function)
    return str(getattr(function, "__qualname__", type(function).__qualname__))


_OF_SEVERAL_ITEMS: Final = {
    ("concurrent.futures.process", "_process_chunk"),
    ("multiprocessing.pool", "mapstar"),
    ("multiprocessing.pool", "starmapstar"),
}
_LOOPS: Final[dict[tuple[Any, str], tuple[str, Callable[[Any, Around, int], None]]]] = {
    ("concurrent.futures.process", "_process_worker"): ("call_queue", _watch_executor),
    ("multiprocessing.pool", "worker"): ("inqueue", _watch_pool),
}
"""The functions that run in a process of a pool until it ends, and the variable of the queue of tasks."""


# ---- `PoolInitializer`: a context in the processes of a pool, and its results


class PoolInitializer:
    """An initializer for the processes of a pool: it installs packages and enters a context.

    For `concurrent.futures.ProcessPoolExecutor` and `multiprocessing.Pool`. Each process writes its results when it
    ends; `Pool.terminate`, and the end of a `with Pool()` block, kill processes before that: call `close` and `join`.

    Parameters
    ----------
    packages:
        The packages that are overdubbed.
    context:
        Text as for the option `-c`, or a picklable callable that makes the context.
    folder:
        An existing folder for the results.
    suffix:
        The format of the files of the context, such as ``".prof"``; none by default.
    each_task:
        Whether each task has a context of its own, which `context` makes with the file of the task in the folder, as
        `Record` and `Replay` do. The file has the name of the function and the number of the call in the pool
        (`file_of_task`), so each pool needs a folder of its own.

    Raises
    ------
    TypeError
        If `context` is a context, and not a description of one, or, with `each_task`, a text.
    ValueError
        If there is a suffix with `each_task`, or the context has no files with it.

    Example
    -------
    >>> initializer = PoolInitializer("shop", "profile", "results", suffix=".prof")
    >>> with ProcessPoolExecutor(initializer=initializer) as pool:  # doctest: +SKIP
    ...     pool.submit(shop.total, 3).result()
    >>> print(initializer.summary())  # doctest: +SKIP
    """

    def __init__(
        self,
        packages: str | Iterable[str],
        context: Description | Callable[[str], Context],
        folder: str | os.PathLike[str],
        *,
        suffix: str | None = None,
        each_task: bool = False,
    ) -> None:
        if each_task and isinstance(context, str):
            raise TypeError(f"for each task, give what makes the context of a file, such as Record, not {context!r}")
        if each_task and suffix is not None:
            raise ValueError("with each_task, the files are those of the tasks: give no suffix")
        self._each_task = each_task
        self._first_task = _tasks_so_far()
        self._packages = (packages,) if isinstance(packages, str) else tuple(packages)
        self._context = checked(context, suffix)
        self._folder = os.path.abspath(folder)
        self._suffixes = () if suffix is None else (suffix,)
        self._prefix = f"{uuid.uuid4().hex[:8]}-"  # the folder may have results of earlier runs

    def __call__(self) -> None:
        """Called in each process."""
        if self._each_task:
            each = EachTask(self._packages, cast("Callable[[str], Context]", self._context), self._folder)
            util.Finalize(None, functools.partial(self._finish, each), exitpriority=0)
            call_around_tasks(each.run, self._first_task)
            return
        joined = JoinedProcess(self._packages, self._context, next(iter(self._suffixes), None))
        util.Finalize(None, functools.partial(self._finish, joined), exitpriority=0)
        joined.context.__enter__()  # for as long as the process lives

    def _finish(self, joined: JoinedProcess | EachTask) -> None:
        path = os.path.join(self._folder, f"{self._prefix}process-{os.getpid()}.pickle")
        with open(path, "wb") as file:
            pickle.dump(joined.results(self._suffixes), file)
        if isinstance(joined, JoinedProcess):
            joined.close()

    def _results(self) -> GatheredResults:
        files = Path(self._folder).glob(f"{self._prefix}*.pickle")
        by_process = {path.stem.removeprefix(self._prefix): pickle.loads(path.read_bytes()) for path in files}
        return GatheredResults(self._context, by_process)

    def summary(self) -> str:
        """The summaries of the processes that have ended."""
        return self._results().summary()

    def report(self) -> dict[str, Any]:
        """The reports of the processes that have ended, merged."""
        return self._results().report()

    def write(self, path: str | os.PathLike[str]) -> list[str]:
        """Write the results of the processes that have ended, in the format of `suffix`.

        Parameters
        ----------
        path:
            The file, which has that suffix. See `CassettePlugin.write`.

        Returns
        -------
        The names of the files.

        Raises
        ------
        ValueError
            If each task has a file of its own.
        """
        if self._each_task:
            raise ValueError(f"each task has a file of its own, in {self._folder}")
        return self._results().write(path)
