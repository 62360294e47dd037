"""Calls that change arrays in place: augmented assignment, `out=`, assignment to elements, sorting.

The handlers differentiate the call without the change, and then record in the array's memory where the elements have
gone. Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.array_memory import owner_of, owns_memory
from cassette_import.contexts.autodiff.arrays.calls import (
    Array,
    as_array,
    call_natively,
    call_untracked,
    differentiate_call,
    handles,
    split_array_metadata,
)
from cassette_import.contexts.autodiff.arrays.handlers.elementwise import elementwise
from cassette_import.contexts.autodiff.arrays.linear_maps import shape_of
from cassette_import.contexts.autodiff.arrays.rules.reductions import NUMPY_FUNCTION, PARTIALS
from cassette_import.contexts.autodiff.modes import call_without_overload, split_metadata, with_metadata
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.tagging import plain

_AUGMENTED: Final = tuple(function for function in NUMPY_FUNCTION if function.__name__.startswith("i"))


@handles(*_AUGMENTED)
def augmented(ctx: Any, f: Any, /, array: Any, other: Any) -> Any:
    """Handler of augmented assignment, such as `array += other`."""
    function = NUMPY_FUNCTION[f]
    if not isinstance(plain(array), Array):  # a number is immutable
        return (
            differentiate_call(ctx, function, array, other)
            if type(array) not in _NO_NUMBERS
            else call_without_overload(f, (array, other), {})
        )
    other = as_array(ctx, other)
    _, values, found = split_array_metadata(ctx, (array, other))
    if not found and not ctx.memory.knows(plain(array)):
        return call_untracked(ctx, f, (array, other), {})
    return _replaced(
        ctx, array, differentiate_call(ctx, function, array, other), lambda: call_natively(ctx, f, values, {})
    )


_NO_NUMBERS: Final = frozenset({list, tuple})


def placed(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions that accept `out=`."""
    count = f.nin
    if keywords.get("out") is None and len(arguments) <= count:
        return elementwise(ctx, f, *arguments, **keywords)
    rest = {name: value for name, value in keywords.items() if name not in ("out", "where")}
    out = arguments[count] if len(arguments) > count else keywords["out"]
    target = out[0] if type(plain(out)) is tuple else out
    _, values, found = split_array_metadata(ctx, [*(as_array(ctx, argument) for argument in arguments[:count]), target])
    if not found and not ctx.memory.knows(plain(target)):
        return call_untracked(ctx, f, arguments, keywords)
    with numpy.errstate(all="ignore"):
        value = elementwise(ctx, f, *arguments[:count], **rest)
        if "where" in keywords:
            rest["where"] = plain(keywords["where"])
            value = differentiate_call(ctx, numpy.where, rest["where"], value, target)
    return _replaced(ctx, target, value, lambda: call_natively(ctx, f, values[:-1], {**rest, "out": values[-1]}))


handles(*(function for function in PARTIALS if isinstance(function, numpy.ufunc)))(placed)


def _replaced(ctx: Any, array: Any, value: Any, change: Callable[[], Any]) -> Any:
    """An array that `change` has overwritten as a whole, with the metadata of `value`."""
    _, values, known = split_array_metadata(ctx, (value,))
    metadata = known[0][1] if known else None
    return _changed(ctx, array, change, _copied, [(shape_of(values[0]), metadata)])


def _copied(view: Any, given: list[Any]) -> None:
    view[...] = given[0]


