"""Calls of NumPy's functions with arrays that have derivatives: what all kinds of rules have in common, and what
becomes of functions without one.

The value is always what the program's own call gives. Knows what is active; must not know rules, nor the two modes. It
is imported only where the program has imported NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff.arrays.array_memory import owner_of
from cassette_import.contexts.autodiff.arrays.linear_maps import Term
from cassette_import.contexts.autodiff.modes import go_on, made, own_part
from cassette_import.interpreter.callables import underlying
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.wrappers import Tagged, plain

Array: Final = numpy.ndarray
Handler: TypeAlias = Callable[..., Any]
HANDLERS: Final[dict[Any, Handler]] = {}
"""What is done for a call of a function: it gets the context, the function and the arguments."""


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Say which functions a handler is for."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update((underlying(function), handler) for function in functions)
        return handler

    return register


# ---- calls and their results


def has_numbers(value: Any) -> bool:
    """Whether a value is, or is made of, numbers that might have a derivative."""
    if isinstance(value, (list, tuple)):
        return any(map(has_numbers, value))
    if isinstance(value, (Array, numpy.generic)):
        return value.dtype.kind in "fcO"
    return isinstance(value, (float, complex, numpy.flatiter, numpy.nditer, numpy.ndenumerate))


def no_rule(f: Any, attribute: str = "") -> NotOverdubbable:
    """The error for a function whose derivative is not known, or for an attribute that was asked for."""
    name = str(getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(f)))
    module = getattr(f, "__module__", None) or ("numpy" if isinstance(f, numpy.ufunc) else None)
    shown = f"{module}.{name}" if isinstance(module, str) and "." not in name else name
    if attribute:
        shown = f"the attribute {attribute}"
    return NotOverdubbable(
        f"there is no derivative of {shown}: no rule is known for it, or for this way to call it. "
        "Compute the same with other functions of NumPy, or, if it is Python, install its package"
    )


def lifted(ctx: Any, argument: Any) -> Any:
    """An argument; if it is a list of numbers with derivatives, as an array."""
    if type(argument) in (list, tuple):
        found = follow(ctx, numpy.array, argument)
        return found if type(found) is Tagged else argument
    return argument


def native(f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """The program's call, of which contexts further out may know something too."""
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return f(*map(plain, arguments), **{name: plain(value) for name, value in keywords.items()})
    return variant.runners[int(Events.CALLS)].event(f, *arguments, **keywords)


def unknown(ctx: Any, f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """The same, where the context knows nothing of the arguments, or nothing any more."""
    if keywords.get("out") is not None:
        check_place(ctx, f, keywords["out"])
    if ctx.contents.known:
        arguments = own_part(ctx, arguments)[1]
    return go_on(f, arguments, keywords)


def check_place(ctx: Any, f: Any, out: Any) -> None:
    """Complain if the place for a result has a derivative, which would stay what it was."""
    places = out if type(out) is tuple else (out,)
    if known_part(ctx, places)[2] or any(
        isinstance(plain(one), Array) and ctx.contents.knows(plain(one)) for one in places
    ):
        raise no_rule(f)


def known_part(ctx: Any, arguments: Sequence[Any]) -> tuple[Any, list[Any], list[tuple[int, Any]]]:
    """The tag, the arguments without what it knows of them, and what it knows, by number of the argument."""
    own, values, found = own_part(ctx, arguments)
    if ctx.contents.known:
        by_number = dict(found)
        for number, value in enumerate(map(plain, values)):
            if isinstance(value, Array):
                changed, metadata = ctx.contents.current(value)
                if changed:
                    by_number.pop(number, None)
                if metadata is not None:
                    by_number[number] = metadata
        found = sorted(by_number.items())
    activation = ACTIVE.get()
    for context, tag in zip(activation.contexts, activation.tags, strict=False):
        contents = getattr(context, "contents", None)
        if tag is not None and contents is not None and contents.known:
            values = [_told(value, contents, tag) for value in values]
    if found:
        for value in map(plain, values):
            if isinstance(value, Array) and type(value) is not Array:
                raise NotOverdubbable(f"arrays of type {type(value).__name__} have no derivative: use plain arrays")
    return own, values, found


def _told(value: Any, contents: Any, tag: Any) -> Any:
    """An array with what a context further out knows of its memory."""
    if not isinstance(plain(value), Array):
        return value
    changed, metadata = contents.current(plain(value))
    return value if not changed or metadata is None else made(value, tag, metadata)


def result(ctx: Any, own: Any, value: Any, terms: list[tuple[Term, Any]]) -> Any:
    """A value with the metadata that it has by its rule."""
    bare = plain(value)
    kind = numpy.asarray(bare).dtype.kind
    if kind in "biu":
        return value
    if kind != "f":
        raise NotOverdubbable(f"arrays of {numpy.asarray(bare).dtype} have no derivative: use real numbers")
    return made(value, own, ctx.joined(terms))


def follow(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A call from within: `do` of composed functions."""
    return HANDLERS[f](ctx, f, *arguments, **keywords)


def recorded(ctx: Any, value: Any, found: Iterable[tuple[Any, Any]]) -> None:
    """If a value is a view of an argument, write down what is known of the memory."""
    if isinstance(value, Array) and value.base is not None:
        owner = owner_of(value)
        for source, metadata in found:
            if isinstance(source, Array) and owner_of(source) is owner:
                ctx.contents.record(source, metadata)


# ---- what has no rule


def refuse(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function without a rule: an error if what it computes might have a derivative."""
    given = [lifted(ctx, argument) for argument in (*arguments, *keywords.values())]
    _, _, found = known_part(ctx, given)
    value = unknown(ctx, f, arguments, keywords) if not found else native(f, own_part(ctx, arguments)[1], keywords)
    if found and (plain(value) is None or has_numbers(plain(value))):
        raise no_rule(f)
    return value


def unruled() -> Iterable[Any]:
    """The functions of NumPy, and the methods of arrays, that have no rule; all others have one by now."""
    owners: list[Any] = [numpy, numpy.linalg, Array, numpy.ufunc]
    owners += [sys.modules[name] for name in ("numpy.fft",) if name in sys.modules]
    owners += [numpy.random, numpy.random.Generator, numpy.random.RandomState]  # which change arrays out of sight
    for owner in owners:
        for function in vars(owner).values():
            if callable(function) and not isinstance(function, type) and underlying(function) not in HANDLERS:
                yield underlying(function)
