"""What is done for each kind of rule: element by element, reductions, moves, products, and what is composed of others.

Knows the kinds of rules; must not know the two modes. It is imported only where the program has imported NumPy.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays import movement_rules, rules
from cassette_import.contexts.autodiff.arrays.calls import (
    Array,
    check_place,
    follow,
    handles,
    has_numbers,
    known_part,
    lifted,
    native,
    no_rule,
    recorded,
    refuse,
    result,
    unknown,
)
from cassette_import.contexts.autodiff.arrays.composed_rules import COMPOSED, einsum_of_diagonals
from cassette_import.contexts.autodiff.arrays.linear_maps import (
    LINEAR_ALGEBRA,
    Term,
    accumulated,
    call,
    factor,
    given_back,
    log_determinant,
    looked_at,
    scaled,
    shape_of,
    summed,
    taken,
)
from cassette_import.contexts.autodiff.modes import go_on, made, own_part
from cassette_import.runtime.tagging.iterator_metadata import items_outside
from cassette_import.runtime.tagging.wrappers import plain

# ---- element by element


@handles(*rules.PARTIALS, *(function for function, same in rules.SAME.items() if same in rules.PARTIALS))
def elementwise(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function that is applied to each element."""
    partials = rules.PARTIALS[rules.SAME.get(f, f)]
    given = [lifted(ctx, argument) for argument in arguments]
    own, values, found = known_part(ctx, given)
    if not found:
        return unknown(ctx, f, arguments, keywords)
    if "where" in keywords or keywords.get("out") is not None:
        raise no_rule(f)
    value = native(f, values, keywords)
    terms = []
    with numpy.errstate(all="ignore"):
        for number, metadata in found:
            partial = partials[number](value, *values)
            if any(partial is one for one in (value, *values)):
                partial = ctx.captured(partial)
            terms.append((scaled(partial, shape_of(values[number])), metadata))
        return result(ctx, own, value, terms)


