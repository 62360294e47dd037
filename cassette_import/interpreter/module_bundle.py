"""Bundles: the code of the modules of cassette_import that one step of a start imports, in one file.

A start imports a hundred modules of cassette_import. To find and to read each of them takes Python's import system
65 µs, almost half of the import. So the first start writes the code of all of them to one file beside the `.pyc` files,
and later starts execute the modules in the same order:

    with bundled("contexts"):
        from cassette_import.activation.context import Context

A bundle is valid as long as a `.pyc` is: while the times and sizes of the source files are those that they were. A
bundle is never necessary. If anything is different or wrong, the modules are imported as usual.

Extensions in C are in no bundle: the module that imports one imports it as usual. The functions that are decorated with
`hidden` are hidden in a bundle already: to copy the code of three hundred of them takes one millisecond at each start.
"""

from __future__ import annotations

import marshal
import os
import sys
import time
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from types import CodeType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.hidden_code import HIDDEN

__all__ = ["bundled", "status_of"]

status_of: Final[dict[str, os.stat_result]] = {}
"""The status that the source files of modules in bundles had when this process read the bundles."""

_PACKAGE: Final = __name__.partition(".")[0]
_HASH: Final = 8
_SETTLED: Final = 2.0
"""The age in seconds from which on the times of a source file are trusted: file systems may count whole seconds."""

_Source = tuple[str, str, bool, int, int]
"""The name and the path of a module, whether it is a package, and the time and the size of its file."""


class bundled:
    """A block that imports modules of cassette_import; it must import the same modules in each process.

    No other thread may import them meanwhile.
    """

    def __init__(self, name: str) -> None:
        self._path = _location(name)
        self._before: set[str] | None = None

    def __enter__(self) -> None:
        if self._path is not None and not _execute(self._path):
            self._before = set(sys.modules)

    def __exit__(self, kind: object, *_: object) -> None:
        if self._path is None or self._before is None or kind is not None or sys.dont_write_bytecode:
            return
        new = [name for name in sys.modules if name not in self._before and name.startswith(f"{_PACKAGE}.")]
        data = _bundle(new)  # in the order in which their imports have finished
        if data is not None:
            _write(self._path, data)


def _location(name: str) -> str | None:
    """The path of a bundle, beside the `.pyc` files of the package; None if Python has none of them."""
    spec = sys.modules[_PACKAGE].__spec__
    if spec is None or type(spec.loader) is not SourceFileLoader or spec.cached is None:
        return None
    folder, file = os.path.split(spec.cached)  # `__init__.cpython-312.opt-1.pyc`
    return os.path.join(folder, f"{name}{file.removeprefix('__init__').removesuffix('pyc')}modules")


def _folder() -> str:
    return os.path.dirname(sys.modules[_PACKAGE].__file__ or "")


def _execute(path: str) -> bool:
    """Execute the modules of a bundle; return whether there was a valid one."""
    found = _read(path)
    if found is None:
        return False
    sources = {source[0]: source for source in found[0]}
    HIDDEN.update({id(code): code for code in found[2]})
    unfinished: dict[str, ModuleType] = {}
    try:
        for name, code in zip(sources, found[1], strict=True):
            if name not in sys.modules or name in unfinished:
                _create(name, sources, unfinished)
                module = unfinished[name]
                exec(code, vars(module))
                del sys.modules[name], unfinished[name]
                sys.modules[name] = module  # as after an import: in the order in which they are finished
                parent, _, own_name = name.rpartition(".")
                setattr(sys.modules[parent], own_name, module)
    except Exception:
        # The import as usual, which follows, raises what is wrong.
        for unusable in (*unfinished, name):
            sys.modules.pop(unusable, None)
        return False
    return True


def _create(name: str, sources: dict[str, _Source], unfinished: dict[str, ModuleType]) -> None:
    """Create a module and the packages around it, unless they exist: packages may import their modules."""
    if name not in sys.modules:
        _create(name.rpartition(".")[0], sources, unfinished)
        sys.modules[name] = unfinished[name] = _new_module(*sources[name][:3])


