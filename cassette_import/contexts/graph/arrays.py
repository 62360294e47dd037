"""NumPy's functions in graphs: those that `jax.numpy` has too, and changes of arrays as functions."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Collection
from functools import cache
from types import BuiltinFunctionType
from typing import Any, Final

from cassette_import.contexts.graph.known_functions import BINARY, IN_PLACE, OPERATORS
from cassette_import.contexts.graph.nodes import Node
from cassette_import.kits.numbers.numeric_values import array_types, can_change

__all__ = [
    "ATTRIBUTES",
    "CHANGED_ARRAY",
    "EXPRESSIONS",
    "IN_PLACE_SIGNS",
    "KNOWN_ATTRIBUTES",
    "METHODS",
    "Attribute",
    "Change",
    "Method",
    "asks_for_shapes",
    "change",
    "changed_arrays",
    "creators",
    "functions",
    "is_array_function",
    "is_in_order",
    "is_of_array",
    "leaves_numbers",
    "makers",
    "makes_array",
    "makes_new",
    "owner_of",
    "refused_call",
    "view_as_text",
    "view_name",
]

# ---- the functions, methods and attributes of NumPy that mean the same in `jax.numpy`: tables of names
#
# Importing the module does not import NumPy.

_ELEMENTWISE: Final = (
    *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod", "fmod", "power"),
    *("float_power", "negative", "positive", "absolute", "abs", "fabs", "sign", "sqrt", "cbrt", "square", "reciprocal"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "sin", "cos", "tan"),
    *("arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot"),
    *("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "pow"),
    *("deg2rad", "rad2deg", "degrees", "radians", "floor", "ceil", "trunc", "rint", "maximum", "minimum"),
    *("fmax", "fmin", "copysign", "heaviside", "isnan", "isinf", "isfinite", "signbit", "sinc", "conj", "conjugate"),
    *("logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("invert", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "isclose", "nan_to_num"),
    *("real", "imag", "angle", "where", "clip", "round", "around", "select", "matmul", "divmod", "modf", "interp"),
)
_REDUCTIONS: Final = (
    *("sum", "prod", "mean", "std", "var", "min", "max", "amin", "amax", "ptp", "argmin", "argmax", "all", "any"),
    *("cumsum", "cumprod", "count_nonzero", "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanstd", "nanvar"),
    *("median", "quantile", "percentile", "average", "trapezoid", "allclose", "array_equal", "trace", "cov"),
    "corrcoef",
)
_PRODUCTS: Final = (
    *("dot", "vdot", "inner", "outer", "tensordot", "einsum", "cross", "kron", "convolve", "correlate", "polyval"),
    *("linalg.norm", "linalg.det", "linalg.inv", "linalg.solve", "linalg.cholesky", "linalg.matrix_power"),
    *("linalg.slogdet", "linalg.eigvalsh", "fft.fft", "fft.ifft", "fft.rfft", "fft.irfft"),
)
_SHAPES: Final = (
    *("reshape", "ravel", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "broadcast_to"),
    *("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "tile", "repeat", "roll", "flip", "fliplr"),
    *("flipud", "rot90", "split", "array_split", "hsplit", "vsplit", "meshgrid", "broadcast_arrays", "atleast_1d"),
    *("atleast_2d", "atleast_3d", "array", "asarray", "copy", "zeros_like", "ones_like", "full_like", "full", "diff"),
    *("ediff1d", "gradient", "diag", "diagonal", "tril", "triu", "sort", "argsort", "searchsorted", "digitize"),
    *("linspace", "append", "float64", "float32", "int64", "int32", "bool_", "vander", "unwrap"),
)
_MAKERS: Final = ("zeros", "ones", "empty", "arange", "eye", "identity", "empty_like")
_OTHER_NAMES: Final = {"asanyarray": "asarray", "ascontiguousarray": "asarray"}
_QUESTIONS: Final = (
    *("shape", "ndim", "size", "iscomplexobj", "isrealobj", "isscalar", "result_type", "can_cast", "broadcast_shapes"),
    *("issubdtype", "min_scalar_type", "common_type"),
)
"""Functions whose result depends on the shapes and types of arrays alone."""

EXPRESSIONS: Final[dict[Any, str]] = {
    operator.add: "({} + {})", operator.sub: "({} - {})", operator.mul: "({} * {})", operator.truediv: "({} / {})",
    operator.floordiv: "numpy.floor_divide({}, {})", operator.mod: "numpy.remainder({}, {})",
    operator.pow: "({} ** {})", pow: "({} ** {})", operator.matmul: "({} @ {})",
    operator.and_: "({} & {})", operator.or_: "({} | {})", operator.xor: "({} ^ {})", operator.invert: "(~{})",
    operator.lt: "({} < {})", operator.le: "({} <= {})", operator.gt: "({} > {})", operator.ge: "({} >= {})",
    operator.eq: "({} == {})", operator.ne: "({} != {})", operator.neg: "(-{})", operator.pos: "(+{})",
    abs: "abs({})", operator.abs: "abs({})", operator.getitem: "{}[{}]", divmod: "numpy.divmod({}, {})",
}  # fmt: skip
"""Operators as expressions."""


class Attribute:
    """The attribute of an array, as a function."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "numpy.ndarray"  # in messages

    def __call__(self, array: Any) -> Any:
        """The attribute of an array."""
        return getattr(array, self.__name__)


