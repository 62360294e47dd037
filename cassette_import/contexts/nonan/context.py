"""`NoNaN`: stops at, or notes, the first expression whose result is NaN or infinite although its operands were not.

The operands of an operation that works in place are looked at before it runs.
"""

from __future__ import annotations

import builtins
import cmath
import json
import math
import operator
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from threading import get_ident
from types import FunctionType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import canrecurse, recurse
from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.function_names import display, full_name
from cassette_import.kits.numbers.numeric_values import floats_in, is_array
from cassette_import.kits.numbers.overloads import show_additions
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagging import COMPUTES, UNCLASSIFIED, classification
from cassette_import.kits.text import plural, text_writer
from cassette_import.rewriting.events import Events

__all__ = ["NaNFound", "NoNaN"]

# ---- whether numbers are finite: numbers of Python, arrays, and what containers hold

_MOST_SHOWN: Final = 200


def _are_finite(values: Iterable[Any]) -> bool:
    """Whether all floats among the values, and in containers and arrays, are finite.

    >>> _are_finite([1.0, [2.0, (3.0,)]]), _are_finite([1, [float("inf")]])
    (True, False)
    """
    for found in floats_in(values):
        if is_array(found):
            numpy: Any = sys.modules["numpy"]
            if not numpy.isfinite(found).all():
                return False
        elif not cmath.isfinite(found):
            return False
    return True


def _has_numbers(values: Iterable[Any]) -> bool:
    """Whether there is a number among some values or in containers: what text or a file contains is no number.

    >>> _has_numbers(["nan"]), _has_numbers([1]), _has_numbers([{"a": 1.5}])
    (False, True, True)
    """
    return any(
        issubclass(type(value), (int, float, complex)) or is_array(value) or next(floats_in([value]), None) is not None
        for value in values
    )


def _with_arrays(values: Iterable[Any]) -> list[Any]:
    """The values, with arrays for objects that NumPy can take as arrays, such as the columns of a table."""
    numpy: Any = sys.modules.get("numpy")
    return [
        numpy.asarray(value)
        if not is_array(value) and hasattr(type(value), "__array__") and hasattr(numpy, "asarray")
        else value
        for value in values
    ]


def _described(value: Any) -> str:
    """A value as text for a message: of an array, its shape and how many of its numbers are not finite."""
    if is_array(value) and value.ndim:
        numpy: Any = sys.modules["numpy"]
        wrong = value.size - int(numpy.count_nonzero(numpy.isfinite(value))) if value.dtype.kind in "fc" else 0
        return _shape(value) + (f", of which {wrong} not finite" if wrong else "")
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _described_operand(operand: Any, result: Any) -> str:
    """An operand as text. Of an array that the operation has changed, nothing is said that holds only afterwards."""
    if is_array(operand) and operand.ndim and is_array(result):
        numpy: Any = sys.modules["numpy"]
        if numpy.may_share_memory(operand, result):
            return f"{_shape(operand)}, changed in place"
    return _described(operand)


def _shape(array: Any) -> str:
    return f"array of {' × '.join(map(str, array.shape))} {array.dtype}"


class _Noting:
    """Passes items on, and remembers whether all of them were finite.

    >>> noting = _Noting()
    >>> sum(map(noting, [1.0, float("nan")])), noting.finite
    (nan, False)
    """

    def __init__(self) -> None:
        self.finite = True

    def __call__(self, item: Any) -> Any:
        """Return the item."""
        if self.finite and not _are_finite((item,)):
            self.finite = False
        return item


# ---- `NoNaN`: stops at, or notes, the first expression whose result is NaN or infinite although its operands were
# not

_OPERATORS: Final = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow")
_IN_PLACE: Final = frozenset(id(getattr(operator, f"i{name}")) for name in _OPERATORS)
_ARITHMETIC: Final = (
    *(getattr(operator, name) for name in (*_OPERATORS, "neg", "abs")),
    *(getattr(operator, f"i{name}") for name in _OPERATORS),
    *(found for module in (math, cmath) for name, found in vars(module).items() if callable(found) and name[0] != "_"),
    *(abs, pow, divmod),
)
_OF_ITEMS: Final = tuple(
    found for found in (builtins.sum, math.fsum, math.prod, getattr(math, "sumprod", None)) if found is not None
)
_MOVING: Final = frozenset(map(id, (operator.getitem, operator.setitem, operator.pos)))
_UNINITIALISED: Final = frozenset(("empty", "empty_like"))


class NaNFound(CassetteError, ArithmeticError):
    """An expression had a result that is NaN or infinite, although its operands were not.

    Attributes
    ----------
    function:
        The function that was called; of an operator, that of the module `operator`.
    operands:
        Its arguments. An array that the operation changed in place has the values that it has afterwards.
    descriptions:
        The arguments as text, which says so of such an array.
    result:
        Its result.
    callsite:
        The call site, with file, line and source text.
    """

    def __init__(self, function: Any, operands: tuple[Any, ...], result: Any, callsite: CallSite) -> None:
        self.function = function
        self.operands = operands
        self.result = result
        self.callsite = callsite
        self.descriptions = [_described_operand(operand, result) for operand in operands]
        given = ", ".join(self.descriptions)
        source = callsite.source
        super().__init__(
            f"{full_name(function)}({given}) is {_described(result)}, at {callsite}" + (f": {source}" if source else "")
        )


