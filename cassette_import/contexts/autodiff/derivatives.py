"""Derivatives of Python functions that know nothing of it: forward mode, and reverse mode by a tape.

>>> import colorsys, math
>>> derivative(math.sin, 0.0)
1.0
>>> gradient(math.hypot, 3.0, 4.0)
(0.6, 0.8)
>>> jvp(colorsys.rgb_to_yiq, (0.2, 0.4, 0.6), (1.0, 0.0, 0.0))[1][0]
0.3

A number carries its derivative, or its place on the tape, as metadata, through attributes, containers and calls of
functions in the module of `f` and in installed packages. What is not differentiable, such as a comparison or `int`,
and what C code computes out of sight, has derivative zero. Where the program has imported NumPy, arrays have
derivatives too, and what functions compute of them that no rule is known for is an error; see `arrays`.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cassette_import import Context, NotOverdubbable, fallback, overdub
from cassette_import.contexts.autodiff.rules import ALL_PARTIALS, FOLDS, PARTIALS
from cassette_import.contexts.autodiff.structures import Inputs, is_number, outputs, parts_of, settled
from cassette_import.interpreter.callables import python_function, split, underlying
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.propagation import VERBS
from cassette_import.runtime.tagging.rules.iterators import items_outside
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, run

__all__ = ["Forward", "Reverse", "derivative", "gradient", "jvp", "vjp"]


class Differentiating(Context, tagging=True):
    """What both modes have in common: metadata of arguments and partial derivatives become metadata of the result."""

    def combined(self, pairs: list[tuple[Any, Any]]) -> Any:
        """The metadata of a result, of partial derivatives and the metadata of the arguments."""
        raise NotImplementedError

    def beyond_numbers(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        """A call of a known function with something that is no number, or has no derivative."""
        return go_on(f, arguments, {})

    def output(self, array: Any) -> tuple[Any, Any]:
        """An array of the result without what the context knows of it, and what it knows."""
        return array, None

    def given(self, array: Any, metadata: Any) -> None:
        """An array of the arguments gets its metadata."""

    def kept(self, value: Any) -> Any:
        """A value that is looked at later, when the program may have changed it."""
        return value


class Forward(Differentiating):
    """The metadata of a number is its derivative."""

    def combined(self, pairs: list[tuple[Any, Any]]) -> Any:
        return functools.reduce(operator.add, [partial * tangent for partial, tangent in pairs])


class Node:
    """A number on the tape: how it depends on those before it."""

    __slots__ = ("number", "pairs")

    def __init__(self, number: int, pairs: list[tuple[Any, Node]]) -> None:
        self.number = number
        self.pairs = pairs

    def contributions(self, weight: Any) -> Iterable[tuple[Node, Any]]:
        """What a weight means for those that it depends on, where it is more than a number."""
        raise NotImplementedError


class Reverse(Differentiating):
    """The metadata of a number is its place on the tape."""

    def __init__(self) -> None:
        super().__init__()
        self.tape: list[Node] = []

    def combined(self, pairs: list[tuple[Any, Any]]) -> Node:
        node = Node(len(self.tape), pairs)
        self.tape.append(node)
        return node

    def pull_back(self, seeds: list[tuple[Node, Any]]) -> list[Any]:
        """The derivatives of the seeds, weighted, with respect to each number on the tape."""
        found: list[Any] = [0.0] * len(self.tape)
        for node, weight in seeds:
            found[node.number] = found[node.number] + weight
        for node in reversed(self.tape):
            weight = found[node.number]
            if node.pairs and not (type(weight) is float and weight == 0.0):
                if type(node) is Node:
                    for partial, source in node.pairs:
                        found[source.number] = found[source.number] + partial * weight
                else:
                    for source, contribution in node.contributions(weight):
                        found[source.number] = found[source.number] + contribution
        return found

    def input(self, value: Any) -> Node:
        """A new place on the tape, for a number or array of the arguments."""
        return self.combined([])

    def found_of(self, found: list[Any], node: Node) -> Any:
        """The derivative that was found for a number or array of the arguments."""
        return found[node.number]


def go_on(f: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A call as if there were no overload of it: special methods of the program run in the context."""
    here = ACTIVE.get()
    left = here.suspended
    if left is None or left.variant is None:
        return f(*map(plain, arguments), **{name: plain(value) for name, value in keywords.items()})
    function, *leading = split(f)
    token = ACTIVE.set(left)
    try:
        call = left.variant.runners[int(Events.CALLS)].call
        return call(left, len(here.contexts), f, function, tuple(leading), tuple(arguments), keywords)
    finally:
        ACTIVE.reset(token)


