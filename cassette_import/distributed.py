"""Contexts in the workers of a cluster and of process pools: activated there, their results gathered here.

Knows dask's worker plugins, process pools and how contexts report; must not know any single context.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import re
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import util
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from cassette_import.activation.context import Context
from cassette_import.contexts.common.merged_files import merged_file
from cassette_import.contexts.common.reporting import (
    chosen_format,
    is_merging,
    is_streaming,
    known_formats,
    summary_of,
)
from cassette_import.contexts.common.text import plural
from cassette_import.contexts.lookup import context_named
from cassette_import.errors import CassetteError
from cassette_import.frontends.reporting.report import merged, report
from cassette_import.importing.installation import Installation, install

try:
    from distributed.diagnostics.plugin import WorkerPlugin
except ImportError:  # process pools do without it
    WorkerPlugin = object

__all__ = ["CassettePlugin", "PoolInitializer", "TaskMismatch", "file_of_task"]

Description: TypeAlias = str | Callable[[], Context]
"""A context: text as for `-c`, or what makes one in a worker, such as its type; it must be picklable."""


class _Joined:
    """A process in which the context is active. `suffix` is the format of a context that writes while it runs."""

    def __init__(self, packages: tuple[str, ...], context: Description, suffix: str | None) -> None:
        self.installation: Installation | None = install(packages) if packages else None
        self.context = _made(context)
        self._stream: Path | None = None
        if suffix is not None and is_streaming(self.context):
            self._folder = tempfile.TemporaryDirectory(prefix="cassette_import-")
            self._stream = Path(self._folder.name, f"stream{suffix}")
            self.context.stream(str(self._stream))

    def call(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function in the context."""
        self.context.__enter__()
        try:
            return function(*arguments, **keywords)
        finally:
            self.context.__exit__()  # without an exception type: a task that meets no function is nothing to warn of

    def results(self, suffixes: Iterable[str]) -> dict[str, Any]:
        """What the context has found so far: its summary, its files by suffix, and the report of this process."""
        summary = summary_of(self.context)  # first: a trace of the last calls writes them now
        context = self.context
        installations = [] if self.installation is None else [self.installation]
        return {
            "process": os.getpid(),
            "summary": summary,
            "files": {suffix: self._content(suffix) for suffix in suffixes},
            "streamed": self._stream is not None,
            "portable": context.portable_results() if is_merging(context) else None,
            "report": report(installations, [context]),
        }

    def _content(self, suffix: str) -> bytes:
        """What a file of this format would have now."""
        if is_streaming(self.context):
            if self._stream is None or self._stream.suffix != suffix:
                name = type(self.context).__name__
                raise ValueError(f"{name} writes while tasks run: give suffix={suffix!r} when the workers start")
            return self._stream.read_bytes()
        formats = known_formats(self.context)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"result{suffix}")
            formats[chosen_format(formats, path)](path)
            return Path(path).read_bytes()

    def close(self) -> None:
        """Remove the file to which the context writes."""
        if self._stream is not None:
            self._folder.cleanup()


class TaskMismatch(CassetteError):
    """A task differs from its recording."""


