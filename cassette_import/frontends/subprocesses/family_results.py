"""The results of a run of several processes: numbered files, one merged report, and the results of each process."""

from __future__ import annotations

import contextvars
import os
from collections.abc import Iterable
from typing import Any

from cassette_import.activation.context import Context
from cassette_import.activation.inheritance import activate_in_forked_worker, is_forked_worker
from cassette_import.contexts.common.reporting import is_forking, is_streaming, known_formats
from cassette_import.frontends.programs.user_program import Program
from cassette_import.frontends.reporting.output import print_texts
from cassette_import.frontends.reporting.report import merged, origin_of_main, report
from cassette_import.frontends.reporting.report_file import write_document
from cassette_import.frontends.reporting.results import RunResults
from cassette_import.frontends.subprocesses.process_family import ProcessFamily
from cassette_import.frontends.subprocesses.sigterm import call_on_sigterm, repeat_missed_signals
from cassette_import.importing.installation import Installation
from cassette_import.runtime.state import ACTIVE, Activation

__all__ = ["FamilyResults"]


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
            call_on_sigterm(self.write, self.family.sigterm_note())
        else:
            super().begin(installations, program)
        repeat_missed_signals(self.family.sigterm_note)
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
        call_on_sigterm(self.write, self.family.sigterm_note())

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
