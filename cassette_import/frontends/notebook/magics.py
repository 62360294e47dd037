"""The magic commands: after ``%load_ext cassette_import``, ``%%overdub`` for a cell and ``%overdub`` for a line."""

from __future__ import annotations

import ast
import contextlib
import html
import linecache
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Final

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.display import display

from cassette_import.activation.context import Context
from cassette_import.contexts.lookup import UnknownContext, context_named
from cassette_import.errors import NotOverdubbable
from cassette_import.frontends import settings
from cassette_import.frontends.programs.main_module import overdubbed
from cassette_import.frontends.reporting.output import CannotWrite
from cassette_import.frontends.reporting.results import RunResults
from cassette_import.importing.installation import install
from cassette_import.interpreter.standard_error import StandardError
from cassette_import.kits.reporting import is_reporting, is_streaming, known_formats, summary_of
from cassette_import.specialization.progress import PROGRESS
from cassette_import.specialization.registry import registry

__all__ = ["load", "unload"]

# ---- the results of contexts, as a notebook shows them: the page, picture or text that the context writes to a file

_KINDS = ".html", ".svg", ".txt"
"""The formats that a notebook can show, the best one first."""
_FRAME = '<iframe srcdoc="{}" sandbox="allow-scripts" style="width: 100%; height: 32em; border: 0"></iframe>'


class CellStandardError(StandardError):
    """The output of the running cell: the standard error of a kernel is in no notebook."""

    def write_line(self, text: str) -> bool:
        """Write a line below the cell."""
        print(text, file=sys.stderr, flush=True)
        return True


class _CellResults:
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


# ---- the magic commands: after ``%load_ext cassette_import``, ``%%overdub`` for a cell and ``%overdub`` for a line

_CELLS: Final = "cassette_import: cells"
"""The module name under which cells are installed while one of them runs; no real module can have it."""
_VALUE: Final = "_overdub_value_"


@magics_class
class OverdubMagics(Magics):  # type: ignore[misc]  # IPython is not there when types are checked
    """The magic commands."""

    @no_var_expand  # type: ignore[untyped-decorator]  # IPython has no types
    @output_can_be_silenced  # type: ignore[untyped-decorator]
    @line_cell_magic  # type: ignore[untyped-decorator]
    def overdub(self, line: str, cell: str | None = None) -> Any:
        """Run a cell, or the rest of the line, in contexts, and show what they found.

        Usage::

            %%overdub [-c CONTEXT]… [-p PACKAGE[,…]]… [-x EXCLUDE[,…]]… [-o FILE]
            %overdub [the same] STATEMENT

        The cell itself, functions of other cells and the packages are overdubbed. The contexts are described as on
        the command line, the first one outermost; the default is `profile`. With `-o`, the results of a context are
        also written to a file, in the format of its suffix.
        """
        __tracebackhide__ = True
        given, rest = self.parse_options(line, "c:p:x:o:", posix=False, list_all=True, preserve_non_opts=True)
        given = {key: [_unquoted(word) for word in words] for key, words in given.items()}
        source = rest if cell is None else cell
        if cell is not None and rest.strip():
            raise UsageError(f"%%overdub: {rest.strip()!r} is no option; write the code to run on the lines below")
        if not source.strip():
            raise UsageError("%overdub: there is no code to run; give an expression or a statement")
        contexts = _contexts(given.get("c"))
        program = _Cell(self.shell, source)
        results = _CellResults(contexts, given.get("o", [None])[-1])
        packages, exclude = settings.names(given.get("p", ())), settings.names(given.get("x", ()))
        with contextlib.ExitStack() as stack:
            stack.enter_context(_installed(packages, exclude, self.shell))
            stack.callback(results.show)
            for context in contexts:
                stack.enter_context(context)
            try:
                return program.run()
            except BaseException as error:
                raise error.with_traceback(program.own(error.__traceback__))  # noqa: B904 - it is the same one


