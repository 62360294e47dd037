"""Calls of functions that call functions of the program back: `vectorize`, `apply_along_axis`, `piecewise`.

NumPy calls the callbacks, so the value is that of its own call. A callback gets its arguments with their metadata, and
its results are recorded. Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    as_array,
    call_untracked,
    differentiate_call,
    handles,
    no_rule_error,
    parts_of,
    reject,
    split_array_metadata,
)
from cassette_import.contexts.autodiff.arrays.handlers.computations import are_close
from cassette_import.contexts.autodiff.arrays.linear_maps import shape_of
from cassette_import.kits.events import ACTIVE
from cassette_import.kits.tagging import Tagged, holds_metadata, items_outside, metas_of, plain, tag_of
from cassette_import.rewriting.events import Events


def _call_program(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of the program as an event: its arguments keep their metadata."""
    here = ACTIVE.get()
    left = here.suspended or here
    if left.variant is None or not left.variant.tagging:
        return function(*map(plain, arguments), **{name: plain(value) for name, value in keywords.items()})
    token = ACTIVE.set(left)
    try:
        return left.variant.runners[int(Events.CALLS)].event(function, *arguments, **keywords)
    finally:
        ACTIVE.reset(token)


def _have_metadata(ctx: Any, callbacks: Iterable[Any], arguments: Iterable[Any]) -> bool:
    """Whether callbacks hold values with metadata, or arguments have some."""
    own_tag: Any = tag_of(ctx)
    return bool(split_array_metadata(ctx, [*parts_of(arguments)])[2]) or holds_metadata(
        [plain(callback) for callback in callbacks], own_tag
    )


def _finished(ctx: Any, f: Any, value: Any, build: Callable[[Any], Any]) -> Any:
    """The value of NumPy's call, with the metadata of an array that is built of the recorded results."""
    try:
        built = build(lambda function, *arguments: differentiate_call(ctx, function, *arguments))
        if not are_close(value, plain(built)):
            raise NotImplementedError
    except (NotImplementedError, TypeError, ValueError, IndexError) as error:
        raise ctx.refuse(no_rule_error(f)) from error
    metas = metas_of(built)
    return Tagged(value, metas) if metas else value


def _listed(ctx: Any, results: list[Any]) -> Any:
    """A list with the metadata of its items."""
    own_tag: Any = tag_of(ctx)
    return own_tag.store.bind_items(list(map(plain, results)), results)


class _Recorder:
    """What NumPy calls instead of a callback: it supplies wrapped arguments, and records the results."""

    def __init__(self, callback: Any, supply: Callable[[int, tuple[Any, ...]], tuple[Any, ...]]) -> None:
        self._callback = callback
        self._supply = supply
        self.results: list[Any] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        result = _call_program(self._callback, *self._supply(len(self.results), arguments), **keywords)
        self.results.append(result)
        return plain(result)


