"""What a run of several processes leaves behind: files with numbers, one report, and what each process found.

Knows how one process tells (`outcome`) and how processes know of each other (`processes`); must not know how they
are started.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Iterable
from typing import Any

from cassette_import import Context, Installation
from cassette_import.contexts.common.reporting import is_forking, is_streaming, known_formats
from cassette_import.frontends.programs.exit_hooks import tell_when_terminated
from cassette_import.frontends.programs.process_family import Family
from cassette_import.frontends.programs.program import Program
from cassette_import.frontends.reporting.run_report import Outcome, merged, origin_of_main, report, say, write_document

__all__ = ["FamilyOutcome"]


class FamilyOutcome(Outcome):
    """The outcome of one of the processes of a run; the first one tells what all of them found.

    Parameters
    ----------
    contexts, output, report_file:
        As for `Outcome`; the files are those of the first process.
    family:
        The processes.
    is_child:
        Whether this process was started by a program of the run, and has files of its own.
    """

    def __init__(
        self,
        contexts: Iterable[Context],
        output: str | None,
        report_file: str | None,
        *,
        family: Family | None = None,
        is_child: bool = False,
    ) -> None:
        super().__init__(contexts, output, report_file)
        self.family = family
        self.has_main_module = not is_child
        """Whether a main module was overdubbed: otherwise the process may have nothing to do with the program."""
        self.is_fork_server = False
        """Whether the process does nothing but make copies of itself."""
        self._is_child = is_child
        self._parts: dict[int, str] = {}

    def begin(self, installations: Iterable[Installation], program: Program | None = None) -> None:
        """The program is about to run."""
        if self.family is None:
            super().begin(installations, program)
            return
        if self._is_child:
            self._installations = list(installations)
            self._stream_apart(self.family)
            tell_when_terminated(self.write)
        else:
            super().begin(installations, program)
        os.register_at_fork(after_in_child=lambda: contextvars.Context().run(self._forked))

    def _stream_apart(self, family: Family) -> None:
        """What this process tells while it runs goes to files of its own: its standard error may be read by another
        program."""
        if self._output is not None:
            if is_streaming(self._writing):
                self._writing.stream(family.own(self._output, self._suffix))
            return
        for number, context in enumerate(self._contexts):
            if is_streaming(context) and ".txt" in known_formats(context):
                self._parts[number] = family.path_for(f"{number}.txt")
                context.stream(self._parts[number])

    def _forked(self) -> None:
        """This process is a copy."""
        assert self.family is not None
        for context in self._contexts:
            if is_forking(context):
                context.forked()
        if self._output is not None or self._parts:
            self._stream_apart(self.family)
        tell_when_terminated(self.write)

    def write(self, *, goes_on: bool = False) -> None:
        """See `Outcome.write`."""
        family = self.family
        is_copy = os.getpid() != self._process
        if family is None:
            super().write(goes_on=goes_on)
        elif not (is_copy and goes_on) and (is_copy or not self.is_fork_server):
            self._write(family, is_copy or self._is_child, goes_on)

    def _write(self, family: Family, is_child: bool, goes_on: bool) -> None:
        document = report(self._installations, self._contexts)
        texts: list[str] = []
        if not is_child:
            texts = self._found(self._output)
        elif self.has_main_module or any(entry["specialised"] for entry in document["modules"].values()):
            output = None if self._output is None else family.own(self._output, self._suffix)
            texts = [*self._streamed(), *self._found(output)]
            if output is not None and os.path.exists(output):
                texts.append(f"written to {output}")
        if goes_on or not family.is_first:
            if not family.hand_in({"told": texts, "report": document}):
                self._tell_alone(family, texts, document)
            return
        others = family.end()
        say([*texts, *(_told(other) for other in others)])
        if self._report_file is not None:
            write_document(
                merged([*_reports(others), document] if is_child else [document, *_reports(others)]), self._report_file
            )

    def _streamed(self) -> list[str]:
        texts = []
        for number, path in self._parts.items():
            known_formats(self._contexts[number])[".txt"](path)
            try:
                with open(path, encoding="utf-8", errors="backslashreplace") as file:
                    texts.append(file.read().rstrip("\n"))
            except OSError:
                continue
        return texts

    def _tell_alone(self, family: Family, texts: list[str], document: dict[str, Any]) -> None:
        """The run is over, and this process is left."""
        say(texts)
        if self._report_file is not None:
            write_document(document, family.own(self._report_file, ".json"))


def _reports(others: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reports of other processes, whose main modules may be others than ours."""
    reports = [other["report"] for other in others if "report" in other]
    for modules in (each["modules"] for each in reports):
        main = modules.get("__main__")
        if main is not None and main["origin"] != origin_of_main():
            modules[f"__main__ of {main['origin']}"] = modules.pop("__main__")
    return reports


def _told(other: dict[str, Any]) -> str:
    title = f"cassette_import: process {other['number']}: {other['program']}"
    texts = [f"was not overdubbed: {other['problem']}"] if "problem" in other else other["told"]
    return "\n".join([title, *texts]) if any(texts) else ""
