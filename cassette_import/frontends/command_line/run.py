"""What `run` does once it knows what is wanted: install, run the program in its contexts, tell what came of it.

Knows programs, installations and outcomes; must not know how a command line is spelled.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from typing import Any

import cassette_import
from cassette_import import Context, Installation
from cassette_import.contexts.common.text import error_line
from cassette_import.frontends import settings
from cassette_import.frontends.programs import exit_hooks
from cassette_import.frontends.programs.process_family import Family
from cassette_import.frontends.programs.program import Program
from cassette_import.frontends.reporting.family_report import FamilyOutcome
from cassette_import.frontends.reporting.run_report import CannotWrite, say
from cassette_import.specialization import progress

__all__ = ["CannotBegin", "run_overdubbed"]


class CannotBegin(ValueError):
    """What is wanted cannot be had; the message is one line."""


def run_overdubbed(
    program: Program, wanted: settings.Settings, contexts: Sequence[Context], output: str | None
) -> None:
    """Run a program in contexts, and have told at its end what they found.

    Parameters
    ----------
    program:
        What is to be run.
    wanted:
        What is to be installed, and reported; its contexts are described as child processes are to read them.
    contexts:
        The contexts themselves, outermost first.
    output:
        The file for what they find.

    Raises
    ------
    CannotBegin
        Before the program runs. What the program itself raises leaves here as it is.
    """
    # All that is needed has been imported before the program's folder comes first on `sys.path`.
    try:
        outcome = FamilyOutcome(contexts, output, wanted.report)
    except CannotWrite as error:
        raise CannotBegin(str(error)) from error
    folders = program.folder, os.getcwd()
    program.prepare()
    installations = _installed(program, wanted, contexts)
    if wanted.subprocesses:
        outcome.family = _family(installations, wanted, folders, output)
    try:
        outcome.begin(installations, program)
    except CannotWrite as error:
        raise CannotBegin(str(error)) from error
    progress.show(sys.stderr)
    # What is registered first is called last: when threads and the program's own functions are done.
    atexit.register(outcome.write)
    exit_hooks.tell_before_leaving(outcome.write)
    try:
        program.run([_Guarded(context) for context in contexts])
    except _CannotEnter as error:
        if outcome.family is None:
            atexit.unregister(outcome.write)  # there is nothing to tell
        raise CannotBegin(str(error)) from error


class _CannotEnter(SystemExit):
    """A context raises when it is entered. A SystemExit leaves without anything being said of it."""


class _Guarded:
    """A context that may be anybody's: if it cannot be entered, one line says so; if leaving it raises, the program
    ends as it did all the same."""

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
            say([f"cassette_import: {type(self._context).__name__} raised when it was left: {error_line(error)}"])
        return None


def _installed(program: Program, wanted: settings.Settings, contexts: Sequence[Context]) -> list[Installation]:
    exclude = wanted.exclude or ()
    if wanted.packages is None:
        # A context that lies beside the program is not part of it.
        exclude = (*exclude, *{type(context).__module__ for context in contexts})
    packages = program.own_packages() if wanted.packages is None else wanted.packages
    if not packages:
        return []
    try:
        return [cassette_import.install(packages, exclude=exclude)]
    except (ModuleNotFoundError, cassette_import.NotOverdubbable) as error:
        if wanted.packages is None:  # nobody asked for it
            return []
        raise CannotBegin(str(error)) from error


def _family(
    installations: Sequence[Installation], wanted: settings.Settings, folders: Sequence[str], output: str | None
) -> Family:
    """Have child processes do what this one does."""
    told = settings.Settings(
        packages=tuple(name for installation in installations for name in installation.packages),
        exclude=tuple(name for installation in installations for name in installation.exclude),
        contexts=wanted.contexts,
    )
    variables = settings.as_environment(told)
    return Family.begin(cassette_import.__version__, variables, folders, output, wanted.report)
