"""`CassettePlugin`: a context in all tasks of the workers of a cluster, and its results."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.distributed.joined_process import Description, GatheredResults, JoinedProcess, checked
from cassette_import.distributed.recorded_tasks import EachTask, start_calling, stop_calling
from cassette_import.interpreter.installed_packages import needs
from cassette_import.interpreter.records import cast

try:
    from distributed.diagnostics.plugin import WorkerPlugin
except ImportError:  # process pools do without it
    WorkerPlugin = object

__all__ = ["CassettePlugin"]

_joined: Final[dict[str, JoinedProcess | EachTask]] = {}
"""The contexts that are active in this process, by the name of the plugin."""


class CassettePlugin(WorkerPlugin):  # type: ignore[misc]  # dask has no types
    """A worker plugin of dask: packages are installed, and a context is active in all tasks, on every worker.

    Coroutines that are tasks run in the event loop of the worker, outside of the context.

    Parameters
    ----------
    packages:
        The packages that are overdubbed.
    context:
        Text as for the option `-c`, such as ``"profile"``, or a picklable callable that makes the context.
    suffix:
        The format of a context that writes while tasks run, as `trace` does: ``".jsonl"``. `write` takes files of this
        format then. Without it, such a context writes to the standard error of the workers.
    folder:
        A folder that all workers reach. Then each task has a context of its own, which `context` makes with the file
        of the task (`file_of_task`) as the argument: `Record` and `Replay` do.

    Raises
    ------
    ImportError
        If dask.distributed is not installed.
    TypeError
        If `context` is a context, and not a description of one.
    ValueError
        If the context has no files with the suffix.

    Example
    -------
    >>> plugin = CassettePlugin("shop", "profile")  # doctest: +SKIP
    >>> client.register_plugin(plugin)  # doctest: +SKIP
    >>> client.submit(shop.total, 3).result()  # doctest: +SKIP
    >>> print(plugin.summary(client))  # doctest: +SKIP
    """

    def __init__(
        self,
        packages: str | Iterable[str],
        context: Description | Callable[[str], Context],
        *,
        suffix: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if WorkerPlugin is object:
            raise ImportError(needs("CassettePlugin", "dask.distributed", "distributed"))
        self._packages = (packages,) if isinstance(packages, str) else tuple(packages)
        if folder is not None and isinstance(context, str):
            raise TypeError(f"with a folder, give what makes the context of a file, such as Record, not {context!r}")
        self._context = checked(context, suffix)
        self._suffix = suffix
        self._folder = None if folder is None else os.path.abspath(folder)
        self.name = f"cassette_import-{uuid.uuid4().hex[:8]}"
        """The name under which dask registers the plugin."""

    def setup(self, worker: Any) -> None:
        """Called by dask on each worker."""
        joined = _joined.get(self.name)
        if joined is None:
            if self._folder is not None:
                joined = EachTask(self._packages, cast("Callable[[str], Context]", self._context), self._folder)
            else:
                joined = JoinedProcess(self._packages, self._context, self._suffix)
            _joined[self.name] = joined
        start_calling(self.name, joined.call)

    def teardown(self, worker: Any) -> None:
        """Called by dask when the worker ends, or the plugin is unregistered: no further task is in the context."""
        stop_calling(self.name)

    def summary(self, client: Any) -> str:
        """The summaries of all workers."""
        return self._results(client).summary()

    def report(self, client: Any) -> dict[str, Any]:
        """The reports of all workers, merged: what was rewritten, specialised and left alone."""
        return self._results(client).report()

    def write(self, client: Any, path: str | os.PathLike[str]) -> list[str]:
        """Write the results in the format of a suffix.

        Parameters
        ----------
        client:
            The client of the cluster.
        path:
            The file. There is a numbered file for each worker, and the file itself has all of them together, if the
            format has a sum: profiles, call graphs, call types and traces do.

        Returns
        -------
        The names of the files.
        """
        return self._results(client, Path(path).suffix).write(path)

    def _results(self, client: Any, *suffixes: str) -> GatheredResults:
        found = client.run(_results_here, self.name, suffixes)
        by_process = {(address.rpartition(":")[0], one["process"]): (address, one) for address, one in found.items()}
        return GatheredResults(self._context, dict(by_process.values()))


def _results_here(name: str, suffixes: Iterable[str]) -> dict[str, Any]:
    return _joined[name].results(suffixes)
