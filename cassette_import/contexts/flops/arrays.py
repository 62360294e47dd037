"""Which operations a call does with arrays: tables of NumPy's functions, counted by element.

A function that reduces `n` numbers to one does `n - 1` operations, a product of matrices one multiplication for each
product of two numbers. Nothing is imported: the tables are made once the program has imported NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import FREE, Cost
from cassette_import.contexts.common.number_functions.table import BY_UFUNC
from cassette_import.contexts.flops.operations import NOTHING, Operations, Rule, operations_with, scaled

__all__ = ["ArrayRules"]

_COSTS: Final[dict[str, Cost]] = {
    **{name: row.cost for name, row in BY_UFUNC.items() if row.cost is not None},
    **dict.fromkeys(("isnat", "modf", "frexp"), FREE),
    "divmod": lambda count: {"floordiv": 1, "mod": 1},
}
"""The costs of ufuncs. One that is not here is an operation by its own name."""

_FREE: Final = (
    "all allclose any append arange argmax argmin argsort argwhere around array array_equal array_split asarray"
    " ascontiguousarray asfarray astype atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to choose clip"
    " column_stack compress concatenate copy copyto count_nonzero delete diag diagonal dsplit dstack empty empty_like"
    " expand_dims extract eye fill_diagonal flatnonzero flip fliplr flipud frombuffer fromiter full full_like hsplit"
    " hstack identity imag insert isclose iscomplex isin isreal lexsort max meshgrid min moveaxis nan_to_num nonzero"
    " ones ones_like pad partition place ptp put putmask ravel real repeat reshape resize roll rollaxis rot90 round"
    " round_ searchsorted select sort split squeeze stack swapaxes take take_along_axis tile transpose tril triu"
    " trim_zeros unique vsplit vstack where zeros zeros_like"
)
"""Functions that move numbers, or compare them."""
_FREE_METHODS: Final = (
    "all any argmax argmin argsort astype choose clip compress conj conjugate copy diagonal fill flatten item max min"
    " nonzero partition ptp put ravel repeat reshape resize round searchsorted sort squeeze swapaxes take tobytes"
    " tolist transpose view __array__ __getitem__ __setitem__ __copy__ __deepcopy__"
)
_PRODUCTS: Final = frozenset({"matmul", "vecdot", "matvec", "vecmat"})
_REDUCTIONS: Final = {"sum": "add", "nansum": "add", "prod": "mul", "cumsum": "add", "cumprod": "mul", "trace": "add"}


class ArrayRules:
    """The rules of NumPy's functions by their identity.

    Parameters
    ----------
    numpy:
        The module.

    Example
    -------
    >>> import numpy
    >>> ArrayRules(numpy).rule(numpy.multiply)(numpy.ones(3), (numpy.ones(3), 2.0), {})
    {'mul': 3}
    """

    def __init__(self, numpy: Any) -> None:
        self._numpy = numpy
        self._rules: dict[int, Rule] = {}
        methods = vars(numpy.ndarray)
        owners: tuple[tuple[Any, str, Callable[[str], Rule]], ...] = (
            (vars(numpy), _FREE, lambda name: _free),
            (methods, _FREE_METHODS, lambda name: _free),
            *((owner, " ".join(_REDUCTIONS), self._reduction) for owner in (vars(numpy), methods)),
            *((owner, "mean var std", lambda name: _STATISTICS[name]) for owner in (vars(numpy), methods)),
            *((owner, "dot", lambda name: _products) for owner in (vars(numpy), methods)),
            (vars(numpy), "inner vdot", lambda name: _products),
            (vars(numpy), "outer kron", lambda name: _by_element("mul")),
            (vars(numpy), "diff", lambda name: _differences),
            (vars(numpy.linalg), "norm", lambda name: _norm),
        )
        for namespace, names, make in owners:
            for name in names.split():
                if name in namespace:
                    self._rules[id(namespace[name])] = make(name)
        ufunc = vars(numpy.ufunc)
        self._rules[id(ufunc["reduce"])] = self._rules[id(ufunc["accumulate"])] = _ufunc_reduction
        self._rules[id(ufunc["outer"])] = _ufunc_outer
        self._rules[id(ufunc["at"])] = _ufunc_at

    def rule(self, function: Any) -> Rule | None:
        """The rule of a function of NumPy; None if it has none."""
        if isinstance(function, self._numpy.ufunc):
            if function.signature is not None:
                return _generalized(function)
            return lambda result, arguments, keywords: self._of_ufunc(function, result, keywords)
        if isinstance(function, type) and issubclass(function, (self._numpy.generic, self._numpy.ndarray)):
            return _free
        return self._rules.get(id(function))

    def of_operator(self, name: str, result: Any, arguments: tuple[Any, ...]) -> Operations:
        """The operations of an operator whose result is an array or a scalar of NumPy."""
        if name == "matmul":
            return _products(result, arguments, {})
        return (
            operations_with(name, int(result.size), of_complex=_is_complex(result)) if _is_inexact(result) else NOTHING
        )

    def _of_ufunc(self, ufunc: Any, result: Any, keywords: dict[str, Any]) -> Operations:
        first = result[0] if isinstance(result, tuple) else result
        cost = _cost_of(ufunc)
        if not _is_inexact(first) or cost == FREE:
            return NOTHING
        count = first.size
        where = keywords.get("where", True)
        if where is not True:
            count = int(self._numpy.count_nonzero(self._numpy.broadcast_to(where, first.shape)))
        return _counted(cost, count, of_complex=_is_complex(first))

    def _reduction(self, name: str) -> Rule:
        operation, runs = _REDUCTIONS[name], name.startswith("cum")

        def rule(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
            if not _is_inexact(result):
                return NOTHING
            given = self._numpy.asarray(arguments[0])
            size = (
                min(given.shape) * (given.size // math.prod(given.shape[:2]))
                if name == "trace"
                else _taken(given, keywords)
            )
            kept = _outputs(result, given, arguments, keywords) if runs else result.size
            return operations_with(operation, max(size - kept, 0), of_complex=_is_complex(result))

        return rule


def _cost_of(ufunc: Any) -> Cost:
    name: str = ufunc.__name__
    return _COSTS.get(name, name)


def _counted(cost: Cost, count: int, *, of_complex: bool) -> Operations:
    """The operations of `count` applications of a ufunc to two arguments."""
    if not isinstance(cost, str):
        return scaled(cost(2), count)
    return operations_with(cost, count, of_complex=of_complex)


def _outputs(result: Any, given: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> int:
    """How many numbers a running total begins with."""
    axis = arguments[1] if len(arguments) > 1 else keywords.get("axis")
    if axis is None:
        return min(int(given.size), 1)
    return int(given.size) // int(given.shape[axis]) if given.shape[axis] else 0


def _is_inexact(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c")


def _is_complex(value: Any) -> bool:
    return bool(value.dtype.kind == "c")


def _free(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    return NOTHING


def _by_element(name: str) -> Rule:
    def rule(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
        return operations_with(name, result.size, of_complex=_is_complex(result)) if _is_inexact(result) else NOTHING

    return rule


def _differences(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations | None:
    """`diff`: the differences of differences are as many as the numbers along the axis, less one each time."""
    order = arguments[1] if len(arguments) > 1 else keywords.get("n", 1)
    if not _is_inexact(result):
        return NOTHING
    if order != 1 and (len(arguments) > 2 or keywords.keys() - {"n"} or not result.size):
        return None
    length = result.shape[-1] if result.shape else 0
    rows = result.size // max(length, 1)
    count = sum(rows * (length + step) for step in range(order))
    return operations_with("sub", count, of_complex=_is_complex(result))


def _taken(argument: Any, keywords: dict[str, Any]) -> int:
    """How many numbers a reduction takes."""
    where = keywords.get("where", True)
    if where is True or not hasattr(where, "shape"):
        return _size_of(argument)
    repeated: int = math.prod(_shape_of(argument)) // max(int(where.size), 1)
    return int(where.sum()) * max(repeated, 1)


def _size_of(argument: Any) -> int:
    size = getattr(argument, "size", None)
    if isinstance(size, int):
        return size
    return sum(map(_size_of, argument)) if isinstance(argument, (list, tuple)) else 1


def _shape_of(argument: Any) -> tuple[int, ...]:
    shape = getattr(argument, "shape", None)
    if shape is not None:
        return tuple(shape)
    return (len(argument), *_shape_of(argument[0])) if isinstance(argument, (list, tuple)) and argument else ()


def _products(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    """A product of vectors or matrices: each number of the result is a sum of products."""
    if not _is_inexact(result):
        return NOTHING
    of_complex = _is_complex(result)
    terms = (_shape_of(arguments[0]) or (1,))[-1]
    if not _shape_of(arguments[0]) or not _shape_of(arguments[1]):
        return operations_with("mul", result.size, of_complex=of_complex)
    found: dict[str, int] = {}
    for name, count in (("mul", terms), ("add", max(terms - 1, 0))):
        for operation, number in operations_with(name, count * result.size, of_complex=of_complex).items():
            found[operation] = found.get(operation, 0) + number
    return found


def _generalized(ufunc: Any) -> Rule:
    """The rule of a ufunc of vectors and matrices: a product is known if its sums run along the last axis."""

    def rule(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations | None:
        is_known = ufunc.__name__ in _PRODUCTS and not {"axis", "axes"} & keywords.keys()
        return _products(result, arguments, keywords) if is_known else None

    return rule


def _mean(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    if not _is_inexact(result):
        return NOTHING
    return {"add": max(_taken(arguments[0], keywords) - result.size, 0), "truediv": int(result.size)}


def _variance(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    """Two means, the second one of squared deviations."""
    if not _is_inexact(result):
        return NOTHING
    size, outputs = _taken(arguments[0], keywords), int(result.size)
    return {"add": 2 * max(size - outputs, 0), "truediv": 2 * outputs, "sub": size, "mul": size}


def _deviation(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    found = _variance(result, arguments, keywords)
    return {**found, "sqrt": int(result.size)} if found else found


_STATISTICS: Final[dict[str, Rule]] = {"mean": _mean, "var": _variance, "std": _deviation}


def _norm(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations | None:
    if len(arguments) > 1 or keywords.get("ord") is not None:
        return None
    size, outputs = _size_of(arguments[0]), int(result.size)
    return {"mul": size, "add": max(size - outputs, 0), "sqrt": outputs}


def _ufunc_reduction(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    ufunc, given = arguments[0], arguments[1]
    cost = _cost_of(ufunc)
    if not _is_inexact(result) or cost == FREE:
        return NOTHING
    size = _taken(given, keywords)
    outputs = result.size
    if result.size == size and size:  # `accumulate` keeps each step
        shape = _shape_of(given)
        axis = keywords.get("axis", arguments[2] if len(arguments) > 2 else 0) or 0
        outputs = size // shape[axis]
    return _counted(cost, max(size - outputs, 0), of_complex=_is_complex(result))


def _ufunc_outer(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    cost = _cost_of(arguments[0])
    if not _is_inexact(result) or cost == FREE:
        return NOTHING
    return _counted(cost, result.size, of_complex=_is_complex(result))


def _ufunc_at(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    """An operation for each number that `ufunc.at(array, indices, ...)` changes in place."""
    ufunc, given, indices = arguments[:3]
    cost = _cost_of(ufunc)
    if not _is_inexact(given) or cost == FREE:
        return NOTHING
    return _counted(cost, given[indices].size, of_complex=_is_complex(given))
