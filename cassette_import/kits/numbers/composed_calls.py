"""The overload of leaves that have a composition: their metadata is that of the composition."""

from __future__ import annotations

import cmath
import math
import numbers
from collections.abc import Callable
from math import inf, nan
from typing import Any, Final

from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.numbers.compositions import COMPOSITIONS, NoComposition
from cassette_import.kits.numbers.overloads import call_without_overload, runs_own_method
from cassette_import.kits.tagged_containers import is_a_container, sequence_like
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.iterator_metadata import is_iterable, items_outside
from cassette_import.runtime.tagging.tag_scopes import active_store, tag_of
from cassette_import.runtime.tagging.wrappers import COMPUTED_BY, Tagged, metas_of, plain, wrapped

__all__ = ["compose", "finished", "ieee"]

# ---- numbers that compute as IEEE 754 says, where Python raises: `1.0 / 0.0` is infinite, `0.0 / 0.0` is no number
#
# A rule computes with them where it fails with the numbers of the program, at the edge of a domain for example: its
# error would reach a program that has made none.


def ieee(number: Any) -> Any:
    """A number, wrapped or not, as one whose operations do not raise; any other object itself."""
    bare = plain(number)
    if isinstance(bare, bool) or not isinstance(bare, numbers.Number):
        return number
    COMPUTED_BY.setdefault(_Real, _computed)
    COMPUTED_BY.setdefault(_Complex, _computed)
    return wrapped(_Complex(bare) if isinstance(bare, complex) else _limited(bare), metas_of(number))


def finished(number: Any) -> Any:
    """The result of a rule as a number that the program may get."""
    bare = plain(number)
    if isinstance(bare, (_Real, _Complex)):
        return wrapped(complex(bare) if isinstance(bare, complex) else float(bare), metas_of(number))
    return number


def _limited(number: Any) -> _Real:
    try:
        return _Real(number)
    except OverflowError:  # of a large integer or fraction
        return _Real(inf if number > 0 else -inf)


def _operation(kind: type, name: str, at_edge: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    operate, reflected = getattr(kind, name), name.startswith("__r")

    def method(self: Any, other: Any) -> Any:
        if type(other) is Tagged or not isinstance(other, numbers.Number):
            return NotImplemented
        if kind is float:
            if isinstance(other, complex):
                return getattr(_Complex(self), name)(other)
            other = _limited(other)
        try:
            value = operate(self, other)
        except ArithmeticError:
            value = at_edge(other, self) if reflected else at_edge(self, other)
        return ieee(value)

    return method


def _unary(operate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: ieee(operate(self))


def _quotient(x: Any, y: Any) -> Any:
    if isinstance(x, complex) or isinstance(y, complex):
        return complex(_quotient(x.real, abs(y)), _quotient(x.imag, abs(y)))
    return nan if x == 0 or x != x else math.copysign(inf, x) * math.copysign(1.0, y)


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, complex) or isinstance(y, complex):
        return complex(nan, nan)
    return -inf if math.copysign(1.0, x) < 0 and y % 2 == 1 else inf


_AT_EDGE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("add", "sub", "mul", "mod"), lambda x, y: nan),
    **dict.fromkeys(("truediv", "floordiv"), _quotient), "pow": _power,
}  # fmt: skip


class _Real(float):
    """A real number whose operations do not raise."""

    __slots__ = ()

    def __trunc__(self) -> Any:
        return float.__trunc__(self) if math.isfinite(self) else self


class _Complex(complex):
    """A complex number whose operations do not raise."""

    __slots__ = ()


def _define_operations(made: type, kind: type) -> None:
    for name, at_edge in _AT_EDGE.items():
        for method in (f"__{name}__", f"__r{name}__"):
            if hasattr(kind, method):
                setattr(made, method, _operation(kind, method, at_edge))
    for method in ("__neg__", "__pos__", "__abs__"):
        setattr(made, method, _unary(getattr(kind, method)))


_define_operations(_Real, float)
_define_operations(_Complex, complex)


