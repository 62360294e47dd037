"""Calls of NumPy's functions with arrays that have derivatives: what is done for each kind of rule.

The value is always what the program's own call gives. Knows the kinds of rules; must not know the two modes. It is
imported only where the program has imported NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy

from cassette_import import NotOverdubbable
from cassette_import.active import ACTIVE
from cassette_import.contexts import autodiff_array_moves as moves
from cassette_import.contexts import autodiff_array_rules as rules
from cassette_import.contexts.autodiff import go_on, made, own_part
from cassette_import.contexts.autodiff_array_composed import COMPOSED
from cassette_import.contexts.autodiff_array_contents import owner_of
from cassette_import.contexts.autodiff_array_terms import (
    LINEAR_ALGEBRA,
    Term,
    accumulated,
    call,
    factor,
    given_back,
    log_determinant,
    scaled,
    shape_of,
    summed,
    taken,
)
from cassette_import.events import Events
from cassette_import.functions import underlying
from cassette_import.tagging.iterators import items_outside
from cassette_import.tagging.tags import Tagged, plain

Array: Final = numpy.ndarray
Handler = Callable[..., Any]
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


def no_rule(f: Any) -> NotOverdubbable:
    """The error for a function whose derivative is not known."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", repr(f))
    module = getattr(f, "__module__", None) or ("numpy" if isinstance(f, numpy.ufunc) else None)
    shown = f"{module}.{name}" if isinstance(module, str) and "." not in name else name
    return NotOverdubbable(
        f"there is no derivative of {shown}: no rule is known for it, or for this way to call it. "
        "Compute the same with other functions of NumPy, or, if it is Python, install its package"
    )


def lifted(ctx: Any, argument: Any) -> Any:
    """An argument; if it is a list of numbers with derivatives, as an array."""
    if type(argument) in (list, tuple):
        found = move(ctx, numpy.array, argument)
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
    if ctx.contents.known:
        arguments = own_part(ctx, arguments)[1]
    return go_on(f, arguments, keywords)


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


def _recorded(ctx: Any, value: Any, found: Iterable[tuple[Any, Any]]) -> None:
    """If a value is a view of an argument, write down what is known of the memory."""
    if isinstance(value, Array) and value.base is not None:
        owner = owner_of(value)
        for source, metadata in found:
            if isinstance(source, Array) and owner_of(source) is owner:
                ctx.contents.record(source, metadata)


# ---- element by element