@handles(numpy.float64, numpy.float32, numpy.longdouble)
def convert(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """The same number as one of NumPy's."""
    own, values, found = known_part(ctx, arguments)
    if not found:
        return unknown(ctx, f, arguments, {})
    value = native(f, values, {})
    return result(ctx, own, value, [(scaled(1.0, shape_of(values[0])), found[0][1])])


@handles(*rules.STEPS)
def step(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function whose derivative is zero."""
    if keywords.get("out") is not None:
        check_place(ctx, f, keywords["out"])
    return native(f, own_part(ctx, arguments)[1], keywords)


# ---- reductions


@handles(*rules.REDUCTIONS)
def reduce(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A weighted sum of elements."""
    arguments, keywords = movement_rules.first_by_position(arguments, keywords)
    given = (lifted(ctx, arguments[0]), *arguments[1:])
    own, (x,), found = known_part(ctx, given[:1])
    if not found:
        return unknown(ctx, f, arguments, keywords)
    value = native(f, (x, *given[1:]), keywords)
    names, weigh = rules.REDUCTIONS[f]
    options = {**dict(zip(names, map(plain, given[1:]), strict=False)), **keywords}
    unusual = (options.get(name, numpy._NoValue) for name in ("initial", "where", "out", "correction", "mean"))
    if any(option is not numpy._NoValue and option is not None for option in unusual):
        raise no_rule(f)
    shape = shape_of(x)
    axes = rules.axes_of(shape, options.get("axis"))
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    with numpy.errstate(all="ignore"):
        try:
            weights = weigh(rules.Reduced(call(numpy.reshape, value, kept), x, axes, options))
        except NotImplementedError:
            raise no_rule(f) from None
        return result(ctx, own, value, [(summed(weights, shape, axes, shape_of(value)), found[0][1])])


@handles(numpy.ufunc.reduce)
def reduce_by(ctx: Any, f: Any, /, ufunc: Any, *arguments: Any, **keywords: Any) -> Any:
    """`numpy.add.reduce` and its like, which go over the first axis unless told otherwise."""
    function = rules.REDUCING.get(ufunc)
    if function is None or len(arguments) > 2 or not keywords.keys() <= {"axis", "keepdims"}:
        return refuse(ctx, f, ufunc, *arguments, **keywords)
    if len(arguments) < 2 and "axis" not in keywords:
        keywords = {"axis": 0, **keywords}
    return reduce(ctx, function, *arguments, **keywords)


@handles(numpy.cumsum, numpy.ndarray.cumsum)
def accumulate(ctx: Any, f: Any, /, x: Any, axis: Any = None, **keywords: Any) -> Any:
    """Sums of the first elements."""
    x = lifted(ctx, x)
    own, (bare,), found = known_part(ctx, (x,))
    if not found:
        return unknown(ctx, f, (x, axis), keywords)
    if keywords.get("out") is not None:
        raise no_rule(f)
    value = native(f, (bare, axis), keywords)
    return result(ctx, own, value, [(accumulated(shape_of(bare), axis), found[0][1])])


# ---- moves


@handles(*movement_rules.MOVES)
def move(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function that moves elements."""
    if f is operator.getitem and not isinstance(plain(arguments[0]), Array):
        if isinstance(arguments[0], _JOINERS) and known_part(ctx, items_outside(arguments[1]))[2]:
            raise no_rule(type(arguments[0]))
        return go_on(f, arguments, keywords)
    sources: list[Any] = []
    keys = movement_rules.data(f, arguments, keywords)
    trees = {key: _tree(arguments[key] if type(key) is int else keywords[key], sources) for key in keys}
    own, values, found = known_part(ctx, sources)
    if not found:
        return unknown(ctx, f, arguments, keywords)
    value = _moved_value(ctx, f, arguments, keywords, trees, values)
    if not has_numbers(plain(value)):
        return value
    if not movement_rules.knows(f, arguments, keywords):
        raise no_rule(f)
    rearranged = movement_rules.rearrangement(f, arguments, keywords)
    if len(found) == len(sources) == 1 and trees.get(0) == 0 and movement_rules.is_view(f, arguments, keywords):
        recorded(ctx, plain(value), [(plain(values[0]), found[0][1])])
        return result(ctx, own, value, [(_view(f, rearranged, arguments, shape_of(values[0])), found[0][1])])
    shapes = [shape_of(values[number]) for number, _ in found]
    arrays, starts = movement_rules.numbered(shapes)
    given: list[Any] = [numpy.zeros(shape_of(source), numpy.int64) for source in values]
    for (number, _), array in zip(found, arrays, strict=True):
        given[number] = array
    places = rearranged({key: _built(tree, given) for key, tree in trees.items()})
    recorded(ctx, _first_of(plain(value)), [(plain(values[number]), metadata) for number, metadata in found])

    def told(part: Any, there: Any) -> Any:
        if type(plain(part)) in (list, tuple):
            items = [told(*pair) for pair in zip(own.store.wrapped_items(plain(part)), there, strict=True)]
            return own.store.bind_items(plain(part), items)
        where = movement_rules.where_moved(there, starts, shapes)
        terms = [(taken(*where.source(number)), metadata) for number, (_, metadata) in enumerate(found)]
        return result(ctx, own, part, terms)

    return told(value, places)


def _view(f: Any, rearranged: Any, arguments: Sequence[Any], shape: tuple[int, ...]) -> Term:
    """A part of an array, whose positions are not asked for unless they have to be."""

    def told() -> Any:
        (numbers,), starts = movement_rules.numbered([shape])
        return movement_rules.where_moved(rearranged({0: numbers}), starts, [shape]).source(0)[0]

    def put(made: Any, weight: Any) -> None:
        if f is operator.getitem:
            made[arguments[1]] = weight
        else:
            rearranged({0: made})[...] = weight

    return looked_at(lambda tangent: rearranged({0: tangent}), put, shape, told)


def _moved_value(
    ctx: Any, f: Any, arguments: Sequence[Any], keywords: dict[str, Any], trees: dict[Any, Any], values: list[Any]
) -> Any:
    """The program's call: arrays without what the context knows of them, lists as they are."""
    given = [
        values[trees[number]] if type(trees.get(number)) is int else argument
        for number, argument in enumerate(own_part(ctx, arguments)[1])
    ]
    named = {name: values[trees[name]] if type(trees.get(name)) is int else one for name, one in keywords.items()}
    return native(f, given, named)


def _first_of(value: Any) -> Any:
    return value[0] if type(value) in (list, tuple) and value else value


_JOINERS: Final = tuple(kind for kind in (type(numpy.r_), type(numpy.c_)))
"""What makes arrays of subscripts."""


def _tree(argument: Any, sources: list[Any]) -> Any:
    """The places of arrays and numbers in nested lists; they themselves are put into `sources`."""
    if type(argument) in (list, tuple):
        return [_tree(item, sources) for item in items_outside(argument)]
    sources.append(argument)
    return len(sources) - 1


def _built(tree: Any, given: list[Any]) -> Any:
    return [_built(part, given) for part in tree] if type(tree) is list else given[tree]


@handles(movement_rules.gathered)
def gather(ctx: Any, f: Any, /, positions: Any, source: Any) -> Any:
    """Elements at positions, as derivatives are pushed."""
    own, (source,), found = own_part(ctx, (source,))
    value = native(f, (positions, source), {})
    return result(ctx, own, value, [(taken(positions, shape_of(source)), found[0][1])]) if found else value


@handles(movement_rules.scattered)
def scatter(ctx: Any, f: Any, /, positions: Any, shape: Any, weights: Any) -> Any:
    """Sums at positions, as weights are pulled back."""
    own, (weights,), found = own_part(ctx, (weights,))
    value = native(f, (positions, shape, weights), {})
    return result(ctx, own, value, [(given_back(positions, shape_of(weights), shape), found[0][1])]) if found else value


# ---- products


@handles(*rules.PRODUCTS, operator.matmul)
def multiply(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A product of two arrays."""
    given = (*(lifted(ctx, argument) for argument in arguments[:2]), *arguments[2:])
    own, values, found = known_part(ctx, given[:2])
    if not found:
        return unknown(ctx, f, arguments, keywords)
    function = rules.SAME.get(f, f)
    options = {**dict(zip(("axes",), arguments[2:], strict=False)), **keywords}
    if len(arguments) < 2 or not options.keys() <= ({"axes"} if function is numpy.tensordot else set()):
        raise no_rule(f)
    value = native(f, (*values, *given[2:]), keywords)
    subscripts = rules.PRODUCTS[function](*(len(shape_of(one)) for one in values), **options)
    return _product(ctx, own, value, subscripts, values, found)


@handles(numpy.einsum)
def einsum(ctx: Any, f: Any, /, subscripts: Any, *operands: Any, **keywords: Any) -> Any:
    """A sum of products, as its subscripts say."""
    given = [lifted(ctx, operand) for operand in operands]
    own, values, found = known_part(ctx, given)
    if not found:
        return unknown(ctx, f, (subscripts, *operands), keywords)
    written = rules.explicit(plain(subscripts), [len(shape_of(one)) for one in values])
    if written is None and keywords.keys() <= {"optimize"}:
        return _composed(ctx, f, einsum_of_diagonals, (plain(subscripts), *operands), keywords)
    if written is None or not keywords.keys() <= {"optimize"}:
        raise no_rule(f)
    value = native(f, (subscripts, *values), keywords)
    return _product(ctx, own, value, written, values, found)


def _product(ctx: Any, own: Any, value: Any, subscripts: str, values: list[Any], found: list[tuple[int, Any]]) -> Any:
    kept = [ctx.captured(one) for one in values] if len(values) > 1 else values
    return result(ctx, own, value, [(factor(subscripts, kept, number), metadata) for number, metadata in found])


@handles(*LINEAR_ALGEBRA)
def solve(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """A function of linear algebra."""
    given = [lifted(ctx, argument) for argument in arguments]
    own, values, found = known_part(ctx, given)
    if not found:
        return unknown(ctx, f, arguments, {})
    value = native(f, values, {})
    kept = [ctx.captured(one) for one in values]
    terms = LINEAR_ALGEBRA[f](ctx.captured(value), *kept)
    return result(ctx, own, value, [(terms[number], metadata) for number, metadata in found])


@handles(numpy.linalg.slogdet)
def sign_and_log(ctx: Any, f: Any, /, x: Any) -> Any:
    """The sign of a determinant, and its logarithm."""
    own, (bare,), found = known_part(ctx, (x,))
    if not found:
        return unknown(ctx, f, (x,), {})
    value = native(f, (bare,), {})
    sign, logarithm = own.store.wrapped_items(plain(value))
    (term,) = log_determinant(logarithm, ctx.captured(bare))
    return own.store.bind_items(plain(value), [sign, result(ctx, own, logarithm, [(term, found[0][1])])])


@handles(*COMPOSED)
def compose(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function whose derivative is that of others put together."""
    return _composed(ctx, f, COMPOSED[f], arguments, keywords)


def _composed(ctx: Any, f: Any, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = [lifted(ctx, argument) for argument in arguments]
    options = {name: lifted(ctx, argument) for name, argument in keywords.items()}
    own, values, found = known_part(ctx, [*given, *options.values()])
    if not found:
        return unknown(ctx, f, arguments, keywords)
    if options.get("out") is not None:
        raise no_rule(f)
    count = len(given)
    value = native(f, values[:count], dict(zip(options, values[count:], strict=True)))

    try:
        composed = function(functools.partial(follow, ctx), *given, **options)
    except NotImplementedError:
        raise no_rule(f) from None
    recorded(ctx, plain(value), [(plain(values[number]), metadata) for number, metadata in found])
    _, _, metadata = own_part(ctx, (composed,))
    return made(value, own, metadata[0][1]) if metadata else value
