"""The public functions: derivatives of unmodified Python functions, in forward mode, and in reverse mode by a tape.

>>> import colorsys, math
>>> derivative(math.sin, 0.0)
1.0
>>> gradient(math.hypot, 3.0, 4.0)
(0.6, 0.8)
>>> jvp(colorsys.rgb_to_yiq, (0.2, 0.4, 0.6), (1.0, 0.0, 0.0))[1][0]
0.3

The metadata of a number is its derivative, or its node on the tape. It propagates through attributes, containers and
calls of functions in the module of `f` and in installed packages. A result that is not differentiable, such as that of
a comparison or of `int`, has derivative zero. A number that a leaf without a rule computes from one with a derivative
is an error, and so is one that is computed from its text. If the program has imported NumPy, arrays have derivatives
too; see `arrays`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from cassette_import.activation.verbs import overdub
from cassette_import.contexts.autodiff.modes import ALL_PARTIALS, Forward, Node, Reverse
from cassette_import.contexts.autodiff.structures import (
    Inputs,
    check_result,
    is_number,
    parts_of,
    returned,
    split_outputs,
)
from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.callables import python_function, underlying
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.partials import FOLDS, JOINT_PARTIALS, LOCALLY_CONSTANT, TRUTH_VALUES
from cassette_import.kits.tagging import WRAPPER_AWARE, plain

__all__ = ["derivative", "gradient", "jvp", "vjp"]


_KNOWN = frozenset(
    map(id, (*ALL_PARTIALS, *JOINT_PARTIALS, *FOLDS, *LOCALLY_CONSTANT, *TRUTH_VALUES, *COMPOSITIONS, min, max, float))
)


def _arrays() -> Any:
    """The module with the modes for arrays, if the program has imported NumPy."""
    if "numpy" not in sys.modules:
        return None
    from cassette_import.contexts.autodiff.arrays import modes

    return modes


def _check(f: Any) -> None:
    """Refuse a function without source and rule: the derivative would be lost, and zero would be wrong."""
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if python_function(f) is not None:
        return
    function, arrays = underlying(f), _arrays()
    if id(function) not in _KNOWN and not (arrays is not None and arrays.has_rule(function)):
        raise NotOverdubbable(f"there is no derivative of {f!r}: it has no Python source, and no rule is known for it")


def derivative(f: Callable[..., Any], x: Any) -> Any:
    """The derivative of a function of one number, in forward mode.

    Parameters
    ----------
    f:
        A function of one number. It returns a number, or a structure (lists, tuples, dicts) of numbers.
    x:
        The point at which to differentiate.

    Returns
    -------
    The derivative, in the structure of the result; 0.0 where the result does not depend on `x`.

    Raises
    ------
    NotOverdubbable
        If `f` has no source and no known derivative, or calls a leaf that has none.
    TypeError
        If `x` is no number, or if the result contains no number.

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
        The function and its arguments: numbers, structures of numbers (lists, tuples, dicts), or other objects.
    tangents:
        A direction for each argument, in its structure; None for an argument that is no number.

    Returns
    -------
    The value, and the derivative in the structure of the value; numbers that depend on no argument have derivative 0.0.

    Raises
    ------
    ValueError
        If the structure of `tangents` differs from that of `args`.
    TypeError
        If an argument with a tangent is no number, or if the result contains no number.

    >>> import operator
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
    with ctx.checked():
        result = overdub(ctx, f, *given)
    check_result(result)
    return returned(split_outputs(result, ctx, 0.0))  # type: ignore[no-any-return]  # what it gets


def vjp(f: Callable[..., Any], args: Sequence[Any], cotangent: Any = 1.0) -> tuple[Any, tuple[Any, ...]]:
    """The value of ``f(*args)``, and the derivative of its weighted sum for each argument: reverse mode.

    Parameters
    ----------
    f, args:
        The function and its arguments: numbers, structures of numbers, or other objects.
    cotangent:
        The weight of the result, in its structure.

    Returns
    -------
    The value, and a tuple with an entry for each argument, in its structure; None for an object that is no number.

    Raises
    ------
    TypeError
        If the result contains no number.

    >>> import operator
    >>> vjp(operator.mul, (2.0, 5.0))
    (10.0, (5.0, 2.0))
    """
    _check(f)
    arrays = _arrays()
    ctx = Reverse() if arrays is None else arrays.ArrayReverse()
    inputs = Inputs(ctx, ctx.new_input)
    with ctx.checked():
        given = list(map(inputs.tagged, parts_of(args).values()))
        result = overdub(ctx, f, *given)
    check_result(result)
    value, nodes = split_outputs(result, ctx, None)
    seeds: list[tuple[Node, Any]] = []
    _collect_seeds(nodes, cotangent, seeds)
    found = ctx.pull_back(seeds)
    derivatives = tuple(
        inputs.mirrored(argument, lambda node: ctx.derivative_of(found, node)) for argument in inputs.seen
    )
    return returned((value, derivatives))  # type: ignore[no-any-return]  # what it gets


def _collect_seeds(nodes: Any, weight: Any, seeds: list[tuple[Node, Any]]) -> None:
    """Append each node of a result, with its weight, to the seeds."""
    if isinstance(nodes, Node):
        seeds.append((nodes, weight))
    elif isinstance(nodes, (list, tuple, dict)):
        weights = None if is_number(plain(weight)) else parts_of(plain(weight))
        for key, part in nodes.items() if isinstance(nodes, dict) else enumerate(nodes):
            _collect_seeds(part, weight if weights is None else weights[key], seeds)


def gradient(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """The derivatives of the number ``f(*args)`` for each argument: reverse mode.

    Parameters
    ----------
    f, args:
        The function and its arguments: numbers, structures of numbers (lists, tuples, dicts), or other objects.

    Returns
    -------
    A tuple with an entry for each argument, in its structure; None for an object that is no number.

    Raises
    ------
    TypeError
        If the result contains no number.

    >>> gradient(sum, [3.0, 4.0])
    ([1.0, 1.0],)
    """
    return parts_of(vjp(f, args))[1]  # type: ignore[no-any-return]


WRAPPER_AWARE.update(map(id, (derivative, gradient, jvp, vjp)))
