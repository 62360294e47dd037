"""The processes of one run: how they find each other, which number each has, and how they pass results to the first.

An environment variable describes the run, and names a folder that exists as long as the first process. Each process
that ends before the first one writes its results to a file in this folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

__all__ = ["VARIABLE", "ProcessFamily", "begin_family"]

# ---- the processes of one run

VARIABLE: Final = "CASSETTE_IMPORT_RUN"
"""The environment variable that describes the run, as JSON."""


class ProcessFamily:
    """The processes of a run, as one of them represents them.

    The first process is the one that `run` started; it stays the first one after an `execv`. `run` is the description
    of the run that the environment variable holds.
    """

    def __init__(self, run: dict[str, Any]) -> None:
        self.run: Final = run
        self._folder: Final[str] = run.get("folder", "")
        self._number: tuple[int, int] | None = None

    @classmethod
    def join(cls, text: str, version: str) -> ProcessFamily | None:
        """The run that the variable describes; None if another version of cassette_import started it."""
        try:
            run: dict[str, Any] = json.loads(text)
        except ValueError:
            return None
        return cls(run) if run.get("version") == version else None

    @property
    def is_first(self) -> bool:
        """Whether `run` started this process; an `execv` in between does not matter."""
        return bool(os.getpid() == self.run["first"])

    @property
    def number(self) -> int:
        """The number of this process: 1, 2, … in the order of asking; its process identifier if the run is over."""
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

    def numbered_path(self, path: str, suffix: str) -> str:
        """The name of this process's file: `out.prof` is `out.3.prof` for the third.

        >>> family = ProcessFamily({})
        >>> family._number = os.getpid(), 3
        >>> family.numbered_path("there/out.speedscope.json", ".speedscope.json")
        'there/out.3.speedscope.json'
        """
        stem = path[: len(path) - len(suffix)] if path.lower().endswith(suffix) else path
        return f"{stem}.{self.number}{path[len(stem) :]}"

    def hand_in(self, found: dict[str, Any]) -> bool:
        """Write this process's results to a file, for the first process to print; False if that has ended."""
        return self._put(f"{self.number}.json", {"number": self.number, "program": _program(), **found})

    def path_for(self, name: str) -> str:
        """The path of a file of this process, which is deleted when the run is over."""
        return os.path.join(self._folder, f"{self.number}.{name}")

    def sigterm_note(self, process: int | None = None) -> str:
        """The file by which a process says that it waits for SIGTERM; this process if no identifier is given."""
        return os.path.join(self._folder, f"{process or os.getpid()}.sigterm")

    def collect(self) -> list[dict[str, Any]]:
        """The results that other processes have written, ordered by their numbers; ends the run."""
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
        self._remove_folder()
        return sorted(found, key=lambda entry: int(entry["number"]))

    def _remove_folder(self) -> None:
        """Remove the folder, which has no folders in it; not with `shutil`, which child processes would import."""
        with contextlib.suppress(OSError):  # another process may write there at this moment
            for name in os.listdir(self._folder):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self._folder, name))
            os.rmdir(self._folder)

    def _put(self, name: str, value: dict[str, Any]) -> bool:
        path = os.path.join(self._folder, name)
        try:
            with open(f"{path}.tmp", "w", encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(f"{path}.tmp", path)  # atomic: a reader sees the whole file
        except OSError:
            return False
        return True


def _program(words: Sequence[str] | None = None) -> str:
    """The command line of this process, shortened.

    >>> _program(["/usr/bin/python3", "-c", "first line\\nsecond"])
    'python3 -c first line'
    """
    first, *others = sys.orig_argv if words is None else words
    return " ".join((os.path.basename(first), *others)).partition("\n")[0][:100]


# ---- the first process of a run of several: it describes the run for child processes, and gives it a folder

_STARTUP: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
"""The folder of the `sitecustomize` that child processes import when they start."""


def begin_family(
    version: str,
    settings: Mapping[str, str],
    folders: Iterable[str],
    output: str | None,
    report_file: str | None,
) -> ProcessFamily:
    """Start a run in this process: from now on, child processes that run Python join it.

    Parameters
    ----------
    version:
        The version of cassette_import; a process with another version does not join.
    settings:
        Environment variables for child processes.
    folders:
        The folders from which contexts may be imported.
    output, report_file:
        The first process's files; the names of other processes' files are made from them.
    """
    run = {
        "version": version,
        "folder": tempfile.mkdtemp(prefix="cassette_import-"),
        "first": os.getpid(),
        "folders": list(folders),
        "output": None if output is None else os.path.abspath(output),
        "report": None if report_file is None else os.path.abspath(report_file),
    }
    os.environ.update(settings)
    os.environ[VARIABLE] = json.dumps(run)
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _STARTUP + (os.pathsep + path if path else "")
    return ProcessFamily(run)
