"""The context `Parallel`, which runs calls of chosen functions as tasks of dask.distributed."""

from cassette_import.contexts.parallel.context import Parallel
from cassette_import.contexts.parallel.tasks import ParallelError

__all__ = ["Parallel", "ParallelError"]
