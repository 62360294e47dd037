"""Processes that the program forks: they run in a replay, too, so what the program does with them is not external."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

__all__ = ["FORKING_FUNCTIONS", "ForkedProcesses"]

FORKING_FUNCTIONS: Final = ("os.fork", "os.forkpty")
_TAKE_A_PROCESS: Final = frozenset({"os.waitpid", "os.kill"})


class ForkedProcesses:
    """The processes that this one has forked."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()

    def made(self, result: Any) -> None:
        """Note what a function that forks has returned: the number of the process, or a tuple that begins with it."""
        number = result[0] if isinstance(result, tuple) else result
        if number:
            self._numbers.add(number)

    def is_used(self, name: str, arguments: Sequence[Any]) -> bool:
        """Whether a call waits for one of these processes by its number, or sends it a signal."""
        return name in _TAKE_A_PROCESS and len(arguments) == 2 and arguments[0] in self._numbers
