"""Hook points: `Ctx.prehook`, `Ctx.overdub`, `Ctx.posthook` and `Ctx.errorhook`, where handlers are registered."""

from __future__ import annotations

import abc
import functools
import sys
import types
import warnings
from abc import get_cache_token
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from cassette_import.errors import CassetteWarning
from cassette_import.interpreter.callables import lookup, target_of
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.namespaces import IMMUTABLE
from cassette_import.runtime.dispatch.callee_stability import stands_in_its_module
from cassette_import.runtime.dispatch.hook_functions import KINDS
from cassette_import.runtime.dispatch.overload_resolution import Handler, choose

# ---- hook points: `Ctx.prehook`, `Ctx.overdub`, `Ctx.posthook` and `Ctx.errorhook`, where handlers are registered


class HookPoint:
    """One of `prehook`, `overdub`, `posthook`, `errorhook` of one context type.

    As an attribute of the class it registers handlers; as an attribute of an instance it is the method.
    """

    def __init__(
        self,
        kind: str,
        owner: type,
        method: Callable[..., Any] | None,
        default: Callable[..., Any],
        changed: Callable[[type], None],
    ) -> None:
        self.kind = kind
        self.owner = owner
        self.method = method
        self.handlers: list[Handler] = []
        self._default = default
        self._changed = changed
        self.__doc__ = (method or default).__doc__
        self.__name__ = kind

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        return types.MethodType(self.method or self._default, instance)

    def __call__(self, context: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return (self.method or self._default)(context, *arguments, **keywords)

    def register(self, *targets: Any) -> Any:
        """Decorator: register a function as a hook or overload, for chosen functions or, without targets, for all.

        Parameters
        ----------
        targets:
            Functions, methods or classes. `Class.method` matches the method of every receiver. `Class.name`, a
            property, matches where it is read, `Class.__call__` where an instance is called.

        Returns
        -------
        A decorator, which returns the function as it is.

        Raises
        ------
        TypeError
            If a target cannot be called, or the function lacks parameters that a hook of this kind must have.

        >>> import math
        >>> from cassette_import import Context, overdub
        >>> class Counting(Context): ...
        >>> @Counting.prehook.register(math.sin)
        ... def _(ctx, f, x: float):
        ...     ctx.metadata["sin"] += 1
        >>> counts = {"sin": 0}
        >>> overdub(Counting(counts), lambda: math.sin(0.0) + math.cos(0.0))
        1.0
        >>> counts
        {'sin': 1}
        """
        if not targets:
            return self.register_bare
        if len(targets) == 1 and isinstance(targets[0], types.FunctionType) and not _is_bound(targets[0]):
            return _Undecided(self, targets[0])
        for target in targets:
            if not callable(target) and not isinstance(target, (staticmethod, classmethod, property)):
                raise TypeError(f"a target must be callable, not {target!r}")
        return functools.partial(self._register, targets)

    def register_bare(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self._register((), function)

    def _register(self, targets: tuple[Any, ...], function: Callable[..., Any]) -> Callable[..., Any]:
        found = tuple(target_of(target) for target in targets)
        handler = Handler(self.kind, self.owner, function, found, _names_around(function))
        self.handlers = [other for other in self.handlers if other.signature != handler.signature]
        self.handlers.append(handler)
        self._changed(self.owner)
        return function

    def remove(self, function: Callable[..., Any], replaced: Sequence[Handler] = ()) -> None:
        """Undo the registration of a handler; `replaced` are the handlers that it replaced."""
        self.handlers = [*replaced, *(other for other in self.handlers if other.function is not function)]
        self._changed(self.owner)


def hook_points_of(context_type: type, kinds: Sequence[str] = KINDS) -> list[HookPoint]:
    """The hook points of a context type and its bases, the nearest ones first."""
    return [
        point
        for base in context_type.__mro__
        for kind in kinds
        if isinstance(point := base.__dict__.get(kind), HookPoint)
    ]


def _names_around(function: Callable[..., Any]) -> dict[str, Any] | None:
    """The local variables of the code that registers a function: annotations that are strings may name them."""
    if not any(isinstance(annotation, str) for annotation in getattr(function, "__annotations__", {}).values()):
        return None
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else None


def _is_bound(function: types.FunctionType) -> bool:
    """Whether a function is found where its qualified name says: then no decorator is being applied to it."""
    names = function.__qualname__.split(".")
    found: Any = function.__globals__.get(names[0])
    for name in names[1:]:
        found = vars(found).get(name) if isinstance(found, type) else None
    return found is function or getattr(found, "__func__", None) is function


class _Undecided:
    """What `register(function)` returns for a function that may be the hook itself, or its target.

    ``@Ctx.prehook.register`` above a `def`, and ``Ctx.prehook.register(target)``, are the same call. The function
    counts as the hook until the result is called with another function, as a decorator: then it is its target.
    """

    def __init__(self, point: HookPoint, function: types.FunctionType) -> None:
        self._problem: Exception | None = None
        self._point = point
        self._function: Callable[..., Any] | None = function
        self.__wrapped__ = function
        functools.update_wrapper(self, function)
        before = point.handlers
        try:
            point.register_bare(function)
        except (NameError, TypeError) as error:  # its annotations or parameters are not those of a hook
            if function.__code__.co_varnames[:1] in (("ctx",), ("context",)):
                raise  # the name of its first parameter shows that it is a hook
            self._function = None
            self._problem = error.with_traceback(None)
        self._replaced = [handler for handler in before if handler not in point.handlers]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        function = self.__wrapped__
        if len(arguments) == 1 and not keywords and callable(arguments[0]):
            self._problem = None
            if self._function is not None:
                self._point.remove(function, self._replaced)
                self._function = None
            return self._point._register((function,), arguments[0])
        return function(*arguments, **keywords)

    def __del__(self) -> None:
        if self._problem is not None:
            name = getattr(self.__wrapped__, "__qualname__", self.__wrapped__)
            warnings.warn(
                f"{name} was not registered as a {self._point.kind}: {self._problem}", CassetteWarning, stacklevel=2
            )


# ---- known calls: the handler that a hook point has chosen for calls of a target, by the exact types of their
# arguments
#
# Choosing compares the annotations of all handlers. What it chooses depends on the exact types alone, if only classes
# are asked that answer without code of the program, and if no instance has another class than its type.

_MOST: Final = 1000
"""The most calls that are kept; a program may have many combinations of types."""
_USUAL_METACLASSES: Final = frozenset(map(id, (type, abc.ABCMeta)))
_CONCRETE: Final = frozenset((id(type),))
_CLASS_OF_INSTANCES: Final = object.__dict__["__class__"]

Key = tuple[int, ...]


class KnownCalls:
    """The chosen handlers of one hook point."""

    __slots__ = ("_found", "_of_abstract_classes")

    def __init__(self) -> None:
        self._found: dict[Key, tuple[Handler | None, tuple[Any, ...]]] = {}
        """The handlers, with the types of the key, which stay alive."""
        self._of_abstract_classes = get_cache_token()

    @hidden
    def find(self, key: Key) -> Any:
        """The handler, or None, of a call, in a tuple; None if it is not known."""
        if self._of_abstract_classes != get_cache_token():  # a class was registered, as `Sequence.register` does
            self._of_abstract_classes = get_cache_token()
            self._found = {}
        return self._found.get(key)

    def keep(self, key: Key, handler: Handler | None, candidates: Iterable[Handler], values: Sequence[Any]) -> None:
        """Keep what was chosen among some candidates for a call with these values, if that depends on types alone."""
        types = tuple(map(type, values))
        if len(self._found) < _MOST and depends_on_types(candidates, types):
            self._found[key] = handler, types


def depends_on_types(candidates: Iterable[Handler], types: Iterable[type], of_abstract_classes: bool = True) -> bool:
    """Whether the exact types of the arguments decide which of some handlers is chosen.

    Parameters
    ----------
    candidates:
        The handlers.
    types:
        The types of the arguments.
    of_abstract_classes:
        Whether handlers may have abstract classes in their annotations, for which classes can be registered later.
    """
    metaclasses = _USUAL_METACLASSES if of_abstract_classes else _CONCRETE
    return all(_has_exact_types(candidate, metaclasses) for candidate in candidates) and all(map(_is_exact, types))


def _has_exact_types(handler: Handler, metaclasses: frozenset[int]) -> bool:
    """Whether the classes in the annotations of a handler say of each value by its type whether it is an instance."""
    of_arguments = (*handler.types, handler.rest_types, handler.middle_types, handler.function_types)
    return handler.metadata_types is None and all(
        id(type(admitted)) in metaclasses for types in of_arguments if types is not None for admitted in types
    )


def _is_exact(kind: type) -> bool:
    """Whether all instances of a class, and no others, have it as their type and as their `__class__`."""
    return (
        id(type(kind)) in _USUAL_METACLASSES
        and not issubclass(kind, type)
        and lookup(kind, "__class__") is _CLASS_OF_INSTANCES
        and (bool(kind.__flags__ & IMMUTABLE) or stands_in_its_module(kind))
    )


# ---- handler tables: all that one context type does at one hook point

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch import unfitting_handlers
else:
    (unfitting_handlers,) = late("cassette_import.runtime.dispatch", "unfitting_handlers")


class Table:
    """The method and the handlers of a context type at one hook point, with those of its bases."""

    def __init__(self, context_type: type, kind: str) -> None:
        points = hook_points_of(context_type, (kind,))
        self.kind = kind
        self.methods: list[Callable[..., Any]] = [point.method for point in points if point.method]
        """The methods of the type and its bases; the first one is called, and may call the others."""
        self.method: Callable[..., Any] | None = self.methods[0] if self.methods else None
        self.handlers: list[Handler] = [
            handler for point in points for handler in point.handlers if _fits_type(handler, context_type)
        ]
        self.targets: dict[int, Any] = {id(target): target for handler in self.handlers for target in handler.targets}
        self._known = KnownCalls()
        self._misses: dict[tuple[object, ...], bool] = {}
        self.untargeted = [handler for handler in self.handlers if not handler.targets]
        self._by_target: dict[int, list[Handler]] = {
            key: [
                handler for handler in self.handlers if not handler.targets or any(t is target for t in handler.targets)
            ]
            for key, target in self.targets.items()
        }

    @property
    def sees_everything(self) -> bool:
        return self.method is not None or bool(self.untargeted)

    def __bool__(self) -> bool:
        return self.method is not None or bool(self.handlers)

    def find(
        self,
        context: Any,
        function: Any,
        arguments: tuple[Any, ...],
        keywords: Any,
        middle: Any = None,
        is_final: bool = True,
    ) -> Callable[..., Any] | None:
        """The registered handler for a call, or None; the method does not count.

        If it is not final, the same is asked again where there is none.
        """
        candidates = self._by_target.get(id(function), self.untargeted)
        if not candidates:
            return None
        is_choice = len(candidates) > 1 or candidates[0].is_typed
        may_be_known = is_choice and not keywords and candidates is not self.untargeted
        if may_be_known:
            key = id(function), id(type(middle)), *[id(type(argument)) for argument in arguments]
            known = self._known.find(key)
            if known is not None:
                return None if known[0] is None else known[0].call
        chosen = self._choose(candidates, context, function, arguments, keywords, middle)
        if chosen is None and candidates is not self.untargeted:
            is_counted = is_final and self._note_miss(candidates, len(arguments), keywords)
            may_be_known = may_be_known and is_final and not is_counted
        if may_be_known:
            self._known.keep(key, chosen, candidates, (middle, *arguments))
        return None if chosen is None else chosen.call

    def _choose(
        self,
        candidates: list[Handler],
        context: Any,
        function: Any,
        arguments: tuple[Any, ...],
        keywords: Any,
        middle: Any,
    ) -> Handler | None:
        """The most specific of some handlers for a call."""
        count = len(arguments)
        matching = [
            one
            for one in candidates
            if one.fits(count, keywords) and (not one.is_typed or one.admits(context, function, middle, arguments))
        ]
        if not matching:
            return None
        chosen = matching[0] if len(matching) == 1 else choose(matching, count)
        chosen.is_applied = True
        return chosen

    def _note_miss(self, candidates: list[Handler], count: int, keywords: Any) -> bool:
        """No handler has matched a call of a target. Return whether further ones of this form are counted."""
        form = id(candidates), count, *keywords
        is_counted = self._misses.get(form)
        if is_counted is None:
            for handler in candidates:
                handler.is_reached = True
        if is_counted is not False:
            is_counted = self._misses[form] = unfitting_handlers.note_miss(candidates, count, keywords)
        return is_counted

    def depends_on_types(self, target: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether calls of a target with arguments of the same exact types have the same handler, whatever happens."""
        candidates = self._by_target.get(id(target), self.untargeted)
        return depends_on_types(candidates, map(type, arguments), of_abstract_classes=False)

    def only_handler(self, target: Any) -> Handler | None:
        """The handler of a target, if there is only one, and it takes arguments of any type."""
        found = self._by_target.get(id(target), [])
        return found[0] if len(found) == 1 and not found[0].is_typed and not found[0].needed_names else None


def _fits_type(handler: Handler, context_type: type) -> bool:
    return handler.context_types is None or any(issubclass(context_type, item) for item in handler.context_types)
