"""Calls of functions that only move elements, such as `reshape`, `concatenate` and indexing.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    Array,
    call_natively,
    call_untracked,
    check_others,
    from_integers,
    handles,
    may_have_derivative,
    no_rule_error,
    record_view,
    split_array_metadata,
    with_derivative,
    without_derivative,
)
from cassette_import.contexts.autodiff.arrays.handlers.compositions import differentiate_composition
from cassette_import.contexts.autodiff.arrays.linear_maps import (
    LinearMap,
    element_sources,
    gather_elements,
    gathering,
    numbered_arrays,
    scatter_elements,
    scattering,
    shape_of,
    viewing,
)
from cassette_import.contexts.autodiff.arrays.rules import movements
from cassette_import.contexts.autodiff.arrays.rules.compositions import joined
from cassette_import.contexts.autodiff.modes import call_without_overload, split_metadata, with_metadata
from cassette_import.kits.events import QuickSite, quick_form
from cassette_import.kits.numbers.lost_numbers import UNKNOWN
from cassette_import.kits.tagging import items_outside, plain, quick_item


@handles(*movements.MOVED_ARGUMENTS)
def move(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions that only move elements."""
    if f is operator.getitem and not isinstance(plain(arguments[0]), Array):
        joiner = plain(arguments[0])
        if isinstance(joiner, _JOINERS) and split_array_metadata(ctx, [*_numbers_in_subscript(arguments[1])])[2]:
            return differentiate_composition(ctx, f, joined, tuple(arguments), keywords, of_sequences=True)
        return call_without_overload(f, arguments, keywords)
    sources: list[Any] = []
    keys = movements.moved_arguments(f, arguments, keywords)
    trees = {key: _index_tree(arguments[key] if type(key) is int else keywords[key], sources) for key in keys}
    own_tag, values, found = split_array_metadata(ctx, sources)
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    value = _moved_value(ctx, f, arguments, keywords, trees, values)
    if not may_have_derivative(plain(value)):
        if from_integers(ctx, found) and type(plain(value)) not in (list, tuple):
            return with_metadata(value, own_tag, UNKNOWN)  # it may be an index, but no number is computed from it
        return without_derivative(value, own_tag)
    check_others(ctx, f, _not_moved(keys, arguments, keywords), value)
    if not movements.only_moves(f, arguments, keywords) or _holds_objects(plain(value)):
        raise ctx.refuse(no_rule_error(f))
    rearranged = movements.rearrangement(f, arguments, keywords)
    is_array = isinstance(plain(values[0]), Array)
    if is_array and len(found) == len(sources) == 1 and trees.get(0) == 0 and movements.is_view(f, arguments, keywords):
        record_view(ctx, plain(value), [(plain(values[0]), found[0][1])])
        return with_derivative(
            ctx, own_tag, value, [(_view(f, rearranged, arguments, shape_of(values[0])), found[0][1])]
        )
    shapes = [shape_of(values[number]) for number, _ in found]
    arrays, starts = numbered_arrays(shapes)
    given: list[Any] = [numpy.zeros(shape_of(source), numpy.int64) for source in values]
    for (number, _), array in zip(found, arrays, strict=True):
        given[number] = array
    places = rearranged({key: _rebuilt(tree, given) for key, tree in trees.items()})
    record_view(ctx, _first_of(plain(value)), [(plain(values[number]), metadata) for number, metadata in found])

    def tagged(part: Any, there: Any) -> Any:
        if type(plain(part)) in (list, tuple):
            items = [tagged(*pair) for pair in zip(own_tag.store.wrapped_items(plain(part)), there, strict=True)]
            return own_tag.store.bind_items(plain(part), items)
        where = element_sources(there, starts, shapes)
        terms = [(gathering(*where.source(number)), metadata) for number, (_, metadata) in enumerate(found)]
        return with_derivative(ctx, own_tag, part, terms)

    return tagged(value, places)


