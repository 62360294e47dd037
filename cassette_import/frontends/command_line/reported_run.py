"""Runs a program in contexts, and has their results written when it ends."""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cassette_import import __version__
from cassette_import.activation.context import Context
from cassette_import.frontends import settings
from cassette_import.frontends.command_line.usage import UsageError, install_for
from cassette_import.frontends.programs import exit_hooks
from cassette_import.frontends.programs.import_path import current_folders
from cassette_import.frontends.programs.user_program import Program
from cassette_import.frontends.reporting.output import CannotWrite, print_texts
from cassette_import.frontends.reporting.results import RunResults
from cassette_import.importing.installation import Installation
from cassette_import.kits.text import error_line
from cassette_import.specialization.progress import PROGRESS

if TYPE_CHECKING:
    from cassette_import.frontends.subprocesses.process_family import FamilyResults, ProcessFamily

__all__ = ["run_and_report"]


def run_and_report(
    program: Program, wanted: settings.Settings, contexts: Sequence[Context], output: str | None
) -> None:
    """Run a program in contexts, and have their results written when it ends.

    Parameters
    ----------
    program:
        The program.
    wanted:
        The settings: packages, report file, and the descriptions of contexts, which child processes read.
    contexts:
        The contexts themselves, outermost first.
    output:
        The file for their results, or None.

    Raises
    ------
    UsageError
        Before the program runs. An exception of the program itself leaves unchanged.
    """
    # cassette_import has imported everything that it needs before the program's folder comes first on `sys.path`.
    family: FamilyResults | None = None
    try:
        if wanted.subprocesses:
            family = _family_results(contexts, output, wanted.report)
        results = RunResults(contexts, output, wanted.report) if family is None else family
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    folders = [*program.folders, *current_folders()]
    program.prepare()
    installations = install_for(program, wanted, contexts)
    if family is not None:
        family.family = _begun_family(installations, wanted, folders, output)
    try:
        results.begin(installations, program)
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    PROGRESS.notify()
    end = _End(results)
    # `atexit` calls this last: after the threads and the functions that the program registers.
    atexit.register(end.at_exit)
    exit_hooks.call_before_exit(end.has_failed)
    try:
        program.run([_Guarded(context) for context in contexts])
    except _CannotEnter as error:
        if family is None:
            atexit.unregister(end.at_exit)  # there are no results
        raise UsageError(str(error)) from error
    except BaseException as error:
        end.status = error.code if isinstance(error, SystemExit) else error
        raise


class _End:
    """The end of a run, at which its results are written.

    A file that could not be written changes the exit status of a program that has succeeded, and no other one.
    """

    def __init__(self, results: RunResults) -> None:
        self._results = results
        self._process = os.getpid()
        self.status: object = None
        """What the program has ended with: an exit status, None, or an exception."""

    def has_failed(self, goes_on: bool = False) -> bool:
        """Write the results; return whether a file could not be written."""
        self._results.write(goes_on=goes_on)
        return not self._results.is_complete and os.getpid() == self._process

    def at_exit(self) -> None:
        """Called by `atexit`."""
        if self.has_failed() and self.status in (None, 0):
            exit_hooks.fail_at_end()


class _CannotEnter(SystemExit):
    """A context raised when it was entered. As a SystemExit, it leaves `Program.run` without a traceback."""


class _Guarded:
    """A context whose errors do not change how the program ends.

    If entering it raises, the program does not run and one line says why. If leaving it raises, one line says so.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    def __enter__(self) -> object:
        try:
            return self._context.__enter__()
        except Exception as error:
            raise _CannotEnter(f"{type(self._context).__name__} cannot be entered: {error_line(error)}") from error

    def __exit__(self, *exception: Any) -> bool | None:
        leave: Any = self._context.__exit__
        try:
            return bool(leave(*exception))
        except Exception as error:
            print_texts(
                [f"cassette_import: {type(self._context).__name__} raised when it was left: {error_line(error)}"]
            )
        return None


def _family_results(contexts: Sequence[Context], output: str | None, report_file: str | None) -> FamilyResults:
    # All that the family needs is imported now: later, the program may hide modules of the standard library.
    from cassette_import.frontends.subprocesses.process_family import FamilyResults

    return FamilyResults(contexts, output, report_file)


def _begun_family(
    installations: Sequence[Installation], wanted: settings.Settings, folders: Sequence[str], output: str | None
) -> ProcessFamily:
    """Have child processes install the same packages and enter the same contexts."""
    from cassette_import.frontends.subprocesses.process_family import begin_family

    shared = settings.Settings(
        packages=tuple(name for installation in installations for name in installation.packages),
        exclude=tuple(name for installation in installations for name in installation.exclude),
        contexts=wanted.contexts,
    )
    variables = settings.as_environment(shared)
    return begin_family(__version__, variables, folders, output, wanted.report)
