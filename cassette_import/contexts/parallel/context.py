"""`Parallel`: calls of chosen functions become tasks of dask, in a program that is written sequentially."""

from __future__ import annotations

import atexit
import inspect
import json
import logging
import os
import pickle
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock
from time import monotonic
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.parallel.conversion import Conversion
from cassette_import.contexts.parallel.regions import Regions, outside
from cassette_import.contexts.parallel.tasks import ParallelError, Site, Submissions, Task
from cassette_import.contexts.parallel.worker import Outcome, comparable, do_again, execute
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.installed_packages import is_installed, needs
from cassette_import.interpreter.standard_error import StandardError
from cassette_import.kits.events import ACTIVE, INACTIVE
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.targets import Target, resolve_target, split_targets
from cassette_import.kits.text import plural, text_writer
from cassette_import.rewriting.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Cluster", "Parallel", "Progress", "local_processes"]

# ---- the workers: those of the user's client, of a scheduler, or processes that are started for this context

DEATH_TIMEOUT: Final = 60.0
"""The seconds after which a worker ends that does not reach its scheduler: the program was killed as it started."""
WORKERS_TIMEOUT: Final = 30.0
"""The seconds after which a program does without workers if its scheduler has none."""
_LOOKS: Final = 10
"""How often it is looked in this time whether there are workers."""
_LOGGERS: Final = ("distributed", "tornado", "bokeh")
_THREAD_OF_CLIENT: Final = "IO loop"
_NEEDS_DISTRIBUTED: Final = needs("parallel", "dask.distributed", "distributed")


class Cluster:
    """Where tasks run. Workers are started, and schedulers connected to, when the first task is submitted.

    Parameters
    ----------
    client:
        A `distributed.Client`, which stays open; or None.
    scheduler:
        The address of a scheduler; or None for processes on this machine.
    workers:
        How many processes are started, None for one for each processor; with a scheduler, how many are waited for.
    """

    def __init__(self, client: Any, scheduler: str | None, workers: int | None) -> None:
        self._client = client
        self._scheduler = scheduler
        self._workers = workers
        self._lock = threading.Lock()
        self._close: list[Callable[[], None]] = []
        self._process = os.getpid()
        self.is_own = client is None and scheduler is None
        """Whether the workers are processes of this program."""
        self.problem = ""
        """Why there are no workers; or empty."""

    def client(self) -> Any:
        """The client; None if there are no workers, for the reason in `problem`."""
        if os.getpid() != self._process:
            self.problem = "a forked process cannot use the connection of the other one"
            return None
        if self._client is None and not self.problem:
            with self._lock:
                if self._client is None:
                    self._start()
        client = self._client
        if client is not None and client.status not in ("running", "newly-created"):
            self.problem = self.problem or f"the connection to the scheduler is {client.status}"
            return None
        return client

    def _start(self) -> None:
        is_new = "distributed" not in sys.modules
        try:
            from cassette_import.contexts.parallel.worker_process import SchedulerClient
        except ImportError as error:
            raise ImportError(_NEEDS_DISTRIBUTED) from error
        if is_new:
            _keep_from_handlers_of_the_program()
        try:
            if self._scheduler is not None:
                client = SchedulerClient(self._scheduler, set_as_default=False)
                self._close = [client.close]
                _wait_for_workers(client, self._workers or 1)
                self._client = client
                self._watch_scheduler(client)
            else:
                cluster = local_processes(self._workers or os.cpu_count() or 1)
                self._close = [cluster.close]
                self._client = SchedulerClient(cluster, set_as_default=False)
                self._close.insert(0, self._client.close)
                cluster.loop.add_callback(self._watch_processes, self._client, cluster)
        except Exception as error:
            self.problem = f"there are no workers: {type(error).__name__}: {error}"
        atexit.register(self.close)

    def _watch_scheduler(self, client: Any) -> None:
        """Close the client once its scheduler has had no worker for a while: its futures would stay pending."""
        from tornado.ioloop import PeriodicCallback

        missed = 0

        async def look() -> None:
            nonlocal missed
            try:
                missed = 0 if await client.scheduler.ncores() else missed + 1
            except Exception:  # the connection has ended, which the client finds itself
                return
            if missed == _LOOKS and self._close:
                self.problem = _no_worker()
                await client._close(fast=True)

        looks = PeriodicCallback(look, WORKERS_TIMEOUT / _LOOKS * 1000)
        client.loop.add_callback(looks.start)
        self._close.insert(0, lambda: client.loop.add_callback(looks.stop))

    async def _watch_processes(self, client: Any, cluster: Any) -> None:
        """Close the client once all processes have ended that start workers."""
        processes = [worker.process for worker in cluster.workers.values() if worker.process is not None]
        codes = [await process.wait() for process in processes]
        if self._close:
            self.problem = f"its workers have ended, with exit codes {', '.join(map(str, codes))}"
            await client._close(fast=True)

    def close(self) -> None:
        """End what was started here."""
        closing, self._close = self._close, []
        if os.getpid() != self._process:
            return
        for close in closing:
            try:
                close()
            except Exception:  # the scheduler may be gone
                pass
        if closing:
            atexit.unregister(self.close)
            self._client = None


