"""The functions of dask that run a task on a worker, and what is called around them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Final, TypeAlias

__all__ = ["key_of_task", "start_calling", "stop_calling"]

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


def key_of_task() -> object:
    """The key of the task that this thread runs."""
    return _worker_module().thread_state.key


def _run(function: Any, /, *arguments: Any) -> Any:
    for around, _ in reversed(list(_around.values())):
        function = functools.partial(around, function)
    return function(*arguments)


def _worker_module() -> Any:
    import distributed.worker

    return distributed.worker
