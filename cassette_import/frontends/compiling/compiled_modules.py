"""Compiling one module for contexts: its cache file is written as if a run had entered every function.

The module is not imported, and no context runs.
"""

from __future__ import annotations

import ast
import importlib.util
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Final, NamedTuple, TypeVar

from cassette_import.activation.activations import module_level_activation
from cassette_import.activation.context import Context
from cassette_import.contexts.lookup import context_named, importable_from
from cassette_import.importing.finder import locate
from cassette_import.importing.package_walk import modules_below
from cassette_import.importing.selection import Selection, decide, is_pattern
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.text import error_line
from cassette_import.runtime.state import ACTIVE
from cassette_import.specialization.ahead import specialise_module
from cassette_import.specialization.progress import PROGRESS

__all__ = ["NOT_WRITTEN", "CompiledModule", "SelectedModules", "compile_modules", "selected_modules", "with_bar"]


# ---- compiling one module for contexts: its cache file is written as if a run had entered every function

NOT_WRITTEN: Final = "its cache file cannot be written"
"""The problem of a module that was compiled in vain."""


class Source(NamedTuple):
    """A module that is to be compiled: its name and file, and whether it is a package."""

    name: str
    path: str
    is_package: bool


class CompiledModule(NamedTuple):
    """What became of a module: the functions with compiled bodies, the bytes of its cache files, or the problem."""

    name: str
    functions: int = 0
    size: int = 0
    problem: str = ""
    left_alone: Sequence[str] = ()
    """A line for each function that is left alone."""


def _begin_worker(descriptions: Sequence[str], folders: Sequence[str]) -> None:
    """Prepare this process, which does nothing else, for `_compile_module`: activate the described contexts."""
    with importable_from(folders):
        contexts = [context_named(text) for text in descriptions]
    _activate(contexts)


def _activate(contexts: Sequence[Context]) -> None:
    """Have code compiled for these contexts from now on, the first one outermost. They do not begin to work."""
    sys.dont_write_bytecode = False  # the cache files are what the user asks for, also where runs may not write them
    PROGRESS.be_quiet()
    for context in contexts:
        Context.__enter__(context)  # and not the method of the subclass, which may open files or start clocks


