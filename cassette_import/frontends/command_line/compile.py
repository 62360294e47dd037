"""The command `compile`: makes the cache files of packages ahead of time, for images and continuous integration."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from cassette_import.activation.activations import variant_of
from cassette_import.activation.context import Context
from cassette_import.frontends.command_line.usage import DEFAULT_CONTEXT, UsageError, contexts_named, settings_of
from cassette_import.frontends.compiling.compiled_modules import (
    NOT_WRITTEN,
    CompiledModule,
    SelectedModules,
    compile_modules,
    selected_modules,
    with_bar,
)
from cassette_import.frontends.programs.import_path import current_folders
from cassette_import.importing.package_walk import NoSuchPackage
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.text import file_size, plural

__all__ = ["compile_packages"]

_INTERRUPTED: Final = 130
"""The exit status of programs that Ctrl-C ends."""


def compile_packages(given: Any) -> int:
    """Make the cache files; print the problems and a closing line; return the exit status."""
    began = perf_counter()
    if given.jobs < 0:
        raise UsageError(f"-j must not be less than 0, and is {given.jobs}")
    wanted = settings_of(given)
    if not wanted.packages:
        raise UsageError("no package is named: -p PACKAGE is needed")
    descriptions = (DEFAULT_CONTEXT,) if wanted.contexts is None else wanted.contexts
    folders = current_folders()
    _check(contexts_named(descriptions, *folders))
    if sys.implementation.cache_tag is None:
        raise UsageError("this Python has no caches: sys.implementation.cache_tag is None")
    selected = _selected(wanted.packages, wanted.exclude or ())
    jobs = given.jobs or os.cpu_count() or 1
    compiled = compile_modules(selected.sources, descriptions, folders, jobs)
    try:
        results = list(with_bar(compiled, len(selected.sources), "compiling"))
    except KeyboardInterrupt:
        print("interrupted: the modules that were compiled before are cached", file=sys.stderr)
        return _INTERRUPTED
    return _print_results(results, selected, perf_counter() - began)


def _check(contexts: Sequence[Context]) -> None:
    """Raise `UsageError` if nothing could be cached for these contexts."""
    if not contexts:
        raise UsageError("without a context nothing is compiled: -c CONTEXT is needed")
    for context in contexts:
        if context.passes:
            raise UsageError(f"{type(context).__name__} has passes: what they make is not cached")
    variant = variant_of(tuple(contexts))
    if variant is not None and variant.shape.intercepts_nothing:
        names = " and ".join(type(context).__name__ for context in contexts)
        raise UsageError(f"{names} intercept{'s' if len(contexts) == 1 else ''} nothing: there is nothing to compile")


def _selected(packages: Sequence[str], exclude: Sequence[str]) -> SelectedModules:
    try:
        return selected_modules(packages, exclude)
    except (NoSuchPackage, ValueError) as error:
        raise UsageError(str(error)) from error


def _print_results(results: Sequence[CompiledModule], selected: SelectedModules, seconds: float) -> int:
    """Print what failed, and the closing line; return the exit status, which is 1 if a module failed."""
    failed = sorted(result for result in results if result.problem)
    unwritten = [result.name for result in failed if result.problem == NOT_WRITTEN]
    for result in failed:
        if len(unwritten) < 2 or result.name not in unwritten:
            print(f"{result.name} failed: {result.problem}", file=sys.stderr)
    if len(unwritten) > 1:
        folder = os.path.commonpath([os.path.dirname(one.path) for one in selected.sources if one.name in unwritten])
        print(
            f"{len(unwritten)} modules failed: cache files cannot be written below {folder}; "
            "PYTHONPYCACHEPREFIX names another folder for them",
            file=sys.stderr,
        )
    done = [result for result in results if not result.problem]
    parts = [
        f"{plural(len(done), 'module')} compiled",
        plural(sum(result.functions for result in done), "function"),
        file_size(sum(result.size for result in done)),
        f"{seconds:.1f} seconds",
    ]
    if functions := sum(len(result.left_alone) for result in done):
        parts.append(f"{plural(functions, 'function')} left alone")
    if selected.left_alone:
        parts.append(f"{plural(len(selected.left_alone), 'module')} left alone")
    if failed:
        parts.append(f"{plural(len(failed), 'module')} failed")
    print(", ".join(parts))
    return 1 if failed else 0
