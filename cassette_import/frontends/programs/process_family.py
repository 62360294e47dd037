"""The processes of one run: how they know of each other, which number each has, and what they hand to the first.

A variable of the environment says what is wanted, and names a folder that lives as long as the first process. In
it, each process that ends before the first one leaves a file with what it found. Knows processes and files; must
not know contexts or reports.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["VARIABLE", "Family"]

VARIABLE: Final = "CASSETTE_IMPORT_RUN"
"""The environment variable that says what is wanted, as JSON."""

_STARTUP: Final = os.path.join(PACKAGE_FOLDER, "frontends", "command_line", "startup")


class Family:
    """The processes that a run consists of, seen from one of them.

    `first` is the process that was started by `run`; what it executes after an `execv` is the first one as well.
    """

    def __init__(self, wanted: dict[str, Any]) -> None:
        self.wanted: Final = wanted
        self._folder: Final[str] = wanted.get("folder", "")
        self._number: tuple[int, int] | None = None

    @classmethod
    def begin(
        cls,
        version: str,
        settings: Mapping[str, str],
        folders: Iterable[str],
        output: str | None,
        report_file: str | None,
    ) -> Family:
        """Start a run in this process: from now on, child processes that run Python join it.

        Parameters
        ----------
        version:
            Ours; another version has no part in it.
        settings:
            Variables for the environment of child processes.
        folders:
            Where contexts may lie.
        output, report_file:
            The first process's files; those of other processes are named after them.
        """
        wanted = {
            "version": version,
            "folder": tempfile.mkdtemp(prefix="cassette_import-"),
            "first": os.getpid(),
            "folders": list(folders),
            "output": None if output is None else os.path.abspath(output),
            "report": None if report_file is None else os.path.abspath(report_file),
        }
        os.environ.update(settings)
        os.environ[VARIABLE] = json.dumps(wanted)
        path = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = _STARTUP + (os.pathsep + path if path else "")
        return cls(wanted)

    @classmethod
    def join(cls, text: str, version: str) -> Family | None:
        """The run that this process belongs to, as the variable says; None if it is another version's."""
        try:
            wanted: dict[str, Any] = json.loads(text)
        except ValueError:
            return None
        return cls(wanted) if wanted.get("version") == version else None

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that was started by `run`, whatever it executes by now."""
        return bool(os.getpid() == self.wanted["first"])

    @property
    def number(self) -> int:
        """This process's own number: 1, 2, … in the order in which they asked; its identifier if the run is over."""
        process = os.getpid()
        if self._number is None or self._number[0] != process:
            self._number = process, self._next_number() or process
        return self._number[1]

    def _next_number(self) -> int | None:
        number = 1
        while True:
            try:
                os.close(os.open(os.path.join(self._folder, str(number)), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                number += 1
            except OSError:
                return None
            else:
                return number

    def own(self, path: str, suffix: str) -> str:
        """The name of this process's file: `out.prof` is `out.3.prof` for the third.

        >>> family = Family({})
        >>> family._number = os.getpid(), 3
        >>> family.own("there/out.speedscope.json", ".speedscope.json")
        'there/out.3.speedscope.json'
        """
        stem = path[: len(path) - len(suffix)] if path.lower().endswith(suffix) else path
        return f"{stem}.{self.number}{path[len(stem) :]}"

    def hand_in(self, found: dict[str, Any]) -> bool:
        """Leave what this process found for the first one to tell; False if that has ended."""
        return self._put(f"{self.number}.json", {"number": self.number, "program": _program(), **found})

    def path_for(self, name: str) -> str:
        """A file of this process that is gone when the run is over."""
        return os.path.join(self._folder, f"{self.number}.{name}")

    def end(self) -> list[dict[str, Any]]:
        """What the others have handed in, by their numbers; the run is over."""
        found = []
        try:
            handed_in = [name for name in os.listdir(self._folder) if name.endswith(".json")]
        except OSError:
            handed_in = []
        for name in handed_in:
            try:
                with open(os.path.join(self._folder, name), encoding="utf-8") as file:
                    found.append(json.load(file))
            except (OSError, ValueError):
                continue
        shutil.rmtree(self._folder, ignore_errors=True)
        return sorted(found, key=lambda entry: int(entry["number"]))

    def _put(self, name: str, value: dict[str, Any]) -> bool:
        path = os.path.join(self._folder, name)
        try:
            with open(f"{path}.tmp", "w", encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(f"{path}.tmp", path)  # whoever reads it reads all of it
        except OSError:
            return False
        return True


def _program(words: Sequence[str] | None = None) -> str:
    """The command line of this process, cut short.

    >>> _program(["/usr/bin/python3", "-c", "first line\\nsecond"])
    'python3 -c first line'
    """
    first, *others = sys.orig_argv if words is None else words
    return " ".join((os.path.basename(first), *others)).partition("\n")[0][:100]
