"""What contexts found, as a notebook shows it: the page, picture or text that the context writes to files itself.

Knows how contexts report, and IPython's display; must not know any context.
"""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Sequence

from IPython.core.error import UsageError
from IPython.display import display

from cassette_import import Context
from cassette_import.contexts.common.reporting import is_reporting, is_streaming, known_formats, summary_of
from cassette_import.frontends.reporting.run_report import CannotWrite, Outcome

__all__ = ["Finding"]

_KINDS = ".html", ".svg", ".txt"
"""In the order in which a notebook prefers them."""
_FRAME = '<iframe srcdoc="{}" sandbox="allow-scripts" style="width: 100%; height: 32em; border: 0"></iframe>'


class Finding:
    """What contexts find from now on.

    Parameters
    ----------
    contexts:
        The contexts, outermost first.
    output:
        A file for what is found, as `run -o` has it.
    """

    def __init__(self, contexts: Sequence[Context], output: str | None) -> None:
        self._contexts = contexts
        self._folder = tempfile.TemporaryDirectory(prefix="cassette_import-")
        self._output = output
        try:
            self._outcome = Outcome(contexts, output, None)
        except CannotWrite as error:
            raise UsageError(f"%overdub: {error}") from error
        # What a context writes while the program runs goes to a file, to be shown when it is complete.
        for number, context in enumerate(contexts):
            if output is None and self._kind(context) is not None and is_streaming(context):
                context.stream(self._path(number))
        if output is not None:
            self._outcome.begin(())

    def _kind(self, context: Context) -> str | None:
        return next((kind for kind in _KINDS if kind in known_formats(context)), None)

    def _path(self, number: int) -> str:
        return os.path.join(self._folder.name, f"{number}{self._kind(self._contexts[number])}")

    def show(self) -> None:
        """Show what each context found, and write the file."""
        if self._output is not None:
            self._outcome.write()
        for number, context in enumerate(self._contexts):
            if is_reporting(context):
                written = self._written(number) if self._output is None else None
                summary = summary_of(context)
                display({"text/plain": summary, "text/html": _page(summary, *(written or ("", "")))}, raw=True)
        self._folder.cleanup()

    def _written(self, number: int) -> tuple[str, str] | None:
        """The kind of file that suits a notebook best, and what stands in it."""
        context = self._contexts[number]
        kind = self._kind(context)
        if kind is None:
            return None
        path = self._path(number)
        known_formats(context)[kind](path)
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            return kind, file.read()


def _page(summary: str, kind: str, text: str) -> str:
    """HTML for what was found."""
    if kind == ".html":
        return _FRAME.format(html.escape(text))
    if kind == ".svg":
        return text[text.index("<svg") :] if "<svg" in text else text
    shown = text if kind and summary not in text and summary.splitlines()[:1] != text.splitlines()[:1] else ""
    return f"<pre>{html.escape(shown + summary)}</pre>"
