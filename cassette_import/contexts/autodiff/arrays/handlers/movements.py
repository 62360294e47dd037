"""Calls of functions that move elements: to another array, or to other places in an array that they change.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.array_memory import owner_of, owns_memory
from cassette_import.contexts.autodiff.arrays.calls import (
    Array,
    as_array,
    call_natively,
    call_untracked,
    check_others,
    differentiate_call,
    from_integers,
    handles,
    may_have_derivative,
    no_rule_error,
    record_view,
    split_array_metadata,
    with_derivative,
    without_derivative,
)
from cassette_import.contexts.autodiff.arrays.handlers.computations import differentiate_composition, elementwise
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
from cassette_import.contexts.autodiff.arrays.rules.reductions import NUMPY_FUNCTION, PARTIALS
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.events import QuickSite, quick_form
from cassette_import.kits.numbers.lost_numbers import UNKNOWN
from cassette_import.kits.numbers.overloads import call_without_overload, split_metadata, with_metadata
from cassette_import.kits.tagging import items_outside, plain, quick_item

# ---- functions that only move elements, such as `reshape`, `concatenate` and indexing


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


# ---- calls that change arrays in place: augmented assignment, `out=`, assignment to elements, sorting
#
# The handlers differentiate the call without the change, and then record in the array's memory where the elements have
# gone.


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