def _wait_for_workers(client: Any, count: int) -> None:
    """Wait for workers of a scheduler; raise if it has none after a while."""
    try:
        client.wait_for_workers(count, timeout=WORKERS_TIMEOUT)
    except TimeoutError:
        if not client.scheduler_info()["workers"]:
            raise TimeoutError(_no_worker()) from None


def _no_worker() -> str:
    return f"the scheduler has had no worker for {WORKERS_TIMEOUT:g} seconds"


def _keep_from_handlers_of_the_program() -> None:
    """Keep what dask logs out of the logs of a program that does not know of it. Warnings go to standard error."""
    for name in _LOGGERS:
        logging.getLogger(name).propagate = False
    logging.getLogger("distributed").setLevel(logging.WARNING)
    logging.getLogger("asyncio").addFilter(_is_of_program)


def _is_of_program(record: logging.LogRecord) -> bool:
    """Whether a record is none of the event loop of dask's client, which has a thread of its own."""
    return record.threadName != _THREAD_OF_CLIENT


def local_processes(count: int) -> Any:
    """Workers on this machine, one thread each.

    They are restarted if they die. They are programs of their own, because processes that multiprocessing spawns would
    execute the main module. They end when the scheduler does, even if the program is killed.
    """
    import dask
    from distributed import Scheduler
    from distributed.deploy.spec import SpecCluster

    from cassette_import.contexts.parallel.worker_process import QUIET, WorkerProcess

    options = {
        "nthreads": 1,
        "host": "127.0.0.1",
        "dashboard": False,
        "memory_limit": 0,
        "silence_logs": logging.WARN,
        "death_timeout": DEATH_TIMEOUT,
    }
    worker = {"cls": WorkerProcess, "options": options}
    scheduler = {
        "cls": Scheduler,
        "options": {"host": "127.0.0.1", "port": 0, "dashboard": False, "dashboard_address": "127.0.0.1:0"},
    }
    with dask.config.set(QUIET):
        return SpecCluster(
            workers=dict.fromkeys(range(count), worker), scheduler=scheduler, silence_logs=logging.WARN, name="parallel"
        )


# ---- the progress of tasks: how many have ended of those that were submitted, on a status line of the terminal

_EVERY: Final = 0.1
"""The least seconds between two changes of the line."""
_CELLS: Final = 20


class Progress:
    """Counts tasks, and shows them while there are some that have not ended, if there is a terminal to show them on."""

    def __init__(self, output: StandardError | None) -> None:
        self._output = output
        self._lock = Lock()
        self._submitted = self._ended = 0
        self._changed = 0.0
        self._is_shown = False

    def submitted(self) -> None:
        """Count a task that was submitted."""
        with self._lock:
            self._submitted += 1
            self._show()

    def waiting(self) -> None:
        """Show the line: a task is waited for now."""
        with self._lock:
            self._show()

    def ended(self, *, failed: bool) -> None:
        """Count a task that has ended, and hide the line: its output follows. No task is left if one has failed."""
        with self._lock:
            self._ended += 1
            self._hide()
            if failed or self._ended >= self._submitted:
                self._submitted = self._ended = 0

    def _show(self) -> None:
        now = monotonic()
        if self._output is not None and self._output.is_terminal and now - self._changed >= _EVERY:
            filled = _CELLS * self._ended // max(1, self._submitted)
            bar = "█" * filled + "░" * (_CELLS - filled)
            self._hide()
            self._is_shown = self._output.show_status(f" parallel: {bar} {self._ended} of {self._submitted} tasks")
            self._changed = now

    def _hide(self) -> None:
        if self._is_shown and self._output is not None:
            self._output.hide_status()
            self._is_shown = False
            self._changed = 0.0


