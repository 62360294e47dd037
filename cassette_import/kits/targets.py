"""Targets: functions that the options of a context choose; and those that no call has matched."""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cassette_import.activation.variants import variants
from cassette_import.interpreter.callables import split, underlying
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.interpreter.when_gone import when_gone
from cassette_import.kits.function_names import display
from cassette_import.kits.main_program import MAIN, MAIN_NAMES

__all__ = [
    "ResolvedTarget",
    "Target",
    "by_function",
    "constructor_hint",
    "import_path",
    "is_reported_elsewhere",
    "meeting_functions",
    "never_called",
    "resolve_target",
    "split_targets",
    "take_unmatched",
    "target_name",
    "track",
]

# ---- targets: functions that the options of a context choose, as callables or as text such as ``"time.time"``

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
        """Find the function of a pending target. Return whether it exists; `never_called` says why it does not."""
        found: Any = sys.modules.get(MAIN)
        for name in self.pending:
            found = getattr(found, name, None)
        if not callable(found) or type(found) is functools.partial:
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


_PARTIAL: Final = "a partial object; give the function that it calls"


def _of_callable(name: str, target: Any) -> ResolvedTarget:
    if isinstance(target, (staticmethod, classmethod)):  # taken from the `__dict__` of a class
        return ResolvedTarget(name, underlying(target))
    if not callable(target):
        raise ValueError(f"{name} is {_with_article(type(target).__name__)}, which is not called")
    if type(target) is functools.partial:
        raise ValueError(f"{name} is {_PARTIAL}")
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
    ('len', 'list.append', 'cassette_import.kits.targets.import_path')
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


def _with_article(noun: str) -> str:
    """A noun with its article.

    >>> _with_article("int")
    'an int'
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


# ---- targets that no call has matched: a misspelled name, or a package that is not overdubbed, must not go unnoticed
#
# `run` and pytest report them for the contexts that they make. For contexts that a program makes, one warning for each
# place where the program makes them is issued when the process ends.

if TYPE_CHECKING:
    from cassette_import.activation import unreached_targets
    from cassette_import.runtime.dispatch import unfitting_handlers
    from cassette_import.runtime.variant import Family
else:
    (unreached_targets,) = late("cassette_import.activation", "unreached_targets")
    (unfitting_handlers,) = late("cassette_import.runtime.dispatch", "unfitting_handlers")


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
        if _has_met_functions(context_type):
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
    found, rest = _module_of_names(names)
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
    if type(found) is functools.partial:
        return f"this is {_PARTIAL}"
    if may_be_attribute or callable(found) or isinstance(found, (staticmethod, classmethod)):
        return ""
    return f"this is {_with_article(type(found).__name__)}, which is not called"


def _module_of_names(names: list[str]) -> tuple[Any, list[str]]:
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


def meeting_functions(*context_types: type) -> Callable[[], bool]:
    """What says whether functions of the program have run in contexts of these types from now on."""
    earlier = _meetings(context_types)
    return lambda: any(earlier.get(family) != number for family, number in _meetings(context_types).items())


def _has_met_functions(context_type: type) -> bool:
    """Whether functions of the program have run in a context of this type."""
    return bool(_meetings((context_type,)))


def _meetings(context_types: tuple[type, ...]) -> dict[Family, int]:
    """How often functions of the program have run in contexts of these types, by family, if they have."""
    return {
        variant.family: variant.family.meetings
        for variant in list(variants.by_keys.values())
        if variant.family.is_met and any(key.context_type is kind for key in variant.keys for kind in context_types)
    }