def _computed(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns for these numbers: infinity or NaN where that of Python raises."""
    if function is math.ldexp:  # it takes no floats
        return ieee(arguments[0] * _Real(2.0) ** arguments[1])
    try:
        return ieee(function(*arguments))
    except OverflowError:
        return _Real(-inf if function is math.sinh and arguments[0] < 0 else inf)
    except ValueError:
        return _Real(-inf if function in (math.log, cmath.log) and arguments[0] == 0 else nan)


# ---- the overload of leaves that have a composition: their metadata is that of the composition

_OF_NUMBERS: Final = frozenset({divmod, math.modf, math.frexp, cmath.polar, cmath.rect})
"""Functions that take no iterables: an object of the program is a number for them, whether it has items or not."""


@hidden
def compose(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """Make a call; its result gets the metadata that the composition of the function has in all contexts."""
    if f in _OF_NUMBERS and runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    given = [_with_items(argument) for argument in arguments]
    named = {name: _with_items(argument) for name, argument in keywords.items()}
    own: Any = tag_of(ctx)
    if not _is_numeric(own, [*given, *named.values()]):
        return _call_again(f, arguments, given, keywords, named)
    try:
        value = f(*map(_plain, given), **{name: _plain(argument) for name, argument in named.items()})
    except Exception as error:
        raised = getattr(ctx, "raised", None)
        if raised is not None:
            raised(error, f, *arguments)
        raise
    if value is NotImplemented:
        return value
    here = ACTIVE.get()
    token = ACTIVE.set(here.suspended or here)
    try:
        return _with_metadata(value, _composed(f, given, named))
    except CassetteError:
        raise
    except (NoComposition, ArithmeticError, TypeError, ValueError):
        pass
    finally:
        ACTIVE.reset(token)
    return _call_again(f, arguments, given, keywords, named)


@hidden
def _call_again(f: Any, arguments: Any, given: Any, keywords: Any, named: Any) -> Any:
    """Make the call without an overload, with lists for what the program iterates over, which may do so only once."""
    positional = [_again(*pair) for pair in zip(arguments, given, strict=True)]
    return call_without_overload(f, positional, {name: _again(keywords[name], named[name]) for name in keywords})


def _composed(f: Any, given: list[Any], named: dict[str, Any]) -> Any:
    """What the composition computes, without errors that the function itself does not raise."""
    try:
        return COMPOSITIONS[f](*given, **named)
    except CassetteError:
        raise
    except (ArithmeticError, ValueError):
        return COMPOSITIONS[f](*map(_ieee, given), **{name: _ieee(argument) for name, argument in named.items()})


def _ieee(given: Any) -> Any:
    return list(map(ieee, given)) if type(given) is _Items else ieee(given)


class _Items(list[Any]):
    """The items of an iterable argument, wrapped where they have metadata."""


def _with_items(argument: Any) -> Any:
    bare = plain(argument)
    if isinstance(bare, (numbers.Number, str, bytes, type)) or not is_iterable(bare):
        return argument
    return _Items(items_outside(argument))


def _again(argument: Any, given: Any) -> Any:
    """An argument that can be iterated over once more, without code of the program."""
    if type(given) is not _Items or is_a_container(plain(argument)):
        return argument
    store, items = active_store(), list(map(plain, given))
    return items if store is None else store.bind_items(items, given)


def _plain(given: Any) -> Any:
    return list(map(plain, given)) if type(given) is _Items else plain(given)


def _is_numeric(own: Any, given: list[Any]) -> bool:
    """Whether a number among the arguments has metadata, and nothing else that has some is in the way."""
    found = False
    for argument in given:
        for item in argument if type(argument) is _Items else (argument,):
            if type(item) is Tagged and own in item._tagged_metas:
                if not isinstance(item._tagged_value, numbers.Number):
                    return False
                found = True
    return found


def _with_metadata(value: Any, composed: Any) -> Any:
    """The value of a call with the metadata of its composition, which decides where a context has to choose."""
    if isinstance(value, (tuple, list)):
        items = [_with_metadata(*pair) for pair in zip(value, composed, strict=True)]
        store = active_store()
        made = sequence_like(value, map(plain, items))
        return made if store is None else store.bind_items(made, items)
    if type(composed) is Tagged:
        return wrapped(value, metas_of(composed))
    return type(value)(composed) if isinstance(composed, int) else value
