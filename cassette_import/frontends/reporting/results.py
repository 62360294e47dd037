"""The results of a run: its contexts write their files, or print their summaries, when the program ends."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from cassette_import.activation.context import Context
from cassette_import.frontends.reporting.output import (
    CannotWrite,
    check_folder,
    print_texts,
    problem_of_writing,
)
from cassette_import.importing.installation import Installation
from cassette_import.kits.reporting import (
    UnknownFormat,
    chosen_format,
    is_informed,
    is_streaming,
    known_formats,
    notice_of,
    summary_of,
)
from cassette_import.kits.targets import is_reported_elsewhere
from cassette_import.kits.text import error_line

if TYPE_CHECKING:
    from cassette_import.frontends.programs.user_program import Program

__all__ = ["RunResults"]


class RunResults:
    """The results of one process: what its contexts found and its report, written when the program ends.

    Parameters
    ----------
    contexts:
        The contexts that the program runs in, outermost first.
    output:
        The file for what a context found: the first context that knows the suffix writes it. The others, and
        all of them without a file, print their summaries to standard error.
    report_file:
        The file for the report, or None for no report.
    """

    def __init__(self, contexts: Iterable[Context], output: str | None, report_file: str | None) -> None:
        self._contexts = tuple(contexts)
        for context in self._contexts:
            is_reported_elsewhere(context)
        for path in filter(None, (output, report_file)):
            check_folder(path)
        # Absolute, because the program may change the current folder.
        self._output = None if output is None else os.path.abspath(output)
        self._report_file = None if report_file is None else os.path.abspath(report_file)
        self._installations: list[Installation] = []
        self._program: Program | None = None
        self._writing: object = None
        self._suffix = ""
        # A forked process has a copy of this object.
        self._process = os.getpid()
        self.is_complete = True
        """Whether no file was left unwritten."""
        if output is not None:
            self._choose_writer(output)
            _import_for_writers(self._suffix)
        if report_file is not None:  # imported now: when the program ends, its modules may hide those of Python
            from cassette_import.frontends.reporting.output import write_document
            from cassette_import.frontends.reporting.report import report

            self._report: Callable[..., dict[str, Any]] = report
            self._write_document: Callable[..., bool] = write_document

    def _choose_writer(self, output: str) -> None:
        if not self._contexts:
            raise CannotWrite(f"{output}: no context is active that could write it")
        known = {suffix: context for context in reversed(self._contexts) for suffix in _formats_of(context, output)}
        if not known:
            raise CannotWrite(f"{output}: {type(self._contexts[0]).__name__} writes no files")
        try:
            self._suffix = chosen_format(known, output)
        except UnknownFormat as error:
            raise CannotWrite(str(error)) from error
        self._writing = known[self._suffix]

    def begin(self, installations: Iterable[Installation], program: Program | None = None) -> None:
        """Prepare the contexts before a program runs; raise `CannotWrite` if one that streams cannot open its file."""
        self._installations = list(installations)
        self._program = program
        run: dict[str, object] | None = None
        if program is not None:
            run = {
                "argv": [program.name, *program.arguments],
                "program": type(program).__name__.lower(),
                "packages": [name for installation in self._installations for name in installation.packages],
                "exclude": [name for installation in self._installations for name in installation.exclude],
                "output": self._output,
            }
        try:
            for context in self._contexts:
                if run is not None and is_informed(context):
                    context.inform(run)
            if self._output is not None and is_streaming(self._writing):
                self._writing.stream(self._output)
        except (OSError, ValueError) as error:
            raise CannotWrite(str(error)) from error

    def write(self, *, goes_on: bool = False) -> None:
        """Write the files and print the summaries; a file that cannot be written is reported on standard error.

        With `goes_on`, the process continues with another program, after an exec.
        """
        if os.getpid() != self._process:  # a forked copy: the original reports
            return
        print_texts(self._written_or_summaries(self._output))
        if self._report_file is not None:
            document = self._report(self._installations, self._contexts)
            self.is_complete &= self._write_document(document, self._report_file)

    def _written_or_summaries(self, output: str | None) -> list[str]:
        """Write the file; return the summaries of the contexts that did not write it, and the problem if it failed.

        There are no summaries if the program could not be compiled.
        """
        texts: list[str] = []
        for context in self._contexts:
            if context is self._writing and output is not None:
                problem = problem_of_writing(functools.partial(_write, context, self._suffix), output)
                if problem is None:
                    texts += filter(None, [notice_of(context)])
                    continue
                texts.append(problem)
                self.is_complete = False
            if self._program is None or self._program.has_begun:
                texts.append(summary_of(context))
        return texts


def _import_for_writers(suffix: str) -> None:
    """Import the modules of the standard library that writers need, although they are used when the program ends.

    The program may hide them. And Python forgets that an interrupt has ended the program if a module that is imported
    later calls `eval`, as those with named tuples do: the exit status would be another one.
    """
    import json  # noqa: F401
    import tempfile  # noqa: F401

    if suffix.endswith(".html"):  # a page is made from a file of the package
        import html  # noqa: F401
        from importlib import resources

        resources.files("cassette_import")  # imports what finds the file, which depends on the version


def _formats_of(context: Context, output: str) -> Iterable[str]:
    try:
        return list(known_formats(context))
    except Exception as error:
        name = type(context).__name__
        raise CannotWrite(f"{output}: {name} cannot say what it writes: {error_line(error)}") from error


def _write(context: Context, suffix: str, path: str) -> None:
    known_formats(context)[suffix](path)
