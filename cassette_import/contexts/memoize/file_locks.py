"""Locks between processes and threads, one for each key: the one that computes a result holds its lock.

The kernel releases a lock when its process ends, however it ends: no process waits for one that was killed.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["FileLocks", "HeldLock"]

_FILES: Final[set[int]] = set()
"""The open files of the locks that this process holds."""


class HeldLock:
    """A lock that the process which took it holds until `release`, or until it ends."""

    def __init__(self, locks: FileLocks, name: str, file: int) -> None:
        self._locks = locks
        self._name = name
        self._file = file
        _FILES.add(file)

    def release(self) -> None:
        """Let the next thread or process have the lock. Nothing happens in a forked process, which does not hold it."""
        self._locks.names.discard(self._name)
        if self._file not in _FILES:
            return
        try:
            os.unlink(self._locks.path(self._name))  # who opened the file before that finds out, and opens a new one
        except OSError:  # another process has removed the folder
            pass
        fcntl.flock(self._file, fcntl.LOCK_UN)  # a forked process may have the file open
        _FILES.discard(self._file)
        os.close(self._file)


class _Names(threading.local):
    """The names of the locks that a thread holds."""

    def __init__(self) -> None:
        self.held: set[str] = set()


class FileLocks:
    """Locks by name.

    Parameters
    ----------
    folder:
        Where the files of the locks are while these are held; it is made if need be.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._names = _Names()

    @property
    def names(self) -> set[str]:
        """The names of the locks that this thread holds."""
        return self._names.held

    def path(self, name: str) -> str:
        """The file of a lock."""
        return os.path.join(self._folder, name)

    def hold(self, name: str) -> HeldLock | None:
        """Wait for a lock, and hold it.

        Returns
        -------
        The lock; None if this thread holds it already, or if there are no such locks here.
        """
        if fcntl is None or name in self.names:
            return None
        try:
            os.makedirs(self._folder, exist_ok=True)
            file = self._locked(self.path(name))
        except OSError:  # the folder cannot be written, or its file system has no locks
            return None
        self.names.add(name)
        return HeldLock(self, name, file)

    def _locked(self, path: str) -> int:
        """The open file at this path, locked."""
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                if _is_file_of(path, file):
                    return file
            except BaseException:  # an interrupted program
                os.close(file)
                raise
            os.close(file)


def _is_file_of(path: str, file: int) -> bool:
    """Whether an open file is the one that has this path: who held the lock before has removed its own."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _forget() -> None:
    """Close the files in a forked process: a lock ends with the process that took it."""
    while _FILES:
        os.close(_FILES.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
