"""Contexts in the workers of a cluster and of process pools: activated there, their results gathered here."""

from typing import TYPE_CHECKING, Any

from cassette_import.distributed.pool_initializer import PoolInitializer
from cassette_import.distributed.recorded_tasks import TaskMismatch, file_of_task

if TYPE_CHECKING:
    from cassette_import.distributed.worker_plugin import CassettePlugin

__all__ = ["CassettePlugin", "PoolInitializer", "TaskMismatch", "file_of_task"]


def __getattr__(name: str) -> Any:
    if name == "CassettePlugin":  # it imports dask, which takes longer than all else, and pools do without it
        from cassette_import.distributed.worker_plugin import CassettePlugin

        return CassettePlugin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
