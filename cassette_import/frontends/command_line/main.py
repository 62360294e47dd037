"""The entry point of the command line: parses the arguments and calls the module of the command.

Each command is imported when it is called, so that one command does not pay for the imports of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cassette_import.frontends import settings
from cassette_import.frontends.command_line import run_arguments
from cassette_import.frontends.command_line.usage import UsageError, program_name

if TYPE_CHECKING:
    import argparse

__all__ = ["build_parser", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Perform the command that the arguments name; return the exit status."""
    name = program_name()  # now: programs that are run change `sys.argv`
    given = _parsed(sys.argv[1:] if arguments is None else arguments)
    if given.command not in _WITH_PROGRAM:
        from cassette_import.frontends.programs.import_path import add_current_folder

        add_current_folder()
    try:
        return _COMMANDS[given.command](given)
    except (UsageError, settings.SettingsError) as error:
        print(f"{name} {given.command}: {error}", file=sys.stderr)
        return 2


def _parsed(arguments: Sequence[str]) -> Any:
    """The command, and the values of its arguments; exits if they make no sense."""
    if arguments[:1] == ["run"]:
        well_formed = run_arguments.parsed(arguments[1:])
        if well_formed is not None:
            return well_formed
    parser = build_parser()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.error(f"a command is needed: {', '.join(_NAMES[:-1])} or {_NAMES[-1]}")
    return given


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; starts that need none of it do not import argparse."""
    from cassette_import.frontends.command_line import parser

    return parser.build_parser()


def _run(given: Any) -> int:
    from cassette_import.frontends.command_line.run import run

    return run(given)


def _replay(given: Any) -> int:
    from cassette_import.contexts.recording.recording_file import BadRecording
    from cassette_import.frontends.command_line.replay import replay
    from cassette_import.frontends.programs.user_program import CannotRun

    try:
        return replay(given.file)
    except BadRecording as error:
        raise UsageError(str(error)) from error
    except CannotRun as error:
        print(error, file=sys.stderr)
        return error.status


def _show(given: Any) -> int:
    from cassette_import.frontends.command_line.show import show

    return show(given)


def _contexts(given: Any) -> int:
    from cassette_import.frontends.command_line.listings import list_or_describe

    return list_or_describe(given)


def _primitives(given: Any) -> int:
    from cassette_import.frontends.command_line.listings import list_primitives

    return list_primitives(given)


def _doctor(given: Any) -> int:
    from cassette_import.frontends.command_line.listings import list_modules

    return list_modules(given)


def _cache(given: Any) -> int:
    from cassette_import.frontends.command_line.cache import list_or_clear

    return list_or_clear(given)


def _compile(given: Any) -> int:
    from cassette_import.frontends.command_line.compile import compile_packages

    return compile_packages(given)


def _fuzz(given: Any) -> int:
    from cassette_import.frontends.command_line.fuzz import fuzz_function

    return fuzz_function(given)


_COMMANDS: Final[Mapping[str, Callable[[Any], int]]] = {
    "run": _run,
    "replay": _replay,
    "show": _show,
    "contexts": _contexts,
    "primitives": _primitives,
    "doctor": _doctor,
    "cache": _cache,
    "compile": _compile,
    "fuzz": _fuzz,
}
_NAMES: Final = tuple(_COMMANDS)
_WITH_PROGRAM: Final = ("run", "replay")
"""The commands that run a program, whose folder comes first on the path when it begins."""
