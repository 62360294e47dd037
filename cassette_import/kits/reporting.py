"""What a context can report after a run, and in which file formats: the protocols behind `run -o FILE`.

A context need not report anything. One that does has `summary()`, and `formats` if it writes files. One whose output
would not fit into memory has `stream(path)`, which is called before the program runs. One whose file may lack something
that the user expects has `notice()`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

from cassette_import.interpreter.records import Protocol
from cassette_import.kits.text import error_line

__all__ = [
    "Forking",
    "Informed",
    "Merging",
    "Reporting",
    "Streaming",
    "UnknownFormat",
    "Writer",
    "Writing",
    "chosen_format",
    "is_forking",
    "is_informed",
    "is_merging",
    "is_reporting",
    "is_streaming",
    "is_writing",
    "known_formats",
    "notice_of",
    "summary_of",
]

Writer: TypeAlias = Callable[[str], None]
"""Writes the results of a context to the file of this name."""


class UnknownFormat(ValueError):
    """No context writes files with this suffix."""


class Reporting(Protocol):
    """A context that has results."""

    def summary(self) -> str:
        """The results as text for the terminal; may be empty."""


class Writing(Protocol):
    """A context that writes its results to files."""

    @property
    def formats(self) -> Mapping[str, Writer]:
        """A writer for each file suffix, which includes the dot. The longest suffix wins: `.speedscope.json`."""


class Streaming(Protocol):
    """A context that writes while the program runs."""

    def stream(self, path: str) -> None:
        """Write to this file from now on, in the format of its suffix."""


class Informed(Protocol):
    """A context that is notified of the program before it runs."""

    def inform(self, run: Mapping[str, object]) -> None:
        """`run` has the keys `argv`, `program` (script or module), `packages`, `exclude` and `output`.

        Called before `stream`. A ValueError is reported as wrong usage.
        """


class Forking(Protocol):
    """A context that is notified in a process that a fork has made."""

    def forked(self) -> None:
        """Called in the child process. The results so far are reported by the parent process."""


class Merging(Protocol):
    """A context that takes in the results of contexts of its type in other processes."""

    def portable_results(self) -> Any:
        """The results so far, which can be pickled."""

    def add_results(self, results: Any) -> None:
        """Add what `portable_results` returned in another process."""

    @property
    def merged_formats(self) -> Mapping[str, Writer]:
        """Those of the `formats` that have the added results, too."""


def _has(context: object, *names: str) -> bool:
    """Whether a context has the attributes of a protocol.

    `isinstance` with a protocol would make CPython 3.12 and later give the context a real `__dict__`, which slows down
    each attribute that a hook uses: counting hooks take half as long again.
    """
    return all(hasattr(type(context), name) or hasattr(context, name) for name in names)


def is_reporting(context: object) -> TypeGuard[Reporting]:
    """Whether a context has results, see `Reporting`.

    >>> is_reporting(3)
    False
    """
    return callable(getattr(context, "summary", None))


def is_writing(context: object) -> TypeGuard[Writing]:
    """Whether a context writes its results to files, see `Writing`.

    >>> is_writing(3)
    False
    """
    return _has(context, "formats")


def is_streaming(context: object) -> TypeGuard[Streaming]:
    """Whether a context writes while the program runs, see `Streaming`.

    >>> is_streaming(3)
    False
    """
    return _has(context, "stream")


def is_informed(context: object) -> TypeGuard[Informed]:
    """Whether a context is notified of the program before it runs, see `Informed`.

    >>> is_informed(3)
    False
    """
    return _has(context, "inform")


def is_merging(context: object) -> TypeGuard[Merging]:
    """Whether a context takes in results of other processes, see `Merging`.

    >>> is_merging(3)
    False
    """
    return _has(context, "portable_results", "add_results", "merged_formats")


def is_forking(context: object) -> TypeGuard[Forking]:
    """Whether a context is notified in a process that a fork has made, see `Forking`.

    >>> is_forking(3)
    False
    """
    return _has(context, "forked")


def summary_of(context: object) -> str:
    """The summary of a context, or the error that it raised: a broken context must not hide the results of others."""
    try:
        # `is_reporting` may raise: `getattr` runs the properties of the context.
        return context.summary() if is_reporting(context) else ""
    except Exception as error:
        return f"cassette_import: {type(context).__name__} could not report its results: {error_line(error)}"


def notice_of(context: object) -> str:
    """What the file of a context lacks, for the terminal; empty if nothing does.

    >>> notice_of(3)
    ''
    """
    notice = getattr(context, "notice", None)
    try:
        return str(notice()) if callable(notice) else ""
    except Exception as error:  # as for summaries
        return f"cassette_import: {type(context).__name__}.notice raised: {error_line(error)}"


def known_formats(context: object) -> Mapping[str, Writer]:
    """The formats of a context; none for a context that writes no files."""
    return context.formats if is_writing(context) else {}


def chosen_format(formats: Iterable[str], path: str) -> str:
    """The longest suffix among `formats` that the file's name ends with.

    >>> chosen_format([".json", ".prof", ".speedscope.json"], "out/run.speedscope.json")
    '.speedscope.json'
    >>> chosen_format([".prof", ".txt"], "run.xml")
    Traceback (most recent call last):
        ...
    cassette_import.kits.reporting.UnknownFormat: run.xml: unknown format; known are .prof, .txt
    """
    name = os.path.basename(path).lower()
    known = sorted(formats)
    fitting = [suffix for suffix in known if name.endswith(suffix)]
    if not fitting:
        raise UnknownFormat(f"{path}: unknown format; known are {', '.join(known)}")
    return max(fitting, key=len)