# ---- `Parallel`: calls of chosen functions become tasks of dask, in a program that is written sequentially

_SHOWN_REASONS: Final = 5
_conversions: Final[dict[frozenset[int], Conversion]] = {}


class Parallel(Regions, Context, events=Events.NONE):
    """Runs calls of chosen functions as tasks on other processes, and waits for their results where they are needed.

    The program does what it does without the context: results, output, exceptions and their order are the same. The
    functions must be pure, which the user promises: they depend on nothing but their arguments, and write at most
    output. On the command line: ``-c parallel:targets=package:f+package:g,workers=2``.

    Parameters
    ----------
    targets:
        The functions: callables, or text, ``"package.module:function"``.
    client:
        A `distributed.Client`. Without one, processes are started on this machine when the first task is submitted.
    check:
        Whether to run each call in this process, too, and to compare.
    workers:
        How many processes are started; by default one for each processor. With a scheduler, for how many workers the
        program waits before its first task, at most half a minute.
    scheduler:
        The address of a scheduler, in place of a client. If it has no workers, the calls are made in this process.
    progress:
        Whether to show on a terminal how many tasks have ended of those that were submitted.

    Raises
    ------
    ValueError
        If a target cannot be a task, or an option is wrong. The message is one line.
    ImportError
        When the first task is submitted, if dask.distributed is not installed.

    Example
    -------
    >>> import shop  # doctest: +SKIP
    >>> with Parallel({shop.price}):  # doctest: +SKIP
    ...     shop.main()
    """

    inherit: ClassVar[bool] = True

    def __init__(
        self,
        targets: Iterable[Target],
        *,
        client: Any = None,
        check: bool = False,
        workers: int | None = None,
        scheduler: str | None = None,
        progress: bool = False,
    ) -> None:
        if workers is not None:
            check_number("workers", workers, "processes", least=1)
        if client is not None and (workers is not None or scheduler is not None):
            raise ValueError("a client says where tasks run: give no scheduler and no workers")
        resolved = [_resolved(target) for target in ([targets] if isinstance(targets, str) else targets)]
        if not resolved:
            raise ValueError("no target is given: name the functions that become tasks, as package.module:function")
        self._targets = {id(function): (name, function) for name, function in resolved}
        Context.__init__(self, passes=[_conversion_of([function for _, function in resolved])])
        self._check = check
        self._cluster = Cluster(client, scheduler, workers)
        Regions.__init__(self, may_run_here=self._cluster.is_own and not check)
        self._submissions: Submissions | None = None
        self._progress = Progress(StandardError() if progress else None)
        self._lock = Lock()
        self._tasks: Counter[str] = Counter()
        self._here: Counter[tuple[str, str]] = Counter()

    @classmethod
    def from_options(
        cls,
        *,
        targets: str,
        scheduler: str | None = None,
        workers: int | None = None,
        check: bool = False,
        progress: bool = False,
    ) -> Parallel:
        """What the command line makes of ``targets=…,key=value,…``.

        Parameters
        ----------
        targets:
            The functions, ``package.module:function``, separated by ``+``.
        """
        names = [name for name in split_targets(targets) if name]
        return cls(names, scheduler=scheduler, workers=workers, check=check, progress=progress)

    def inform(self, run: Mapping[str, object]) -> None:
        """Called before a program runs; raise ValueError if there is no dask.distributed."""
        if not is_installed("distributed"):
            raise ValueError(_NEEDS_DISTRIBUTED)

    def close(self) -> None:
        """End the processes that were started. Further calls start new ones."""
        self._cluster.close()

    def forked(self) -> None:
        """Start with no calls in a forked process, which runs its calls itself."""
        self._lock = Lock()
        self._submissions = None
        self._progress = Progress(None)
        self._tasks.clear()
        self._here.clear()
        Regions.__init__(self, may_run_here=False)

    # ---- tasks, for `Regions`

    def is_target(self, function: Any) -> bool:
        """See `Regions.is_target`."""
        return id(function) in self._targets

    def start(self, task: Task) -> None:
        """See `Regions.start`."""
        client = self._cluster.client()
        with self._lock:
            self._tasks[self._targets[id(task.function)][0]] += 1
        if client is not None:
            self._submissions_to(client).add(task)
        self._progress.submitted()

    def _submissions_to(self, client: Any) -> Submissions:
        with self._lock:
            if self._submissions is None or self._submissions.client is not client:
                self._submissions = Submissions(client, follows=self._cluster.is_own)
            return self._submissions

    @hidden
    def finished(self, task: Task) -> Outcome:
        """See `Regions.finished`."""
        name = self._targets[id(task.function)][0]
        token = ACTIVE.set(INACTIVE)  # a task that is run here is no part of the region that waits for it
        self._progress.waiting()
        outcome: Outcome | None = None
        try:
            outcome = task.wait(name, lambda: self._cluster.problem)
        finally:
            ACTIVE.reset(token)
            self._progress.ended(failed=outcome is None or outcome.error is not None)
        if task.reason:
            with self._lock:
                self._here[name, task.reason] += 1
        for noted in outcome.output:
            do_again(noted, task.site.frames)
        if self._check and not task.reason:
            self._compare(task, name, outcome)
        return outcome

    def ran_here(self, function: Any, reason: str, site: Site) -> None:
        """See `Regions.ran_here`."""
        with self._lock:
            self._here[self._targets[id(function)][0], f"{reason} ({site})"] += 1

    def _compare(self, task: Task, name: str, outcome: Outcome) -> None:
        """Run the call here, too. Its warnings are none now: they have been shown, and are shown once."""
        earlier = (one.outcome for one in task.earlier if one.outcome is not None)
        again = outside(execute, task.payload, *earlier)
        for what, one, other in (
            ("result", outcome.value, again.value),
            ("exception", _described(outcome.error), _described(again.error)),
            ("output", comparable(outcome.output), comparable(again.output)),
        ):
            if not _same(one, other):
                raise ParallelError(
                    f"{name} is not pure: its {what} was {_short(one)} in a task and {_short(other)} in the process of "
                    f"the program, at {task.site}; take it out of the targets of parallel"
                )

    # ---- reports

    def statistics(self) -> dict[str, dict[str, Any]]:
        """For each target: how many `tasks` there were, and how many calls ran in this process, by reason (`here`)."""
        with self._lock:
            return {
                name: {
                    "tasks": self._tasks[name],
                    "here": {reason: count for (target, reason), count in self._here.items() if target == name},
                }
                for name, _ in self._targets.values()
            }

    def summary(self) -> str:
        """The number of tasks of each target, and which calls were run in the process of the program."""
        lines: list[str] = []
        for name, figures in self.statistics().items():
            lines.append(f"{name}: {plural(figures['tasks'], 'task')}")
            reasons = sorted(figures["here"].items(), key=lambda one: -one[1])
            lines += [f"  {count} in this process: {reason}" for reason, count in reasons[:_SHOWN_REASONS]]
            if len(reasons) > _SHOWN_REASONS:
                lines.append(f"  … {len(reasons) - _SHOWN_REASONS} further reasons")
        return "\n  ".join(["parallel:", *lines])

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for the statistics."""
        return {
            ".txt": text_writer(self.summary),
            ".json": text_writer(lambda: json.dumps(self.statistics(), indent=2)),
        }


def _conversion_of(functions: list[Any]) -> Conversion:
    """The pass for these functions: one object, because code is compiled for each pass."""
    key = frozenset(map(id, functions))
    return _conversions.setdefault(key, Conversion(functions))


def _resolved(target: Target) -> tuple[str, Any]:
    """The name and the function of a target; raise if workers cannot import it."""
    found = resolve_target(target.replace(":", ".") if isinstance(target, str) else target)
    function = found.function
    name = found.name
    if found.pending or getattr(function, "__module__", None) == "__main__":
        raise ValueError(f"{name} is in the program's own file, which workers cannot import; move it into a module")
    if not isinstance(function, (FunctionType, BuiltinFunctionType)) or found.is_bound:
        raise ValueError(f"{name} is no function of a module; name a function that workers can import")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        raise ValueError(f"{name} is a generator or coroutine function, whose results cannot leave a worker")
    try:
        pickle.dumps(function)
    except Exception as error:
        raise ValueError(f"{name} cannot be imported by workers: {error}") from None
    return name, function


def _described(error: BaseException | None) -> Any:
    return None if error is None else (type(error), str(error))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    try:
        return pickle.dumps(one) == pickle.dumps(other) or bool(one == other)
    except Exception:  # arrays have no truth
        return False
