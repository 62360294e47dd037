"""The workers: those of the user's client, of a scheduler, or processes that are started for this context."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter.installed_packages import needs

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NEEDS_DISTRIBUTED", "Cluster", "local_processes"]

DEATH_TIMEOUT: Final = 60.0
"""The seconds after which a worker ends that does not reach its scheduler: the program was killed as it started."""
WORKERS_TIMEOUT: Final = 30.0
"""The seconds after which a program does without workers if its scheduler has none."""
_LOOKS: Final = 10
"""How often it is looked in this time whether there are workers."""
_LOGGERS: Final = ("distributed", "tornado", "bokeh")
_THREAD_OF_CLIENT: Final = "IO loop"
NEEDS_DISTRIBUTED: Final = needs("parallel", "dask.distributed", "distributed")


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
            from cassette_import.contexts.parallel.scheduler_client import SchedulerClient
        except ImportError as error:
            raise ImportError(NEEDS_DISTRIBUTED) from error
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