def _new_module(name: str, source: str, is_package: bool) -> ModuleType:
    """What `importlib` makes of a file's name."""
    loader = SourceFileLoader(name, source)
    spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
    spec.has_location = True
    spec.cached = _cached(source)
    module = ModuleType(name)
    attributes = vars(module)
    attributes.update(__spec__=spec, __loader__=loader, __file__=source, __cached__=spec.cached)
    if is_package:
        attributes["__package__"] = name
        attributes["__path__"] = spec.submodule_search_locations = [os.path.dirname(source)]
    else:
        attributes["__package__"] = name.rpartition(".")[0]
    return module


_cached_in: Final[dict[str, tuple[str, str]]] = {}
"""The folder of the `.pyc` files of a folder, and how their names end: Python joins paths for each file anew."""


def _cached(source: str) -> str:
    """The path of the `.pyc` file of a source file."""
    folder, _, file = source.rpartition(os.sep)
    if folder not in _cached_in:
        place, _, name = cache_from_source(source).rpartition(os.sep)
        _cached_in[folder] = place, name.removeprefix(file.removesuffix(".py"))
    place, end = _cached_in[folder]
    return f"{place}{os.sep}{file.removesuffix('.py')}{end}"


def _read(path: str) -> tuple[tuple[_Source, ...], tuple[CodeType, ...], tuple[CodeType, ...]] | None:
    """The modules of a valid bundle, their code, and which code in it is hidden."""
    try:
        with open(path, "rb", buffering=0) as file:
            data = memoryview(file.read())
        # `marshal` may crash on data that it did not write.
        if data[:_HASH] != source_hash(data[_HASH:]):
            return None
        magic, folder, sources, code = marshal.loads(data[_HASH:])
        if (magic, folder) != (MAGIC_NUMBER, _folder()):
            return None
        for _, source, _, *stamp in sources:
            status = status_of[source] = os.stat(source)
            if [status.st_mtime_ns, status.st_size] != stamp:
                return None
        return sources, *marshal.loads(code)
    except (OSError, EOFError, ValueError, TypeError):
        return None


def _bundle(names: list[str]) -> bytes | None:
    """The bundle of these modules; None if they cannot be bundled, or if their files are too young to be trusted."""
    sources: list[_Source] = []
    codes: list[CodeType] = []
    hidden: list[CodeType] = []
    try:
        for name in names:
            module = sys.modules[name]
            spec: Any = module.__spec__
            loader: Any = spec.loader
            if type(loader) is ExtensionFileLoader:
                continue
            if type(loader) is not SourceFileLoader or spec.origin != module.__file__:
                return None
            status = os.stat(spec.origin)
            if time.time() - status.st_mtime < _SETTLED:
                return None
            is_package = spec.submodule_search_locations is not None
            sources.append((name, spec.origin, is_package, status.st_mtime_ns, status.st_size))
            source, code = loader.get_source(name), loader.get_code(name)
            if source is None or code is None:
                return None
            lines = [line.strip() for line in source.splitlines()]
            codes.append(_with_hidden_functions(code, lines, hidden))
    except (OSError, ImportError):
        return None
    data = marshal.dumps((MAGIC_NUMBER, _folder(), tuple(sources), marshal.dumps((tuple(codes), tuple(hidden)))))
    return source_hash(data) + data


def _with_hidden_functions(code: CodeType, lines: list[str], hidden: list[CodeType]) -> CodeType:
    """Code in which the functions are hidden that the decorator `hidden` hides first; `hidden` gets their code."""
    from cassette_import.interpreter.hidden_frames import hide

    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constant = _with_hidden_functions(constant, lines, hidden)
            if _last_decorator(constant, lines) == "@hidden":
                constant = hide(constant)
                hidden.append(constant)
        constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _last_decorator(code: CodeType, lines: list[str]) -> str | None:
    """The line before the `def` of a function with decorators."""
    decorator = None
    for line in lines[code.co_firstlineno - 1 :]:
        if not line.startswith("@"):
            break
        decorator = line
    return decorator


def _write(path: str, data: bytes) -> None:
    """Write a file so that each reader finds the whole file or none."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
