"""The results of contexts, as a notebook shows them: the page, picture or text that the context writes to a file."""

from __future__ import annotations

import html
import os
import sys
import tempfile
from collections.abc import Sequence

from IPython.core.error import UsageError
from IPython.display import display

from cassette_import.activation.context import Context
from cassette_import.contexts.common.reporting import is_reporting, is_streaming, known_formats, summary_of
from cassette_import.frontends.reporting.output import CannotWrite
from cassette_import.frontends.reporting.results import RunResults
from cassette_import.interpreter.standard_error import StandardError

__all__ = ["CellResults", "CellStandardError"]

_KINDS = ".html", ".svg", ".txt"
"""The formats that a notebook can show, the best one first."""
_FRAME = '<iframe srcdoc="{}" sandbox="allow-scripts" style="width: 100%; height: 32em; border: 0"></iframe>'


class CellStandardError(StandardError):
    """The output of the running cell: the standard error of a kernel is in no notebook."""

    def write_line(self, text: str) -> bool:
        """Write a line below the cell."""
        print(text, file=sys.stderr, flush=True)
        return True


class CellResults:
    """What contexts find while a cell runs.

    Parameters
    ----------
    contexts:
        The contexts, outermost first.
    output:
        The file for what they find, as for `run -o`.
    """

    def __init__(self, contexts: Sequence[Context], output: str | None) -> None:
        self._contexts = contexts
        self._folder = tempfile.TemporaryDirectory(prefix="cassette_import-")
        self._output = output
        try:
            self._results = RunResults(contexts, output, None)
        except CannotWrite as error:
            raise UsageError(f"%overdub: {error}") from error
        # A context that streams writes to a file, which is shown when the cell has ended.
        for number, context in enumerate(contexts):
            if output is None and self._kind(context) is not None and is_streaming(context):
                context.stream(self._path(number))
        if output is not None:
            self._results.begin(())

    def _kind(self, context: Context) -> str | None:
        return next((kind for kind in _KINDS if kind in known_formats(context)), None)

    def _path(self, number: int) -> str:
        return os.path.join(self._folder.name, f"{number}{self._kind(self._contexts[number])}")

    def show(self) -> None:
        """Show what each context found, and write the file."""
        if self._output is not None:
            self._results.write()
        for number, context in enumerate(self._contexts):
            if is_reporting(context):
                written = self._written(number) if self._output is None else None
                summary = summary_of(context)
                display({"text/plain": summary, "text/html": _page(summary, *(written or ("", "")))}, raw=True)
        self._folder.cleanup()

    def _written(self, number: int) -> tuple[str, str] | None:
        """The suffix of the format that a notebook shows best, and the contents of such a file."""
        context = self._contexts[number]
        kind = self._kind(context)
        if kind is None:
            return None
        path = self._path(number)
        known_formats(context)[kind](path)
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            return kind, file.read()


def _page(summary: str, kind: str, text: str) -> str:
    """HTML for the results of one context: a page in a frame, a picture, or text."""
    if kind == ".html":
        return _FRAME.format(html.escape(text))
    if kind == ".svg":
        return text[text.index("<svg") :] if "<svg" in text else text
    shown = text if kind and summary not in text and summary.splitlines()[:1] != text.splitlines()[:1] else ""
    return f"<pre>{html.escape(shown + summary)}</pre>"
