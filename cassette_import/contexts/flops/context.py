"""`Flops`: counts the floating-point operations of a program by kind and by function.

Each thread counts in a table of its own without a lock; `counts` and `by_function` combine the tables. A leaf that
computes numbers from numbers, and for which no rule is known, is counted as a call in `uncounted`.
"""

from __future__ import annotations

import cmath
import json
import math
import operator
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import Any, ClassVar, Final, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import canrecurse, recurse
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.function_names import full_name
from cassette_import.kits.numbers.numeric_values import holds_floats, is_array
from cassette_import.kits.numbers.overloads import show_additions
from cassette_import.kits.numbers.row import FREE, Cost, Row
from cassette_import.kits.numbers.table import BY_UFUNC, MOVEMENTS, NUMBERS, QUESTIONS, ROUNDINGS
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagged_containers import is_a_container
from cassette_import.kits.tagging import COMPUTES, UNCLASSIFIED, classification
from cassette_import.kits.text import plural, text_writer
from cassette_import.rewriting.events import Events

__all__ = ["OPERATIONS", "ArrayRules", "Flops"]

# ---- which operations a call does with numbers: tables of operators, and of functions of `math` and `cmath`
#
# An operation is named after the function of `operator` or `math` that does it. An operation with complex numbers is
# that of its parts: CPython multiplies by four products, and divides as R. L. Smith does ("Algorithm 116: Complex
# division", Communications of the ACM 5, 1962).

Operations: TypeAlias = Mapping[str, int]
"""How often each operation is done."""

Rule: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], "Operations | None"]
"""Takes the result of a call, its positional and its keyword arguments. None: the rule does not hold for this call."""

NOTHING: Final[Operations] = {}

_OF_COMPLEX: Final[dict[str, Operations]] = {
    "add": {"add": 2},
    "sub": {"sub": 2},
    "mul": {"mul": 4, "add": 1, "sub": 1},
    "truediv": {"truediv": 3, "mul": 3, "add": 2, "sub": 1},
    "neg": {"neg": 2},
    "abs": {"mul": 2, "add": 1, "sqrt": 1},
}


def operations_with(name: str, count: int, *, of_complex: bool = False) -> Operations:
    """The operations of `count` operations of one kind.

    >>> operations_with("mul", 3), operations_with("mul", 2, of_complex=True)
    ({'mul': 3}, {'mul': 8, 'add': 2, 'sub': 2})
    """
    if not of_complex:
        return {name: count}
    return scaled(_OF_COMPLEX.get(name, {f"complex {name}": 1}), count)


def scaled(operations: Operations, count: int) -> Operations:
    """The operations, each `count` times."""
    return {name: number * count for name, number in operations.items()}


