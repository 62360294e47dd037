"""The command `python -m cassette_import replay FILE`: runs a recorded program again, and reports a mismatch."""

from __future__ import annotations

import os
import sys
import threading

from cassette_import.contexts.recording.recording_file import BadRecording, ReplayMismatch, read
from cassette_import.contexts.recording.replay import Replay
from cassette_import.contexts.recording.standard_input import follow_standard_input
from cassette_import.errors import NotOverdubbable
from cassette_import.frontends.programs.user_program import Module, Program, Script
from cassette_import.frontends.reporting.output import print_texts
from cassette_import.importing.installation import install

__all__ = ["replay"]

MISMATCH = 2
"""The exit status of a replay that differs from its recording."""


def replay(path: str) -> int:
    """Run a recorded program again; return the exit status, unless the program raises an exception.

    Raises
    ------
    BadRecording
        If the file is not a readable recording, or not that of a program.
    CannotRun
        If the program does not exist any more.
    """
    _restart_with_recorded_hash_seed(path)
    follow_standard_input()
    context = Replay(os.path.abspath(path))
    header = context.recording.header
    try:
        name, *arguments = map(str, header["argv"])
        make: type[Program] = {"script": Script, "module": Module}[header["program"]]
        packages, exclude = list(header["packages"]), list(header["exclude"])
        folder = header["folder"]
    except (KeyError, ValueError, TypeError) as error:
        if "test" in header:
            raise BadRecording(
                f"{path}: is the recording of a test; replay it with: pytest --cassette-record=none {header['test']}"
            ) from error
        raise BadRecording(f"{path}: does not name a program to run; replay it with Replay(FILE)") from error
    if os.path.isdir(folder):
        os.chdir(folder)
    program = make(name, arguments)
    program.prepare()
    if packages:
        try:
            install(packages, exclude=exclude)
        except (ModuleNotFoundError, NotOverdubbable) as error:
            raise BadRecording(f"{path}: cannot be replayed here: {error}") from error
    return _run(program, context)


def _run(program: Program, context: Replay) -> int:
    excepthook = threading.excepthook
    threading.excepthook = _print_unless_mismatch
    try:
        program.run([context.entered()])
        context.is_ending()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        context.check_end()
        if context.has_lost_order:
            print_texts([context.lost_order])
    except ReplayMismatch as mismatch:
        return _print_mismatch(mismatch)
    except BaseException:
        if context.mismatch is not None:
            return _print_mismatch(context.mismatch)
        raise
    finally:
        threading.excepthook = excepthook
    return 0


def _print_unless_mismatch(arguments: threading.ExceptHookArgs) -> None:
    """The main thread prints a mismatch."""
    if not isinstance(arguments.exc_value, ReplayMismatch):
        threading.__excepthook__(arguments)


def _print_mismatch(mismatch: ReplayMismatch) -> int:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        pass
    sys.excepthook = sys.__excepthook__
    print_texts([str(mismatch)])
    return MISMATCH


def _restart_with_recorded_hash_seed(path: str) -> None:
    """Start Python again if the recording has another hash seed: the order of sets depends on it."""
    seed = read(path).header.get("hash seed")
    if isinstance(seed, str) and seed.isdigit() and os.environ.get("PYTHONHASHSEED") != seed:
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": seed})
