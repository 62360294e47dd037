"""Which hook or overload is meant: registering handlers and choosing the most specific one that matches.

Knows functions, types and signatures; must not know how an event is reached or what it costs.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, Union

from cassette_import.errors import AmbiguousOverload, CassetteWarning
from cassette_import.interpreter.callables import positional_only, target_of

KINDS: Final = ("prehook", "overdub", "posthook", "errorhook")
_LEADING: Final = {"prehook": 2, "overdub": 2, "posthook": 3, "errorhook": 3}
"""How many parameters stand before the arguments of the call: ctx, f and, for two of them, result or exception."""

Types = tuple[type, ...] | None
"""What an annotation admits: one of these types, or anything."""


class Handler:
    """One registered function with what it is registered for."""

    def __init__(
        self,
        kind: str,
        owner: type,
        function: Callable[..., Any],
        targets: tuple[Any, ...],
        names: dict[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.call = positional_only(function, _LEADING[kind])
        self.owner = owner
        self.targets = targets
        signature = inspect.signature(function, locals=names, eval_str=True)
        parameters = list(signature.parameters.values())
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        leading = _LEADING[kind]
        rest = next((p for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        if len(positional) < leading and rest is None:
            middle = {"posthook": "result, ", "errorhook": "exception, "}.get(kind, "")
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name} cannot be a {kind}: it must take (ctx, {middle}f, ...)")
        self.context_types, self.metadata_types = _context_annotation(positional[0] if positional else rest)
        if leading == 3:
            self.middle_types = _types(positional[1].annotation) if len(positional) > 1 else None
        else:
            self.middle_types = None
        self.function_types = _types(positional[leading - 1].annotation) if len(positional) >= leading else None
        own = positional[leading:]
        self.types: tuple[Types, ...] = tuple(_types(p.annotation) for p in own)
        self.required = sum(p.default is p.empty for p in own)
        self.rest_types: Types = _types(rest.annotation) if rest is not None else None
        self.has_rest = rest is not None
        self.names = frozenset(p.name for p in own if p.kind is p.POSITIONAL_OR_KEYWORD) | frozenset(
            p.name for p in parameters if p.kind is p.KEYWORD_ONLY
        )
        self._by_position = tuple(p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in own)
        self.needed_names = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty)
        self.own_names = tuple(p.name for p in own)
        self.has_keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.is_typed = any(
            types_ is not None
            for types_ in (
                *self.types,
                self.rest_types,
                self.function_types,
                self.metadata_types,
                self.middle_types,
            )
        )

    @property
    def signature(self) -> tuple[Any, ...]:
        """Handlers with equal signatures replace each other."""
        targets = frozenset(map(id, self.targets))
        return (
            targets,
            self.function_types,
            self.types,
            self.rest_types if self.has_rest else False,
            self.context_types,
            self.metadata_types,
            self.middle_types,
            self.names - set(self._by_position),
            self.needed_names,
        )

    def matches(self, context: Any, function: Any, middle: Any, arguments: tuple[Any, ...], keywords: Any) -> bool:
        """Whether the handler takes this call."""
        count = len(arguments)
        if count > len(self.types) and not self.has_rest:
            return False
        if count < self.required and not keywords.keys() >= set(self.own_names[count : self.required]):
            return False
        if keywords and not self.has_keywords and not self.names.issuperset(keywords):
            return False
        if self.needed_names and not self.needed_names.issubset(keywords):
            return False
        if keywords and not keywords.keys().isdisjoint(self._by_position[:count]):
            return False  # it would be given twice
        if not self.is_typed:
            return True
        return (
            _is(function, self.function_types)
            and _is(middle, self.middle_types)
            and (self.metadata_types is None or _is(getattr(context, "metadata", None), self.metadata_types))
            and all(_is(argument, self.type_at(index)) for index, argument in enumerate(arguments))
        )

    def type_at(self, index: int) -> Types:
        return self.types[index] if index < len(self.types) else self.rest_types

    def __repr__(self) -> str:
        code = getattr(self.function, "__code__", None)
        place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        return f"{self.owner.__qualname__}: {getattr(self.function, '__qualname__', self.function)}{place}"


def _context_annotation(parameter: inspect.Parameter | None) -> tuple[Types, Types]:
    if parameter is None or parameter.annotation is parameter.empty:
        return None, None
    annotation = parameter.annotation
    if typing.get_origin(annotation) is not None and not isinstance(annotation, types.UnionType):
        arguments = typing.get_args(annotation)
        return _types(typing.get_origin(annotation)), _types(arguments[0]) if arguments else None
    return _types(annotation), None


def _types(annotation: Any) -> Types:
    """The types that an annotation admits; None for all."""
    if annotation is inspect.Parameter.empty or annotation is Any or annotation is object:
        return None
    if annotation is None:
        return (type(None),)
    if type(annotation).__name__ == "TypeAliasType":  # `type X = int | str`
        return _types(annotation.__value__)
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _types(typing.get_args(annotation)[0])
    if origin is Union or isinstance(annotation, types.UnionType):
        members = [_types(argument) for argument in typing.get_args(annotation)]
        if any(member is None for member in members):
            return None
        return tuple(item for member in members for item in member or ())
    if isinstance(annotation, typing.TypeVar):
        return _types(annotation.__bound__) if annotation.__bound__ is not None else None
    if origin is not None and isinstance(origin, type):
        return (origin,)
    if isinstance(annotation, type):
        isinstance(None, annotation)  # a protocol may refuse to be asked
        return (annotation,)
    raise TypeError(f"an annotation of a hook must be a class, a union or Any, not {annotation!r}")


def _is(value: Any, admitted: Types) -> bool:
    return admitted is None or isinstance(value, admitted)


def _at_least(left: Types, right: Types) -> bool:
    """Whether `left` admits nothing that `right` does not."""
    if right is None:
        return True
    return left is not None and all(issubclass(item, right) for item in left)


def _compare_types(left: Handler, right: Handler, count: int) -> int:
    """1 if the argument types of `left` are more specific, -1 if those of `right` are, 0 if undecided."""
    pairs = [(left.type_at(index), right.type_at(index)) for index in range(count)]
    pairs += [(left.function_types, right.function_types), (left.middle_types, right.middle_types)]
    left_fits = all(_at_least(mine, other) for mine, other in pairs)
    right_fits = all(_at_least(other, mine) for mine, other in pairs)
    if left_fits and right_fits:
        # A parameter of its own says more than `*args`.
        return (left.has_rest < right.has_rest) - (left.has_rest > right.has_rest)
    return left_fits - right_fits


def _compare_contexts(left: Handler, right: Handler) -> int:
    mine = left.context_types or (left.owner,)
    other = right.context_types or (right.owner,)
    left_fits, right_fits = _at_least(mine, other), _at_least(other, mine)
    if left_fits != right_fits:
        return left_fits - right_fits
    left_fits = _at_least(left.metadata_types, right.metadata_types)
    right_fits = _at_least(right.metadata_types, left.metadata_types)
    if left_fits != right_fits:
        return left_fits - right_fits
    if left.owner is not right.owner:
        return issubclass(left.owner, right.owner) - issubclass(right.owner, left.owner)
    return 0


def choose(handlers: list[Handler], count: int) -> Handler | None:
    """The most specific of handlers that all match a call with `count` positional arguments.

    Order: named targets before none; more specific argument types; the more derived context type.
    """
    if len(handlers) < 2:
        return handlers[0] if handlers else None

    def beats(left: Handler, right: Handler) -> int:
        if bool(left.targets) != bool(right.targets):
            return 1 if left.targets else -1
        return _compare_types(left, right, count) or _compare_contexts(left, right)

    best = [one for one in handlers if all(one is other or beats(one, other) > 0 for other in handlers)]
    if best:
        return best[0]
    top = [one for one in handlers if not any(beats(other, one) > 0 for other in handlers)] or handlers
    raise AmbiguousOverload(
        f"both {top[0]!r} and {top[1]!r} match, and neither is more specific: register one for their common types"
    )


class HookPoint:
    """One of `prehook`, `overdub`, `posthook`, `errorhook` of one context type.

    As an attribute of the class it registers; as an attribute of an instance it is the method.
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
        """Register a handler: ``@Ctx.prehook.register(math.sin)``, or bare, ``@Ctx.prehook.register``, for every
        function.

        Parameters
        ----------
        targets:
            Functions, methods or classes. A method is given as `Class.method` and matches every receiver. A property is
            given as `Class.name` and met where it is read, `Class.__call__` where an instance is called.

        Returns
        -------
        A decorator; as a bare decorator, the function itself.
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
        """Undo the registration of a handler, which may have replaced others."""
        self.handlers = [*replaced, *(other for other in self.handlers if other.function is not function)]
        self._changed(self.owner)


def _names_around(function: Callable[..., Any]) -> dict[str, Any] | None:
    """The local names of whoever registers a function whose annotations are strings, which may name them."""
    if not any(isinstance(annotation, str) for annotation in getattr(function, "__annotations__", {}).values()):
        return None
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else None


def _is_bound(function: types.FunctionType) -> bool:
    """Whether a function stands where its qualified name says: so it is no new one, below a decorator."""
    names = function.__qualname__.split(".")
    found: Any = function.__globals__.get(names[0])
    for name in names[1:]:
        found = vars(found).get(name) if isinstance(found, type) else None
    return found is function or getattr(found, "__func__", None) is function


class _Undecided:
    """What `register(function)` returns: a decorator if it is called with a function, else `function` was the hook
    itself.

    ``@Ctx.prehook.register`` above a `def` and ``Ctx.prehook.register(target)`` are the same call. Until the result
    is used as
    a decorator, the function counts as the hook.
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
        except (NameError, TypeError) as error:  # its annotations are not those of a hook
            if function.__code__.co_varnames[:1] in (("ctx",), ("context",)):
                raise  # and yet it is meant to be one
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


