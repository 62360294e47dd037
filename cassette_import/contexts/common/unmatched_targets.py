"""Targets that no call has matched: a misspelled name, or a package that is not overdubbed, must not go unnoticed.

`run` and pytest report them for the contexts that they make. For contexts that a program makes, one warning for each
place where the program makes them is issued when the process ends.
"""

from __future__ import annotations

import atexit
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cassette_import.activation.variant_registry import variants
from cassette_import.contexts.common.main_program import MAIN
from cassette_import.contexts.common.targets import with_article
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.interpreter.when_gone import when_gone

if TYPE_CHECKING:
    from cassette_import.activation import unreached_targets
    from cassette_import.runtime.dispatch import unfitting_handlers
else:
    (unreached_targets,) = late("cassette_import.activation", "unreached_targets")
    (unfitting_handlers,) = late("cassette_import.runtime.dispatch", "unfitting_handlers")

__all__ = ["constructor_hint", "has_met_functions", "is_reported_elsewhere", "never_called", "take_unmatched", "track"]

Place: TypeAlias = tuple[str, str, int]
"""The name of a context type, and the file and line that make a context of it."""
_process: Final = os.getpid()
_CONSTRUCTORS: Final = ("__init__", "__new__")


class _Contexts:
    """The contexts that one line of the program has made."""

    def __init__(self) -> None:
        self.living: dict[int, tuple[type, Callable[[], Iterable[str]]]] = {}
        self.unmatched: dict[str, None] | None = None  # what to say of targets that no call has matched in any of them

    def end(self, number: int) -> None:
        """Take over what a context has not matched."""
        context_type, unmatched = self.living.pop(number, (object, tuple))
        if has_met_functions(context_type):
            found = dict.fromkeys(unmatched())
            before = found if self.unmatched is None else self.unmatched
            self.unmatched = {text: None for text in before if text in found}


_places: Final[dict[Place, _Contexts]] = {}


def never_called(name: str, is_text: bool = False) -> str:
    """What a report says of a target that no call has matched; `is_text` says that the user has written its name,
    which may be that of an attribute.

    >>> never_called("time.time")
    'time.time: never called'
    >>> never_called("shop.Order.__init__")
    'shop.Order.__init__: never called; to match Order(…), give shop.Order'
    >>> never_called("shop.Order.__add__")
    'shop.Order.__add__: never called by name; syntax and builtins call special methods, which is no event of theirs'
    """
    if (is_text or name.startswith(f"{MAIN}.")) and (missing := _no_function(name, is_text)):
        return f"{name}: {missing}"
    method = name.rpartition(".")[2]
    if method[:2] == method[-2:] == "__" and method not in (*_CONSTRUCTORS, "__call__"):
        return f"{name}: never called by name; syntax and builtins call special methods, which is no event of theirs"
    return f"{name}: never called{constructor_hint(name)}"


def _no_function(name: str, may_be_attribute: bool) -> str:
    """What to say of a name that is not that of a function, a method or a class; otherwise nothing."""
    names = name.split(".")
    if not all(part.isidentifier() for part in names):
        return ""
    found, rest = _module_of(names)
    if found is None:
        return "the program has not imported its module"
    for part in rest:
        owner = found
        try:
            found = getattr(owner, part) if isinstance(owner, ModuleType) else inspect.getattr_static(owner, part)
        except AttributeError:
            if may_be_attribute and isinstance(owner, type):
                return ""  # its instances may have it
            return f"there is no such function{suggestion(part, dir(owner))}"
    if may_be_attribute or callable(found) or isinstance(found, (staticmethod, classmethod)):
        return ""
    return f"this is {with_article(type(found).__name__)}, which is not called"


def _module_of(names: list[str]) -> tuple[Any, list[str]]:
    """The module in which a path of names begins, and the other names."""
    for count in range(len(names) - 1, 0, -1):
        module = sys.modules.get(".".join(names[:count]))
        if module is not None:
            return module, names[count:]
    return None, names


def constructor_hint(name: str) -> str:
    """What to give instead of a constructor, which only `super().__init__()` and the like call by its name."""
    owner, _, method = name.rpartition(".")
    return f"; to match {owner.rpartition('.')[2]}(…), give {owner}" if owner and method in _CONSTRUCTORS else ""


def track(context: Any, unmatched: Callable[[], Iterable[str]]) -> None:
    """Report the targets of a context at the end.

    Parameters
    ----------
    context:
        The context.
    unmatched:
        Returns what to say of each target that no call has matched so far, see `never_called`. It must not refer to
        the context.
    """
    if not _places:
        atexit.register(unfitting_handlers.issue_at_end, take_unmatched, _process)
    made = _places.setdefault((type(context).__name__, *_place()), _Contexts())
    made.living[id(context)] = type(context), unmatched
    when_gone(context, made.end, id(context))


def is_reported_elsewhere(context: object) -> None:
    """Issue no warning for a context, because its summary is printed."""
    for made in _places.values():
        made.living.pop(id(context), None)


def take_unmatched() -> list[tuple[str, str, int]]:
    """What to say of the contexts that the program has made, with the file and line of each; the same only once."""
    taken = []
    for (kind, filename, line), made in _places.items():
        for number in list(made.living):
            made.end(number)
        if made.unmatched:
            taken.append((f"{kind} was active, but: {'; '.join(made.unmatched)}", filename, line))
        made.unmatched = None
    return taken + unreached_targets.take_unreached() + unfitting_handlers.take_unfitting()


def _place() -> tuple[str, int]:
    """The file and line of the program that make a context."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def has_met_functions(context_type: type) -> bool:
    """Whether functions of the program have run in a context of this type."""
    return any(
        variant.family.is_met and any(key.context_type is context_type for key in variant.keys)
        for variant in list(variants.by_keys.values())
    )
