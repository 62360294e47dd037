"""Calls of NumPy's functions: by element, sums along axes, and everything else by the table.

Importing the module registers it for NumPy's protocols.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity import mixtures, movements
from cassette_import.contexts.sparsity.arrays import (
    Array,
    array,
    as_array,
    as_objects,
    dependences_of,
    plain,
    plain_deep,
)
from cassette_import.contexts.sparsity.errors import name_of
from cassette_import.contexts.sparsity.function_table import (
    FUNCTIONS,
    axis_of,
    call_plain,
    depends,
    each,
    handles,
    joined_over,
)
from cassette_import.contexts.sparsity.number import DISPATCH, Number
from cassette_import.contexts.sparsity.rules import UFUNC_KINDS, curved, linear, step
from cassette_import.contexts.sparsity.run import Run, joined

__all__ = ["call_function", "call_ufunc"]

_REGISTERED: Final = mixtures, movements  # their rules are in the table once they are imported


def call_function(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a function of NumPy."""
    handler = FUNCTIONS.get(f)
    if handler is None:
        raise run.refuse(f"{name_of(f)} gets numbers that depend on the inputs, and there is no rule for it")
    out = keywords.pop("out", None)
    arguments, keywords = _numbers_by_position(f, arguments, keywords)
    with np.errstate(all="ignore") if not run.active.live else np.errstate():
        found = handler(run, f, arguments, keywords)
    return found if out is None else _into(run, out, found)


_BY_NAME: Final = frozenset({"initial", "weights"})
"""The parameters of reductions that are looked up by name."""


