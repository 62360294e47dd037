"""The processes of one run: how they find each other, which number each has, and how they pass results to the first.

An environment variable describes the run, and names a folder that exists as long as the first process. Each process
that ends before the first one writes its results to a file in this folder.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.activation.inheritance import activate_in_forked_worker, is_forked_worker
from cassette_import.frontends.programs.user_program import Program
from cassette_import.frontends.reporting.output import print_texts, write_document
from cassette_import.frontends.reporting.report import merged, origin_of_main, report
from cassette_import.frontends.reporting.results import RunResults
from cassette_import.importing.installation import Installation
from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.reporting import is_forking, is_streaming, known_formats
from cassette_import.runtime.state import ACTIVE, Activation

__all__ = ["FamilyResults", "ProcessFamily", "begin_family"]


# ---- the processes of one run

_VARIABLE: Final = "CASSETTE_IMPORT_RUN"
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
    os.environ[_VARIABLE] = json.dumps(run)
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _STARTUP + (os.pathsep + path if path else "")
    return ProcessFamily(run)


# ---- a callback before SIGTERM ends a process, and the repetition of a SIGTERM that a process has missed
#
# A handler in Python runs when the interpreter is between two instructions, or when the signal interrupts a system
# call. A signal that arrives just before a process begins to wait does neither, and a worker of a pool would wait for
# ever. So a process that has the handler says so by a file, which the handler removes first; `multiprocessing` repeats
# the signal while the file is there.

_POPEN: Final = "multiprocessing.popen_fork"
_PAUSES: Final = (0.001, 0.01, 0.05, 0.25, 1.0)
"""The seconds after which a signal that was not noticed is sent again. A program's own handler may be there instead."""


def _call_on_sigterm(callback: Callable[..., None], note: str) -> None:
    """Have `callback` called before SIGTERM ends the process, unless the program handles the signal.

    Process pools end their workers in this way.

    Parameters
    ----------
    callback:
        The function to call.
    note:
        A file that exists as long as the handler waits for the signal.
    """

    def terminated(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # it may be sent again
        with contextlib.suppress(OSError):
            os.unlink(note)
        try:
            contextvars.Context().run(callback)
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminated)
            with contextlib.suppress(OSError):
                os.close(os.open(note, os.O_CREAT | os.O_WRONLY))
    except ValueError:  # not the main thread
        pass


def _repeat_missed_signals(note_of: Callable[[int], str]) -> None:
    """Have `multiprocessing` send SIGTERM once more to processes that have missed it.

    Parameters
    ----------
    note_of:
        Returns the `note` of a process, by its identifier.
    """

    def divert(name: str, module: ModuleType) -> None:
        POST_IMPORT.forget(name, divert)
        popen: Any = module.__dict__["Popen"]
        original = popen.terminate

        @functools.wraps(original)
        @hidden
        def terminate(self: Any) -> None:
            original(self)
            _repeat(self.pid, note_of(self.pid))

        popen.terminate = terminate

    module = sys.modules.get(_POPEN)
    if module is not None:
        divert(_POPEN, module)
    else:
        POST_IMPORT.when_imported(_POPEN, divert)
        POST_IMPORT.come_first()


def _repeat(process: int, note: str) -> None:
    """Send SIGTERM until the handler of a process has begun, or the process has ended."""
    for pause in _PAUSES:
        if not os.path.exists(note) or _has_ended(process):
            return
        time.sleep(pause)
        if os.path.exists(note):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)


def _has_ended(process: int) -> bool:
    try:
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except OSError:
        return True


# ---- the results of a run of several processes: numbered files, one merged report, and the results of each process


