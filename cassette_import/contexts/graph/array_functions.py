"""The functions, methods and attributes of NumPy that mean the same in `jax.numpy`: tables of names.

Importing the module does not import NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from types import BuiltinFunctionType
from typing import Any, Final

from cassette_import.kits.numbers.numeric_values import can_change

__all__ = [
    "ATTRIBUTES",
    "KNOWN_ATTRIBUTES",
    "METHODS",
    "OPERATORS",
    "Attribute",
    "Method",
    "asks_for_shapes",
    "functions",
    "is_array_function",
    "is_of_array",
    "makers",
    "makes_array",
]

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

OPERATORS: Final[dict[Any, str]] = {
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
    try:
        return f in makers() or is_of_array(f) or f in _like()
    except TypeError:
        return False


@cache
def _like() -> frozenset[Any]:
    import numpy

    return frozenset((numpy.zeros_like, numpy.ones_like, numpy.full_like, numpy.array, numpy.full, numpy.linspace))


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
    if isinstance(f, Attribute):
        return True
    try:
        return f in functions() or f in makers()
    except TypeError:  # it has no hash
        return False


def asks_for_shapes(f: Any) -> bool:
    """Whether the result of a function of NumPy depends on shapes and types alone."""
    try:
        return f in _questions()
    except TypeError:
        return False
