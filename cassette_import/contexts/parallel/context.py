"""`Parallel`: calls of chosen functions become tasks of dask, in a program that is written sequentially."""

from __future__ import annotations

import inspect
import json
import pickle
from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.common.options import check_number
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.targets import Target, resolve_target, split_targets
from cassette_import.contexts.common.text import plural, text_writer
from cassette_import.contexts.parallel.cluster import NEEDS_DISTRIBUTED, Cluster
from cassette_import.contexts.parallel.conversion import Conversion
from cassette_import.contexts.parallel.outside import outside
from cassette_import.contexts.parallel.progress import Progress
from cassette_import.contexts.parallel.regions import Regions
from cassette_import.contexts.parallel.submissions import Submissions
from cassette_import.contexts.parallel.task_output import comparable, do_again
from cassette_import.contexts.parallel.tasks import ParallelError, Site, Task
from cassette_import.contexts.parallel.worker import Outcome, execute
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.installed_packages import is_installed
from cassette_import.interpreter.standard_error import StandardError
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE, INACTIVE

__all__ = ["Parallel"]

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
            raise ValueError(NEEDS_DISTRIBUTED)

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
