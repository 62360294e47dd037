"""Writing results to files and to standard error, and checking beforehand that a file can be written."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import error_line

__all__ = ["CannotWrite", "check_folder", "print_texts", "problem_of_writing", "write_document"]

# ---- writing results to files and to standard error, and checking beforehand that a file can be written


class CannotWrite(ValueError):
    """A requested file cannot be written; raised before the program runs. The message is one line."""


def check_folder(path: str) -> None:
    """Raise `CannotWrite` if the file cannot be written, as far as that is known beforehand."""
    try:
        folder = os.path.dirname(os.path.abspath(path))
    except FileNotFoundError:
        raise CannotWrite(f"{path}: the current directory was deleted") from None
    if os.path.isdir(path):
        raise CannotWrite(f"{path}: is a directory")
    if not os.path.isdir(folder):
        raise CannotWrite(f"{path}: there is no directory {folder}")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise CannotWrite(f"{path}: may not be written")


def problem_of_writing(write: Writer, path: str) -> str | None:
    """Write a file; return the message to print if that fails."""
    try:
        write(path)
    except OSError as error:
        return f"cassette_import: {path} was not written: {error.strerror or error}"
    except Exception as error:
        return f"cassette_import: {path} was not written: {error_line(error)}"
    return None


def print_texts(texts: Iterable[str]) -> None:
    """Print texts to standard error, if the process still has one."""
    for text in texts:
        # The program may have closed or replaced `sys.stderr`.
        for stream in (sys.__stderr__, sys.stderr):
            if text and stream is not None:
                try:
                    print(text, file=stream, flush=True)
                except (OSError, ValueError):
                    continue
                break


# ---- the file of a report, which is JSON


def write_document(document: Mapping[str, Any], path: str) -> bool:
    """Write a report to a file, or to standard error if that fails; return whether the file was written."""
    problem = problem_of_writing(functools.partial(_write_json, document), path)
    if problem is not None:
        print_texts([problem, json.dumps(document, indent=2)])
    return problem is None


def _write_json(document: Mapping[str, Any], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=2) + "\n")