@quick_form(move)
def _quick_item(site: QuickSite) -> Any:
    """Items of lists, tuples and dicts are loaded as if there were no overload."""
    return quick_item(site.general) if site.target is operator.getitem and not site.is_call else None


def _view(f: Any, rearranged: Any, arguments: Sequence[Any], shape: tuple[int, ...]) -> LinearMap:
    """The linear map of a view, which computes positions only if a context further out needs them."""

    def positions() -> Any:
        (numbers,), starts = numbered_arrays([shape])
        return element_sources(rearranged({0: numbers}), starts, [shape]).source(0)[0]

    def write(made: Any, weight: Any) -> None:
        if f is operator.getitem:
            made[arguments[1]] = weight
        else:
            rearranged({0: made})[...] = weight

    return viewing(lambda tangent: rearranged({0: tangent}), write, shape, positions)


def _moved_value(
    ctx: Any, f: Any, arguments: Sequence[Any], keywords: dict[str, Any], trees: dict[Any, Any], values: list[Any]
) -> Any:
    """The value of the program's call: arrays lose this context's metadata, lists stay as they are."""
    given = [
        values[trees[number]] if type(trees.get(number)) is int else argument
        for number, argument in enumerate(split_metadata(ctx, arguments)[1])
    ]
    named = {name: values[trees[name]] if type(trees.get(name)) is int else one for name, one in keywords.items()}
    return call_natively(ctx, f, given, named)


def _holds_objects(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_holds_objects, value))
    return isinstance(value, Array) and value.dtype.kind == "O"


def _first_of(value: Any) -> Any:
    return value[0] if type(value) in (list, tuple) and value else value


_JOINERS: Final = tuple(map(type, (numpy.r_, numpy.c_, numpy.mgrid, numpy.ogrid)))
"""The types of objects that make arrays from subscripts."""


def _not_moved(keys: Iterable[Any], arguments: Sequence[Any], keywords: dict[str, Any]) -> Iterator[Any]:
    """The arguments that are not moved, among which the result may be; conditions have derivative zero."""
    for key, argument in (*enumerate(arguments), *keywords.items()):
        if key not in keys:
            yield plain(argument)


def _numbers_in_subscript(key: Any) -> Iterator[Any]:
    bare = plain(key)
    if isinstance(bare, tuple):
        for part in items_outside(key):
            yield from _numbers_in_subscript(part)
    elif isinstance(bare, slice):
        yield from (key, bare.start, bare.stop, bare.step)
    else:
        yield key


def _index_tree(argument: Any, sources: list[Any]) -> Any:
    """Nested lists with indices instead of arrays and numbers, which are appended to `sources`."""
    if type(argument) in (list, tuple):
        return [_index_tree(item, sources) for item in items_outside(argument)]
    sources.append(argument)
    return len(sources) - 1


def _rebuilt(tree: Any, given: list[Any]) -> Any:
    return [_rebuilt(part, given) for part in tree] if type(tree) is list else given[tree]


@handles(gather_elements)
def gather(ctx: Any, f: Any, /, positions: Any, source: Any) -> Any:
    """Handler of `gather_elements`, which pushing derivatives calls."""
    own_tag, (source,), found = split_metadata(ctx, (source,))
    value = call_natively(ctx, f, (positions, source), {})
    return (
        with_derivative(ctx, own_tag, value, [(gathering(positions, shape_of(source)), found[0][1])])
        if found
        else value
    )


@handles(scatter_elements)
def scatter(ctx: Any, f: Any, /, positions: Any, shape: Any, weights: Any) -> Any:
    """Handler of `scatter_elements`, which pulling weights back calls."""
    own_tag, (weights,), found = split_metadata(ctx, (weights,))
    value = call_natively(ctx, f, (positions, shape, weights), {})
    return (
        with_derivative(ctx, own_tag, value, [(scattering(positions, shape_of(weights), shape), found[0][1])])
        if found
        else value
    )