class Method(Attribute):
    """A method of arrays, as a function."""

    def __call__(self, array: Any, *arguments: Any, **keywords: Any) -> Any:
        """The result of the method."""
        return getattr(array, self.__name__)(*arguments, **keywords)


ATTRIBUTES: Final = {name: Attribute(name) for name in ("T", "real", "imag", "mT")}
KNOWN_ATTRIBUTES: Final = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})
"""Attributes that are the same for all arrays of one kind."""
METHODS: Final = {
    name: Method(name)
    for name in (
        *("sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "all", "any", "cumsum", "cumprod"),
        *("dot", "reshape", "ravel", "flatten", "transpose", "swapaxes", "squeeze", "clip", "round", "astype", "copy"),
        *("conj", "conjugate", "diagonal", "trace", "repeat", "argsort", "searchsorted"),
    )
}


@cache
def functions() -> dict[Any, str]:
    """NumPy's functions, with their names."""
    import numpy

    names = {name: name for name in (*_ELEMENTWISE, *_REDUCTIONS, *_PRODUCTS, *_SHAPES)} | _OTHER_NAMES
    found = {_named(numpy, name): f"numpy.{other}" for name, other in names.items()}
    found.pop(None, None)
    return found


@cache
def makers() -> dict[Any, str]:
    """NumPy's functions that make arrays of known numbers, with their names."""
    import numpy

    return {getattr(numpy, name): f"numpy.{name}" for name in _MAKERS}


def makes_array(f: Any) -> bool:
    """Whether it is a function that makes arrays, or the method of an array that copies it."""
    return is_of_array(f) or _is_in(f, creators())


def _is_in(f: Any, functions: Collection[Any]) -> bool:
    try:
        return f in functions
    except TypeError:  # it has no hash
        return False


@cache
def creators() -> frozenset[Any]:
    """NumPy's functions that make arrays."""
    import numpy

    return frozenset(getattr(numpy, name) for name in (*_CREATORS, *_LIKE, "array"))


def is_of_array(f: Any) -> bool:
    """Whether it is the method of an array that copies it."""
    return type(f) is BuiltinFunctionType and f.__name__ == "copy" and can_change(f.__self__)


@cache
def _questions() -> frozenset[Callable[..., Any]]:
    import numpy

    return frozenset(_named(numpy, name) for name in _QUESTIONS)


def _named(numpy: Any, name: str) -> Any:
    """A function by its name; None if this version of NumPy does not have it."""
    found = numpy
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def is_array_function(f: Any) -> bool:
    """Whether it is a function, method or attribute of the tables."""
    return isinstance(f, Attribute) or _is_in(f, functions()) or _is_in(f, makers())


def asks_for_shapes(f: Any) -> bool:
    """Whether the result of a function of NumPy depends on shapes and types alone."""
    return _is_in(f, _questions())


# ---- changes of an array as functions: a copy of the array is changed, and returned

IN_PLACE_SIGNS: Final = {statement: f"{BINARY[function]}=" for statement, function in IN_PLACE.items()}
"""The statements that change an array by an operator."""


class Change:
    """A function of an array and operands: a copy of the array in which a part of it is changed.

    Parameters
    ----------
    path:
        How one comes from the array to the view that is changed: the expressions of views, with `{}` for each operand.
    sign:
        The sign of the statement: ``"="`` for an item, whose key is the operand before the last; ``"+="`` and the like.

    Attributes
    ----------
    source:
        The function as text, with `NAME` for its name.

    >>> made = change((), "=")
    >>> print(made.source)
    def NAME(array, key, value):
        array = array.copy("K")
        array[key] = value
        return array
    """

    def __init__(self, path: tuple[str, ...], sign: str) -> None:
        self.path = path
        self.sign = sign
        self.__name__ = self.__qualname__ = "with_item" if sign == "=" else "changed"
        self.__module__ = "operator"  # in labels
        self.keys = sum(step.count("{}") for step in path) + (sign == "=")
        self.source = self._text()
        names: dict[str, Any] = {}
        exec(self.source, names)
        self._run: Callable[..., Any] = names["NAME"]

    def __call__(self, array: Any, *operands: Any) -> Any:
        """The changed copy."""
        return self._run(array, *operands)

    def _text(self) -> str:
        keys = ["key", *(f"key_{number}" for number in range(2, self.keys + 1))][: self.keys]
        left = list(keys)
        place = "array"
        for step in self.path:
            place += step.format(*(left.pop(0) for _ in range(step.count("{}"))))
        lines = [f"def NAME({', '.join(['array', *keys, 'value'])}):", '    array = array.copy("K")']
        if self.sign == "=":
            lines.append(f"    {place}[{left[0]}] = value")
        elif self.path:
            lines += [f"    part = {place}", f"    part {self.sign} value"]
        else:
            lines.append(f"    array {self.sign} value")
        return "\n".join([*lines, "    return array"])

    def __repr__(self) -> str:
        return f"<Change array{''.join(self.path)} {self.sign}>"


@functools.cache
def change(path: tuple[str, ...], sign: str) -> Change:
    """The function for a path and a sign; there is one of each."""
    return Change(path, sign)


def view_name(function: Any, first: Any = None) -> str | None:
    """The name of the operation by which a function makes a view of an array; None if it need not make one.

    Parameters
    ----------
    function:
        The function.
    first:
        Its first operand, the array not counted.

    Returns
    -------
    ``"item"``, ``"T"``, ``"transpose"``, ``"swapaxes"`` or ``"reshape"``. Whether an item is a view depends on the key,
    and whether the result of `reshape` is one on the order of the array in memory.

    >>> view_name(operator.getitem), view_name(getattr, "T"), view_name(getattr, "flat"), view_name(Attribute("T"))
    ('item', 'T', None, 'T')
    """
    if function is operator.getitem:
        return "item"
    if function is getattr:
        return "T" if first == "T" else None
    is_of_array = issubclass(type(function), Attribute) or _owner_module(function) == "numpy"
    return function.__name__ if is_of_array and function.__name__ in _VIEWS else None


def _owner_module(method: Any) -> Any:
    return getattr(getattr(method, "__objclass__", None), "__module__", None)


_VIEWS: Final = frozenset({"T", "transpose", "swapaxes", "reshape"})


def view_as_text(function: Any, count: int, first: Any) -> str | None:
    """The expression of a view, with `{}` for each operand; None if a function need not make one.

    Parameters
    ----------
    function:
        The function.
    count:
        The number of its operands, the array not counted.
    first:
        The first of them.

    >>> view_as_text(operator.getitem, 1, 0), view_as_text(getattr, 1, "T"), view_as_text(getattr, 1, "flat")
    ('[{}]', '.T', None)
    """
    name = view_name(function, first)
    if name is None:
        return None
    return {"item": "[{}]", "T": ".T"}.get(name) or f".{name}({', '.join(['{}'] * count)})"


# ---- which arrays a call of NumPy changes in place, and what makes a new array instead

CHANGED_ARRAY: Final = (
    "an array with unknown numbers is changed in place",
    "Make a new array, as `a = a + b`, `numpy.array(items)` and `numpy.where(mask, x, a)` do",
)
"""What is refused, and what to do instead."""
_INSTEAD: Final = {
    **dict.fromkeys(("copyto", "put", "place", "putmask", "put_along_axis", "itemset"), "numpy.where(mask, x, a)"),
    "fill": "numpy.full_like(a, x)",
    "fill_diagonal": "numpy.where(numpy.eye(len(a), dtype=bool), x, a)",
    "sort": "numpy.sort(a)",
    "partition": "numpy.partition(a, k)",
    "resize": "numpy.resize(a, shape)",
    "at": "numpy.where(mask, x, a)",
}
"""What makes a new array, for functions and methods of NumPy that change one."""
_UNSET: Final = {"empty": "numpy.zeros(shape)", "empty_like": "numpy.zeros_like(a)"}
"""What has known numbers, for functions whose result has none."""

_OUT: Final = {
    **dict.fromkeys([("function", name) for name in ("dot", "concatenate")], 2),
    **dict.fromkeys([("method", name) for name in ("all", "any", "argmax", "argmin", "max", "min", "choose")], 2),
    **dict.fromkeys([("method", name) for name in ("clip", "compress", "cumprod", "cumsum", "sum", "prod")], 3),
    **dict.fromkeys([("method", name) for name in ("mean", "std", "var", "take")], 3),
    **dict.fromkeys([("method", name) for name in ("dot", "round", "ptp")], 2),
    **dict.fromkeys([("function", name) for name in ("accumulate", "reduce")], 3),
    ("method", "trace"): 5,
    ("function", "reduceat"): 4,
}
"""The place of `out` in functions in C and methods, which have no signature before NumPy 2.4."""
_NO_PLACE: Final = 99
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


_CREATORS: Final = ("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "identity")
_LIKE: Final = ("zeros_like", "ones_like", "empty_like", "full_like")
_OF_ELEMENTS: Final = frozenset((*OPERATORS, abs)) - {operator.concat}
_NEW: Final = frozenset(
    {
        *(*_CREATORS, *_LIKE, "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "where", "clip"),
        *("dot", "vdot", "inner", "outer", "cross", "kron", "convolve", "correlate", "tensordot", "polyval"),
        *("sum", "prod", "mean", "std", "var", "min", "max", "amin", "amax", "ptp", "argmin", "argmax", "all", "any"),
        *("cumsum", "cumprod", "median", "average", "sort", "argsort", "copy", "flatten", "tile", "repeat", "interp"),
        *("trace", "norm", "det", "inv", "solve", "cholesky", "array", "astype", "count_nonzero", "matmul"),
    }
)
"""Functions and methods of NumPy whose result is a new array, or a number."""
_MAY_SHARE: Final = frozenset({"copy", "ndmin", "out", "like", "subok", "order", "device"})
"""Keywords with which a result may be an operand, or in another order in memory."""


def owner_of(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while can_change(array.base):
        array = array.base
    return array


def makes_new(node: Node) -> bool:
    """Whether the result of an operation shares no memory with an operand, whatever the operands are."""
    function: Any = node.function
    operands, keywords = len(node.operands), node.keywords
    if type(function).__name__ == "ufunc":
        return operands == function.nin and "out" not in keywords
    if type(function).__hash__ is None:
        return False
    if function in _OF_ELEMENTS:
        return True
    if not _is_of_numpy(function) or not _MAY_SHARE.isdisjoint(keywords):
        return False
    name = getattr(function, "__name__", "")
    if (name == "array" and operands > 2) or (name in ("astype", "clip") and operands > 3):
        return False
    return name in _NEW or (name == "einsum" and operands > 2)  # of one array, it may be a view


def is_in_order(node: Node) -> bool:
    """Whether the elements of a new array are one after the other in memory, so that `reshape` makes a view."""
    is_creator = getattr(node.function, "__name__", "") in _CREATORS and _is_of_numpy(node.function)
    return is_creator and len(node.operands) <= 2 and "order" not in node.keywords


def leaves_numbers(function: Any) -> bool:
    """Whether the numbers in the result of a function are left over from elsewhere."""
    return getattr(function, "__name__", "") in _UNSET and _is_of_numpy(function)


def refused_call(function: Any, name: str) -> tuple[str, str] | None:
    """Why a call of NumPy is refused, and what to write instead; None for other functions.

    >>> import numpy as np
    >>> refused_call(np.empty, "numpy.empty")
    ('the numbers in the result of numpy.empty are left over from elsewhere', 'Use `numpy.zeros(shape)`')
    >>> refused_call(print, "print")
    """
    own_name = getattr(function, "__name__", "")
    if not _is_of_numpy(function):
        return None
    if own_name in _UNSET:
        return f"the numbers in the result of {name} are left over from elsewhere", f"Use `{_UNSET[own_name]}`"
    if own_name in _INSTEAD:
        return f"an array is changed in place by {name}", f"Make a new array, as `{_INSTEAD[own_name]}` does"
    return None


def changed_arrays(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
    """The arrays that a call of NumPy changes: those that are its `out`, and arguments that it may overwrite.

    Parameters
    ----------
    function:
        A function, method, or method of a function, of NumPy; others change no array.
    arguments, keywords:
        Its arguments.

    Returns
    -------
    The arrays.

    >>> import numpy as np
    >>> a, b = np.zeros(2), np.ones(2)
    >>> [len(changed_arrays(np.add, given, {})) for given in ((a, 1.0), (a, 1.0, b))]
    [0, 1]
    >>> changed_arrays(np.nan_to_num, (b, False), {})[0] is b
    True
    """
    if not (keywords or len(arguments) > 1 or _is_method_of_array(function)) or not _is_of_numpy(function):
        return []
    if _is_method_of_array(function):
        arguments = (function.__self__, *arguments)
        function = getattr(type(function.__self__), function.__name__, function)
    out, overwrites, copies = _places(function)
    found = [keywords.get("out"), *arguments[out : None if out == getattr(function, "nin", -1) else out + 1]]
    if _given("overwrite_input", overwrites, arguments, keywords, False) or not _given(
        "copy", copies, arguments, keywords, True
    ):
        found.append(arguments[0] if arguments else next(iter(keywords.values())))
    parts = [part for one in found for part in (one if isinstance(one, tuple) else (one,))]
    return [part for part in parts if can_change(part)]


def _given(name: str, place: int, arguments: tuple[Any, ...], keywords: dict[str, Any], default: bool) -> bool:
    """An option of a function, which it has at a place; the default if it has no such option."""
    if name == "copy" and place == _NO_PLACE:
        return default
    return bool(arguments[place] if place < len(arguments) else keywords.get(name, default))


def _is_of_numpy(function: Any) -> bool:
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    modules = (getattr(one, "__module__", None) or "" for one in (function, owner, type(owner), type(function)))
    return any(isinstance(module, str) and module.partition(".")[0] == "numpy" for module in modules)


def _is_method_of_array(function: Any) -> bool:
    return type(function) is BuiltinFunctionType and isinstance(function.__self__, array_types())


@functools.lru_cache(maxsize=1024)
def _places(function: Any) -> tuple[int, int, int]:
    """The places of `out`, `overwrite_input`, and of a `copy` that changes the argument if it is false."""
    name = getattr(function, "__name__", "")
    inputs = getattr(function, "nin", None)
    if inputs is not None:
        return inputs, _NO_PLACE, _NO_PLACE
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        kind = "method" if hasattr(function, "__objclass__") else "function"
        return _OUT.get((kind, name), _NO_PLACE), _NO_PLACE, _NO_PLACE
    names = [one.name for one in parameters if one.kind in _POSITIONAL]
    places = [names.index(one) if one in names else _NO_PLACE for one in ("out", "overwrite_input", "copy")]
    return places[0], places[1], places[2] if name == "nan_to_num" else _NO_PLACE
