"""`PoolInitializer`: a context in the processes of a pool, and its results."""

from __future__ import annotations

import functools
import os
import pickle
import uuid
from collections.abc import Callable, Iterable
from multiprocessing import util
from pathlib import Path
from typing import Any

from cassette_import.activation.context import Context
from cassette_import.distributed.context_descriptions import Description, checked
from cassette_import.distributed.gathered_results import GatheredResults
from cassette_import.distributed.joined_process import JoinedProcess
from cassette_import.distributed.pool_tasks import call_around_tasks, tasks_so_far
from cassette_import.distributed.recorded_tasks import EachTask
from cassette_import.interpreter.protocols import cast

__all__ = ["PoolInitializer"]


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
        self._first_task = tasks_so_far()
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
