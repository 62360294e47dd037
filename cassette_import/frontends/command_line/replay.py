"""What `python -m cassette_import replay FILE` does: runs the recorded program again, and tells if it departs.

Knows recordings, programs and installations; must not know arguments.
"""

from __future__ import annotations

import os
import sys
import threading

import cassette_import
from cassette_import.contexts.recording.recording_file import BadRecording, Departure
from cassette_import.contexts.recording.replay import Replay
from cassette_import.frontends.programs.program import Module, Program, Script

__all__ = ["replay"]

DEPARTED = 2
"""The exit status of a run that departs from its recording."""


def replay(path: str) -> int:
    """Run a recorded program again; return the exit status, if the program does not leave otherwise.

    Raises
    ------
    BadRecording
        If the file is no recording that can be read, or not one of a program.
    CannotRun
        If the program is not there any more.
    """
    _with_the_hash_seed_of(path)
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
        raise BadRecording(f"{path}: says of no program that could be run; replay it with Replay(FILE)") from error
    if os.path.isdir(folder):
        os.chdir(folder)
    program = make(name, arguments)
    program.prepare()
    if packages:
        try:
            cassette_import.install(packages, exclude=exclude)
        except (ModuleNotFoundError, cassette_import.NotOverdubbable) as error:
            raise BadRecording(f"{path}: cannot be replayed here: {error}") from error
    return _run(program, context)


def _run(program: Program, context: Replay) -> int:
    excepthook = threading.excepthook
    threading.excepthook = _quiet_about_departures
    try:
        program.run([context.entered()])
        context.is_ending()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        context.check_end()
    except Departure as departure:
        return _departed(departure)
    except BaseException:
        if context.departure is not None:
            return _departed(context.departure)
        raise
    finally:
        threading.excepthook = excepthook
    return 0


def _quiet_about_departures(arguments: threading.ExceptHookArgs) -> None:
    """The main thread says it."""
    if not isinstance(arguments.exc_value, Departure):
        threading.__excepthook__(arguments)


def _departed(departure: Departure) -> int:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        pass
    sys.excepthook = sys.__excepthook__
    print(departure, file=sys.__stderr__, flush=True)
    return DEPARTED


def _with_the_hash_seed_of(path: str) -> None:
    """The order of sets of texts hangs on the seed of hashes, which Python reads when it starts: so start it again."""
    from cassette_import.contexts.recording.recording_file import read

    seed = read(path).header.get("hash seed")
    if isinstance(seed, str) and seed.isdigit() and os.environ.get("PYTHONHASHSEED") != seed:
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": seed})