class Table:
    """All that a context type does at one hook point, its bases included."""

    def __init__(self, context_type: type, kind: str) -> None:
        points = [
            base.__dict__[kind] for base in context_type.__mro__ if isinstance(base.__dict__.get(kind), HookPoint)
        ]
        self.kind = kind
        self.method: Callable[..., Any] | None = next((point.method for point in points if point.method), None)
        self.handlers: list[Handler] = [
            handler for point in points for handler in point.handlers if _fits_type(handler, context_type)
        ]
        self.targets: dict[int, Any] = {id(target): target for handler in self.handlers for target in handler.targets}
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
        self, context: Any, function: Any, arguments: tuple[Any, ...], keywords: Any, middle: Any = None
    ) -> Callable[..., Any] | None:
        """The registered handler for a call, or None; the method is not looked at."""
        candidates = self._by_target.get(id(function), self.untargeted)
        if not candidates:
            return None
        matching = [one for one in candidates if one.matches(context, function, middle, arguments, keywords)]
        chosen = choose(matching, len(arguments))
        return chosen.call if chosen is not None else None

    def only_handler(self, target: Any) -> Handler | None:
        """The handler of a target, if there is no choice: one, which asks for no types."""
        found = self._by_target.get(id(target), [])
        return found[0] if len(found) == 1 and not found[0].is_typed and not found[0].needed_names else None


def _fits_type(handler: Handler, context_type: type) -> bool:
    return handler.context_types is None or any(issubclass(context_type, item) for item in handler.context_types)