def _numbers_by_position(f: Any, arguments: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a call. Those that depend on the inputs are given by position, where rules look for them."""
    named = [name for name, one in keywords.items() if name not in _BY_NAME and _depends(one)]
    if not named:
        return arguments, keywords
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except ValueError:  # it has none
        return arguments, keywords
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    if not set(named).issubset(names):
        return arguments, keywords
    rest, placed = dict(keywords), list(arguments)
    for parameter in parameters[len(arguments) : 1 + max(map(names.index, named))]:
        placed.append(rest.pop(parameter.name, parameter.default))
    return tuple(placed), rest


def _depends(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_depends, value))
    return type(value) in (Number, Array) and depends(value)


def _outs(out: Any) -> tuple[Any, ...]:
    return out if type(out) is tuple else (out,)


def _into(run: Run, out: Any, found: Any) -> Any:
    """Store a result in the array that was given as `out`, and return it."""
    (out,) = _outs(out)
    if type(out) is not Array:
        raise run.refuse("an array that was made elsewhere gets elements that depend on the inputs")
    out[...] = found
    return out


# ---- by element


def call_ufunc(run: Run, ufunc: Any, method: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a ufunc, or one of its methods."""
    out = keywords.pop("out", None)
    if out is not None and method == "__call__" and "where" in keywords:
        found = call_ufunc(run, ufunc, method, arguments, {**keywords, "where": True})
        return _into(run, out, call_function(run, np.where, (keywords["where"], found, *_outs(out)), {}))
    if any(type(one) in (list, tuple) for one in arguments[:2]):
        arguments = tuple(as_array(run, one) if type(one) in (list, tuple) else one for one in arguments)
    with np.errstate(all="ignore") if not run.active.live else np.errstate():
        if ufunc.signature is not None:
            found = call_function(run, ufunc, arguments, keywords)
        elif method == "__call__":
            found = _by_element(run, ufunc, arguments, keywords)
        elif method in ("reduce", "accumulate"):
            keywords = {"axis": 0, **keywords} if len(arguments) == 1 else keywords
            found = (_reduce if method == "reduce" else _accumulate)(run, getattr(ufunc, method), arguments, keywords)
        elif method == "outer":
            one, other = (as_array(run, argument) for argument in arguments)
            found = _by_element(run, ufunc, (one[(..., *[None] * other.ndim)], other), keywords)
        elif method == "at":
            raise run.refuse("np.ufunc.at has no rule")
        else:
            raise run.refuse(f"{name_of(ufunc)}.{method} has no rule")
    return found if out is None else _into(run, out, found)


def _by_element(run: Run, ufunc: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    where = keywords.get("where", True)
    if type(where) is Array:
        if not where.is_constant() and not run.local:
            raise run.refuse_branch("which elements are computed (`where`) depends on the inputs")
        keywords = {**keywords, "where": where.value}
    values = ufunc(*map(plain, arguments), **keywords)
    many = values if type(values) is tuple else (values,)
    given = [dependences_of(argument) for argument in arguments]
    found = []
    for one in many:
        dependences = _dependences_by_element(run, ufunc.__name__, one, given)
        found.append(array(run, one, _without_constants(ufunc, arguments, given, dependences)))
    return tuple(found) if type(values) is tuple else found[0]


_CANCELLING: Final = {np.multiply: (0, 1), np.power: (1,), np.float_power: (1,)}
"""The arguments that make the result constant where they are a constant zero."""


def _without_constants(ufunc: Any, arguments: Sequence[Any], given: Sequence[Any], dependences: Any) -> Any:
    """The dependences of a result, without those of elements that are multiplied by zero, or are powers of zero."""
    for number in _CANCELLING.get(ufunc, ()):
        is_zero = np.equal(plain(arguments[number]), 0)
        if is_zero.any():
            is_constant = is_zero & np.equal(given[number], 0).astype(bool)
            dependences = as_objects(np.where(is_constant, 0, dependences))
    return dependences


def _dependences_by_element(run: Run, name: str, value: Any, given: list[Any]) -> Any:
    kind = UFUNC_KINDS.get(name)
    if kind is None:
        kind = curved if getattr(value, "dtype", np.dtype(float)).kind in "fcO" else step
    if name == "power" and len(given) == 2 and not run.second:
        kind = linear
    either = given[0]
    for one in given[1:]:
        either = np.bitwise_or(either, one)
    either = as_objects(either)
    if kind is step:
        return each(lambda one: run.step(one), either)
    if not run.second or kind is linear:
        return either
    return as_objects(np.frompyfunc(lambda *each: kind(run, each), len(given), 1)(*given))


# ---- sums


_KINDS: Final = {
    **dict.fromkeys(["sum", "nansum", "mean", "nanmean", "average", "add", "maximum", "minimum"], linear),
    **dict.fromkeys(["max", "min", "amax", "amin", "nanmax", "nanmin", "ptp"], linear),
    **dict.fromkeys(["any", "all", "argmax", "argmin", "count_nonzero", "logical_and", "logical_or"], step),
}  # fmt: skip


@handles(
    "sum nansum mean nanmean max min amax amin nanmax nanmin ptp prod nanprod std var nanstd nanvar any all argmax"
)
@handles("argmin count_nonzero median nanmedian average")
@handles("norm", np.linalg)
def _reduce(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Each element of the result depends on all elements along the axes."""
    given = as_array(run, arguments[0])
    axis = axis_of(arguments, keywords)
    others = [*arguments[1:], *(one for name, one in keywords.items() if name not in ("weights", "initial"))]
    if any(type(one) in (Number, Array) and depends(one) for one in others):
        raise run.refuse(f"{name_of(f)}, with an option that depends on the inputs, has no rule")
    weights = keywords.get("weights")
    if f is np.linalg.norm:
        axis = plain_deep(keywords.get("axis", arguments[2] if len(arguments) > 2 else None))
    value = call_plain(f, (given, *arguments[1:]), keywords)
    shape = np.shape(value)
    dependences = np.bitwise_or.reduce(given.dependences, axis=axis, keepdims=bool(keywords.get("keepdims", False)))
    more = joined_over(one for one in (weights, keywords.get("initial")) if one is not None)
    dependences = np.bitwise_or(as_objects(dependences), as_objects(more))
    kind = _KINDS.get(getattr(f, "__name__", ""), curved)
    if hasattr(f, "__self__"):  # a method of a ufunc
        kind = _KINDS.get(f.__self__.__name__, curved)
    if weights is not None:
        kind = curved
    if np.shape(dependences) != shape:
        dependences = joined(as_objects(dependences).flat)
    return array(run, value, each(lambda one: kind(run, (one,)), dependences))


@handles("cumsum nancumsum cumprod nancumprod")
def _accumulate(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = as_array(run, arguments[0])
    axis = axis_of(arguments, keywords)
    value = f(given.value, *map(plain, arguments[1:]), **keywords)
    dependences = given.dependences.ravel() if axis is None else given.dependences
    dependences = np.bitwise_or.accumulate(dependences, axis=axis or 0)
    is_sum = getattr(f, "__name__", "") in ("cumsum", "nancumsum") or getattr(f, "__self__", None) is np.add
    return array(run, value, dependences if is_sum else each(run.curved, dependences))


# ---- methods


def _method(owner: Any, name: str) -> Any:
    """A bound method of an array."""
    run = owner.run
    if name == "reshape":
        return lambda *shape, **keywords: call_function(
            run, np.reshape, (owner, shape[0] if len(shape) == 1 else shape), keywords
        )
    if name == "transpose":
        return lambda *axes: call_function(
            run, np.transpose, (owner, (axes[0] if len(axes) == 1 else axes) or None), {}
        )
    if name in ("conj", "conjugate"):
        return lambda: call_ufunc(run, np.conjugate, "__call__", (owner,), {})
    if not hasattr(np, name):
        raise run.refuse(f"the method {name} of an array that may depend on the inputs has no rule")
    f = getattr(np, name)
    return lambda *arguments, **keywords: call_function(run, f, (owner, *arguments), keywords)


DISPATCH.update(ufunc=call_ufunc, function=call_function, cast=movements.cast, method=_method)