def _compile_module(source: Source) -> CompiledModule:
    """Compile a module for the active contexts, and write its cache files and its ordinary `.pyc`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _compile(source)
    except SyntaxError as error:
        return CompiledModule(source.name, problem=f"syntax error in line {error.lineno}: {error.msg}")
    except Exception as error:
        return CompiledModule(source.name, problem=error_line(error))


def _compile(source: Source) -> CompiledModule:
    loader = SourceFileLoader(source.name, source.path)
    plain = loader.get_code(source.name)
    text = loader.get_data(source.path)
    assert plain is not None
    names = names_of_objects(ast.parse(text), source.name, is_package=source.is_package)
    at_import = module_level_activation(ACTIVE.get())
    made = specialise_module(source.name, source.path, text, plain, names, at_import)
    problem = NOT_WRITTEN if made.size is None else ""
    left_alone = [f"{source.name}.{name}: {reason}" for name, reason in made.left_alone.items()]
    return CompiledModule(source.name, made.functions, made.size or 0, problem, left_alone)


# ---- the modules of packages that are compiled, and those that are left alone, with the reason


class SelectedModules(NamedTuple):
    """The modules to compile, and the names of others, each with the reason why it is left alone."""

    sources: list[Source]
    left_alone: dict[str, str]


def selected_modules(packages: Sequence[str], exclude: Iterable[str] = ()) -> SelectedModules:
    """The modules that names and patterns select, as `run -p` takes them; nothing is imported.

    Raises
    ------
    NoSuchPackage
        If no finder finds a package.
    ValueError
        If a pattern does not begin with the name of a package.
    """
    selection = Selection(packages, exclude)
    selected = SelectedModules([], {})
    known = set()
    for package in dict.fromkeys(_walked(package) for package in packages):
        for name, spec, _ in modules_below(package):
            if name in known or not selection.covers(name):
                continue
            known.add(name)
            decision = decide(name, spec)
            if spec.loader is None or decision.loader == "NamespaceLoader":
                continue  # there is no code in it
            if decision.action == "left alone":
                selected.left_alone[name] = decision.reason
            elif decision.origin is None or not os.path.isfile(decision.origin):
                selected.left_alone[name] = "its source is in no file of its own, so nothing is cached"
            else:
                is_package = spec.submodule_search_locations is not None
                selected.sources.append(Source(name, decision.origin, is_package))
    return selected


def _walked(name: str) -> str:
    """The package that contains everything that a name or pattern selects."""
    parts = name.split(".")
    plain = next((number for number, part in enumerate(parts) if is_pattern(part)), len(parts))
    if plain == 0:
        raise ValueError(f"{name!r} does not begin with the name of a package")
    return ".".join(parts[:plain])


# ---- the progress of compiling: a bar by rich, if it is installed and there is a terminal, otherwise lines

_Item = TypeVar("_Item")
_SECONDS_BETWEEN_LINES: Final = 10.0


def with_bar(items: Iterable[_Item], total: int, title: str) -> Iterator[_Item]:
    """The items, as they come; meanwhile a bar on standard error, which disappears afterwards.

    Without rich or a terminal, a line says every ten seconds how many items there were.
    """
    if sys.stderr is None:
        yield from items
        return
    if not sys.stderr.isatty():
        yield from _with_lines(items, total, title)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        print(f"{title} …", file=sys.stderr, flush=True)
        yield from _with_lines(items, total, title)
        return
    columns = TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=total)
        for item in items:
            progress.advance(task)
            yield item


def _with_lines(items: Iterable[_Item], total: int, title: str) -> Iterator[_Item]:
    """The items, as they come; meanwhile a line on standard error now and then, if they take long."""
    last = perf_counter()
    for count, item in enumerate(items, 1):
        if perf_counter() - last >= _SECONDS_BETWEEN_LINES and count < total:
            last = perf_counter()
            print(f"{title}: {count} of {total} modules", file=sys.stderr, flush=True)
        yield item


# ---- compiling many modules at once, each in one of several processes

_MODULES_PER_PROCESS: Final = 200
"""A process ends after so many modules, because it keeps what it knows of each of them."""


def compile_modules(
    sources: Sequence[Source], descriptions: Sequence[str], folders: Sequence[str], jobs: int
) -> Iterator[CompiledModule]:
    """Compile modules for the described contexts in so many processes; yield each result when it is there.

    Parameters
    ----------
    sources:
        The modules.
    descriptions:
        The contexts as `-c` takes them, outermost first.
    folders:
        Folders from which contexts may be imported.
    jobs:
        The number of processes.
    """
    # The largest ones first, so that all processes end at the same time.
    ordered = sorted(sources, key=lambda source: -_size(source.path))
    together = jobs * _MODULES_PER_PROCESS
    for first in range(0, len(ordered), together):
        yield from _compiled(ordered[first : first + together], descriptions, folders, jobs)


def _compiled(
    sources: Sequence[Source], descriptions: Sequence[str], folders: Sequence[str], jobs: int
) -> Iterator[CompiledModule]:
    """Compile modules in processes that end afterwards."""
    # `max_tasks_per_child` would do the same, but pools that use it may wait for ever (Python 3.11 to 3.13).
    # Each process begins with a fresh interpreter: a fork would copy threads and what this process has imported.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(sources)), fresh, _begin_worker, (descriptions, folders)) as pool:
        waiting: dict[Future[CompiledModule], Source] = {}
        try:
            with _ignored_interrupts():
                for source in sources:
                    waiting[pool.submit(_compile_module, source)] = source
        except BrokenProcessPool:  # a process has died already
            yield from (_died(source) for source in sources[len(waiting) :])
        try:
            for future in as_completed(waiting):
                yield _result(future, waiting[future])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Have Ctrl-C ignored in the block, and in the processes that start in it: it is for this process alone."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _result(future: Future[CompiledModule], source: Source) -> CompiledModule:
    try:
        return future.result()
    except BrokenProcessPool:
        return _died(source)


def _died(source: Source) -> CompiledModule:
    return CompiledModule(source.name, problem="a process that compiles modules has died")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


# ---- what the names are that a module imports, found in its source without executing it


def names_of_objects(tree: ast.Module, module_name: str, *, is_package: bool) -> set[str]:
    """The names that ``from … import …`` binds in a module and that are not names of modules.

    Parameters
    ----------
    tree:
        The tree of the module.
    module_name:
        Its full name, from which relative imports start.
    is_package:
        Whether the module is a package.
    """
    package = module_name if is_package else module_name.rpartition(".")[0]
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        try:
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
        except ImportError:  # it leads out of the package: the import would fail too
            continue
        found |= {alias.asname or alias.name for alias in node.names if not _is_module(source, alias.name)}
    return found


def _is_module(module_name: str, name: str) -> bool:
    """Whether a name of a module is a module; for a module that is not imported, the finders say so."""
    module = sys.modules.get(module_name)
    if module is not None and name in vars(module):
        return type(vars(module)[name]) is ModuleType
    return locate(f"{module_name}.{name}")[0] is not None
