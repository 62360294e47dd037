"""Hook points: `Ctx.prehook`, `Ctx.overdub`, `Ctx.posthook` and `Ctx.errorhook`, where handlers are registered."""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from cassette_import.errors import CassetteWarning
from cassette_import.interpreter.callables import target_of
from cassette_import.runtime.dispatch.hook_functions import KINDS
from cassette_import.runtime.dispatch.overload_resolution import Handler


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