def own_part(ctx: Any, arguments: Sequence[Any]) -> tuple[Any, list[Any], list[tuple[int, Any]]]:
    """The tag, the arguments without what it knows of them, and what it knows, by number of the argument."""
    own: Any = tag_of(ctx)
    values, found = [], []
    for number, argument in enumerate(arguments):
        if type(argument) is Tagged and own in argument._tagged_metas:
            found.append((number, argument._tagged_metas[own]))
            left = {tag: metadata for tag, metadata in argument._tagged_metas.items() if tag is not own}
            argument = Tagged(argument._tagged_value, left) if left else argument._tagged_value
        values.append(argument)
    return own, values, found


def made(value: Any, own: Any, metadata: Any) -> Tagged:
    return Tagged(plain(value), {**(metas_of(value) or {}), own: metadata})


def differentiate(ctx: Any, f: Any, *arguments: Any) -> Any:
    """The overload of a function whose derivative is known."""
    own, values, found = own_part(ctx, arguments)
    if not found or not all(is_number(plain(value)) for value in values):
        return ctx.beyond_numbers(f, arguments)
    value = run(f, *values)
    if f in PARTIALS:
        partials = PARTIALS[f]
        pairs = [(partials[number](value, *values), metadata) for number, metadata in found]
    else:
        every = ALL_PARTIALS[f](value, *values)
        pairs = [(every[number], metadata) for number, metadata in found]
    return made(value, own, ctx.combined(pairs))


def _differentiate_fold(ctx: Any, f: Any, items: Any, *start: Any, **keywords: Any) -> Any:
    """The overload of a function of the items of an iterable."""
    given = items_outside(items)
    own, values, found = own_part(ctx, [*start, *keywords.values(), *given])
    if not found:
        return fallback(ctx, f, list(map(plain, given)) if metas_free(given) else given, *start, **keywords)
    if any(type(value) is Tagged for value in values):
        value = functools.reduce(functools.partial(run, _STEPS[f]), values)
    elif start or keywords:
        value = f(values[1:], *(values[:1] if start else ()), **dict.fromkeys(keywords, values[0]))
    else:
        value = f(values)
    partials = FOLDS[f](value, *values)
    return made(value, own, ctx.combined([(partials[number], metadata) for number, metadata in found]))


def metas_free(items: list[Any]) -> bool:
    """Whether nothing is wrapped."""
    return not any(type(item) is Tagged for item in items)


_STEPS = {function: operator.mul if function.__name__ == "prod" else operator.add for function in FOLDS}

for _function in (*PARTIALS, *ALL_PARTIALS):
    Differentiating.overdub.register(_function)(differentiate)
for _function in FOLDS:
    Differentiating.overdub.register(_function)(_differentiate_fold)


# ---- the functions


_KNOWN = frozenset(map(id, (*PARTIALS, *ALL_PARTIALS, *FOLDS, min, max, float)))


def _arrays() -> Any:
    """What knows arrays, if the program does."""
    if "numpy" not in sys.modules:
        return None
    from cassette_import.contexts.autodiff.arrays import modes

    return modes


def _check(f: Any) -> None:
    """Out of sight, derivatives would be lost, and zero would be wrong."""
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if python_function(f) is not None:
        return
    function, arrays = underlying(f), _arrays()
    if id(function) not in _KNOWN and not (arrays is not None and arrays.knows(function)):
        raise NotOverdubbable(f"there is no derivative of {f!r}: it has no Python source, and no rule is known for it")


