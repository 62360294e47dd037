"""Late modules: modules of cassette_import that are executed when something in them is used first.

Most processes that enter a context find compiled code in the cache, and most that install packages enter no context.
They need neither the modules that rewrite trees nor those that run passes. A late module is imported by

    if TYPE_CHECKING:
        from cassette_import.rewriting import rewriter
    else:
        (rewriter,) = late("cassette_import.rewriting", "rewriter")

and used as ``rewriter.overdub_function``. Type checkers and import-linter regard it as imported.

It may be executed while a program's module is found or loaded, or in the middle of any function. So a late module
imports nothing that a program could hide, replace or have overdubbed: only modules of cassette_import, and those
modules of the standard library that were imported together with the modules that name it. If the folder of a program
hides modules of the standard library, all late modules are executed before the program begins (`execute_all`).

The finders that a program puts on `sys.meta_path` are not asked for late modules. Other functions of the program may be
called nevertheless: its audit hooks, or what it puts in place of `__import__`. To overdub them may need the same late
module, so they are not overdubbed meanwhile (`own_work`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

from cassette_import.interpreter.fresh_stack import on_a_fresh_stack
from cassette_import.interpreter.observers import unobserved
from cassette_import.interpreter.own_work import own_work


class LateModule:
    """Acts as a module, which is executed when an attribute is read first.

    It has no attributes of its own but `__name__`, because the module may have attributes of any name.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        _late.append(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and inspect ask any object for such attributes
            raise AttributeError(name)
        _execute(self)
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None


def _execute(module: LateModule) -> None:
    """Import the module; from then on, its attributes are attributes of the object that acts as it."""
    attributes = vars(_imported(module.__name__))
    vars(module).update({name: value for name, value in attributes.items() if not name.startswith("__")})


def _imported(name: str) -> ModuleType:
    """Import a module without the notice of tools that observe the program, which may be deep in recursion."""
    with own_work():  # before anything that causes an audit event
        sys.meta_path.insert(0, _OwnModules)
        try:
            module: ModuleType = unobserved(on_a_fresh_stack, partial(import_module, name))
            return module
        finally:
            sys.meta_path.remove(_OwnModules)


class _OwnModules:
    """A finder of the modules of cassette_import alone; it is on `sys.meta_path` while a late module is imported."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name.startswith(_PREFIX) else None


_PREFIX: Final = f"{__name__.partition('.')[0]}."
_late: Final[list[LateModule]] = []


def late(package: str, *names: str) -> tuple[LateModule, ...]:
    """Late modules of a package, in the order of their names."""
    return tuple([LateModule(f"{package}.{name}") for name in names])


def execute_all() -> None:
    """Execute all late modules that have been named."""
    for module in _late:
        _execute(module)
