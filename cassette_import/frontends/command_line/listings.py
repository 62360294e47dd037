"""The commands `primitives` and `doctor`, which list what cassette_import knows."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES

from cassette_import.frontends import settings
from cassette_import.frontends.command_line.usage import UsageError, print_lines, table
from cassette_import.interpreter.extensions import NOT_BUILT
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["list_modules", "list_primitives"]


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
    from cassette_import.contexts.common.accelerator import ACCELERATOR
    from cassette_import.importing.doctor import NoSuchPackage, diagnose, format_lines
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
        extensions = os.path.join(copy, "contexts", "common", "accelerator", "_accelerator")
        if copy != PACKAGE_FOLDER and any(os.path.exists(extensions + suffix) for suffix in EXTENSION_SUFFIXES):
            return f"; the copy in {copy} has it, but {PACKAGE_FOLDER} comes first: run the command in another folder"
    return ""
