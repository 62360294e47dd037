"""What a context can tell after a run, and in which files: what `run -o FILE` asks of it.

A context need not tell anything. One that does has `summary()`; one that writes files has `formats` as well,
and one whose output would not fit into memory has `stream(path)`, called before the program runs. Knows
suffixes and paths; must not know any context.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias, TypeGuard

__all__ = [
    "Forking",
    "Informed",
    "Reporting",
    "Streaming",
    "UnknownFormat",
    "Writer",
    "chosen_format",
    "is_forking",
    "is_informed",
    "is_reporting",
    "is_streaming",
    "known_formats",
    "short_path",
    "summary_of",
    "told_of",
]

Writer: TypeAlias = Callable[[str], None]
"""Writes what a context found to the file of this name."""


class UnknownFormat(ValueError):
    """No context writes files with this suffix."""


class Reporting(Protocol):
    """A context that has something to tell."""

    def summary(self) -> str:
        """What is to be read on the terminal; may be empty."""

    @property
    def formats(self) -> Mapping[str, Writer]:
        """For each suffix, dot included, what writes such a file. Longer suffixes win: `.speedscope.json`."""


class Streaming(Protocol):
    """A context that writes while the program runs."""

    def stream(self, path: str) -> None:
        """Write to this file from now on, in the format of its suffix."""


class Informed(Protocol):
    """A context that wants to know what is going to run."""

    def inform(self, run: Mapping[str, object]) -> None:
        """`run` has `argv`, `program` (script or module), `packages`, `exclude` and `output`; called before
        `stream`. A ValueError is told as wrong usage."""


class Forking(Protocol):
    """A context that is told when the process has been copied by a fork."""

    def forked(self) -> None:
        """This is the copy: what was found so far is for the other process to tell."""


def _has(context: object, *names: str) -> bool:
    """Whether a context has what a protocol asks for.

    Not by `isinstance`, by which CPython from 3.12 on looks into the context's dictionary. There would be one from then
    on, and each attribute that a hook uses would be slower for it: counting hooks take half as long again.
    """
    return all(hasattr(type(context), name) or hasattr(context, name) for name in names)


def is_reporting(context: object) -> TypeGuard[Reporting]:
    """Whether a context has something to tell.

    >>> is_reporting(3)
    False
    """
    return _has(context, "summary", "formats")


def is_streaming(context: object) -> TypeGuard[Streaming]:
    """Whether a context writes while the program runs.

    >>> is_streaming(3)
    False
    """
    return _has(context, "stream")


def is_informed(context: object) -> TypeGuard[Informed]:
    """Whether a context wants to know what is going to run.

    >>> is_informed(3)
    False
    """
    return _has(context, "inform")


def is_forking(context: object) -> TypeGuard[Forking]:
    """Whether a context is told when the process has been copied by a fork.

    >>> is_forking(3)
    False
    """
    return _has(context, "forked")


def told_of(error: BaseException) -> str:
    """An exception in one line, with the place that raised it.

    >>> try:
    ...     {}["key"]
    ... except KeyError as error:
    ...     print(told_of(error).partition(" (")[0])
    KeyError: 'key'
    """
    import traceback  # rarely needed

    text = " ".join(traceback.format_exception_only(error)[-1].split())
    entries = traceback.extract_tb(error.__traceback__)
    return f"{text} ({entries[-1].filename}:{entries[-1].lineno})" if entries else text


def summary_of(context: object) -> str:
    """What a context has to say; it may be anybody's, and must not keep the others from telling."""
    try:
        # Asking for the class looks at the properties, on some Pythons.
        return context.summary() if is_reporting(context) else ""
    except Exception as error:
        return f"cassette_import: {type(context).__name__} could not tell what it found: {told_of(error)}"


def known_formats(context: object) -> Mapping[str, Writer]:
    """The formats of a context; none for a context that does not report."""
    return context.formats if is_reporting(context) else {}


def chosen_format(formats: Iterable[str], path: str) -> str:
    """The suffix among `formats` that the file's name ends with.

    >>> chosen_format([".json", ".prof", ".speedscope.json"], "out/run.speedscope.json")
    '.speedscope.json'
    >>> chosen_format([".prof", ".txt"], "run.xml")
    Traceback (most recent call last):
        ...
    cassette_import.contexts.common.reporting.UnknownFormat: run.xml: unknown format; known are .prof, .txt
    """
    name = os.path.basename(path).lower()
    known = sorted(formats)
    fitting = [suffix for suffix in known if name.endswith(suffix)]
    if not fitting:
        raise UnknownFormat(f"{path}: unknown format; known are {', '.join(known)}")
    return max(fitting, key=len)


def short_path(filename: str, folders: Iterable[str]) -> str:
    """The file's name as seen from the innermost of the folders that holds it; `sys.path` shows modules well.

    >>> short_path("/lib/site-packages/jinja2/lexer.py", ["/lib", "/lib/site-packages", ""])
    'jinja2/lexer.py'
    """
    holding = [folder for folder in folders if folder and filename.startswith(folder.rstrip(os.sep) + os.sep)]
    return filename[len(max(holding, key=len).rstrip(os.sep)) + 1 :] if holding else filename
