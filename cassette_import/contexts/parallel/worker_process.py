"""The processes of workers that are started for a program: as the program's own, and quiet while they wait."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any, Final

from distributed import Client, Nanny
from distributed.deploy.subprocess import SubprocessWorker

__all__ = ["QUIET", "SchedulerClient", "WorkerProcess"]

# ---- a client of dask that leaves no thread and no socket behind when its scheduler is gone, or was never there


class SchedulerClient(Client):  # type: ignore[misc]  # dask has no types
    """A client that stops its event loop even if it cannot connect, or has been closed by the end of the connection."""

    def start(self, **options: Any) -> None:
        """Connect; called by the constructor."""
        try:
            super().start(**options)
        except BaseException:
            self._loop_runner.stop()
            raise

    def close(self, *arguments: Any, **options: Any) -> None:
        """Close the connection."""
        try:
            super().close(*arguments, **options)
        finally:
            self._loop_runner.stop()


# ---- the processes of workers that are started for a program: as the program's own, and quiet while they wait

QUIET: Final = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.profile.enabled": False,
}
"""Settings of dask: its processes look at themselves up to a hundred times a second, which takes time from tasks."""
_MEMORY: Final = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}
"""How the C library keeps memory that was freed: as that of a program does that has freed large blocks.

dask has workers give back all of it, so that each task with images or arrays would get its memory from the system anew.
"""
_SEED: Final = "PYTHONHASHSEED"


class _Keeper(Nanny):  # type: ignore[misc]  # dask has no types
    """The process that starts a worker, and starts it again if it dies."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pre_spawn_env.update({name: os.environ[name] for name in (_SEED, *_MEMORY) if name in os.environ})


class WorkerProcess(SubprocessWorker):  # type: ignore[misc]  # dask has no types
    """A worker with the options, and the seed of hashes, of the interpreter that runs the program."""

    def __init__(self, scheduler: str, name: Any = None, **options: Any) -> None:
        super().__init__(scheduler, f"{_Keeper.__module__}.{_Keeper.__qualname__}", name, options)

    async def _start(self) -> None:
        # For the type checker: this function has no type, and `multiprocessing` uses it too.
        options: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        worker = json.dumps({"cls": self.worker_class, "opts": self.worker_kwargs})
        command = [sys.executable, *options, "-m", "dask", "spec", self.scheduler, "--spec", worker]
        self.process = await asyncio.create_subprocess_exec(*command, env={**_settings(), **_MEMORY, **os.environ})


def _settings() -> dict[str, str]:
    """`QUIET` as variables of the environment, which dask reads as it is imported."""
    names = {name: name.upper().replace(".", "__").replace("-", "_") for name in QUIET}
    return {f"DASK_{names[name]}": str(value) for name, value in QUIET.items()}
