"""Compiling one module for contexts: its cache file is written as if a run had entered every function.

The module is not imported, and no context runs.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from typing import Final, NamedTuple

from cassette_import.activation.activations import module_level_activation
from cassette_import.activation.context import Context
from cassette_import.contexts.common.text import error_line
from cassette_import.contexts.lookup import context_named, importable_from
from cassette_import.importing.imported_names import names_of_objects
from cassette_import.runtime.state import ACTIVE
from cassette_import.specialization.ahead import specialise_module
from cassette_import.specialization.progress import PROGRESS

__all__ = ["NOT_WRITTEN", "CompiledModule", "Source", "activate", "begin_worker", "compile_module"]


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


def begin_worker(descriptions: Sequence[str], folders: Sequence[str]) -> None:
    """Prepare this process, which does nothing else, for `compile_module`: activate the described contexts."""
    with importable_from(folders):
        contexts = [context_named(text) for text in descriptions]
    activate(contexts)


def activate(contexts: Sequence[Context]) -> None:
    """Have code compiled for these contexts from now on, the first one outermost. They do not begin to work."""
    sys.dont_write_bytecode = False  # the cache files are what the user asks for, also where runs may not write them
    PROGRESS.be_quiet()
    for context in contexts:
        Context.__enter__(context)  # and not the method of the subclass, which may open files or start clocks


def compile_module(source: Source) -> CompiledModule:
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
