"""Tasks that have a context and a file of their own, such as a recording."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.errors import CassetteError
from cassette_import.frontends.reporting.report import report
from cassette_import.importing.installation import install
from cassette_import.kits.text import plural

__all__ = ["EachTask", "TaskMismatch", "file_of_task", "start_calling", "stop_calling"]

# ---- the functions of dask that run a task on a worker, and what is called around them

Around: TypeAlias = Callable[..., Any]
"""Called with a function of dask and its arguments, in place of the function, which it calls."""

_RUNNERS: Final = ("_run_task", "apply_function")
"""The functions of dask's module `worker` that run a task in a thread: one or the other, depending on the version."""
_around: Final[dict[str, tuple[Around, int]]] = {}
"""What is called, by name, and how many workers of this process have asked for it. The first one is outermost."""
_plain: Final[dict[str, Callable[..., Any]]] = {}
_lock: Final = threading.Lock()


def start_calling(name: str, around: Around) -> None:
    """Call something around all tasks of this process, until as many workers have stopped it as have started it.

    Parameters
    ----------
    name:
        The name by which it is stopped.
    around:
        What is called with the function of dask that runs a task, and with the arguments of that.

    Raises
    ------
    RuntimeError
        If this version of dask has other functions.
    """
    with _lock:
        _around[name] = around, _around[name][1] + 1 if name in _around else 1
        if _plain:
            return
        runners = _worker_module()
        _plain.update({runner: vars(runners)[runner] for runner in _RUNNERS if runner in vars(runners)})
        if not _plain:
            raise RuntimeError("this version of dask.distributed runs tasks in a way that CassettePlugin does not know")
        for runner, function in _plain.items():
            setattr(runners, runner, functools.partial(_run, function))


def stop_calling(name: str) -> None:
    """Undo one `start_calling`."""
    with _lock:
        if name not in _around:
            return
        around, count = _around[name]
        if count > 1:
            _around[name] = around, count - 1
        else:
            del _around[name]
        if not _around:
            for runner, function in _plain.items():
                setattr(_worker_module(), runner, function)
            _plain.clear()


def _key_of_task() -> object:
    """The key of the task that this thread runs."""
    return _worker_module().thread_state.key


def _run(function: Any, /, *arguments: Any) -> Any:
    for around, _ in reversed(list(_around.values())):
        function = functools.partial(around, function)
    return function(*arguments)


def _worker_module() -> Any:
    import distributed.worker

    return distributed.worker


# ---- tasks that have a context and a file of their own, such as a recording

_LONGEST_NAME: Final = 200


class TaskMismatch(CassetteError):
    """A task differs from its recording."""


class EachTask:
    """A process in which each task has a context of its own, made with a file that has the name of the task's key."""

    def __init__(self, packages: tuple[str, ...], context: Callable[[str], Context], folder: str) -> None:
        self._installation = install(packages) if packages else None
        self._context = context
        self._folder = folder
        self._count = 0
        self._lock = threading.Lock()
        os.makedirs(folder, exist_ok=True)

    def call(self, runner: Any, task: Any, /, *arguments: Any) -> Any:
        """Call the function of dask that runs a task."""
        return runner(functools.partial(self._run_task_of_dask, task), *arguments)

    def _run_task_of_dask(self, task: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return self.run(_key_of_task(), task, *arguments, **keywords)  # the runner has said by now which key it is

    def run(self, key: object, task: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call the function of a task in a context of its own.

        Parameters
        ----------
        key:
            The key of the task, of which the name of the file is made.
        """
        context = self._context(os.path.join(self._folder, file_of_task(key)))
        with self._lock:
            self._count += 1
        try:
            context.__enter__()
            try:
                result = task(*arguments, **keywords)
            finally:
                context.__exit__()  # see `JoinedProcess.call`
            check_end = getattr(context, "check_end", None)
            if check_end is not None:  # a replay has to make all calls
                check_end()
        except (Exception, SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # dask's client would wait for ever
            raise TaskMismatch(f"{type(error).__name__}: {error}") from None
        return result

    def results(self, suffixes: Iterable[str]) -> dict[str, Any]:
        """The number of tasks."""
        if list(suffixes):
            raise ValueError(f"each task has a file of its own, in {self._folder}")
        return {
            "process": os.getpid(),
            "summary": f"{plural(self._count, 'task')}, each with a file in {self._folder}",
            "files": {},
            "streamed": False,
            "portable": None,
            "report": report([] if self._installation is None else [self._installation], []),
        }


def file_of_task(key: object) -> str:
    """The name of the file of a task.

    Parameters
    ----------
    key:
        The key of the task, which dask makes of the function and the arguments, unless they are given `pure=False`. In
        process pools it is the name of the function and the number of the call.

    Returns
    -------
    A name that differs from those of other keys, and ends with ``.cassette``.

    Example
    -------
    >>> file_of_task("total-5f3a")
    'total-5f3a.cassette'
    """
    name = re.sub(r"[^\w.-]+", "_", str(key))[:_LONGEST_NAME]
    if name != str(key):  # another key may become the same name
        name += f"-{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}"
    return f"{name}.cassette"
