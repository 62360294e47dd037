"""The main module of a program: the module object itself, and its overdubbed code."""

from __future__ import annotations

import io
import sys
import warnings
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Final

from cassette_import.errors import CassetteWarning
from cassette_import.importing.finder import finder
from cassette_import.specialization.registry_port import registry

__all__ = ["MAIN", "code_of_main", "fresh_main", "overdubbed"]

MAIN: Final = "__main__"


def fresh_main() -> ModuleType:
    """Put a new, empty main module into `sys.modules`, as Python has it ready for a program."""
    main = ModuleType(MAIN)
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    vars(main)["__builtins__"] = sys.modules["builtins"]
    sys.modules[MAIN] = main
    return main


def code_of_main(plain: CodeType, arguments: tuple[Any, ...], name: str = MAIN) -> CodeType:
    """The code to execute for a main module that `runpy` runs.

    `plain` and `arguments` are those of `runpy._run_code`. The result is overdubbed code, or `plain`.
    """
    spec = next((argument for argument in arguments if isinstance(argument, ModuleSpec)), None)
    try:
        if spec is None:
            with io.open_code(plain.co_filename) as file:
                return overdubbed(plain.co_filename, file.read(), plain, name)
        if spec.origin is None or finder.compiles(spec):
            return plain  # cassette_import's loader has compiled it
        source = spec.loader.get_data(spec.origin)  # type: ignore[union-attr]  # not every loader has it
    except (AttributeError, OSError):
        return plain
    return overdubbed(spec.origin, source, plain, name)


def overdubbed(filename: str, source: bytes, plain: CodeType, name: str = MAIN) -> CodeType:
    """The code to execute for a main module of this name: overdubbed if an active context wants module levels.

    If the source cannot be overdubbed, a warning says why, and the result is `plain`.
    """
    registry.add_module(name, filename)
    if not registry.wants_module_level():
        return plain
    try:
        cached = registry.cached_module_code(name, filename)
        return registry.module_code(name, filename, source, plain) if cached is None else cached
    except Exception as error:  # the program runs even so
        warnings.warn(f"{filename} runs plain: {type(error).__name__}: {error}", CassetteWarning, stacklevel=2)
        return plain