def _unquoted(word: str) -> str:
    """A word without the quotes around it. IPython keeps them, because Python code may follow the options."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def _contexts(described: Sequence[str] | None) -> list[Context]:
    try:
        return [context_named(text) for text in settings.contexts(("profile",) if described is None else described)]
    except UnknownContext as error:
        raise UsageError(f"%overdub: {error}") from error


@contextlib.contextmanager
def _installed(packages: Sequence[str], exclude: Sequence[str], shell: Any) -> Iterator[None]:
    """Install the packages and the cells of the notebook for the duration of the block."""
    try:
        installation = install(packages, exclude=exclude)
    except (ModuleNotFoundError, NotOverdubbable) as error:
        raise UsageError(f"%overdub: {error}") from error
    with installation:
        for name in list(linecache.cache):
            if shell.compile.format_code_name(name) is not None:
                registry.add_module(_CELLS, name)
        try:
            yield
        finally:
            registry.remove_modules([_CELLS])


class _Cell:
    """Source code that runs as IPython runs a cell: the value of its last expression is the cell's value."""

    def __init__(self, shell: Any, source: str) -> None:
        self._shell = shell
        # An empty first line replaces the magic command, so that line numbers fit.
        text = "\n" + shell.transform_cell(source)
        # The last expression is compiled separately, under another file name for the same lines.
        self._name, self._last_name = self._cached(text), self._cached(text + "\n#")
        tree = shell.compile.ast_parse(text, self._name)
        last = tree.body[-1] if tree.body else None
        self._text, self._last = text, ""
        if isinstance(last, ast.Expr):
            self._text, self._last = _divided(text.splitlines(keepends=True), last)
        self._code = _compiled(shell, self._text, self._name)
        self._last_code = _compiled(shell, self._last, self._last_name)

    def _cached(self, text: str) -> str:
        """Put the text into IPython's line cache, as part of the running cell; return its file name for tracebacks."""
        compiler = self._shell.compile
        labels = (compiler.format_code_name(name) for name in reversed(linecache.cache))
        number = next((re.sub(r"\D", "", label[1]) for label in labels if label is not None), "0")
        name: str = compiler.cache(text, int(number), raw_code=text)
        return name

    def run(self) -> Any:
        """Run the cell in the active contexts; return its value."""
        __tracebackhide__ = True
        namespace = self._shell.user_ns
        exec(overdubbed(self._name, self._text.encode(), self._code, _CELLS), namespace)
        if not self._last:
            return None
        exec(overdubbed(self._last_name, self._last.encode(), self._last_code, _CELLS), namespace)
        return namespace.pop(_VALUE)

    def own(self, traceback: TracebackType | None) -> TracebackType | None:
        """The traceback from the first frame of the cell on."""
        entry = traceback
        while entry is not None and entry.tb_frame.f_code.co_filename not in (self._name, self._last_name):
            entry = entry.tb_next
        return entry or traceback


def _divided(lines: Sequence[str], last: ast.Expr) -> tuple[str, str]:
    """The text before the last expression, and an assignment of the expression to a name.

    The name is on the line above, so that the expression keeps its line and column.
    """
    row, column = last.lineno - 1, len(lines[last.lineno - 1].encode()[: last.col_offset].decode())
    before = "".join((*lines[:row], lines[row][:column])).rstrip().removesuffix(";")
    above = "\n" * (row - 1) + f"{_VALUE} = \\\n"
    return before + "\n", above + " " * column + lines[row][column:] + "".join(lines[row + 1 :])


def _compiled(shell: Any, text: str, name: str) -> Any:
    """The code of a cell, with the `__future__` features of all cells so far; later cells have its own, too."""
    try:
        return shell.compile(text, name, "exec")
    except SyntaxError as error:
        if re.search("(await|async).* outside", str(error)):
            raise UsageError(
                "%overdub: a cell cannot await at its top level; put it into a function and give that to asyncio.run"
            ) from None
        raise


def load(shell: Any) -> None:
    """Register the magic commands: ``%load_ext cassette_import``."""
    shell.register_magics(OverdubMagics)
    output = CellStandardError()
    if not output.is_terminal:
        PROGRESS.notify(output)


def unload(shell: Any) -> None:
    """Remove the magic commands: ``%unload_ext cassette_import``."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("overdub", None)
