"""Which arrays a call of NumPy changes in place, and what makes a new array instead.

Knows functions of NumPy; must not know nodes.
"""

from __future__ import annotations

import functools
import inspect
from types import BuiltinFunctionType
from typing import Any, Final

from cassette_import.contexts.common.numeric_values import array_types, can_change

__all__ = ["CHANGED_ARRAY", "changed_arrays", "refused_call"]

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
