"""The parser of the command line: which commands there are, and which arguments each has.

The options of `run` are in `run_arguments`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from cassette_import.frontends.command_line.run_arguments import (
    CONTEXT_HELP,
    OPTIONS,
    program_in,
    where_program_begins,
)
from cassette_import.frontends.command_line.usage import LEGEND, program_name
from cassette_import.interpreter.suggestions import similar_name, suggestion

__all__ = ["build_parser"]


class _Once(argparse.Action):
    """An option with one value: a second one must not replace the first one without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: str | None = None) -> None:
        """Keep the value, or end with an error."""
        if getattr(namespace, self.dest) != self.default:
            parser.error(f"{option} is given twice: there is one FILE for the results")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages are one line.

    With `takes_program`, everything from the first argument that is no option, or from `-m`, on belongs to a program.
    """

    def __init__(self, *, takes_program: bool = False, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)
        self.suggest_on_error = False  # newer versions of argparse suggest commands; `_check_value` does it in all
        self._takes_program = takes_program

    def error(self, message: str) -> NoReturn:
        """Exit with one line on standard error, and status 2."""
        self.exit(2, f"{self.prog}: {message}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += suggestion(value, map(str, action.choices or ()))
            raise

    def format_help(self) -> str:
        """The help; that of `run` ends with the options of all contexts."""
        if not self._takes_program:
            return super().format_help()
        from cassette_import.frontends.command_line.listings import options_in_short

        return "\n".join([super().format_help(), "options of contexts, with their defaults:", *options_in_short(), ""])

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Remove the program and its arguments before argparse parses the rest (checklist M4)."""
        if not self._takes_program:
            found, unknown = super().parse_known_args(args, namespace)
            self._refuse(unknown)
            return found, unknown
        given = list(sys.argv[1:] if args is None else args)
        with_value = {option for action in self._actions if action.nargs is None for option in action.option_strings}
        end = where_program_begins(given, with_value)
        found, unknown = super().parse_known_args(given[:end], namespace)
        self._refuse(unknown)
        found.program = program_in(given[end:])
        return found, unknown

    def _refuse(self, unknown: Sequence[str]) -> None:
        """Exit with an error that says what to write in place of the first unknown argument."""
        if not unknown:
            return
        options = {option.lstrip("-"): option for action in self._actions for option in action.option_strings}
        similar = similar_name(unknown[0].lstrip("-"), options)
        hint = f"; did you mean {options[similar]}?" if similar else ""
        if not unknown[0].startswith("-") and "p" in options:
            hint = f"; packages are named by -p: -p {unknown[0]}"
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from cassette_import import __version__

    parser = _Parser(prog=program_name(), description="Run unaware Python programs in a context of your own.")
    parser.add_argument("-V", "--version", action="version", version=f"cassette_import {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    _add_run(commands, parser.prog)

    replay = commands.add_parser("replay", help="run a recorded program again, with the recorded external calls")
    replay.add_argument("file", metavar="FILE", help="a recording, written by `run -c record -o FILE`")

    show = commands.add_parser(
        "show",
        help="print a function with its events in a context",
        description=f"Prints a function with its events: {LEGEND}.",
    )
    show.add_argument("target", metavar="MODULE:FUNCTION")
    show.add_argument("-c", "--context", action="append", help=CONTEXT_HELP)
    show.add_argument("--raw", action="store_true", help="print the source that is compiled")
    show.add_argument("--diff", action="store_true", help="print the differences from the original source")

    contexts = commands.add_parser("contexts", help="list the contexts, or describe the options of one")
    contexts.add_argument("names", nargs="*", metavar="NAME", help="describe the options of this context")
    commands.add_parser("primitives", help="list which syntax is which event")

    doctor = commands.add_parser("doctor", help="list what is done to each module of a package, and why")
    doctor.add_argument("package", metavar="PACKAGE", nargs="?")
    doctor.add_argument("-x", "--exclude", action="append", metavar="EXCLUDE[,…]", help="do not overdub these modules")

    cache = commands.add_parser("cache", help="list the cache files beside the .pyc files, by package")
    cache.add_argument("packages", nargs="*", metavar="PACKAGE", help="only the files of these packages")
    cache.add_argument("--clear", action="store_true", help="remove the files of the named packages")
    cache.add_argument("--all", action="store_true", help="with --clear: remove the files of everything importable")
    cache.add_argument("--files", action="store_true", help="list each file")
    _add_compile(commands)
    _add_fuzz(commands)
    for name, command in commands.choices.items():
        _add_examples(command, parser.prog, EXAMPLES[name])
    return parser


EXAMPLES: Final[Mapping[str, Sequence[str]]] = {
    "run": (
        "run program.py",
        "run -p jinja2 -c profile:sort=cumulative -o out.html -m mypackage",
        "run -c trace:depth=2 program.py --its=own arguments",
        "run -c faults:target=socket.socket.connect,raises=OSError,nth=2 program.py",
    ),
    "replay": ("run -c record -o shop.cassette shop.py", "replay shop.cassette"),
    "show": ("show colorsys:rgb_to_hls", "show colorsys:rgb_to_hls -c noop:events=calls --diff"),
    "contexts": ("contexts", "contexts trace faults", "contexts mymodule:MyContext"),
    "primitives": ("primitives",),
    "doctor": ("doctor", "doctor jinja2", "doctor jinja2 -x jinja2.ext"),
    "cache": ("cache", "cache jinja2 --files", "cache --clear jinja2"),
    "fuzz": (
        "fuzz tomli:loads --seconds 60 --allow tomli.TOMLDecodeError --output fuzzing",
        "fuzz mymodule:parse --type bytes --seeds samples --executions 10000",
    ),
    "compile": ("compile -p jinja2", "compile -p jinja2,markupsafe -c profile -c trace -j 4"),
}
"""Examples of each command, as its help prints them."""


def _add_examples(command: argparse.ArgumentParser, program: str, examples: Sequence[str]) -> None:
    """Print examples at the end of the help of a command."""
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.epilog = "\n".join(["examples:", *(f"  {program} {example}" for example in examples)])


def _add_compile(commands: Any) -> None:
    """Add the command `compile`, whose options for packages and contexts mean what they mean for `run`."""
    compiling = commands.add_parser(
        "compile",
        help="make the cache files of packages ahead of their first run",
        usage=f"{program_name()} compile -p PACKAGE[,…] [-p …]… [-x EXCLUDE[,…]]… [-c CONTEXT]… [-j N]",
    )
    add = compiling.add_argument
    add(
        "-p",
        "--packages",
        action="append",
        metavar="PACKAGE[,…]",
        help="compile these packages; required, unless settings name packages; may be repeated",
    )
    add("-x", "--exclude", action="append", metavar="EXCLUDE[,…]", help="do not compile these modules")
    add("-c", "--context", action="append", help=f"{CONTEXT_HELP}; outermost first (default: profile)")
    add("-j", "--jobs", type=int, default=0, metavar="N", help="use N processes (default: one for each processor)")


def _add_fuzz(commands: Any) -> None:
    """Add the command `fuzz`."""
    fuzzing = commands.add_parser(
        "fuzz",
        help="search for inputs for which a function raises exceptions",
        description="Searches for inputs for which a function raises exceptions. The exit status is 1 if one is found.",
    )
    add = fuzzing.add_argument
    add("target", metavar="MODULE:FUNCTION", help="a function of one argument")
    add("-p", "--packages", action="append", metavar="PACKAGE[,…]", help="whose branches count (default: the target)")
    add("--seconds", type=float, metavar="N", help="end after N seconds (default: 60)")
    add("--executions", type=int, metavar="N", help="end after N executions")
    add("--seeds", metavar="DIR", help="a folder of inputs to begin with, one in each file")
    add("--output", metavar="DIR", help="keep the corpus there, and a failing test for each finding")
    add("--allow", action="append", metavar="EXCEPTION", help="an exception that is no finding; may be repeated")
    types = ("str", "bytes", "int", "float", "list", "dict")
    add("--type", choices=types, help="the type of inputs (default: the annotation of the argument, or str)")
    add("--seed", type=int, default=0, metavar="N", help="of the random numbers (default: 0)")
    add(
        "--timeout", type=float, default=5.0, metavar="N", help="seconds for one execution (default: 5; 0 for no bound)"
    )


def _add_run(commands: Any, prog: str) -> None:
    """Add the command `run`, whose arguments a program follows."""
    run = commands.add_parser(
        "run",
        takes_program=True,
        help="run a script or module in contexts",
        description="Runs a program in contexts. Options come before it: all that follows SCRIPT or MODULE is its own.",
        usage=f"{prog} run [-p PACKAGE[,…]]… [-x EXCLUDE[,…]]… [-c CONTEXT]… [-o FILE] "
        "[--report FILE] [--escapes] [--subprocesses] (SCRIPT | -m MODULE) [ARGUMENT]…",
    )
    for option in OPTIONS:
        keywords = {} if option.metavar is None else {"metavar": option.metavar}
        action = _Once if option.action == "store" else option.action
        run.add_argument(*option.names, action=action, default=option.default, help=option.help, **keywords)
