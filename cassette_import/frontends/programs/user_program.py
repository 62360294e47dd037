"""Runs a script or a module as plain `python` would run it, with contexts active.

The model is coverage's `PyRunner`. Python itself does everything that it can do: `runpy` runs modules, and an
exception that leaves the program reaches the interpreter, which prints it, joins threads, calls `atexit` functions and
sets the exit status.
"""

from __future__ import annotations

import errno
import importlib.util
import io
import marshal
import os
import runpy
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib.machinery import BuiltinImporter, PathFinder, SourceFileLoader, SourcelessFileLoader
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.frontends.programs import main_module
from cassette_import.frontends.programs.import_path import (
    can_be_on_path,
    current_folders,
    importable,
    is_library,
    make_way_for,
    origin_of,
    put_first,
)
from cassette_import.frontends.programs.main_module import MAIN, code_of_main, fresh_main, overdubbed
from cassette_import.interpreter.fresh_stack import with_stack_room
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late

if TYPE_CHECKING:
    from cassette_import.frontends.programs import tracebacks
else:
    (tracebacks,) = late("cassette_import.frontends.programs", "tracebacks")

__all__ = ["CannotRun", "Module", "Program", "Script", "StandardInput"]

_PYC_HEADER: Final = 16
_OWN_FILES: Final = (__file__, main_module.__file__)


class CannotRun(Exception):
    """The program cannot be run; `python` would exit with this message and status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"{sys.orig_argv[0] if sys.orig_argv else sys.executable}: {message}")
        self.status = status


class Program:
    """A program and its arguments.

    Subclasses say where it is found and how Python executes it.
    """

    def __init__(self, name: str, arguments: Iterable[str]) -> None:
        self.name = name
        self.arguments = list(arguments)
        self.is_overdubbed = True
        """Whether the main module is overdubbed."""
        self.has_begun = False
        """Whether the main module was executed; a syntax error in it comes before."""

    @property
    def folders(self) -> list[str]:
        """The folder of the program's own modules; none if it is the current folder, and that was deleted."""
        raise NotImplementedError

    @property
    def module(self) -> str:
        """The name that the program would have if it were imported."""
        return self.name

    def prepare(self) -> None:
        """Set `sys.argv` and `sys.path` as the program expects them; raise `CannotRun` if there is no such program."""
        raise NotImplementedError

    def own_packages(self) -> tuple[str, ...]:
        """The top-level modules that belong to the program; to be called after `prepare`."""
        raise NotImplementedError

    def _execute(self) -> None:
        raise NotImplementedError

    def _run_by_runpy(self, name: str, *, is_module: bool) -> None:
        """Do what `python -m` does, through the same functions: the traceback that Python prints shows them."""
        runner: Any = runpy
        run_code: Callable[..., object] = runner._run_code

        @hidden
        def run_overdubbed(code: CodeType, namespace: dict[str, Any], *arguments: Any, **keywords: Any) -> object:
            runner._run_code = run_code
            if self.is_overdubbed:
                code = code_of_main(code, arguments)
            self.has_begun = True
            return run_code(code, namespace, *arguments, **keywords)

        runner._run_code = run_overdubbed
        try:
            runner._run_module_as_main(name, is_module)
        finally:
            runner._run_code = run_code

    @with_stack_room
    def run(self, contexts: Iterable[AbstractContextManager[object]] = ()) -> None:
        """Run the program in the contexts, the first one outermost; an exception of the program leaves here as well."""
        try:
            self._execute_in(tuple(contexts))
        except SystemExit:
            raise
        except BaseException as error:
            from cassette_import.frontends.programs.failed_hooks import failed_hook  # few programs need it

            tracebacks.without_hooks(error)
            traceback = tracebacks.without_frames_of(_OWN_FILES, error.__traceback__)
            tracebacks.print_plainly(traceback, failed_hook(traceback))
            raise

    def _execute_in(self, contexts: tuple[AbstractContextManager[object], ...]) -> None:
        """Execute the program in contexts. `contextlib.ExitStack` may be overdubbed by them."""
        if not contexts:
            self._execute()
            return
        with contexts[0]:
            self._execute_in(contexts[1:])


