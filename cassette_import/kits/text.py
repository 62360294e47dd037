"""Small pieces of text that several reports need: counts with their noun, short paths, errors on one line,
text files.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable

__all__ = ["error_line", "file_size", "plural", "printable", "search_folders", "short_path", "text_writer"]


def plural(count: int, noun: str, several: str = "") -> str:
    """A count with its noun; of a noun that gets no `s`, the form for several is given too.

    >>> plural(1, "call"), plural(2, "call"), plural(0, "branch", "branches")
    ('1 call', '2 calls', '0 branches')
    """
    return f"{count} {noun if count == 1 else several or f'{noun}s'}"


def file_size(count: int) -> str:
    """A number of bytes, rounded.

    >>> file_size(1), file_size(1234), file_size(12_345_678)
    ('1 byte', '1 kB', '12.3 MB')
    """
    if count < 1000:
        return plural(count, "byte")
    return f"{count / 1000:.0f} kB" if count < 999_500 else f"{count / 1_000_000:.1f} MB"


def search_folders() -> list[str]:
    """The folders of `sys.path` and the current folder, as absolute paths: what `short_path` takes."""
    found = []
    for folder in (*sys.path, os.curdir):
        with contextlib.suppress(OSError):  # the current folder was deleted
            found.append(os.path.abspath(folder))
    return found


def short_path(filename: str, folders: Iterable[str]) -> str:
    """The file's name relative to the innermost of the folders that contains it.

    >>> short_path("/lib/site-packages/jinja2/lexer.py", ["/lib", "/lib/site-packages", ""])
    'jinja2/lexer.py'
    """
    holding = [folder for folder in folders if folder and filename.startswith(folder.rstrip(os.sep) + os.sep)]
    return filename[len(max(holding, key=len).rstrip(os.sep)) + 1 :] if holding else filename


def error_line(error: BaseException) -> str:
    """An exception on one line, with the place that raised it.

    >>> try:
    ...     {}["key"]
    ... except KeyError as error:
    ...     print(error_line(error).partition(" (")[0])
    KeyError: 'key'
    """
    import traceback  # rarely needed

    text = " ".join(traceback.format_exception_only(error)[-1].split())
    entries = traceback.extract_tb(error.__traceback__)
    return f"{text} ({entries[-1].filename}:{entries[-1].lineno})" if entries else text


def printable(text: str) -> str:
    """The text with escapes in place of what is not printable, such as the ends of lines.

    >>> printable("a\\nb"), printable("é")
    ('a\\\\nb', 'é')
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def text_writer(make: Callable[[], str], errors: str = "strict") -> Callable[[str], None]:
    """A function that writes the text that `make` returns to a file; `errors` is what `open` takes."""

    def write(path: str) -> None:
        text = make()  # first: if it raises an exception, an earlier file is kept
        with open(path, "w", encoding="utf-8", errors=errors) as file:
            file.write(text + "\n")

    return write