@handles(*rules.PARTIALS, *(function for function, same in rules.SAME.items() if same in rules.PARTIALS))
def elementwise(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function that is applied to each element."""
    function = rules.SAME.get(f, f)
    partials = rules.PARTIALS[function]
    if keywords.get("out") is not None or len(arguments) > len(partials):
        return _into(ctx, f, len(partials), arguments, keywords)
    if f.__name__ in _IN_PLACE and isinstance(plain(arguments[0]), Array):
        return _augmented(ctx, f, function, *arguments)
    given = [lifted(ctx, argument) for argument in arguments]
    own, values, found = known_part(ctx, given)
    if not found:
        return unknown(ctx, f, arguments, keywords)
    if "where" in keywords:
        raise no_rule(f)
    value = native(f, values, keywords)
    terms = []
    with numpy.errstate(all="ignore"):
        for number, metadata in found:
            partial = partials[number](value, *values)
            if any(partial is one for one in (value, *values)):
                partial = ctx.kept(partial)
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
    return native(f, own_part(ctx, arguments)[1], keywords)


# ---- reductions


@handles(*rules.REDUCTIONS)
def reduce(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A weighted sum of elements."""
    arguments, keywords = moves.first_by_position(arguments, keywords)
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
    if function is None:
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


@handles(*moves.MOVES)
def move(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function that moves elements."""
    if f is operator.getitem and not isinstance(plain(arguments[0]), Array):
        if isinstance(arguments[0], _JOINERS) and known_part(ctx, items_outside(arguments[1]))[2]:
            raise no_rule(type(arguments[0]))
        return go_on(f, arguments, keywords)
    sources: list[Any] = []
    keys = moves.data(f, arguments, keywords)
    trees = {key: _tree(arguments[key] if type(key) is int else keywords[key], sources) for key in keys}
    own, values, found = known_part(ctx, sources)
    if not found:
        return unknown(ctx, f, arguments, keywords)
    value = _moved_value(ctx, f, arguments, keywords, trees, values)
    if not has_numbers(plain(value)):
        return value
    if not moves.knows(f, arguments, keywords):
        raise no_rule(f)
    rearranged = moves.rearrangement(f, arguments, keywords)
    shapes = [shape_of(values[number]) for number, _ in found]
    arrays, starts = moves.numbered(shapes)
    given: list[Any] = [numpy.zeros(shape_of(source), numpy.int64) for source in values]
    for (number, _), array in zip(found, arrays, strict=True):
        given[number] = array
    places = rearranged({key: _built(tree, given) for key, tree in trees.items()})
    _recorded(ctx, _first_of(plain(value)), [(plain(values[number]), metadata) for number, metadata in found])

    def told(part: Any, there: Any) -> Any:
        if type(plain(part)) in (list, tuple):
            items = [told(*pair) for pair in zip(own.store.items_of(plain(part)), there, strict=True)]
            return own.store.bind(plain(part), items)
        where = moves.where_moved(there, starts, shapes)
        terms = [(taken(*where.source(number)), metadata) for number, (_, metadata) in enumerate(found)]
        return result(ctx, own, part, terms)

    return told(value, places)


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


@handles(moves.gathered)
def gather(ctx: Any, f: Any, /, positions: Any, source: Any) -> Any:
    """Elements at positions, as derivatives are pushed."""
    own, (source,), found = own_part(ctx, (source,))
    value = native(f, (positions, source), {})
    return result(ctx, own, value, [(taken(positions, shape_of(source)), found[0][1])]) if found else value


@handles(moves.scattered)
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
    if written is None or not keywords.keys() <= {"optimize"}:
        raise no_rule(f)
    value = native(f, (subscripts, *values), keywords)
    return _product(ctx, own, value, written, values, found)


def _product(ctx: Any, own: Any, value: Any, subscripts: str, values: list[Any], found: list[tuple[int, Any]]) -> Any:
    kept = [ctx.kept(one) for one in values] if len(values) > 1 else values
    return result(ctx, own, value, [(factor(subscripts, kept, number), metadata) for number, metadata in found])


@handles(*LINEAR_ALGEBRA)
def solve(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """A function of linear algebra."""
    given = [lifted(ctx, argument) for argument in arguments]
    own, values, found = known_part(ctx, given)
    if not found:
        return unknown(ctx, f, arguments, {})
    value = native(f, values, {})
    kept = [ctx.kept(one) for one in values]
    terms = LINEAR_ALGEBRA[f](ctx.kept(value), *kept)
    return result(ctx, own, value, [(terms[number], metadata) for number, metadata in found])


@handles(numpy.linalg.slogdet)
def sign_and_log(ctx: Any, f: Any, /, x: Any) -> Any:
    """The sign of a determinant, and its logarithm."""
    own, (bare,), found = known_part(ctx, (x,))
    if not found:
        return unknown(ctx, f, (x,), {})
    value = native(f, (bare,), {})
    sign, logarithm = own.store.items_of(plain(value))
    (term,) = log_determinant(logarithm, ctx.kept(bare))
    return own.store.bind(plain(value), [sign, result(ctx, own, logarithm, [(term, found[0][1])])])


@handles(*COMPOSED)
def compose(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function whose derivative is that of others put together."""
    given = [lifted(ctx, argument) for argument in arguments]
    options = {name: lifted(ctx, argument) for name, argument in keywords.items()}
    own, values, found = known_part(ctx, [*given, *options.values()])
    if not found:
        return unknown(ctx, f, arguments, keywords)
    if options.get("out") is not None:
        raise no_rule(f)
    count = len(given)
    value = native(f, values[:count], dict(zip(options, values[count:], strict=True)))

    def do(function: Any, /, *more: Any, **others: Any) -> Any:
        return HANDLERS[function](ctx, function, *more, **others)

    try:
        composed = COMPOSED[f](do, *given, **options)
    except NotImplementedError:
        raise no_rule(f) from None
    _recorded(ctx, plain(value), [(plain(values[number]), metadata) for number, metadata in found])
    _, _, metadata = own_part(ctx, (composed,))
    return made(value, own, metadata[0][1]) if metadata else value


# ---- in place


_IN_PLACE: Final = frozenset({"iadd", "isub", "imul", "itruediv", "imod", "ipow"})


def _augmented(ctx: Any, f: Any, function: Any, /, array: Any, other: Any) -> Any:
    """`array += other` and its like."""
    other = lifted(ctx, other)
    _, values, found = known_part(ctx, (array, other))
    if not found and not ctx.contents.knows(plain(array)):
        return unknown(ctx, f, (array, other), {})
    return _replaced(ctx, array, follow(ctx, function, array, other), lambda: native(f, values, {}))


@handles(operator.imatmul)
def multiply_in_place(ctx: Any, f: Any, /, array: Any, other: Any) -> Any:
    """`array @= other`."""
    if not isinstance(plain(array), Array):
        return go_on(f, (array, other), {})
    return _augmented(ctx, f, numpy.matmul, array, other)


def _into(ctx: Any, f: Any, count: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call with a place for the result."""
    rest = {name: value for name, value in keywords.items() if name != "out"}
    out = arguments[count] if len(arguments) > count else keywords["out"]
    target = out[0] if type(out) is tuple else out
    _, values, found = known_part(ctx, [*(lifted(ctx, argument) for argument in arguments[:count]), target])
    if not found and not ctx.contents.knows(plain(target)):
        return unknown(ctx, f, arguments, keywords)
    value = elementwise(ctx, f, *arguments[:count], **rest)
    return _replaced(ctx, target, value, lambda: native(f, values[:-1], {**rest, "out": values[-1]}))


def _replaced(ctx: Any, array: Any, value: Any, change: Callable[[], Any]) -> Any:
    """An array all of whose elements are replaced, by `native`, which has the metadata of `value`."""
    own, values, known = known_part(ctx, (value,))
    metadata = known[0][1] if known else None
    return _changed(ctx, array, change, _copied, [(shape_of(values[0]), metadata)])


def _copied(view: Any, given: list[Any]) -> None:
    view[...] = given[0]


def _changed(ctx: Any, array: Any, change: Callable[[], Any], build: Any, sources: list[tuple[Any, Any]]) -> Any:
    """A change of an array, and what is known of it from now on."""
    own, values, before = known_part(ctx, (array,))
    bare = plain(array)
    if bare.dtype.kind != "f":
        if any(metadata is not None for _, metadata in sources) and bare.dtype.kind in "cO":
            raise NotOverdubbable(f"arrays of {bare.dtype} have no derivative: use arrays of real numbers")
        return change()
    done = ctx.contents.change(bare, before[0][1] if before else None, change, build, sources)
    ctx.contents.mark(own.store, bare, own)
    if plain(done) is not bare:
        return done
    _, metadata = ctx.contents.current(bare)
    return made(done, own, metadata) if metadata is not None else done


PLACED: Final[dict[Any, int | None]] = {
    operator.setitem: 2, numpy.ndarray.__setitem__: 2, numpy.ndarray.fill: 1, numpy.ndarray.put: 2, numpy.put: 2,
    numpy.copyto: 1, numpy.fill_diagonal: 1, numpy.put_along_axis: 2, numpy.place: 2, numpy.putmask: 2,
}  # fmt: skip
"""What changes elements of the first argument, with the number of the argument that they are taken from."""


@handles(*PLACED)
def place(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Elements of an array are replaced."""
    array, number = arguments[0], PLACED[f]
    if not isinstance(plain(array), Array) or number is None or len(arguments) <= number:
        return go_on(f, arguments, keywords)
    source = lifted(ctx, arguments[number])
    _, (target, bare), found = known_part(ctx, (array, source))
    if not found and not ctx.contents.knows(plain(array)):
        return unknown(ctx, f, arguments, keywords)
    known = dict(found)

    def build(view: Any, arrays: list[Any]) -> None:
        given = [plain(argument) for argument in arguments]
        given[0], given[number] = view, arrays[0]
        f(*given, **keywords)

    rest = own_part(ctx, arguments)[1]
    rest[0], rest[number] = target, bare
    return _changed(ctx, array, lambda: native(f, rest, keywords), build, [(shape_of(bare), known.get(1))])


@handles(numpy.ndarray.sort, numpy.ndarray.partition)
def order(ctx: Any, f: Any, /, array: Any, *arguments: Any, **keywords: Any) -> Any:
    """The elements of an array are put in order, in place."""
    _, (target,), found = known_part(ctx, (array,))
    if not found and not ctx.contents.knows(plain(array)):
        return unknown(ctx, f, (array, *arguments), keywords)
    tell = numpy.argsort if f is numpy.ndarray.sort else numpy.argpartition
    places = tell(plain(array), *arguments, **keywords)
    count = 0 if f is numpy.ndarray.sort else 1
    axis = keywords.get("axis", arguments[count] if len(arguments) > count else -1)

    def build(view: Any, _: list[Any]) -> None:
        view[...] = numpy.take_along_axis(view, places, axis)

    return _changed(ctx, array, lambda: native(f, (target, *arguments), keywords), build, [])


# ---- what has no rule


def refuse(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """A function without a rule: an error if what it computes might have a derivative."""
    given = [lifted(ctx, argument) for argument in (*arguments, *keywords.values())]
    _, _, found = known_part(ctx, given)
    value = unknown(ctx, f, arguments, keywords) if not found else native(f, own_part(ctx, arguments)[1], keywords)
    if found and (plain(value) is None or has_numbers(plain(value))):
        raise no_rule(f)
    return value


def _unruled() -> Iterable[Any]:
    """The functions of NumPy, and the methods of arrays, that have no rule."""
    owners: list[Any] = [numpy, numpy.linalg, Array, numpy.ufunc, *(getattr(numpy, n) for n in ("fft", "random"))]
    owners += [numpy.random.Generator, numpy.random.RandomState]
    for owner in owners:
        for function in vars(owner).values():
            if callable(function) and not isinstance(function, type) and underlying(function) not in HANDLERS:
                yield underlying(function)


handles(*_unruled())(refuse)
