"""A client of dask that leaves no thread and no socket behind when its scheduler is gone, or was never there."""

from __future__ import annotations

from typing import Any

from distributed import Client

__all__ = ["SchedulerClient"]


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
