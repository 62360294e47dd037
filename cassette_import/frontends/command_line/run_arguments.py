"""The arguments of the command `run`: its options as data, and their values where the arguments are well-formed.

Most starts of a program need nothing else of the command line. So they do not import argparse, which would take longer
than all other modules of such a start. The parser with argparse is built from the same data; it handles everything
that is not well-formed here, and help.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import SimpleNamespace
from typing import Any, Final, Literal

from cassette_import.interpreter.records import Record

__all__ = ["CONTEXT_HELP", "OPTIONS", "parsed", "program_in", "where_program_begins"]

CONTEXT_HELP: Final = "ready-made context, entry point, or module:Class, each with :key=value,…"


class _RunOption(Record):
    """One option of `run`, in the words of argparse."""

    names: tuple[str, ...]
    action: Literal["append", "store", "store_true"]
    default: Any
    metavar: str | None
    help: str

    @property
    def destination(self) -> str:
        """The attribute that holds the value."""
        return self.names[-1].removeprefix("--")


OPTIONS: Final = (
    _RunOption(
        ("-p", "--packages"), "append", None, "PACKAGE[,…]", "besides the script, overdub these (default: its own)"
    ),
    _RunOption(("-x", "--exclude"), "append", None, "EXCLUDE[,…]", "do not overdub these modules"),
    _RunOption(
        ("-c", "--context"),
        "append",
        None,
        None,
        f"{CONTEXT_HELP}; outermost first; `none` for no context (default: profile)",
    ),
    _RunOption(("-o", "--output"), "store", None, "FILE", "write the context's results, in the format of the suffix"),
    _RunOption(("--report",), "store", None, "FILE", "write what was rewritten, specialised and left alone, as JSON"),
    _RunOption(("--escapes",), "store_true", False, None, "list Python functions that were not overdubbed, and why"),
    _RunOption(
        ("--subprocesses",), "store_true", None, None, "also overdub the Python programs that the program starts"
    ),
)


def parsed(arguments: Sequence[str]) -> SimpleNamespace | None:
    """What argparse would make of the arguments of `run`; None if they are not well-formed, or ask for help.

    >>> parsed(["-c", "noop", "-p", "json", "program.py", "-c"]).program
    ['program.py', '-c']
    >>> parsed(["-c"]) is parsed(["--help"]) is None
    True
    """
    by_name = {name: option for option in OPTIONS for name in option.names}
    found = {option.destination: option.default for option in OPTIONS}
    end = where_program_begins(arguments, [name for name, option in by_name.items() if option.action != "store_true"])
    given = iter(arguments[:end])
    for name in given:
        option = by_name.get(name)
        if option is None:
            return None
        if option.action == "store_true":
            found[option.destination] = True
            continue
        value = next(given, "-")
        if value.startswith("-"):
            return None
        if option.action == "store" and found[option.destination] is not None:
            return None
        if option.action == "append":
            value = [*(found[option.destination] or ()), value]  # type: ignore[assignment]
        found[option.destination] = value
    return SimpleNamespace(command="run", **found, program=program_in(arguments[end:]))


def where_program_begins(arguments: Sequence[str], with_value: Collection[str]) -> int:
    """The position of the first argument that is no option of `run`, or `-m`: it and all others are the program's.

    `with_value` are the options that a value follows.
    """
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if not argument.startswith("-") or argument in ("-", "--") or argument[:2] == "-m":
            return index
        index += 2 if argument in with_value else 1
    return len(arguments)


def program_in(arguments: Sequence[str]) -> list[str]:
    """A program and its arguments, of which ``--`` may come first; ``-mMODULE`` may be one argument, as for Python."""
    program = list(arguments)
    if program[:1] == ["--"]:
        del program[0]
    elif program and program[0].startswith("-m") and program[0] != "-m":
        program[:1] = ["-m", program[0][2:]]
    return program