@handles(numpy.vectorize.__call__)
def vectorized(ctx: Any, f: Any, /, vectorizer: Any, *arguments: Any, **keywords: Any) -> Any:
    """Handler of calls of `vectorize` objects."""
    made = plain(vectorizer)
    given = [as_array(ctx, argument) for argument in arguments]
    if not _have_metadata(ctx, [made.pyfunc], [*given, *keywords.values()]):
        return call_untracked(ctx, f, (made, *arguments), keywords)
    if keywords or made.signature is not None or made.excluded or not callable(made.pyfunc):
        raise ctx.refuse(no_rule_error(f))
    shape = numpy.broadcast_shapes(*map(shape_of, given))
    flat = [
        differentiate_call(ctx, numpy.ravel, differentiate_call(ctx, numpy.broadcast_to, argument, shape))
        for argument in given
    ]
    first = 0 if made.otypes or made.cache else 1  # one more call finds the types of the results

    def supply(number: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        items = (differentiate_call(ctx, operator.getitem, one, max(number - first, 0)) for one in flat)
        return tuple(Tagged(value, metas_of(item) or {}) for value, item in zip(values, items, strict=True))

    recorder = _Recorder(made.pyfunc, supply)
    value = numpy.vectorize(recorder, made.otypes or None, cache=made.cache)(*map(plain, given))
    results = recorder.results[first:]
    kinds = {item.dtype.kind for item in (value if isinstance(value, tuple) else (value,))}
    if kinds <= set("iub") and any(isinstance(plain(result), (float, numpy.floating)) for result in results):
        return value  # NumPy has cut off the fractions, as `int` does
    return _finished(
        ctx, f, value, lambda do: do(numpy.reshape, do(numpy.array, _listed(ctx, results)), numpy.shape(value))
    )


@handles(numpy.apply_along_axis)
def along_axis(ctx: Any, f: Any, /, func1d: Any, axis: Any, arr: Any, *arguments: Any, **keywords: Any) -> Any:
    """Handler of `apply_along_axis`."""
    array = as_array(ctx, arr)
    if not _have_metadata(ctx, [func1d], [array, *arguments, *keywords.values()]):
        return call_untracked(ctx, f, (func1d, axis, arr, *arguments), keywords)
    if not isinstance(plain(array), numpy.ndarray):
        array = numpy.asarray(plain(array))
    turned = differentiate_call(ctx, numpy.moveaxis, array, axis, -1)
    rest = shape_of(turned)[:-1]

    def supply(number: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        place = tuple(map(int, numpy.unravel_index(number, rest)))
        return differentiate_call(ctx, operator.getitem, turned, place), *arguments

    def call_back(*values: Any) -> Any:
        return recorder(*values, **keywords)

    recorder = _Recorder(plain(func1d), supply)
    value = numpy.apply_along_axis(call_back, axis, plain(array))

    def build(do: Any) -> Any:
        inner = shape_of(recorder.results[0])
        made = do(numpy.reshape, do(numpy.array, _listed(ctx, recorder.results)), (*rest, *inner))
        places = [len(rest) + number for number in range(len(inner))]
        return do(numpy.moveaxis, made, places, [axis % (len(rest) + 1) + number for number in range(len(inner))])

    return _finished(ctx, f, value, build)


@handles(numpy.piecewise)
def piecewise(ctx: Any, f: Any, /, x: Any, condlist: Any, funclist: Any, *arguments: Any, **keywords: Any) -> Any:
    """Handler of `piecewise`."""
    choices = items_outside(funclist)
    if not _have_metadata(ctx, filter(callable, map(plain, choices)), [x, *choices, *arguments, *keywords.values()]):
        return call_untracked(ctx, f, (x, condlist, funclist, *arguments), keywords)
    array = differentiate_call(ctx, numpy.asarray, x)
    conditions = _conditions(plain(array), plain(condlist), len(choices))
    recorders: list[Any] = []
    for choice, condition in zip(choices, conditions, strict=True):
        if not callable(plain(choice)):
            recorders.append(plain(choice))
            continue

        def supply(number: int, values: tuple[Any, ...], condition: Any = condition) -> tuple[Any, ...]:
            return differentiate_call(ctx, operator.getitem, array, condition), *arguments

        recorders.append(_Recorder(plain(choice), supply))
    value = numpy.piecewise(plain(array), plain(condlist), recorders, **keywords)

    def build(do: Any) -> Any:
        found: Any = numpy.zeros(numpy.shape(value))
        for choice, condition, recorder in zip(choices, conditions, recorders, strict=True):
            part = choice
            if isinstance(recorder, _Recorder):
                if not recorder.results:
                    continue
                part = do(numpy.broadcast_to, recorder.results[0], (int(condition.sum()),))
                places = numpy.clip(numpy.cumsum(condition.ravel()) - 1, 0, None).reshape(condition.shape)
                part = do(operator.getitem, part, places)
            found = do(numpy.where, condition, part, found)
        return found

    return _finished(ctx, f, value, build)


def _conditions(array: Any, conditions: Any, count: int) -> Any:
    """The conditions of `piecewise`, one for each choice."""
    if numpy.isscalar(conditions) or (not isinstance(conditions[0], (list, numpy.ndarray)) and array.ndim):
        conditions = [conditions]
    conditions = numpy.asarray(conditions, bool)
    if len(conditions) == count - 1:
        conditions = numpy.concatenate([conditions, ~conditions.any(0, keepdims=True)])
    return conditions


@handles(numpy.fromfunction)
def from_function(ctx: Any, f: Any, /, function: Any, shape: Any, **keywords: Any) -> Any:
    """Handler of `fromfunction`, which calls the function once, with arrays of indices."""
    rest = {name: value for name, value in keywords.items() if name not in ("dtype", "like")}
    if keywords.get("like") is not None or not _have_metadata(ctx, [function], rest.values()):
        return call_untracked(ctx, f, (function, shape), keywords)
    places = numpy.indices(plain(shape), dtype=plain(keywords.get("dtype", float)))
    return _call_program(plain(function), *places, **rest)


@handles(numpy.apply_over_axes)
def over_axes(ctx: Any, f: Any, /, func: Any, a: Any, axes: Any) -> Any:
    """Handler of `apply_over_axes`, which calls the function with each result and the next axis."""
    if not _have_metadata(ctx, [func], [a]):
        return call_untracked(ctx, f, (func, a, axes), {})
    value = differentiate_call(ctx, numpy.asarray, a)
    number = len(shape_of(value))
    for axis in numpy.ravel(plain(axes)).tolist():
        result = _call_program(plain(func), value, axis % number if axis < 0 else axis)
        if len(shape_of(result)) != len(shape_of(value)):
            result = differentiate_call(ctx, numpy.expand_dims, result, axis)
            if len(shape_of(result)) != len(shape_of(value)):
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


@handles(numpy.fromiter)
def from_items(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of `fromiter`."""
    if not arguments or not _have_metadata(ctx, arguments[:1], arguments[:1]):
        return reject(ctx, f, *arguments, **keywords)
    if len(arguments) != 2 or keywords:
        raise ctx.refuse(no_rule_error(f))
    items = items_outside(arguments[0])
    value = numpy.fromiter(list(map(plain, items)), plain(arguments[1]))
    return _finished(ctx, f, value, lambda do: do(numpy.array, _listed(ctx, items)))