class FamilyResults(RunResults):
    """The results of one process of a run; the first process prints those of all processes.

    Parameters
    ----------
    contexts, output, report_file:
        As for `RunResults`; the file names are those of the first process.
    family:
        The processes of the run; None without `--subprocesses`.
    is_child:
        Whether a program of the run started this process, which then writes numbered files.
    """

    def __init__(
        self,
        contexts: Iterable[Context],
        output: str | None,
        report_file: str | None,
        *,
        family: ProcessFamily | None = None,
        is_child: bool = False,
    ) -> None:
        super().__init__(contexts, output, report_file)
        self.family = family
        self.has_main_module = not is_child
        """Whether a main module was overdubbed. Without one, the process may not belong to the program."""
        self.is_fork_server = False
        """Whether the process is multiprocessing's fork server, which only forks."""
        self._is_child = is_child
        self._streams: dict[int, str] = {}

    def begin(self, installations: Iterable[Installation], program: Program | None = None) -> None:
        """See `RunResults.begin`; from now on, forked processes report as well."""
        if self.family is None:
            super().begin(installations, program)
            return
        if self._is_child:
            self._installations = list(installations)
            self._stream_to_own_files(self.family)
            _call_on_sigterm(self.write, self.family.sigterm_note())
        else:
            super().begin(installations, program)
        _repeat_missed_signals(self.family.sigterm_note)
        os.register_at_fork(after_in_child=self._after_fork)

    def _stream_to_own_files(self, family: ProcessFamily) -> None:
        """Have contexts stream into files of this process: another program may read its standard error."""
        if self._output is not None:
            if is_streaming(self._writing):
                self._writing.stream(family.numbered_path(self._output, self._suffix))
            return
        for number, context in enumerate(self._contexts):
            if is_streaming(context) and ".txt" in known_formats(context):
                self._streams[number] = family.path_for(f"{number}.txt")
                context.stream(self._streams[number])

    def _after_fork(self) -> None:
        """Runs in a forked process, before the program continues there."""
        contextvars.Context().run(self._forked)
        if is_forked_worker():
            activate_in_forked_worker(contextvars.Context().run(self._entered))

    def _entered(self) -> Activation:
        """What is active in the contexts of the program, as in a process that does not begin with a fork."""
        for context in self._contexts:
            context.__enter__()
        return ACTIVE.get()

    def _forked(self) -> None:
        """Runs in a forked process, before the program continues there."""
        assert self.family is not None
        for context in self._contexts:
            if is_forking(context):
                context.forked()
        if self._output is not None or self._streams:
            self._stream_to_own_files(self.family)
        _call_on_sigterm(self.write, self.family.sigterm_note())

    def write(self, *, goes_on: bool = False) -> None:
        """See `RunResults.write`."""
        family = self.family
        is_copy = os.getpid() != self._process
        if family is None:
            super().write(goes_on=goes_on)
        elif not (is_copy and goes_on) and (is_copy or not self.is_fork_server):
            self._write(family, is_copy or self._is_child, goes_on)

    def _write(self, family: ProcessFamily, is_child: bool, goes_on: bool) -> None:
        document = report(self._installations, self._contexts)
        texts: list[str] = []
        if not is_child:
            texts = self._written_or_summaries(self._output)
        elif self.has_main_module or any(entry["specialised"] for entry in document["modules"].values()):
            output = None if self._output is None else family.numbered_path(self._output, self._suffix)
            texts = [*self._streamed(), *self._written_or_summaries(output)]
            if output is not None and os.path.exists(output):
                texts.append(f"written to {output}")
        if goes_on or not family.is_first:
            if not family.hand_in({"texts": texts, "report": document}):
                self._print_alone(family, texts, document)
            return
        others = family.collect()
        print_texts([*texts, *map(_text_of, others)])
        if self._report_file is not None:
            reports = [*_reports(others), document] if is_child else [document, *_reports(others)]
            self.is_complete &= write_document(merged(reports), self._report_file)

    def _streamed(self) -> list[str]:
        """What contexts have streamed into this process's files."""
        texts = []
        for number, path in self._streams.items():
            known_formats(self._contexts[number])[".txt"](path)
            try:
                with open(path, encoding="utf-8", errors="backslashreplace") as file:
                    texts.append(file.read().rstrip("\n"))
            except OSError:
                continue
        return texts

    def _print_alone(self, family: ProcessFamily, texts: list[str], document: dict[str, Any]) -> None:
        """Report in this process, which outlives the first one."""
        print_texts(texts)
        if self._report_file is not None:
            write_document(document, family.numbered_path(self._report_file, ".json"))


def _reports(others: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reports of other processes; a main module that differs from this process's is renamed."""
    reports = [other["report"] for other in others if "report" in other]
    for modules in (each["modules"] for each in reports):
        main = modules.get("__main__")
        if main is not None and main["origin"] != origin_of_main():
            modules[f"__main__ of {main['origin']}"] = modules.pop("__main__")
    return reports


def _text_of(other: dict[str, Any]) -> str:
    """What to print for another process: a title line and its texts; empty if it has no texts."""
    title = f"cassette_import: process {other['number']}: {other['program']}"
    texts = [f"was not overdubbed: {other['problem']}"] if "problem" in other else other["texts"]
    return "\n".join([title, *texts]) if any(texts) else ""
