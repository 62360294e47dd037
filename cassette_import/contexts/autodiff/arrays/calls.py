"""Calls of NumPy's functions with arrays that have derivatives: the table of handlers, and the tools that they share.

The value of a call always comes from the program's own call. Imported only if the program imports NumPy.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, Final, TypeAlias

import numpy

from cassette_import.contexts.autodiff.arrays.array_memory import owner_of
from cassette_import.contexts.autodiff.arrays.linear_maps import LinearMap
from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.callables import underlying
from cassette_import.kits.events import ACTIVE, nearest_site
from cassette_import.kits.numbers.lost_numbers import UNKNOWN
from cassette_import.kits.numbers.overloads import call_without_overload, split_metadata, with_metadata
from cassette_import.kits.tagging import Tagged, holds_metadata, items_outside, plain, tag_of
from cassette_import.rewriting.events import Events

Array: Final = numpy.ndarray
Handler: TypeAlias = Callable[..., Any]
HANDLERS: Final[dict[Any, Handler]] = {}
"""For each function, the handler of its calls: a function of the context, the function and the arguments."""


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Decorator: register a handler for functions."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update((underlying(function), handler) for function in functions)
        return handler

    return register


# ---- calls and their results


def may_have_derivative(value: Any) -> bool:
    """Whether a value is or contains numbers that can have a derivative."""
    if isinstance(value, (list, tuple)):
        return any(map(may_have_derivative, value))
    if isinstance(value, (Array, numpy.generic)):
        return value.dtype.kind in "fcO"
    return isinstance(value, (float, complex, numpy.flatiter, numpy.nditer, numpy.ndenumerate))


_CONSTANT: Final = (int, type, numpy.dtype, slice, FunctionType, type(None), type(...), type(NotImplemented))


def is_constant(value: Any) -> bool:
    """Whether a value is, or contains nothing but, truth values, integers and types: its derivative is zero."""
    if isinstance(value, (list, tuple)):
        return all(map(is_constant, value))
    if isinstance(value, (Array, numpy.generic)):
        return value.dtype.kind in "biu"
    return isinstance(value, _CONSTANT)


def no_rule_error(f: Any, attribute: str = "") -> NotOverdubbable:
    """The error for a function, or an attribute of an array, without a rule."""
    name = str(getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(f)))
    module = getattr(f, "__module__", None) or ("numpy" if isinstance(f, numpy.ufunc) else None)
    shown = f"{module}.{name}" if isinstance(module, str) and "." not in name else name
    site = nearest_site()
    return NotOverdubbable(
        f"there is no derivative of {f'the attribute {attribute}' if attribute else shown}: no rule is known for it, "
        f"or for this way to call it, at {site}: {site.source}\n"
        "Compute the same with other functions of NumPy, or, if it is Python, install its package"
    )


def unknown_error() -> NotOverdubbable:
    """The error for a leaf that gets text, bytes or an object, which was made from numbers with derivatives."""
    site = nearest_site()
    return NotOverdubbable(
        "there is no derivative of what is computed from text, bytes or another object that was made from numbers "
        f"with derivatives, at {site}: {site.source}\n"
        "Compute it from the numbers themselves"
    )


def as_array(ctx: Any, argument: Any) -> Any:
    """An argument; as an array if it is a list or tuple of numbers with derivatives."""
    if type(argument) in (list, tuple):
        try:
            found = differentiate_call(ctx, numpy.array, argument)
        except ValueError:  # rows of several lengths
            return argument
        return found if type(found) is Tagged else argument
    return argument


def parts_of(arguments: Iterable[Any]) -> Iterator[Any]:
    """Arguments, and the parts of containers among them, wrapped where they have metadata."""
    for argument in arguments:
        yield argument
        bare = plain(argument)
        if isinstance(bare, (list, tuple, set, frozenset, deque)):
            yield from parts_of(items_outside(argument))
        elif isinstance(bare, dict):
            yield from parts_of(items_outside(bare.values()))


def call_natively(ctx: Any, f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Make the program's call, with metadata only for the contexts further out."""
    check_objects(ctx, f, arguments, keywords)
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return f(*map(plain, arguments), **{name: plain(value) for name, value in keywords.items()})
    return variant.runners[int(Events.CALLS)].event(f, *arguments, **keywords)


