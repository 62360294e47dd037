"""The commands `contexts`, `primitives` and `doctor`, which list what cassette_import knows."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

from cassette_import.contexts.elsewhere import ELSEWHERE, Elsewhere
from cassette_import.contexts.lookup import (
    UnknownContext,
    context_named,
    context_type_named,
    context_types,
    importable_from,
)
from cassette_import.frontends import settings
from cassette_import.frontends.command_line.usage import UsageError, print_lines, program_name, table
from cassette_import.frontends.programs.import_path import current_folders
from cassette_import.interpreter.extensions import NOT_BUILT
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.option_descriptions import described_options
from cassette_import.kits.reporting import known_formats

__all__ = ["list_modules", "list_or_describe", "list_primitives", "options_in_short"]

# ---- the command `contexts`: lists the contexts that have a name, or describes the options of some


def list_or_describe(given: argparse.Namespace) -> int:
    """Print a line for each context that has a name, or all options of the named ones; return the exit status."""
    if not given.names:
        return print_lines(_listed())
    try:
        with importable_from(current_folders()):
            descriptions = [line for name in given.names for line in (*_described(name), "")]
    except UnknownContext as error:
        raise UsageError(str(error)) from error
    return print_lines(descriptions[:-1])


def _listed() -> Iterator[str]:
    """The table of the contexts that have a name."""
    rows = []
    for name, target in context_types().items():
        try:
            about = _summary(context_type_named(name))
        except UnknownContext as error:
            about = f"cannot be imported: {error.__cause__ or error}"
        rows.append((name, target, about))
    yield from table(("name", "where", "what it does"), rows)
    yield f"used in Python, or commands: {', '.join(ELSEWHERE)} (`contexts NAME` describes them)"


def options_in_short() -> Iterator[str]:
    """The options of all contexts that have a name, a paragraph for each context; the end of the help of `run`."""
    for name in context_types():
        try:
            options = described_options(context_type_named(name))
        except UnknownContext:  # `contexts` prints why
            continue
        if options:
            text = f"{name}: {', '.join(option.usage for option in options)}"
            yield textwrap.fill(
                text, shutil.get_terminal_size().columns - 2, initial_indent="  ", subsequent_indent="    "
            )
    yield "  (`contexts NAME` describes them)"


def _summary(maker: Any) -> str:
    """The first line of a docstring."""
    return (maker.__doc__ or "").strip().partition("\n")[0]


def _described(name: str) -> Iterator[str]:
    """What a user of `-c` needs to know of one context: its options with their defaults, and its file formats."""
    if name in ELSEWHERE:
        yield from _described_elsewhere(name, ELSEWHERE[name])
        return
    maker = context_type_named(name)
    options = described_options(maker)
    yield f"{name}: {_summary(maker)}"
    if options:
        yield f"  -c {name}:option=value,…"
        yield ""
        yield from _option_lines([(option.usage, option.description) for option in options])
    else:
        yield f"  -c {name} takes no options."
    suffixes = _suffixes(name)
    if suffixes:
        yield ""
        yield f"  -o FILE writes {_listed_suffixes(suffixes)}"


def _described_elsewhere(name: str, feature: Elsewhere) -> Iterator[str]:
    """How a feature is used that is no context for `-c`."""
    yield f"{name}: {feature.about}"
    if feature.is_command:
        yield f"  {program_name()} {name} --help"
    yield f"  from cassette_import.contexts.{name} import {', '.join(feature.functions)}"


def _option_lines(rows: list[tuple[str, str]]) -> Iterator[str]:
    """Two columns, of which the second is wrapped to the width of the terminal."""
    width = max(len(usage) for usage, _ in rows) + 2
    room = max(shutil.get_terminal_size().columns - width - 4, 40)
    for usage, description in rows:
        for number, line in enumerate(textwrap.wrap(description.replace("``", "`"), room) or [""]):
            yield f"  {usage if number == 0 else '':<{width}}{line}".rstrip()


def _listed_suffixes(suffixes: list[str]) -> str:
    """The suffixes as one text. The empty one stands for files of any name."""
    named = ", ".join(filter(None, suffixes))
    return named if "" not in suffixes else f"{named}, or a file of any other name" if named else "a file of any name"


def _suffixes(name: str) -> list[str]:
    """The suffixes of the files that a context writes; none for a context that cannot be made without options."""
    try:
        return sorted(known_formats(context_named(name)))
    except (UnknownContext, OSError):
        return []


# ---- the commands `primitives` and `doctor`, which list what cassette_import knows


def list_primitives(given: argparse.Namespace) -> int:
    """Print which syntax is which event and function; return the exit status."""
    from cassette_import.rewriting.primitives import TABLE

    rows = [(primitive.event.name or str(primitive.event), primitive.syntax, primitive.name) for primitive in TABLE]
    return print_lines(table(("event", "syntax", "function"), rows))


def list_modules(given: argparse.Namespace) -> int:
    """Print what is done to each module of a package, and why, and whether the accelerator is used: `doctor`.

    Returns
    -------
    The exit status.
    """
    from cassette_import.importing.doctor import NoSuchPackage, diagnose, format_lines
    from cassette_import.kits.calls.accelerator import ACCELERATOR
    from cassette_import.runtime.dispatch.accelerator import DISPATCH

    reason = ACCELERATOR.reason or DISPATCH.reason
    more = _hidden_copy() if reason == NOT_BUILT else ""
    own = f"accelerator: {f'not used: {reason}{more}' if reason else 'used'}"
    if given.package is None:
        return print_lines([own])
    try:
        modules = format_lines(diagnose(given.package, settings.names(given.exclude or ())))
        return print_lines([*modules, own])
    except NoSuchPackage as error:
        raise UsageError(str(error)) from error


def _hidden_copy() -> str:
    """The end of a message about the accelerator: where an installed copy has it that these files hide."""
    name = os.path.basename(os.path.normpath(PACKAGE_FOLDER))
    for entry in sys.path:
        copy = os.path.join(os.path.abspath(entry), name, "")
        extensions = os.path.join(copy, "kits", "calls", "accelerator", "_accelerator")
        if copy != PACKAGE_FOLDER and any(os.path.exists(extensions + suffix) for suffix in EXTENSION_SUFFIXES):
            return f"; the copy in {copy} has it, but {PACKAGE_FOLDER} comes first: run the command in another folder"
    return ""
