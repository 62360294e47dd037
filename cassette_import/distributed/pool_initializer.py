"""`PoolInitializer`: a context in the processes of a pool, and its results.

Knows when processes of a pool begin and end; must not know how their results become one.
"""

from __future__ import annotations

import functools
import os
import pickle
import uuid
from collections.abc import Iterable
from multiprocessing import util
from pathlib import Path
from typing import Any

from cassette_import.distributed.context_descriptions import Description, checked
from cassette_import.distributed.gathered_results import GatheredResults
from cassette_import.distributed.joined_process import JoinedProcess

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
        context: Description,
        folder: str | os.PathLike[str],
        *,
        suffix: str | None = None,
    ) -> None:
        self._packages = (packages,) if isinstance(packages, str) else tuple(packages)
        self._context = checked(context)
        self._folder = os.path.abspath(folder)
        self._suffixes = () if suffix is None else (suffix,)
        self._prefix = f"{uuid.uuid4().hex[:8]}-"  # the folder may have results of earlier runs

    def __call__(self) -> None:
        """Called in each process."""
        joined = JoinedProcess(self._packages, self._context, next(iter(self._suffixes), None))
        util.Finalize(None, functools.partial(self._finish, joined), exitpriority=0)
        joined.context.__enter__()  # for as long as the process lives

    def _finish(self, joined: JoinedProcess) -> None:
        path = os.path.join(self._folder, f"{self._prefix}process-{os.getpid()}.pickle")
        with open(path, "wb") as file:
            pickle.dump(joined.results(self._suffixes), file)
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
        """
        return self._results().write(path)
