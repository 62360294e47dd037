"""What the commands share: wrong usage, settings, contexts by name, printing lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from cassette_import.errors import NotOverdubbable
from cassette_import.frontends import settings
from cassette_import.importing.finder import locate
from cassette_import.importing.installation import Installation, install
from cassette_import.importing.selection import Selection, is_pattern

if TYPE_CHECKING:
    from cassette_import.activation.context import Context
    from cassette_import.frontends.programs.user_program import Program

__all__ = [
    "DEFAULT_CONTEXT",
    "LEGEND",
    "UsageError",
    "contexts_named",
    "install_for",
    "print_lines",
    "program_name",
    "settings_of",
    "table",
]

DEFAULT_CONTEXT: Final = "profile"
LEGEND: Final = "@f(x) is an event of f, ?f(x) one if f is a target"
"""How `show` marks events."""


def program_name() -> str:
    """How the command was called, as messages begin."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name if name.startswith("cassette") else "python -m cassette_import"


class UsageError(Exception):
    """The arguments of a command make no sense; the message is one line."""


def settings_of(given: Any) -> settings.Settings:
    """The settings that hold for a command: its arguments, then the environment, then `pyproject.toml`."""
    packages, exclude = getattr(given, "packages", None), getattr(given, "exclude", None)
    return settings.resolved(
        settings.Settings(
            packages=None if packages is None else settings.names(packages),
            exclude=None if exclude is None else settings.names(exclude),
            contexts=None if given.context is None else settings.contexts(given.context),
            report=getattr(given, "report", None),
            subprocesses=getattr(given, "subprocesses", None),
        )
    )


def contexts_named(descriptions: Sequence[str] | None, *folders: str) -> list[Context]:
    """Instances of the described contexts, which may also be imported from the folders; None means the default."""
    if descriptions is not None and not descriptions:
        return []
    from cassette_import.contexts.lookup import UnknownContext, context_named, importable_from

    try:
        with importable_from(folders):
            return [context_named(text) for text in ((DEFAULT_CONTEXT,) if descriptions is None else descriptions)]
    except UnknownContext as error:
        raise UsageError(str(error)) from error


def print_lines(lines: Iterable[str]) -> int:
    """Print lines; return the exit status, which is 1 if the reader closed the pipe, as `| head` does."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # At exit, Python would try to write the rest of the buffer, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """The lines of a table with aligned columns."""
    widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles))]
    for row in (titles, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def install_for(program: Program, wanted: settings.Settings, contexts: Sequence[Context] = ()) -> list[Installation]:
    """Install the packages that are wanted for a program which is ready to run: without any, its own ones.

    The main module is left alone if it is excluded by its own name, or as `__main__`.
    """
    from cassette_import.frontends.programs.main_module import MAIN

    exclude = wanted.exclude or ()
    names = MAIN, program.module
    program.is_overdubbed = all(map(Selection(names, exclude).covers, names))
    for name in exclude:
        if name not in names and not is_pattern(name) and locate(name)[0] is None:
            print(f"cassette_import: -x {name} excludes nothing: there is no such module", file=sys.stderr)
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
