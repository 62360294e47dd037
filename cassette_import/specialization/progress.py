"""Progress: how much a process has specialised, and a notice on standard error when that takes long."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.records import Record
from cassette_import.interpreter.standard_error import StandardError

__all__ = ["PROGRESS", "Progress", "Work"]

_WIDTH: Final = 12
"""The characters between the ends of the bar."""


class Work(Record):
    """What a process has specialised so far: bodies that the cache had are not counted, but the time for them is."""

    functions: int = 0
    modules: int = 0
    seconds: float = 0.0
    elapsed: float = 0.0
    """The seconds since cassette_import was imported."""

    @property
    def share(self) -> float:
        """The share of specialising in the elapsed time, between 0 and 1."""
        return min(1.0, self.seconds / self.elapsed) if self.elapsed else 0.0


class Progress:
    """Counts what is specialised, and writes one notice when it has taken long; on a terminal, a bar follows.

    The bar is there only while code is made, and not while the program itself runs. So it can be written without a
    thread, and is never in the way of the program's output. It is no bar of rich: rich would be in `sys.modules` before
    the program imports it, and it may be the package that the program is about.
    """

    def __init__(self) -> None:
        self._began = perf_counter()
        self._functions = self._modules = 0
        self._seconds = 0.0
        self.patience = 2.0
        """The seconds of specialising before the notice."""
        self._output: StandardError | None = None
        self._is_quiet = self._is_noticed = self._is_shown = False
        self._attempts = {True: 0, False: 0}  # to write cache files, by their success
        # A forked process has a copy of this object. The original notifies the user.
        self._process = os.getpid()

    # ---- where the notice goes

    def notify(self, output: StandardError | None = None) -> None:
        """Write the notice to `output`, or to the standard error of the process, whether or not it is a terminal.

        Without this call, it has to be one.
        """
        self._output = StandardError() if output is None else output
        self._process = os.getpid()

    def be_quiet(self) -> None:
        """Write nothing in this process."""
        self._is_quiet = True

    # ---- counting

    def work(self) -> Work:
        """What has been specialised so far."""
        return Work(self._functions, self._modules, self._seconds, perf_counter() - self._began)

    def count(self, *, functions: int = 0, modules: int = 0) -> None:
        """Count compiled functions and rewritten module levels."""
        self._functions += functions
        self._modules += modules

    def note_caching(self, succeeded: bool) -> None:
        """Note that code was written to a cache file, or that the file cannot be written."""
        self._attempts[succeeded] += 1

    def begin(self) -> int:
        """Note that code is made from now on, until `end`; return how many functions were compiled before."""
        if self._is_noticed:
            self._is_shown = self._show()
        return self._functions

    def end(self, seconds: float) -> int:
        """Note that making the code took so long; return how many functions have been compiled so far."""
        self._seconds += seconds
        if self._is_shown and self._output is not None:
            self._is_shown = False
            self._output.hide_status()
        if self._seconds >= self.patience and not self._is_noticed:
            self._write_notice()
        return self._functions

    @contextmanager
    def not_counting(self) -> Iterator[None]:
        """Do not count what is specialised in the block, because it is no part of the program."""
        before = self._functions, self._modules, self._seconds
        try:
            yield
        finally:
            self._functions, self._modules, self._seconds = before

    # ---- the notice and the bar

    def _may_write(self) -> bool:
        return not self._is_quiet and os.getpid() == self._process

    def _write_notice(self) -> None:
        self._is_noticed = True
        if not self._may_write():
            return
        if self._output is None:  # nothing but a terminal: a program may compare what other programs write
            self._output = StandardError()
            if not self._output.is_terminal:
                self._is_quiet = True
                return
        self._output.write_line(
            f"cassette_import: {self._counted()} specialised in {self._seconds:.1f} seconds so far; {self._outlook()}"
        )

    def _outlook(self) -> str:
        """What the next run will find in the cache, as text."""
        if sys.dont_write_bytecode:
            return "nothing is cached, because Python may not write bytecode"
        if not self._attempts[False]:
            if not self._attempts[True]:
                return "none of them is cached: they are of the script itself, or of texts given to compile or exec"
            cached, specialised = self._attempts[True], self._functions + self._modules
            return f"the next run takes {'them' if cached >= specialised else f'{cached} of them'} from its cache"
        if not self._attempts[True]:
            return "nothing is cached, because the cache files cannot be written"
        return "not all are cached, because some cache files cannot be written"

    def _show(self) -> bool:
        if self._output is None or not self._may_write():
            return False
        place = int(4 * self._seconds) % (2 * _WIDTH - 6)
        place = min(place, 2 * _WIDTH - 6 - place)
        bar = " " * place + "===" + " " * (_WIDTH - 3 - place)
        return self._output.show_status(f"[{bar}] {self._counted()} specialised, {self._seconds:.1f} seconds")

    def _counted(self) -> str:
        """What has been specialised, as text: functions, and module levels if there are any."""
        functions = f"{self._functions} function{'' if self._functions == 1 else 's'}"
        modules = f" and {self._modules} module level{'' if self._modules == 1 else 's'}" if self._modules else ""
        return functions + modules


PROGRESS: Final = Progress()