class _EachTask:
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
        return runner(functools.partial(self._run, task), *arguments)

    def _run(self, task: Any, /, *arguments: Any, **keywords: Any) -> Any:
        context = self._context(os.path.join(self._folder, file_of_task(_runners().thread_state.key)))
        with self._lock:
            self._count += 1
        try:
            context.__enter__()
            try:
                result = task(*arguments, **keywords)
            finally:
                context.__exit__()  # see `_Joined.call`
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
        The key of the task, which dask makes of the function and the arguments, unless they are given `pure=False`.

    Example
    -------
    >>> file_of_task("total-5f3a")
    'total-5f3a.cassette'
    """
    name = re.sub(r"[^\w.-]+", "_", str(key))[:_LONGEST_NAME]
    if name != str(key):  # another key may become the same name
        name += f"-{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}"
    return f"{name}.cassette"


_LONGEST_NAME: Final = 200
_joined: Final[dict[str, _Joined | _EachTask]] = {}
"""The contexts that are active in this process, by the name of the plugin."""


class _Gathered:
    """The base of what gathers the results of several processes: merges summaries and reports, and writes files."""

    _context: Description

    def _merged_summary(self, results: Mapping[str, Mapping[str, Any]]) -> str:
        texts = [f"{name}:\n{one['summary']}" for name, one in sorted(results.items()) if one["summary"]]
        together = self._together(results) if len(texts) > 1 else None
        if together is not None:
            texts.append(f"together:\n{summary_of(together)}")
        return "\n\n".join(texts)

    def _merged_report(self, results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        return merged([one["report"] for _, one in sorted(results.items())])

    def _write(self, results: Mapping[str, Mapping[str, Any]], path: str | os.PathLike[str]) -> list[str]:
        target = Path(path)
        written: list[str] = []
        contents = {name: one["files"][target.suffix] for name, one in sorted(results.items())}
        for number, content in enumerate(contents.values(), 1):
            numbered = target.with_name(f"{target.stem}-{number}{target.suffix}")
            numbered.write_bytes(content)
            written.append(str(numbered))
        if self._write_together(results, contents, target):
            written.insert(0, str(target))
        return written

    def _write_together(
        self, results: Mapping[str, Mapping[str, Any]], contents: Mapping[str, bytes], target: Path
    ) -> bool:
        """Write the file of all processes; return whether there is one in this format."""
        together = self._together(results)
        if together is not None and is_merging(together):
            formats = together.merged_formats
            if target.suffix in formats:
                formats[target.suffix](str(target))
                return True
        streamed = any(one["streamed"] for one in results.values())
        content = merged_file(contents, target.suffix, streamed=streamed)
        if content is not None:
            target.write_bytes(content)
        return content is not None

    def _together(self, results: Mapping[str, Mapping[str, Any]]) -> Context | None:
        """A context with the results of all processes; None if there are none, or its type does not add them up."""
        portable = [one["portable"] for _, one in sorted(results.items()) if one["portable"] is not None]
        context = _made(self._context) if portable else None
        if context is not None and is_merging(context):
            for one in portable:
                context.add_results(one)
        return context


class CassettePlugin(_Gathered, WorkerPlugin):  # type: ignore[misc]
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
            raise ImportError("CassettePlugin needs dask.distributed: install cassette_import[distributed]")
        self._packages = (packages,) if isinstance(packages, str) else tuple(packages)
        if folder is not None and isinstance(context, str):
            raise TypeError(f"with a folder, give what makes the context of a file, such as Record, not {context!r}")
        self._context = _picklable(context)
        self._suffix = suffix
        self._folder = None if folder is None else os.path.abspath(folder)
        self.name = f"cassette_import-{uuid.uuid4().hex[:8]}"
        """The name under which dask registers the plugin."""
        self._plain: dict[str, Any] = {}

    def setup(self, worker: Any) -> None:
        """Called by dask on each worker."""
        if self.name not in _joined:
            joined: _Joined | _EachTask
            if self._folder is not None:
                joined = _EachTask(self._packages, cast("Callable[[str], Context]", self._context), self._folder)
            else:
                joined = _Joined(self._packages, self._context, self._suffix)
            _joined[self.name] = joined
            runners = _runners()
            self._plain = {name: vars(runners)[name] for name in _RUNNERS if name in vars(runners)}
            if not self._plain:
                raise RuntimeError(
                    "this version of dask.distributed runs tasks in a way that CassettePlugin does not know"
                )
            for name, function in self._plain.items():
                setattr(runners, name, functools.partial(joined.call, function))

    def teardown(self, worker: Any) -> None:
        """Called by dask when the worker ends, or the plugin is unregistered: no further task is in the context."""
        plain, self._plain = self._plain, {}
        for name, function in plain.items():
            setattr(_runners(), name, function)

    def summary(self, client: Any) -> str:
        """The summaries of all workers."""
        return self._merged_summary(self._of_workers(client))

    def report(self, client: Any) -> dict[str, Any]:
        """The reports of all workers, merged: what was rewritten, specialised and left alone."""
        return self._merged_report(self._of_workers(client))

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
        return self._write(self._of_workers(client, Path(path).suffix), path)

    def _of_workers(self, client: Any, *suffixes: str) -> dict[str, dict[str, Any]]:
        found = client.run(_results_here, self.name, suffixes)
        by_process = {(address.rpartition(":")[0], one["process"]): (address, one) for address, one in found.items()}
        return dict(by_process.values())


_RUNNERS: Final = ("_run_task", "apply_function")
"""The functions of dask's module `worker` that run a task in a thread: one or the other, depending on the version."""


def _runners() -> Any:
    import distributed.worker

    return distributed.worker


def _results_here(name: str, suffixes: Iterable[str]) -> dict[str, Any]:
    return _joined[name].results(suffixes)


class PoolInitializer(_Gathered):
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
        self._context = _picklable(context)
        self._folder = os.path.abspath(folder)
        self._suffixes = () if suffix is None else (suffix,)

    def __call__(self) -> None:
        """Called in each process."""
        joined = _Joined(self._packages, self._context, next(iter(self._suffixes), None))
        util.Finalize(None, functools.partial(self._finish, joined), exitpriority=0)
        joined.context.__enter__()  # for as long as the process lives

    def _finish(self, joined: _Joined) -> None:
        path = os.path.join(self._folder, f"process-{os.getpid()}.pickle")
        with open(path, "wb") as file:
            pickle.dump(joined.results(self._suffixes), file)
        joined.close()

    def _of_processes(self) -> dict[str, dict[str, Any]]:
        return {path.stem: pickle.loads(path.read_bytes()) for path in Path(self._folder).glob("process-*.pickle")}

    def summary(self) -> str:
        """The summaries of the processes that have ended."""
        return self._merged_summary(self._of_processes())

    def report(self) -> dict[str, Any]:
        """The reports of the processes that have ended, merged."""
        return self._merged_report(self._of_processes())

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
        return self._write(self._of_processes(), path)


def _made(context: Description) -> Context:
    return context_named(context) if isinstance(context, str) else context()


def _picklable(context: Any) -> Description:
    """The description of a context; raise if it is not one of which a worker can make a context."""
    if isinstance(context, Context) or not (isinstance(context, str) or callable(context)):
        raise TypeError(f"give the text or the type of a context, which workers make themselves, not {context!r}")
    if isinstance(context, str):
        context_named(context)  # raises if there is none
    checked: Description = context
    return checked
