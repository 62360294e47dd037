"""Runs a script or a module as plain `python` would run it, with contexts active.

The model is coverage's `PyRunner`; everything that `python` can do itself is left to it: `runpy` runs
modules, and whatever leaves the program goes on to the interpreter, which prints it, joins threads, calls
`atexit` functions and sets the exit status.

Knows how Python starts programs; must not know command lines, contexts or reports.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import marshal
import os
import runpy
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any, Final

from cassette_import.errors import CassetteWarning
from cassette_import.frontends.programs.import_path import (
    can_be_on_path,
    importable,
    is_library,
    make_way_for,
    origin_of,
    put_first,
)
from cassette_import.importing.finder import finder
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.specialization.registry import registry

__all__ = ["CannotRun", "Module", "Program", "Script", "code_of_main", "overdubbed"]

_MAIN: Final = "__main__"
_PYC_HEADER: Final = 16


class CannotRun(Exception):
    """There is nothing to run; `python` would leave with this message and exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(f"{sys.orig_argv[0] if sys.orig_argv else sys.executable}: {message}")
        self.status = status


class Program:
    """What is to be run, and its arguments."""

    def __init__(self, name: str, arguments: Iterable[str]) -> None:
        self.name = name
        self.arguments = list(arguments)
        self.is_overdubbed = True
        """Whether the program's own module level is."""

    @property
    def folder(self) -> str:
        """Where the program's own modules are."""
        raise NotImplementedError

    @property
    def module(self) -> str:
        """What the program would be called if it were imported."""
        return self.name

    def prepare(self) -> None:
        """Make `sys.argv` and `sys.path` what the program expects; raise `CannotRun` if there is none."""
        raise NotImplementedError

    def own_packages(self) -> tuple[str, ...]:
        """The top-level modules that belong to the program; to be asked after `prepare`."""
        raise NotImplementedError

    def _execute(self) -> None:
        raise NotImplementedError

    def _run_by_runpy(self, name: str, *, is_module: bool) -> None:
        """What `python -m` does, in the same functions; they are in the traceback that Python prints."""
        runner: Any = runpy
        run_code: Callable[..., object] = runner._run_code

        @hidden
        def run_overdubbed(code: CodeType, namespace: dict[str, Any], *arguments: Any, **keywords: Any) -> object:
            runner._run_code = run_code
            if self.is_overdubbed:
                code = code_of_main(code, arguments)
            return run_code(code, namespace, *arguments, **keywords)

        runner._run_code = run_overdubbed
        try:
            runner._run_module_as_main(name, is_module)
        finally:
            runner._run_code = run_code

    def run(self, contexts: Iterable[AbstractContextManager[object]] = ()) -> None:
        """Run the program in the contexts, the first one outermost; what leaves the program leaves here."""
        try:
            with contextlib.ExitStack() as stack:
                for context in contexts:
                    stack.enter_context(context)
                self._execute()
        except SystemExit:
            raise
        except BaseException as error:
            _have_it_printed_plainly(_without_ours(error.__traceback__))
            raise


class Script(Program):
    """A file with a program in it; or a folder or zip file that has a `__main__.py`."""

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
    def folder(self) -> str:
        """The script's folder; what has a `__main__.py` itself."""
        return self.filename if self.is_container else os.path.dirname(os.path.realpath(self.filename))

    @property
    def module(self) -> str:
        """The name of the file without its suffix."""
        return os.path.splitext(os.path.basename(self.filename))[0]

    def own_packages(self) -> tuple[str, ...]:
        """What lies beside the script, or in the folder or zip file, and is imported from there."""
        folder = self.folder
        if sys.path[:1] != [folder] or is_library(folder):
            return ()
        return tuple(name for name in importable(folder) if origin_of(name) == folder)

    def _execute(self) -> None:
        if self.is_container:
            self._run_by_runpy(_MAIN, is_module=False)
            return
        is_compiled = self.filename.endswith(".pyc")
        main = _fresh_main()
        main.__loader__ = (SourcelessFileLoader if is_compiled else SourceFileLoader)(_MAIN, self.filename)
        main.__file__ = self.filename
        if sys.version_info < (3, 15):
            vars(main)["__cached__"] = None
        code = self._loaded() if is_compiled else self._compiled()
        try:
            exec(code, vars(main))
        finally:
            # As Python does it: functions that outlive the script do not see them.
            for name in ("__file__", "__cached__"):
                vars(main).pop(name, None)

    def _compiled(self) -> CodeType:
        options: dict[str, Any] = {"module": _MAIN} if sys.version_info >= (3, 15) else {}
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