class NoNaN(Context, events=Events.CALLS | Events.OPERATORS):
    """Finds the first expression whose result is NaN or infinite although its operands were not.

    Numbers, containers of numbers and NumPy's arrays are looked at. What a leaf makes of text, as ``float("nan")`` and
    `json.loads` do, is data of the program, and is not reported; nor is a function that only moves a number.

    Parameters
    ----------
    stop:
        Whether the first such expression raises `NaNFound`. If not, the expressions are listed in `found`, the first
        one of each call site.
    limit:
        How many of them the list on the terminal shows. Files have all of them.

    Raises
    ------
    ValueError
        If `limit` is not a number. The message is one line.

    Example
    -------
    >>> from cassette_import import overdub
    >>> def mean_rate(counts, seconds):
    ...     return sum(count / seconds for count in counts) / len(counts)
    >>> overdub(NoNaN(), mean_rate, [1e308, 1e308], 0.5)
    Traceback (most recent call last):
        ...
    cassette_import.contexts.nonan.context.NaNFound: operator.truediv(1e+308, 0.5) is inf, at ...
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    module_level = False

    def __init__(self, *, stop: bool = True, limit: int = 30) -> None:
        super().__init__()
        check_number("limit", limit, "expressions")
        self._stop = stop
        self._limit = limit
        self._before: dict[int, bool] = {}  # by thread: whether the operands were finite before an operation in place
        self._calls: dict[CallSite, int] = {}
        self.found: list[NaNFound] = []
        """The expressions, in the order in which they were found."""

    def forked(self) -> None:
        """Start with nothing in a forked process."""
        self._before.clear()
        self._calls.clear()
        self.found.clear()

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Look at the operands of an operation that changes one of them."""
        if self._before:  # of an operation that raised
            self._before.pop(get_ident(), None)
        if id(f) in _IN_PLACE:
            if is_array(args[0]):
                self._before[get_ident()] = _are_finite(args)
        elif "out" in kwargs or len(args) > _inputs_of(f):
            inputs = args[: _inputs_of(f)]
            self._before[get_ident()] = _are_finite((*inputs, *(v for name, v in kwargs.items() if name != "out")))

    @hidden
    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Look at the result, and if it is not finite, at the operands."""
        before = self._before.pop(get_ident(), None) if self._before else None
        if type(result) is float:
            if result - result == 0.0:  # neither NaN nor infinite
                return
        elif _are_finite((result,)):
            return
        if before is None:
            operands = _with_arrays((*args, *kwargs.values()))
            before = _has_numbers(operands) and _are_finite(operands)
        if before and self._computes(f):
            self._note(NaNFound(f, (*args, *kwargs.values()), result, nearest_site()))

    def _computes(self, f: Any) -> bool:
        """Whether a callable is a leaf that computes numbers: what an overdubbed function did was an event."""
        if id(f) in _ARITHMETIC_IDS:
            return True
        if id(f) in _MOVING or getattr(f, "__name__", "") in _UNINITIALISED:
            return False
        if type(f) is not FunctionType and classification(f) not in (COMPUTES, UNCLASSIFIED):
            return False
        return not canrecurse(self, f)

    @hidden
    def _note(self, found: NaNFound) -> None:
        calls = self._calls.get(found.callsite, 0)
        self._calls[found.callsite] = calls + 1
        if not calls:
            self.found.append(found)
        if self._stop:
            raise found

    def summary(self) -> str:
        """The expressions, at most `limit` of them."""
        return self._text(self._limit)

    def _text(self, limit: int | None = None) -> str:
        lines = [f"nonan: {plural(len(self.found), 'expression')} with a result that is not finite"]
        for found in islice(self.found, limit):
            calls = self._calls[found.callsite]
            lines.append(f"{found}" + (f" (and {plural(calls - 1, 'further time')})" if calls > 1 else ""))
        if limit is not None and len(self.found) > limit:
            lines.append(f"… {plural(len(self.found) - limit, 'further expression')}")
        return "\n".join(lines)

    def _entries(self) -> list[dict[str, Any]]:
        return [
            {
                "file": found.callsite.filename,
                "line": found.callsite.lineno,
                "caller": found.callsite.function,
                "source": found.callsite.source,
                "function": display(found.function),
                "operands": found.descriptions,
                "result": _described(found.result),
                "calls": self._calls[found.callsite],
            }
            for found in self.found
        ]

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the complete list, `.json` for the same as data."""
        return {
            ".txt": text_writer(self._text, "backslashreplace"),
            ".json": text_writer(lambda: json.dumps(self._entries(), indent=2), "backslashreplace"),
        }


_ARITHMETIC_IDS: Final = frozenset(map(id, (*_ARITHMETIC, *_OF_ITEMS)))


def _inputs_of(function: Any) -> int:
    """How many arguments of a ufunc are inputs; of any other function, more than there are."""
    return int(function.nin) if is_ufunc(function) else len(_ARITHMETIC)


def is_ufunc(function: Any) -> bool:
    """Whether a callable is a ufunc of NumPy."""
    return type(function).__name__ == "ufunc" and type(function).__module__ == "numpy"


def _is_iterator(argument: Any) -> bool:
    return hasattr(type(argument), "__iter__") and not hasattr(type(argument), "__len__")


def _seen_by_the_method(ctx: NoNaN, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """Make a function an event also where a leaf calls it, as `map(math.exp, xs)` does."""


@hidden
def _look_at_items(ctx: NoNaN, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Look at the items of iterators, which are used up when the hook sees the call."""
    noting = _Noting()
    result = recurse(ctx, f, *[map(noting, arg) if _is_iterator(arg) else arg for arg in args], **kwargs)
    if any(map(_is_iterator, args)):
        ctx._before[get_ident()] = noting.finite and _are_finite(args)
    return result


_hooks: Any = NoNaN
_hooks.posthook.register(*_ARITHMETIC)(_seen_by_the_method)
_hooks.overdub.register(*_OF_ITEMS)(_look_at_items)
show_additions(NoNaN)
