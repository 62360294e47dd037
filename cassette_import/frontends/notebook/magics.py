"""The magic commands: after ``%load_ext cassette_import``, ``%%overdub`` for a cell and ``%overdub`` for a line."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Final

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced

from cassette_import.activation.context import Context
from cassette_import.contexts.lookup import UnknownContext, context_named
from cassette_import.errors import NotOverdubbable
from cassette_import.frontends import settings
from cassette_import.frontends.notebook.display import CellResults, CellStandardError
from cassette_import.frontends.programs.main_module import overdubbed
from cassette_import.importing.installation import install
from cassette_import.specialization.progress import PROGRESS
from cassette_import.specialization.registry import registry

__all__ = ["OverdubMagics", "load", "unload"]

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
        results = CellResults(contexts, given.get("o", [None])[-1])
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