class Script(Program):
    """A file with a program; or a folder or zip file with a `__main__.py`."""

    def __init__(self, name: str, arguments: Iterable[str]) -> None:
        super().__init__(name, arguments)
        self.filename = _absolute(name)
        self._contents = b""
        self.is_container = can_be_on_path(self.filename)

    def prepare(self) -> None:
        """See `Program.prepare`."""
        if not self.is_container:
            try:
                with io.open_code(self.filename) as file:
                    self._contents = file.read()
            except OSError as error:
                code = error.errno or errno.ENOENT
                raise CannotRun(f"can't open file {self.filename!r}: [Errno {code}] {os.strerror(code)}", 2) from None
        sys.argv = [self.name, *self.arguments]
        if self.is_container or not sys.flags.safe_path:
            put_first(self.folder)
            make_way_for(self.folder)

    @property
    def folders(self) -> list[str]:
        """The folder of the script."""
        return [self.folder] if os.path.isabs(self.filename) else []

    @property
    def folder(self) -> str:
        """The folder of the script; a folder or zip file with a `__main__.py` itself."""
        return self.filename if self.is_container else os.path.dirname(os.path.realpath(self.filename))

    @property
    def module(self) -> str:
        """The name of the file without its suffix."""
        return os.path.splitext(os.path.basename(self.filename))[0]

    def own_packages(self) -> tuple[str, ...]:
        """The modules beside the script, or in the folder or zip file, that are imported from there."""
        folder = self.folder
        if sys.path[:1] != [folder] or is_library(folder):
            return ()
        return tuple(name for name in importable(folder) if origin_of(name) == folder)

    def _execute(self) -> None:
        if self.is_container:
            self._run_by_runpy(MAIN, is_module=False)
            return
        is_compiled = self.filename.endswith(".pyc")
        main = fresh_main()
        main.__loader__ = self._loader()
        main.__file__ = self.filename
        if sys.version_info < (3, 15):
            vars(main)["__cached__"] = None
        code = self._loaded() if is_compiled else self._compiled()
        self.has_begun = True
        try:
            exec(code, vars(main))
        finally:
            # As Python does: functions that outlive the script do not see them.
            for name in ("__file__", "__cached__"):
                vars(main).pop(name, None)

    def _loader(self) -> Any:
        """What Python has in `__loader__` of such a program."""
        return (SourcelessFileLoader if self.filename.endswith(".pyc") else SourceFileLoader)(MAIN, self.filename)

    def _compiled(self) -> CodeType:
        options: dict[str, Any] = {"module": MAIN} if sys.version_info >= (3, 15) else {}
        try:
            plain = compile(self._contents, self.filename, "exec", dont_inherit=True, **options)
        except (SyntaxError, ValueError):
            if not _is_decodable(self._contents):
                _leave_to_python(self.filename)
            raise
        return overdubbed(self.filename, self._contents, plain) if self.is_overdubbed else plain

    def _loaded(self) -> CodeType:
        if self._contents[:4] != importlib.util.MAGIC_NUMBER:
            raise RuntimeError("Bad magic number in .pyc file")
        code: CodeType = marshal.loads(self._contents[_PYC_HEADER:])
        return code


class StandardInput(Script):
    """A program that is read from standard input, as `python -` does."""

    def __init__(self, arguments: Iterable[str]) -> None:
        super().__init__("-", arguments)
        self.filename, self.is_container = "<stdin>", False

    def prepare(self) -> None:
        """See `Program.prepare`."""
        self._contents = sys.stdin.buffer.read()
        sys.argv = [self.name, *self.arguments]
        if not sys.flags.safe_path:
            put_first("")
            for folder in self.folders:
                make_way_for(folder)

    @property
    def folders(self) -> list[str]:
        """The current folder."""
        return current_folders()

    def own_packages(self) -> tuple[str, ...]:
        """The modules in the current folder that are imported from there."""
        return tuple(name for folder in self.folders for name in importable(folder) if origin_of(name) == folder)

    def _loader(self) -> Any:
        """See `Script._loader`."""
        return BuiltinImporter


class Module(Program):
    """A module that `import` can find, as `python -m` runs it."""

    @property
    def folders(self) -> list[str]:
        """The current folder."""
        return current_folders()

    @property
    def module(self) -> str:
        """The name of the module; of a package, that of the module in it that runs. Nothing is imported."""
        names, path = self.name.split("."), [*self.folders, *sys.path]
        if not all(names):
            return self.name  # Python says what is wrong with it
        for count in range(1, len(names) + 1):
            spec = PathFinder.find_spec(".".join(names[:count]), path)
            if spec is None or spec.submodule_search_locations is None:
                return self.name
            path = list(spec.submodule_search_locations)
        return f"{self.name}.{MAIN}"

    def prepare(self) -> None:
        """See `Program.prepare`."""
        # As in Python, the first argument is `-m` while the module is searched, then its file's name.
        sys.argv = ["-m", *self.arguments]
        if not sys.flags.safe_path:
            put_first(*self.folders)
            for folder in self.folders:
                make_way_for(folder)

    def own_packages(self) -> tuple[str, ...]:
        """The top-level package that the module is in."""
        name = self.name.partition(".")[0]
        try:
            return (name,) if name and importlib.util.find_spec(name) is not None else ()
        except (ImportError, ValueError):
            return ()

    def _execute(self) -> None:
        fresh_main()
        self._run_by_runpy(self.name, is_module=True)


def _absolute(path: str) -> str:
    """The path as Python shows it in `__file__`: absolute, otherwise unchanged."""
    return path if os.path.isabs(path) else os.path.join(*current_folders(), path)


def _is_decodable(source: bytes) -> bool:
    try:
        importlib.util.decode_source(source)
    except (SyntaxError, UnicodeDecodeError):
        return False
    return b"\0" not in source


def _leave_to_python(filename: str) -> None:
    """Have Python itself run a file that cannot be decoded: only then the error message is exactly Python's."""
    import subprocess  # rarely needed

    raise SystemExit(subprocess.call([sys.executable, filename]))
