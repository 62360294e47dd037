"""Contexts in the workers of a cluster and of process pools: activated there, their results gathered here.

Knows dask's worker plugins, process pools and how contexts report; must not know any single context.
"""

from cassette_import.distributed.pool_initializer import PoolInitializer
from cassette_import.distributed.recorded_tasks import TaskMismatch, file_of_task
from cassette_import.distributed.worker_plugin import CassettePlugin

__all__ = ["CassettePlugin", "PoolInitializer", "TaskMismatch", "file_of_task"]
