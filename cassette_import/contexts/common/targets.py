"""Targets: functions that the options of a context choose, as callables or as text such as ``"time.time"``."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.common.function_names import display
from cassette_import.contexts.common.main_program import MAIN, MAIN_NAMES
from cassette_import.interpreter.callables import split, underlying
from cassette_import.interpreter.suggestions import suggestion

__all__ = [
    "ResolvedTarget",
    "Target",
    "by_function",
    "import_path",
    "resolve_target",
    "split_targets",
    "target_name",
    "with_article",
]

Target: TypeAlias = Callable[..., Any] | str
"""A callable, or its dotted name: ``"package.module.Class.method"``."""

_ANY_RECEIVER: Final[Any] = object()


class ResolvedTarget:
    """One target: the function that call events name, and the receiver that the target is bound to, if any.

    A bound target, such as `random.random` or `datetime.now`, matches calls on its receiver only: an instance, or a
    class with its subclasses. A target in a program that has not started has its names in `pending`, and no function.
    """

    __slots__ = ("function", "is_bound", "name", "pending", "receiver")

    def __init__(self, name: str, function: Any, *receiver: Any, pending: Sequence[str] = ()) -> None:
        self.name = name
        self.function = function
        self.is_bound = bool(receiver)
        self.receiver = receiver[0] if receiver else _ANY_RECEIVER
        self.pending = pending

    def matches(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a call of the function with these arguments is a call of the target."""
        if not self.is_bound:
            return True
        if not arguments:
            return False
        given, receiver = arguments[0], self.receiver
        if given is receiver:
            return True
        return isinstance(receiver, type) and isinstance(given, type) and type.__subclasscheck__(receiver, given)

    def resolve(self) -> bool:
        """Find the function of a pending target. Return whether it exists."""
        found: Any = sys.modules.get(MAIN)
        for name in self.pending:
            found = getattr(found, name, None)
        if not callable(found):
            return False
        target = _of_callable(self.name, found)
        self.function, self.receiver, self.is_bound, self.pending = (
            target.function,
            target.receiver,
            target.is_bound,
            (),
        )
        return True


def resolve_target(target: Target) -> ResolvedTarget:
    """The function and the receiver of a target.

    Raises
    ------
    ValueError
        If the name leads nowhere, or not to a callable. The message is one line.

    >>> resolve_target("math.sin").function
    <built-in function sin>
    >>> resolve_target("random.random").is_bound, resolve_target(list.append).is_bound
    (True, False)
    """
    if not isinstance(target, str):
        return _of_callable(target_name(target), target)
    pending = _names_in_main(target)
    if pending:
        return ResolvedTarget(".".join((MAIN, *pending)), None, pending=pending)
    return _of_callable(target, import_path(target))


def _of_callable(name: str, target: Any) -> ResolvedTarget:
    if isinstance(target, (staticmethod, classmethod)):  # taken from the `__dict__` of a class
        return ResolvedTarget(name, underlying(target))
    if not callable(target):
        raise ValueError(f"{name} is {with_article(type(target).__name__)}, which is not called")
    if type(target) is functools.partial:
        raise ValueError(f"{name} is a partial object; give the function that it calls")
    function, *leading = split(target)
    return ResolvedTarget(name, function, *leading[:1])


def _names_in_main(path: str) -> list[str]:
    """The names after the program's own name in a path; none if the path does not begin with that."""
    main = next((name for name in MAIN_NAMES if path.startswith(name + ".")), None)
    return [] if main is None else path[len(main) + 1 :].split(".")


def import_path(path: str) -> Any:
    """The object that a dotted path names; modules on the way are imported.

    >>> import_path("os.path.join").__name__
    'join'
    >>> import_path("os.path.nowhere")
    Traceback (most recent call last):
        ...
    ValueError: module os.path has no attribute 'nowhere'
    """
    if _names_in_main(path):
        raise ValueError(f"{path} is in the program itself, which has not begun; put it into another module")
    names = path.split(".")
    if not all(name.isidentifier() for name in names) or len(names) < 2:
        raise ValueError(f"{path!r} is not of the form module.function")
    module, rest = _module_of(names)
    found, so_far = module, module.__name__
    for name in rest:
        try:
            found = getattr(found, name)
        except AttributeError:
            kind = "module " if isinstance(found, ModuleType) else ""
            meant = suggestion(name, dir(found))
            raise ValueError(f"{kind}{so_far} has no attribute {name!r}{meant}") from None
        so_far = f"{so_far}.{name}"
    return found


def _module_of(names: list[str]) -> tuple[Any, list[str]]:
    """The innermost module that the path names, and the remaining names."""
    module = None
    for count in range(1, len(names)):
        name = ".".join(names[:count])
        if module is not None and not hasattr(module, "__path__"):
            break
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # the module exists, and imports one that does not
                raise ValueError(f"{name} cannot be imported: {error}") from error
            if module is None:
                raise ValueError(f"there is no module {name!r}") from None
            break
        except Exception as error:  # raised while the module is imported
            message = " ".join(str(error).split())
            raise ValueError(f"{name} cannot be imported: {type(error).__name__}: {message}") from error
    assert module is not None
    return module, names[module.__name__.count(".") + 1 :]


def target_name(target: Any) -> str:
    """The name of a callable, with its module if that is known.

    >>> target_name(len), target_name(list.append), target_name(import_path)
    ('len', 'list.append', 'cassette_import.contexts.common.targets.import_path')
    """
    if type(target) is functools.partial:
        return repr(target)
    function = underlying(target)
    name = display(function)
    if not isinstance(function, (FunctionType, type)):
        return name
    module = type.__getattribute__(function, "__module__") if isinstance(function, type) else function.__module__
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else name


def split_targets(text: str | Iterable[Target]) -> tuple[Target, ...]:
    """Several targets, given as such or as text, in which ``+`` or ``;`` separates them: ``"a.f+b.g"``."""
    if isinstance(text, str):
        return tuple(name.strip() for name in text.replace(";", "+").split("+"))
    return tuple(text)


def by_function(targets: Iterable[ResolvedTarget]) -> Mapping[int, tuple[ResolvedTarget, ...]]:
    """The targets by the `id()` of their function, bound targets first."""
    found: dict[int, tuple[ResolvedTarget, ...]] = {}
    for target in sorted(targets, key=lambda target: not target.is_bound):
        found[id(target.function)] = (*found.get(id(target.function), ()), target)
    return found


def with_article(noun: str) -> str:
    """A noun with its article.

    >>> with_article("int")
    'an int'
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