def _changed(ctx: Any, array: Any, change: Callable[[], Any], build: Any, sources: list[tuple[Any, Any]]) -> Any:
    """Change an array, and record its new metadata; return the result of `change` with them."""
    own_tag, _, before = split_array_metadata(ctx, (array,))
    bare = plain(array)
    if bare.dtype.kind != "f":
        if any(metadata is not None for _, metadata in sources) and bare.dtype.kind not in "biu":
            raise ctx.refuse(NotOverdubbable(f"arrays of {bare.dtype} have no derivative: use arrays of real numbers"))
        return change()
    if type(bare) is not Array or not owns_memory(owner_of(bare)):
        raise ctx.refuse(
            NotOverdubbable(
                f"an array of type {type(bare).__name__}, or one whose memory belongs to another object, gets numbers "
                "with derivatives: use a plain array"
            )
        )
    done = ctx.memory.change(bare, before[0][1] if before else None, change, build, sources)
    ctx.memory.mark(own_tag.store, bare, own_tag)
    if plain(done) is not bare:
        return done
    _, metadata = ctx.memory.current(bare)
    return with_metadata(done, own_tag, metadata) if metadata is not None else done


VALUE_ARGUMENT: Final[dict[Any, int]] = {
    operator.setitem: 2, numpy.ndarray.__setitem__: 2, numpy.ndarray.fill: 1, numpy.ndarray.put: 2, numpy.put: 2,
    numpy.copyto: 1, numpy.fill_diagonal: 1, numpy.put_along_axis: 2, numpy.place: 2, numpy.putmask: 2,
}  # fmt: skip
"""For each function that replaces elements of its first argument, the number of the argument with the new values."""

_NAMES: Final[dict[Any, tuple[str, ...]]] = {
    numpy.put: ("a", "ind", "v"), numpy.ndarray.put: ("", "indices", "values"), numpy.copyto: ("dst", "src"),
    numpy.fill_diagonal: ("a", "val"), numpy.put_along_axis: ("arr", "indices", "values"),
    numpy.place: ("arr", "mask", "vals"), numpy.putmask: ("a", "mask", "values"),
}  # fmt: skip
"""The names of the parameters of these functions, up to the new values."""


def by_position(names: tuple[str, ...], arguments: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a call, those with these names by position."""
    rest = dict(keywords)
    placed = list(arguments)
    for name in names[len(arguments) :]:
        if name not in rest:
            break
        placed.append(rest.pop(name))
    return tuple(placed), rest


@handles(*VALUE_ARGUMENT)
def place(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions that replace elements of an array."""
    arguments, keywords = by_position(_NAMES.get(f, ()), arguments, keywords)
    array, number = arguments[0], VALUE_ARGUMENT[f]
    if not isinstance(plain(array), Array) or len(arguments) <= number:
        return call_without_overload(f, arguments, keywords)
    source = as_array(ctx, arguments[number])
    _, (target, bare), found = split_array_metadata(ctx, (array, source))
    if not found and not ctx.memory.knows(plain(array)):
        return call_untracked(ctx, f, arguments, keywords)
    known = dict(found)

    def build(view: Any, arrays: list[Any]) -> None:
        given = [plain(argument) for argument in arguments]
        given[0], given[number] = view, arrays[0]
        f(*given, **keywords)

    keywords = {name: plain(value) for name, value in keywords.items()}
    rest = split_metadata(ctx, arguments)[1]
    rest[0], rest[number] = target, bare
    return _changed(ctx, array, lambda: call_natively(ctx, f, rest, keywords), build, [(shape_of(bare), known.get(1))])


@handles(numpy.ndarray.sort, numpy.ndarray.partition)
def order(ctx: Any, f: Any, /, array: Any, *arguments: Any, **keywords: Any) -> Any:
    """Handler of sorting and partitioning in place."""
    _, (target,), found = split_array_metadata(ctx, (array,))
    if not found and not ctx.memory.knows(plain(array)):
        return call_untracked(ctx, f, (array, *arguments), keywords)
    positions_of = numpy.argsort if f is numpy.ndarray.sort else numpy.argpartition
    places = positions_of(plain(array), *arguments, **keywords)
    count = 0 if f is numpy.ndarray.sort else 1
    axis = keywords.get("axis", arguments[count] if len(arguments) > count else -1)

    def build(view: Any, _: list[Any]) -> None:
        view[...] = numpy.take_along_axis(view, places, axis)

    return _changed(ctx, array, lambda: call_natively(ctx, f, (target, *arguments), keywords), build, [])