def derivative(f: Callable[..., Any], x: Any) -> Any:
    """The derivative of a function of one number, in forward mode.

    Parameters
    ----------
    f:
        A function of one number. What it returns is a number, or a structure (lists, tuples, dicts) of them.
    x:
        Where.

    Returns
    -------
    The derivative, in the structure of the result; 0.0 where the result does not depend on `x`.

    Raises
    ------
    NotOverdubbable
        If `f` has no source and no known derivative.

    >>> import math
    >>> derivative(math.exp, 0.0)
    1.0
    """
    return parts_of(jvp(f, (x,), (1.0,)))[1]


def jvp(f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of ``f(*args)``, and its derivative in the direction of `tangents`: forward mode.

    Parameters
    ----------
    f, args:
        The call. Arguments are numbers, structures of numbers (lists, tuples, dicts), or anything else.
    tangents:
        One for each argument, of its structure; None for an argument that is no number.

    Raises
    ------
    ValueError
        If `tangents` have another structure than `args`.

    >>> jvp(operator.mul, (2.0, 5.0), (1.0, 0.0))
    (10.0, 5.0)
    """
    if len(args) != len(tangents):
        raise ValueError(f"{len(args)} arguments need as many tangents, not {len(tangents)}")
    _check(f)
    arrays = _arrays()
    ctx = Forward() if arrays is None else arrays.ArrayForward()
    inputs = Inputs(ctx)
    given = [
        inputs.tagged(value, tangent)
        for value, tangent in zip(parts_of(args).values(), parts_of(tangents).values(), strict=True)
    ]
    return settled(outputs(overdub(ctx, f, *given), ctx, 0.0))  # type: ignore[no-any-return]


def vjp(f: Callable[..., Any], args: Sequence[Any], cotangent: Any = 1.0) -> tuple[Any, tuple[Any, ...]]:
    """The value of ``f(*args)``, and the derivatives of it, weighted by `cotangent`, for each argument: reverse mode.

    Parameters
    ----------
    f, args:
        The call. Arguments are numbers, structures of numbers, or anything else.
    cotangent:
        The weight of the result, of its structure.

    Returns
    -------
    The value, and a tuple with an entry for each argument, of its structure; None for what is no number.

    >>> vjp(operator.mul, (2.0, 5.0))
    (10.0, (5.0, 2.0))
    """
    _check(f)
    arrays = _arrays()
    ctx = Reverse() if arrays is None else arrays.ArrayReverse()
    inputs = Inputs(ctx, ctx.input)
    value, nodes = outputs(overdub(ctx, f, *map(inputs.tagged, parts_of(args).values())), ctx, None)
    seeds: list[tuple[Node, Any]] = []
    _weigh(nodes, cotangent, seeds)
    found = ctx.pull_back(seeds)
    derivatives = tuple(inputs.mirrored(argument, lambda node: ctx.found_of(found, node)) for argument in inputs.seen)
    return settled((value, derivatives))  # type: ignore[no-any-return]


def _weigh(nodes: Any, weight: Any, seeds: list[tuple[Node, Any]]) -> None:
    """Give each number of a result its weight."""
    if isinstance(nodes, Node):
        seeds.append((nodes, weight))
    elif isinstance(nodes, (list, tuple, dict)):
        weights = None if is_number(plain(weight)) else parts_of(plain(weight))
        for key, part in nodes.items() if isinstance(nodes, dict) else enumerate(nodes):
            _weigh(part, weight if weights is None else weights[key], seeds)


def gradient(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """The derivatives of ``f(*args)``, a number, for each argument: reverse mode.

    Returns
    -------
    A tuple with an entry for each argument, of its structure.

    >>> gradient(sum, [3.0, 4.0])
    ([1.0, 1.0],)
    """
    return parts_of(vjp(f, args))[1]  # type: ignore[no-any-return]


VERBS.update(map(id, (derivative, gradient, jvp, vjp)))