_ORDINARY: Final = frozenset({
    *(bool, int, float, complex, str, bytes, list, tuple, dict, slice, range, type, type(None), type(...), Tagged),
    *(Array, numpy.ufunc, numpy.dtype, numpy.float64, numpy.float32, numpy.int64, numpy.bool, numpy.random.Generator),
    *map(type, (numpy._NoValue, numpy.float64.dtype)),
})  # fmt: skip
"""Types of arguments that hold no values in attributes or variables."""


def call_untracked(ctx: Any, f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Make the program's call if no argument has metadata of this context."""
    if keywords.get("out") is not None:
        check_out(ctx, f, keywords["out"])
    check_objects(ctx, f, arguments, keywords)
    if ctx.memory.known:
        arguments = split_metadata(ctx, arguments)[1]
    return call_without_overload(f, arguments, keywords)


def check_objects(ctx: Any, f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Refuse arguments of other types that hold numbers with derivatives, in attributes or variables."""
    if keywords or not _ORDINARY.issuperset(map(type, arguments)):
        unusual = [value for value in (*arguments, *keywords.values()) if type(value) not in _ORDINARY]
        own_tag: Any = tag_of(ctx)
        if unusual and holds_metadata(unusual, own_tag):
            raise ctx.refuse(no_rule_error(f))


def check_out(ctx: Any, f: Any, out: Any) -> None:
    """Refuse an array `out` that has a derivative, which the call would not update."""
    places = out if type(out) is tuple else (out,)
    if split_array_metadata(ctx, places)[2] or any(
        isinstance(plain(one), Array) and ctx.memory.knows(plain(one)) for one in places
    ):
        raise ctx.refuse(no_rule_error(f))


def check_others(ctx: Any, f: Any, others: Iterable[Any], value: Any = None) -> None:
    """Refuse a call that depends on numbers that its rule does not consider, or writes into an argument."""
    for other in others:
        if type(other) is Tagged and may_have_derivative(plain(other)) and split_array_metadata(ctx, (other,))[2]:
            raise ctx.refuse(no_rule_error(f))
        if isinstance(plain(other), Array) and plain(other) is plain(value):
            raise ctx.refuse(no_rule_error(f))


def split_array_metadata(ctx: Any, arguments: Sequence[Any]) -> tuple[Any, list[Any], list[tuple[int, Any]]]:
    """As `split_metadata`, with the metadata of arrays whose memory was changed."""
    own_tag, values, found = split_metadata(ctx, arguments)
    if ctx.memory.known:
        found = _metadata_in_memory(ctx.memory, values, found)
    for _, metadata in found:
        if metadata is UNKNOWN:
            raise ctx.refuse(unknown_error())
    activation = ACTIVE.get()
    for context, tag in zip(activation.contexts, activation.tags, strict=False):
        memory = getattr(context, "memory", None)
        if tag is not None and memory is not None and memory.known:
            values = [_with_memory(value, memory, tag) for value in values]
    if found:
        for value in map(plain, values):
            if isinstance(value, Array) and type(value) is not Array:
                raise ctx.refuse(
                    NotOverdubbable(f"arrays of type {type(value).__name__} have no derivative: use plain arrays")
                )
    return own_tag, values, found


def _metadata_in_memory(memory: Any, values: Iterable[Any], found: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """The metadata that was found for values by number, as it is after changes of the memory of arrays."""
    by_number = dict(found)
    for number, value in enumerate(map(plain, values)):
        if isinstance(value, Array):
            changed, metadata = memory.current(value)
            if changed:
                by_number.pop(number, None)
            if metadata is not None:
                by_number[number] = metadata
    return sorted(by_number.items())


def _with_memory(value: Any, memory: Any, tag: Any) -> Any:
    """An array with the metadata that a context further out has for its memory."""
    if not isinstance(plain(value), Array):
        return value
    changed, metadata = memory.current(plain(value))
    return value if not changed or metadata is None else with_metadata(value, tag, metadata)


def with_derivative(ctx: Any, own_tag: Any, value: Any, terms: list[tuple[LinearMap, Any]]) -> Any:
    """A value with its metadata: the metadata follows from pairs of a linear map and the metadata of an argument."""
    bare = plain(value)
    kind = numpy.asarray(bare).dtype.kind
    if kind in "biu":
        if kind != "b" and from_integers(ctx, terms):
            raise ctx.refuse(
                NotOverdubbable(
                    "integers have no derivative where NumPy computes integers from them: convert them to floats, with "
                    f"array.astype(float), at {nearest_site()}: {nearest_site().source}"
                )
            )
        return value
    if kind != "f":
        dtype = numpy.asarray(bare).dtype
        raise ctx.refuse(NotOverdubbable(f"arrays of {dtype} have no derivative: use real numbers"))
    return with_metadata(value, own_tag, ctx.combine_maps(terms))


def from_integers(ctx: Any, found: Iterable[tuple[Any, Any]]) -> bool:
    """Whether integers among the arguments of the program have the metadata that was found."""
    return any(metadata is one for one in ctx.integers for _, metadata in found)


def differentiate_call(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Make a call and differentiate it: the function `do` of compositions."""
    return HANDLERS[f](ctx, f, *arguments, **keywords)


def record_view(ctx: Any, value: Any, found: Iterable[tuple[Any, Any]]) -> None:
    """If a value is a view of an argument, record the metadata of the memory."""
    if isinstance(value, Array) and value.base is not None:
        owner = owner_of(value)
        for source, metadata in found:
            if isinstance(source, Array) and owner_of(source) is owner:
                ctx.memory.record(source, metadata)


# ---- functions without a rule


def reject(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """The handler of functions without a rule: an error if the result can have a derivative."""
    own_tag, _, found = split_array_metadata(ctx, [*parts_of((*arguments, *keywords.values()))])
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    named = dict(zip(keywords, split_metadata(ctx, [*keywords.values()])[1], strict=True))
    value = call_natively(ctx, f, split_metadata(ctx, arguments)[1], named)
    if plain(value) is None or f in _REINTERPRET or may_have_derivative(plain(value)):
        raise ctx.refuse(no_rule_error(f))
    return without_derivative(value, own_tag)


_REINTERPRET: Final = frozenset({Array.view, Array.getfield, Array.byteswap})
"""Methods that may return the bits of a number as an integer."""


def without_derivative(value: Any, own_tag: Any) -> Any:
    """A value that is no number with a derivative: if numbers can be computed from it, it is tagged as unknown."""
    return value if is_constant(plain(value)) else with_metadata(value, own_tag, UNKNOWN)


def functions_without_rule() -> Iterable[Any]:
    """The functions of NumPy and the methods of arrays without a handler; to be called when all others have one."""
    owners: list[Any] = [numpy, numpy.linalg, Array, numpy.ufunc]
    owners += [sys.modules[name] for name in ("numpy.fft",) if name in sys.modules]
    owners += [numpy.random, numpy.random.Generator, numpy.random.RandomState]  # these change arrays in C code
    for owner in owners:
        for found in vars(owner).values():
            function = underlying(found) if callable(found) and not isinstance(found, type) else None
            if function is not None and function not in HANDLERS and function not in INDEPENDENT_OF_ARRAYS:
                yield function


INDEPENDENT_OF_ARRAYS: Final = frozenset({
    numpy.savetxt, numpy.save, numpy.savez, numpy.savez_compressed, Array.setflags,
})  # fmt: skip
"""Functions that return nothing, and only write the values to a file, or do not depend on them."""
