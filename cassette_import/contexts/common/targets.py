"""The functions that a context is aimed at: from text or callables to what can be registered and recognised.

Knows how Python finds names, and what callables really are; must not know any context.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.common.function_names import display
from cassette_import.interpreter.callables import split, underlying

__all__ = ["Aim", "Target", "about_to_run", "aimed_at", "by_function", "located", "names_in", "target_name"]

Target: TypeAlias = Callable[..., Any] | str
"""A callable, or where it is: ``"package.module.Class.method"``."""

_ANY_RECEIVER: Final[Any] = object()
_MAIN: Final = "__main__"
_main_names: Final[set[str]] = set()
"""What the program that is about to run is called, as a module; its functions do not exist yet."""


class Aim:
    """One target, taken apart: the function that events name, and the receiver that it is meant for, if any.

    A target that is bound to something, such as `random.random` or `datetime.now`, means that one receiver: an
    instance, or a class and its subclasses. A target in a program that has not begun is `awaited` at first.
    """

    __slots__ = ("awaited", "function", "is_bound", "name", "receiver")

    def __init__(self, name: str, function: Any, *receiver: Any, awaited: Sequence[str] = ()) -> None:
        self.name = name
        self.function = function
        self.is_bound = bool(receiver)
        self.receiver = receiver[0] if receiver else _ANY_RECEIVER
        self.awaited = awaited

    def hits(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a call of the function with these arguments is one of the target."""
        if not self.is_bound:
            return True
        if not arguments:
            return False
        given, receiver = arguments[0], self.receiver
        if given is receiver:
            return True
        return isinstance(receiver, type) and isinstance(given, type) and type.__subclasscheck__(receiver, given)

    def arrives(self) -> bool:
        """Whether an awaited target is there; it is taken apart then."""
        found: Any = sys.modules.get(_MAIN)
        for name in self.awaited:
            found = getattr(found, name, None)
        if not callable(found):
            return False
        there = _taken_apart(self.name, found)
        self.function, self.receiver, self.is_bound, self.awaited = there.function, there.receiver, there.is_bound, ()
        return True


@contextlib.contextmanager
def about_to_run(module: str) -> Iterator[None]:
    """Await the functions of this module in `__main__`, as it is about to run there, and do not import it."""
    _main_names.update((module, _MAIN))
    try:
        yield
    finally:
        _main_names.clear()


def aimed_at(target: Target) -> Aim:
    """The target, taken apart.

    Raises
    ------
    ValueError
        If nothing is there, or it is not callable. The message is one line.

    >>> aimed_at("math.sin").function
    <built-in function sin>
    >>> aimed_at("random.random").is_bound, aimed_at(list.append).is_bound
    (True, False)
    """
    if not isinstance(target, str):
        return _taken_apart(target_name(target), target)
    awaited = _names_in_main(target)
    if awaited:
        return Aim(".".join((_MAIN, *awaited)), None, awaited=awaited)
    return _taken_apart(target, located(target))


def _taken_apart(name: str, target: Any) -> Aim:
    if isinstance(target, (staticmethod, classmethod)):  # as they stand in the class
        return Aim(name, underlying(target))
    if not callable(target):
        raise ValueError(f"{name} is {_article(type(target).__name__)}, which is not called")
    if type(target) is functools.partial:
        raise ValueError(f"{name} is a partial object; give the function that it calls")
    function, *leading = split(target)
    return Aim(name, function, *leading[:1])


def _names_in_main(path: str) -> list[str]:
    """What comes after the program's own name in a path; nothing if it does not begin with that."""
    main = next((name for name in _main_names if path.startswith(name + ".")), None)
    return [] if main is None else path[len(main) + 1 :].split(".")


def located(path: str) -> Any:
    """What a dotted path leads to; modules on the way are imported.

    >>> located("os.path.join").__name__
    'join'
    >>> located("os.path.nowhere")
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
            kind = "module " if inspect.ismodule(found) else ""
            raise ValueError(f"{kind}{so_far} has no attribute {name!r}") from None
        so_far = f"{so_far}.{name}"
    return found


def _module_of(names: list[str]) -> tuple[Any, list[str]]:
    """The module that the path begins with, as deep as modules go, and what comes after it."""
    module = None
    for count in range(1, len(names)):
        name = ".".join(names[:count])
        if module is not None and not hasattr(module, "__path__"):
            break
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # a module that exists needs one that does not
                raise ValueError(f"{name} cannot be imported: {error}") from error
            if module is None:
                raise ValueError(f"there is no module {name!r}") from None
            break
        except Exception as error:  # whatever the module does while it is imported
            told = " ".join(str(error).split())
            raise ValueError(f"{name} cannot be imported: {type(error).__name__}: {told}") from error
    assert module is not None
    return module, names[module.__name__.count(".") + 1 :]


def target_name(target: Any) -> str:
    """What a callable is called, with its module if that is known.

    >>> target_name(len), target_name(list.append), target_name(located)
    ('len', 'list.append', 'cassette_import.contexts.common.targets.located')
    """
    if type(target) is functools.partial:
        return repr(target)
    function = underlying(target)
    name = display(function)
    if not isinstance(function, (FunctionType, type)):
        return name
    module = type.__getattribute__(function, "__module__") if isinstance(function, type) else function.__module__
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else name


def names_in(text: str | Iterable[Target]) -> tuple[Target, ...]:
    """Several targets: as such, or text such as ``"a.f+b.g"``."""
    if isinstance(text, str):
        return tuple(name.strip() for name in text.split("+"))
    return tuple(text)


def by_function(aims: Iterable[Aim]) -> Mapping[int, tuple[Aim, ...]]:
    """The aims by the identity of their function, those at one receiver first."""
    found: dict[int, tuple[Aim, ...]] = {}
    for aim in sorted(aims, key=lambda aim: not aim.is_bound):
        found[id(aim.function)] = (*found.get(id(aim.function), ()), aim)
    return found


def _article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