class Module(Program):
    """A module that is found as `import` finds it: what `python -m` runs."""

    @property
    def folder(self) -> str:
        """The current folder."""
        return os.getcwd()

    def prepare(self) -> None:
        """See `Program.prepare`."""
        # While the module is searched, the first argument is this, and its file's name afterwards.
        sys.argv = ["-m", *self.arguments]
        if not sys.flags.safe_path:
            put_first(self.folder)
            make_way_for(self.folder)

    def own_packages(self) -> tuple[str, ...]:
        """The top-level package that the module is in."""
        name = self.name.partition(".")[0]
        try:
            return (name,) if name and importlib.util.find_spec(name) is not None else ()
        except (ImportError, ValueError):
            return ()

    def _execute(self) -> None:
        _fresh_main()
        self._run_by_runpy(self.name, is_module=True)


def code_of_main(plain: CodeType, arguments: tuple[Any, ...], name: str = _MAIN) -> CodeType:
    """What to execute for a main module that `runpy` runs; `arguments` are those of its `_run_code`."""
    spec = next((argument for argument in arguments if isinstance(argument, ModuleSpec)), None)
    try:
        if spec is None:
            with io.open_code(plain.co_filename) as file:
                return overdubbed(plain.co_filename, file.read(), plain, name)
        if spec.origin is None or finder.covers(spec.name):
            return plain  # its loader is ours, and has done what there is to do
        source = spec.loader.get_data(spec.origin)  # type: ignore[union-attr]  # not every loader has it
    except (AttributeError, OSError):
        return plain
    return overdubbed(spec.origin, source, plain, name)


def overdubbed(filename: str, source: bytes, plain: CodeType, name: str = _MAIN) -> CodeType:
    """What to execute for a main module, of this name, with this source, when contexts are active."""
    registry.add_module(name, filename)
    if not registry.wants_module_level():
        return plain
    try:
        return registry.module_code(name, filename, source, plain)
    except Exception as error:  # the program runs in any case
        warnings.warn(f"{filename} runs plain: {type(error).__name__}: {error}", CassetteWarning, stacklevel=2)
        return plain


# ---- what Python has ready for a program


def _fresh_main() -> ModuleType:
    main = ModuleType(_MAIN)
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    vars(main)["__builtins__"] = sys.modules["builtins"]
    sys.modules[_MAIN] = main
    return main


def _absolute(path: str) -> str:
    """The path as Python shows it in `__file__`: made absolute, nothing else."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


# ---- how Python ends a program


def _is_decodable(source: bytes) -> bool:
    try:
        importlib.util.decode_source(source)
    except (SyntaxError, UnicodeDecodeError):
        return False
    return b"\0" not in source


def _leave_to_python(filename: str) -> None:
    """A file that cannot be read as text: only Python, reading it itself, finds its own words for that."""
    import subprocess  # rarely needed

    raise SystemExit(subprocess.call([sys.executable, filename]))


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this file."""
    entries = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename != __file__:
            entries.append(traceback)
        traceback = traceback.tb_next
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        entry.tb_next = following
    return entries[0] if entries else None


def _have_it_printed_plainly(traceback: TracebackType | None) -> None:
    """Have the interpreter, where the exception will arrive, print this traceback without our frames."""
    excepthook = getattr(sys, "excepthook", sys.__excepthook__)

    def show(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        sys.excepthook = excepthook
        error.__traceback__ = sys.last_traceback = traceback
        try:
            excepthook(kind, error, traceback)
        except SystemExit:
            raise
        except BaseException as failure:
            _print_failure(failure, error)

    sys.excepthook = show


def _print_failure(failure: BaseException, error: BaseException) -> None:
    """What Python says of an excepthook that raises."""
    print("Error in sys.excepthook:", file=sys.stderr)
    failure.__traceback__ = _without_ours(failure.__traceback__)
    sys.__excepthook__(type(failure), failure, failure.__traceback__)
    print("\nOriginal exception was:", file=sys.stderr)
    sys.__excepthook__(type(error), error, error.__traceback__)
