"""The command `run`: installs packages, runs a program in contexts, and has the results written when it ends.

Knows programs, installations and results; must not know how functions are overdubbed.
"""

from __future__ import annotations

import argparse
import atexit
import os
import sys
from collections.abc import Sequence
from typing import Any

from cassette_import import __version__
from cassette_import.activation.context import Context
from cassette_import.contexts.common.targets import about_to_run
from cassette_import.contexts.common.text import error_line
from cassette_import.errors import NotOverdubbable
from cassette_import.frontends import settings
from cassette_import.frontends.command_line.usage import DEFAULT_CONTEXT, UsageError, contexts_named, settings_of
from cassette_import.frontends.programs import exit_hooks
from cassette_import.frontends.programs.program import CannotRun, Module, Program, Script
from cassette_import.frontends.reporting.output import CannotWrite, print_texts
from cassette_import.frontends.subprocesses.family_results import FamilyResults
from cassette_import.frontends.subprocesses.process_family import ProcessFamily
from cassette_import.importing.installation import Installation, install
from cassette_import.specialization import progress

__all__ = ["run"]


def run(given: argparse.Namespace) -> int:
    """Run a program with the given arguments and settings; return the exit status if no exception ends the program."""
    wanted = settings_of(given)
    program = _program(given.program)
    try:
        if wanted.disable:
            program.is_overdubbed = False
            program.prepare()
            program.run()
            return 0
        wanted = wanted._replace(contexts=(DEFAULT_CONTEXT,) if wanted.contexts is None else wanted.contexts)
        if wanted.contexts or wanted.report or given.escapes:
            exit_hooks.replace_exit_functions()
        # A context may be defined beside the program, or in the current folder.
        with about_to_run(program.module):
            contexts = contexts_named(wanted.contexts, program.folder, os.getcwd())
        if given.escapes:
            from cassette_import.activation.escape_report import EscapeWatch

            contexts.append(EscapeWatch(contexts))
        run_overdubbed(program, wanted, contexts, given.output)
    except CannotRun as error:
        print(error, file=sys.stderr)
        return error.status
    return 0


def _program(words: Sequence[str]) -> Program:
    """The program that the words of the command line name."""
    if not words:
        raise UsageError("a script, or -m and a module, is needed")
    if words[0] != "-m":
        return Script(words[0], words[1:])
    if len(words) == 1:
        raise UsageError("-m needs a module")
    return Module(words[1], words[2:])


def run_overdubbed(
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
    try:
        results = FamilyResults(contexts, output, wanted.report)
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    folders = program.folder, os.getcwd()
    program.prepare()
    installations = _installed(program, wanted, contexts)
    if wanted.subprocesses:
        results.family = _begun_family(installations, wanted, folders, output)
    try:
        results.begin(installations, program)
    except CannotWrite as error:
        raise UsageError(str(error)) from error
    progress.show(sys.stderr)
    # `atexit` calls this last: after the threads and the functions that the program registers.
    atexit.register(results.write)
    exit_hooks.call_before_exit(results.write)
    try:
        program.run([_Guarded(context) for context in contexts])
    except _CannotEnter as error:
        if results.family is None:
            atexit.unregister(results.write)  # there are no results
        raise UsageError(str(error)) from error


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


def _installed(program: Program, wanted: settings.Settings, contexts: Sequence[Context]) -> list[Installation]:
    exclude = wanted.exclude or ()
    if wanted.packages is None:
        # A context defined beside the program is not part of the program.
        exclude = (*exclude, *{type(context).__module__ for context in contexts})
    packages = program.own_packages() if wanted.packages is None else wanted.packages
    if not packages:
        return []
    try:
        return [install(packages, exclude=exclude)]
    except (ModuleNotFoundError, NotOverdubbable) as error:
        if wanted.packages is None:  # the user did not name these packages
            return []
        raise UsageError(str(error)) from error


def _begun_family(
    installations: Sequence[Installation], wanted: settings.Settings, folders: Sequence[str], output: str | None
) -> ProcessFamily:
    """Have child processes install the same packages and enter the same contexts."""
    shared = settings.Settings(
        packages=tuple(name for installation in installations for name in installation.packages),
        exclude=tuple(name for installation in installations for name in installation.exclude),
        contexts=wanted.contexts,
    )
    variables = settings.as_environment(shared)
    return ProcessFamily.begin(__version__, variables, folders, output, wanted.report)
