"""The command `run`: installs packages, and runs a program in contexts or without any.

What only runs in contexts need is imported when there are any.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cassette_import.frontends.command_line.usage import (
    DEFAULT_CONTEXT,
    UsageError,
    contexts_named,
    install_for,
    settings_of,
)
from cassette_import.frontends.programs.import_path import current_folders
from cassette_import.frontends.programs.user_program import CannotRun, Module, Program, Script, StandardInput
from cassette_import.interpreter.module_bundle import bundled
from cassette_import.specialization.progress import PROGRESS

if TYPE_CHECKING:
    from cassette_import.activation.context import Context
    from cassette_import.frontends.settings import Settings

__all__ = ["run"]


def run(given: Any) -> int:
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
        files = wanted.report, given.output
        if wanted.contexts or given.escapes or wanted.subprocesses or files != (None, None):
            contexts, run_and_report = _importing_all(given, wanted, program)
            run_and_report(program, wanted, contexts, given.output)
        else:
            program.prepare()
            install_for(program, wanted)
            PROGRESS.notify()  # the program may enter contexts itself
            program.run()
    except CannotRun as error:
        print(error, file=sys.stderr)
        return error.status
    return 0


def _importing_all(given: Any, wanted: Settings, program: Program) -> tuple[list[Context], Callable[..., None]]:
    """The contexts, and the function that runs a program in them.

    All that a run in contexts needs is imported now: later, the program's folder comes first on `sys.path`.
    """
    with bundled("contexts"):
        from cassette_import.contexts import READY_MADE
        from cassette_import.contexts import lookup as lookup
        from cassette_import.frontends.command_line.reported_run import run_and_report
        from cassette_import.frontends.programs.exit_hooks import replace_exit_functions
        from cassette_import.kits.main_program import about_to_run
        from cassette_import.kits.main_targets import main_targets

    if wanted.contexts or wanted.report or given.escapes:
        replace_exit_functions()
    for text in wanted.contexts or ():
        name = text.partition(":")[0]
        if name in READY_MADE:
            _import_ready_made(name, READY_MADE[name].partition(":")[0])
    # A context may be defined beside the program, or in the current folder.
    with about_to_run(program.module):
        contexts = contexts_named(wanted.contexts, *program.folders, *current_folders())
        registering = main_targets(contexts)
    if registering is not None:
        contexts.append(registering)
    if given.escapes:
        from cassette_import.activation.escape_report import EscapeWatch

        contexts.append(EscapeWatch(contexts))
    return contexts, run_and_report


def _import_ready_made(name: str, module: str) -> None:
    with contextlib.suppress(Exception), bundled(f"context.{name}"):  # later, the context's name raises the error again
        importlib.import_module(module)


def _program(words: Sequence[str]) -> Program:
    """The program that the words of the command line name."""
    if not words:
        raise UsageError("a script, or -m and a module, is needed")
    if words[0] != "-m":
        return StandardInput(words[1:]) if words[0] == "-" else Script(words[0], words[1:])
    if len(words) == 1:
        raise UsageError("-m needs a module")
    return Module(words[1], words[2:])