def one(name: str) -> Rule:
    """The rule of a function of numbers that does one operation."""
    real, of_complex = operations_with(name, 1), operations_with(name, 1, of_complex=True)

    def rule(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
        if isinstance(result, float):
            return of_complex if isinstance(arguments[0], complex) else real
        return of_complex if isinstance(result, complex) else NOTHING

    return rule


def _both(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    """`divmod`: a quotient and a remainder."""
    is_float = type(result) is tuple and isinstance(result[0], float)
    return {"floordiv": 1, "mod": 1} if is_float else NOTHING


def _free(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    return NOTHING


def _rule_of(row: Row) -> Rule:
    """The rule for the column `cost` of a row."""
    cost = row.cost
    if not cost:
        return _free
    if isinstance(cost, str):
        return one(cost)
    return lambda result, arguments, keywords: cost(len(arguments))


def _dist(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    count = next(
        (len(point) for point in arguments if is_a_container(point)), 0
    )  # both points have as many coordinates
    return {"sub": count, "mul": count, "add": max(count - 1, 0), "sqrt": 1}


_WITHOUT_OPERATIONS: Final = "fmax fmin frexp gcd lcm modf signbit"
_CMATH: Final = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh phase rect"

OPERATIONS: Final[dict[Any, Rule]] = {
    **{
        function: _rule_of(row)
        for row in (*NUMBERS, *QUESTIONS, *ROUNDINGS)
        for function in row.functions
        if type(function) is not type
    },
    **{getattr(math, name): _free for name in _WITHOUT_OPERATIONS.split() if hasattr(math, name)},
    **{getattr(cmath, name): one(name) for name in _CMATH.split()},
    cmath.polar: lambda result, arguments, keywords: {"complex polar": 1},
    divmod: _both,
    math.dist: _dist,
}
"""The rules of functions of a fixed number of numbers."""


def _total(name: str) -> Callable[[Any, int, bool], Operations]:
    def rule(result: Any, count: int, starts: bool) -> Operations:
        if not isinstance(result, (float, complex)):
            return NOTHING
        return operations_with(name, count if starts else max(count - 1, 0), of_complex=isinstance(result, complex))

    return rule


def _inner(result: Any, count: int, starts: bool) -> Operations:
    return {"mul": count, "add": max(count - 1, 0)} if isinstance(result, float) else NOTHING


COUNTED_ITEMS: Final[dict[Any, Callable[[Any, int, bool], Operations]]] = {
    sum: _total("add"),
    math.fsum: _total("add"),
    math.prod: _total("mul"),
    **({math.sumprod: _inner} if hasattr(math, "sumprod") else {}),
}
"""The rules of functions of an iterable: they take the result, the number of items, and whether a start was given."""


def items_of(arguments: Sequence[Any]) -> int | None:
    """How many items the first argument has; None if only iteration tells, or code of the program."""
    return len(arguments[0]) if is_a_container(arguments[0]) else None


# ---- which operations a call does with arrays: tables of NumPy's functions, counted by element
#
# A function that reduces `n` numbers to one does `n - 1` operations, a product of matrices one multiplication for each
# product of two numbers. Nothing is imported: the tables are made once the program has imported NumPy.

_COSTS: Final[dict[str, Cost]] = {
    **{name: row.cost for name, row in BY_UFUNC.items() if row.cost is not None},
    **dict.fromkeys(("isnat", "modf", "frexp"), FREE),
    "divmod": lambda count: {"floordiv": 1, "mod": 1},
}
"""The costs of ufuncs. One that is not here is an operation by its own name."""

_FREE: Final = (
    "all allclose any arange argmax argmin argsort argwhere around array array_equal asarray asfarray astype"
    " choose clip compress copyto count_nonzero empty empty_like extract eye fill_diagonal flatnonzero frombuffer"
    " fromiter full full_like identity imag isclose iscomplex isin isreal lexsort max min nan_to_num nonzero ones"
    " ones_like partition place ptp put putmask resize round round_ searchsorted select sort trim_zeros unique"
    " where zeros zeros_like"
)
"""Functions that compare numbers, choose among them, or make arrays; those that only move them are in a table."""
_FREE_METHODS: Final = (
    "all any argmax argmin argsort astype choose clip compress conj conjugate fill item max min nonzero partition"
    " ptp put resize round searchsorted sort tobytes view __array__ __setitem__"
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
            (vars(numpy), f"{_FREE} {' '.join(MOVEMENTS)}", lambda name: _free),
            (methods, f"{_FREE_METHODS} {' '.join(MOVEMENTS)}", lambda name: _free),
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
        return _products(result, arguments, {}) if name == "matmul" else _operations_of(name, result, _size_of(result))

    def _of_ufunc(self, ufunc: Any, result: Any, keywords: dict[str, Any]) -> Operations:
        first = result[0] if isinstance(result, tuple) else result
        where = keywords.get("where", True)
        if where is True or not _is_inexact(first):
            count = _size_of(first)
        else:
            count = int(self._numpy.count_nonzero(self._numpy.broadcast_to(where, first.shape)))
        return _operations_of(_cost_of(ufunc), first, count)

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
            return _operations_of(operation, result, max(size - kept, 0))

        return rule


def _cost_of(ufunc: Any) -> Cost:
    name: str = ufunc.__name__
    return _COSTS.get(name, name)


def _operations_of(cost: Cost, result: Any, count: int) -> Operations:
    """The operations of `count` applications of a function of two numbers, which have computed a result."""
    if cost == FREE or not _is_inexact(result):
        return NOTHING
    if not isinstance(cost, str):
        return scaled(cost(2), count)
    return operations_with(cost, count, of_complex=result.dtype.kind == "c")


def _outputs(result: Any, given: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> int:
    """How many numbers a running total begins with."""
    axis = arguments[1] if len(arguments) > 1 else keywords.get("axis")
    if axis is None:
        return min(int(given.size), 1)
    return int(given.size) // int(given.shape[axis]) if given.shape[axis] else 0


def _is_inexact(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c")


def _by_element(name: str) -> Rule:
    return lambda result, arguments, keywords: _operations_of(name, result, _size_of(result))


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
    return _operations_of("sub", result, count)


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
    left, right = map(_shape_of, arguments[:2])
    if not left or not right:
        return _operations_of("mul", result, result.size)
    counts = Counter(_operations_of("mul", result, left[-1] * result.size))
    counts.update(_operations_of("add", result, max(left[-1] - 1, 0) * result.size))
    return counts


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
    if not _is_inexact(result):
        return NOTHING
    size = _taken(given, keywords)
    outputs = result.size
    if result.size == size and size:  # `accumulate` keeps each step
        shape = _shape_of(given)
        axis = keywords.get("axis", arguments[2] if len(arguments) > 2 else 0) or 0
        outputs = size // math.prod(shape[number] for number in (axis if isinstance(axis, tuple) else (axis,)))
    return _operations_of(_cost_of(ufunc), result, max(size - outputs, 0))


def _ufunc_outer(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    return _operations_of(_cost_of(arguments[0]), result, _size_of(result))


def _ufunc_at(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    """An operation for each number that `ufunc.at(array, indices, ...)` changes in place."""
    ufunc, given, indices = arguments[:3]
    return _operations_of(_cost_of(ufunc), given, given[indices].size)


# ---- `Flops`: counts the floating-point operations of a program by kind and by function

_PACKAGE: Final = __name__.partition(".")[0] + "."
_INNER: Final = re.compile(r"(\.<locals>\.|^)<(genexpr|listcomp|setcomp|dictcomp)>")
_called_from: Final = sys._getframe

_BY_ID: Final = {id(function): rule for function, rule in OPERATIONS.items()}
_OF_ITEMS: Final = {id(function): rule for function, rule in COUNTED_ITEMS.items()}
_OPERATOR_NAMES: Final = {
    id(getattr(operator, prefix + name)): name
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "abs")
    for prefix in (("", "i") if name not in ("neg", "abs") else ("",))
} | {id(abs): "abs", id(pow): "pow"}


class Flops(Context, events=Events.CALLS | Events.OPERATORS):
    """Counts floating-point operations by kind and by function.

    An operation is named after the function of `operator` or `math` that does it: ``add``, ``sub``, ``mul``,
    ``truediv``, ``pow``, ``neg``, ``sqrt``, ``exp``. Operations on arrays count once for each element; comparisons,
    conversions and operations on integers do not count. An operation on complex numbers counts as those on its parts.

    Parameters
    ----------
    limit:
        How many functions the list on the terminal shows. Files have all of them.

    Raises
    ------
    ValueError
        If `limit` is not a number. The message is one line.

    Example
    -------
    >>> import math
    >>> from cassette_import import overdub
    >>> def norm(xs):
    ...     return math.sqrt(sum(x * x for x in xs))
    >>> flops = Flops()
    >>> overdub(flops, norm, [2.0, 3.0, 6.0])
    7.0
    >>> flops.counts
    {'mul': 3, 'add': 2, 'sqrt': 1}
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    module_level = False

    def __init__(self, *, limit: int = 30) -> None:
        super().__init__()
        check_number("limit", limit, "functions")
        self._limit = limit
        self._arrays: ArrayRules | None = None
        self._threads: dict[int, dict[int, tuple[CodeType, str, dict[str, int]]]] = {}
        self._items: dict[int, int] = {}
        self._overdubbed: dict[int, tuple[CodeType, bool]] = {}
        self.uncounted: dict[str, int] = {}
        """The calls of leaves that computed numbers, and for which no rule is known, by the name of the leaf."""

    def forked(self) -> None:
        """Start with no operations in a forked process."""
        self._threads.clear()
        self.uncounted.clear()

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the operations of a call."""
        found = self._operations(result, f, args, kwargs)
        if not found:
            return
        counts = self._counts_of(_program_frame(_called_from(1)))
        for name, number in found.items():
            counts[name] = counts.get(name, 0) + number

    def _operations(self, result: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Operations | None:
        identity = id(f)
        if identity in _BY_ID:
            if not is_array(result):
                return _BY_ID[identity](result, args, kwargs)
        elif identity in _OF_ITEMS:
            count = items_of(args)
            if count is None:
                count = self._items.pop(get_ident(), 0)
            starts = len(args) > 1 or "start" in kwargs
            return _OF_ITEMS[identity](result, count, starts)
        arrays = self._array_rules()
        if arrays is not None:
            if identity in _OPERATOR_NAMES:
                return arrays.of_operator(_OPERATOR_NAMES[identity], result, args)
            rule = arrays.rule(f)
            if rule is not None:
                found = rule(result, args, kwargs)
                if found is not None:
                    return found
        if self._computes_unseen(result, f, args, kwargs):
            name = full_name(f)
            self.uncounted[name] = self.uncounted.get(name, 0) + 1
        return None

    def _array_rules(self) -> ArrayRules | None:
        if self._arrays is None:
            numpy = sys.modules.get("numpy")
            if hasattr(numpy, "ufunc") and hasattr(numpy, "linalg"):  # the import is over
                self._arrays = ArrayRules(numpy)
        return self._arrays

    def _computes_unseen(self, result: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if not holds_floats((result,)) or not holds_floats((*args, *kwargs.values())):
            return False
        if type(f) is FunctionType:
            code = f.__code__
            known = self._overdubbed.get(id(code))
            if known is None:
                known = self._overdubbed[id(code)] = code, canrecurse(self, f)
            return not known[1]
        return classification(f) in (COMPUTES, UNCLASSIFIED) and not canrecurse(self, f)

    def _counts_of(self, frame: FrameType) -> dict[str, int]:
        try:
            functions = self._threads[get_ident()]
        except KeyError:
            functions = self._threads.setdefault(get_ident(), {})
        code = frame.f_code
        try:
            return functions[id(code)][2]
        except KeyError:
            name = _INNER.sub("", code.co_qualname).replace(".<locals>", "") or "<module>"
            functions[id(code)] = code, f"{frame.f_globals.get('__name__')}.{name}", {}
            return functions[id(code)][2]

    @property
    def counts(self) -> dict[str, int]:
        """How often each operation was done, the most frequent first."""
        total: Counter[str] = Counter()
        for operations in self.by_function.values():
            total.update(operations)
        return _most_frequent_first(total)

    @property
    def by_function(self) -> dict[str, dict[str, int]]:
        """The operations of each function, by `module.function`; those with most operations come first.

        The operations of a comprehension or generator expression are those of the function that contains it.
        """
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for functions in list(self._threads.values()):
            for _, function, operations in list(functions.values()):
                counts[function].update(dict(operations))  # a copy, because the thread may still count
        order = sorted(counts, key=lambda function: -counts[function].total())
        return {function: _most_frequent_first(counts[function]) for function in order}

    def summary(self) -> str:
        """The operations by kind and by function, at most `limit` functions, and what was not counted."""
        return self._text(self._limit)

    def _text(self, limit: int | None = None) -> str:
        by_function = self.by_function
        total = sum(self.counts.values())
        lines = [f"flops: {plural(total, 'operation')} in {plural(len(by_function), 'function')}"]
        if by_function:
            lines += ["", *(f"{number:>12}  {name}" for name, number in self.counts.items()), ""]
        for function, counts in islice(by_function.items(), limit):
            kinds = ", ".join(f"{number} {name}" for name, number in counts.items())
            lines.append(f"{sum(counts.values()):>12}  {function}: {kinds}")
        if limit is not None and len(by_function) > limit:
            lines.append(f"{'':>12}  … {plural(len(by_function) - limit, 'further function')}")
        for name, calls in _most_frequent_first(self.uncounted).items():
            lines.append(
                f"not counted: the operations in {plural(calls, 'call')} of {name}, for which no rule is known"
            )
        return "\n".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the complete list, `.json` for the same as data."""
        return {
            ".txt": text_writer(self._text, "backslashreplace"),
            ".json": text_writer(
                lambda: json.dumps(
                    {"counts": self.counts, "by_function": self.by_function, "uncounted": self.uncounted}, indent=2
                ),
                "backslashreplace",
            ),
        }


def _most_frequent_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _program_frame(frame: FrameType) -> FrameType:
    """The frame of the program, if the event is a call that a leaf makes of a function that it was given."""
    while frame.f_globals.get("__name__", "").startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _seen_by_the_method(ctx: Flops, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """Make a function an event also where a leaf calls it, as `map(math.sqrt, xs)` does."""


@hidden
def _count_items(ctx: Flops, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Count the items of an iterator, which are used up when the hook sees the call."""
    if not args or items_of(args) is not None:
        return recurse(ctx, f, *args, **kwargs)
    numbered = enumerate(args[0])
    try:
        return recurse(ctx, f, map(_second, numbered), *args[1:], **kwargs)
    finally:
        state: Any = numbered.__reduce__()
        ctx._items[get_ident()] = state[1][1]


_second: Final = operator.itemgetter(1)

_hooks: Any = Flops
_hooks.posthook.register(*OPERATIONS)(_seen_by_the_method)
_hooks.overdub.register(*COUNTED_ITEMS)(_count_items)
show_additions(Flops)
