"""`Number`: what the program has in the place of a number that depends on the inputs.

It computes its value as the number would, and its dependence by the kind of the function. No conversion loses the
dependence: C code that asks for the value gets an error.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.sparsity.errors import is_guarded, name_of
from cassette_import.contexts.sparsity.run import Run, joined
from cassette_import.kits.numbers.row import CURVED, FIRST, FUSED, LINEAR, PRODUCT, QUOTIENT, STEP
from cassette_import.kits.numbers.table import BY_UFUNC, COMPARING, ROWS, functions_of

__all__ = [
    "DISPATCH",
    "FOLDS",
    "KINDS",
    "UFUNC_KINDS",
    "Number",
    "apply",
    "dependence_of",
    "number",
    "value_of",
]

# ---- the rules of functions of numbers: how the dependence of the result follows from those of the arguments
#
# Which kind a function is of is a column of the table of functions: where the derivative is zero for all arguments, the
# result changes in steps; where the second derivative is, the function is linear.

Kind = Callable[[Run, Sequence[int]], int]
"""The dependence of a result on those of the arguments."""


def linear(run: Run, given: Sequence[int]) -> int:
    """Sums, multiples, and what is linear in pieces: `abs`, `min`."""
    return joined(given)


def product(run: Run, given: Sequence[int]) -> int:
    """A product: linear in each factor."""
    found = 0
    for one in given:
        found |= one | run.cross(found, one)
    return found


def quotient(run: Run, given: Sequence[int]) -> int:
    """`x / y`."""
    return given[0] | run.curved(given[1]) | run.cross(given[0], given[1])


def curved(run: Run, given: Sequence[int]) -> int:
    """Every other function: all second derivatives may be different from zero."""
    return run.curved(joined(given))


def step(run: Run, given: Sequence[int]) -> int:
    """Comparisons and roundings: the derivative is zero."""
    return run.step(joined(given))


def first(run: Run, given: Sequence[int]) -> int:
    """Linear in the first argument, in steps in the others."""
    return given[0] | step(run, given[1:])


def fused(run: Run, given: Sequence[int]) -> int:
    """`x * y + z`."""
    return product(run, given[:2]) | given[2]


_KINDS: Final[dict[str, Kind]] = {
    LINEAR: linear,
    PRODUCT: product,
    QUOTIENT: quotient,
    CURVED: curved,
    STEP: step,
    FIRST: first,
    FUSED: fused,
}
"""What the column `dependence` of the table of functions says."""

KINDS: Final[dict[Any, Kind]] = {function: _KINDS[row.dependence] for row in ROWS for function in row.functions}
"""The kind of each function of numbers."""

_TOTAL: Final = frozenset(functions_of(row for row in ROWS if row.total))
"""Functions that raise no exception for any float that is not infinite."""

FOLDS: Final[dict[Any, Kind]] = {math.fsum: linear, math.prod: product, math.dist: curved}
if hasattr(math, "sumprod"):  # 3.12
    FOLDS[math.sumprod] = curved
"""Functions of all numbers in the iterables that they get."""

UFUNC_KINDS: Final[dict[str, Kind]] = {name: _KINDS[row.dependence] for name, row in BY_UFUNC.items()}
"""The kinds of NumPy's functions by element. One that is not here has all second derivatives, or, if its result is no
float, changes in steps."""


# ---- `Number`: what the program has in the place of a number that depends on the inputs

DISPATCH: Final[dict[str, Callable[..., Any]]] = {}
"""What NumPy calls for its functions and ufuncs: `arrays` registers it."""


def number(run: Run, value: Any, dependence: int) -> Any:
    """A number with a dependence; the number itself if it has none."""
    return Number(run, value, dependence) if dependence else value


def value_of(value: Any) -> Any:
    """A number without its dependence."""
    return value.value if type(value) is Number else value


def dependence_of(value: Any) -> int:
    """The dependence of a number."""
    return value.dependence if type(value) is Number else 0


def apply(run: Run, f: Any, kind: Kind, arguments: Sequence[Any]) -> Any:
    """Call a function of numbers."""
    values = [value_of(argument) for argument in arguments]
    if not run.local and f not in _TOTAL and any(type(argument) is Number for argument in arguments):
        check_domain(run, f)
    try:
        value = f(*values)
    except (ArithmeticError, ValueError):
        if run.active.live:
            raise
        value = float("nan")  # the side of a branch that these inputs do not take
    return result(run, f, kind, arguments, value)


def check_domain(run: Run, f: Any) -> None:
    """Refuse a function that raises an exception for some inputs, where the program would catch it."""
    if is_guarded():
        raise run.refuse_branch(f"{name_of(f)} may raise an exception for other inputs, which the program catches")


def result(run: Run, f: Any, kind: Kind, arguments: Sequence[Any], value: Any) -> Any:
    """The value of a function of numbers, with its dependence."""
    if f in _POWERS and type(arguments[1]) is not Number:
        if arguments[1] == 0:
            return value
        if arguments[1] == 1:
            kind = KINDS[operator.pos]
    if f in _LENGTHS and isinstance(value_of(arguments[0]), complex):
        kind = KINDS[math.hypot]
    if f in _PRODUCTS and any(type(one) is not Number and one == 0 for one in arguments):
        return value
    return number(run, value, kind(run, [dependence_of(argument) for argument in arguments]))


_LENGTHS: Final = (abs, operator.abs)
_POWERS: Final = (operator.pow, pow)
_PRODUCTS: Final = (operator.mul, operator.imul)


def _is_number(value: Any) -> bool:
    return type(value) is Number or (isinstance(value, numbers.Number) and not hasattr(value, "__array_function__"))


def _binary(f: Any, reflected: bool) -> Any:
    kind = KINDS[f]

    def method(self: Number, other: Any) -> Any:
        if not _is_number(other):
            return _declined(self, f, (other, self) if reflected else (self, other), other)
        return apply(self.run, f, kind, (other, self) if reflected else (self, other))

    return method


def _declined(self: Number, f: Any, operands: Sequence[Any], other: Any) -> Any:
    """`NotImplemented`, unless the other operand computes with plain numbers in C, such as a difference of times."""
    if f not in COMPARING and not type(other).__flags__ & _MADE_BY_CLASS_STATEMENT:
        try:
            f(*map(value_of, operands))
        except Exception:
            return NotImplemented
        kind = type(other).__name__
        raise self.run.refuse(f"{name_of(f)} of a {kind} and a number that depends on the inputs has no rule")
    return NotImplemented


_MADE_BY_CLASS_STATEMENT: Final = 1 << 9
"""The flag of types that are made when the program runs."""


def _unary(f: Any) -> Any:
    kind = KINDS[f]
    return lambda self: apply(self.run, f, kind, (self,))


class Proxy:
    """What numbers and arrays have in common: each acts as its value, and functions of NumPy follow the rules."""

    __slots__ = ()
    run: Run
    value: Any

    __class__ = property(lambda self: type(self.value))

    def __format__(self, spec: str) -> str:
        return format(self._shown(), spec)

    def __repr__(self) -> str:
        return repr(self._shown())

    def __str__(self) -> str:
        return str(self._shown())

    def _shown(self) -> Any:
        """The value, if it may be converted to text."""
        what = f"{self.run.leaf} makes text" if self.run.leaf else "text is made"
        advice = "compute with the number itself; print(x) alone shows its value"
        raise self.run.refuse(f"{what} of a value that depends on the inputs, and text has no pattern", advice)

    def __array_ufunc__(self, ufunc: Any, method: str, *arguments: Any, **keywords: Any) -> Any:
        return DISPATCH["ufunc"](self.run, ufunc, method, arguments, keywords)

    def __array_function__(self, f: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        return DISPATCH["function"](self.run, f, arguments, keywords)


class Number(Proxy):
    """A number with its dependence."""

    __slots__ = ("dependence", "run", "value")
    dependence: int

    def __init__(self, run: Run, value: Any, dependence: int) -> None:
        self.run = run
        self.value = value
        self.dependence = dependence

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        attribute = getattr(self.value, name)
        if name in ("real", "imag"):
            return number(self.run, attribute, self.dependence)
        if name in ("dtype", "shape", "ndim", "size"):
            return attribute
        if name in ("conjugate", "conj", "copy", "item"):
            return lambda *_: Number(self.run, attribute(), self.dependence)
        if name == "is_integer":
            return lambda: number(self.run, attribute(), self.run.step(self.dependence))
        if name == "astype":
            return lambda kind, **_: DISPATCH["cast"](self, kind)
        if DISPATCH.get("method") is not None and hasattr(self.value, "dtype"):
            return DISPATCH["method"](self, name)
        raise self.run.refuse(f"the attribute {name} of a number that depends on the inputs has no rule")

    # ---- decisions and conversions

    def __bool__(self) -> bool:
        if not self.run.local:
            raise self.run.refuse_branch(
                "code that is not converted decides by a value that depends on the inputs (in a comprehension, a "
                "generator, C code, or a package that is not installed)"
            )
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self._fixed("is hashed"))

    def __index__(self) -> int:
        return operator.index(self._fixed("is used as an index or a count"))

    def __int__(self) -> int:
        return int(self._fixed("is converted to an integer"))

    def _fixed(self, what: str) -> Any:
        """The value, where it changes in steps."""
        if not self.run.local:
            raise self.run.refuse_branch(f"a value that depends on the inputs {what}")
        return self.value

    def __float__(self) -> float:
        name = self.run.leaf or "C code"
        raise self.run.refuse(f"{name} gets a number that depends on the inputs, and there is no rule for it")

    __complex__ = __float__

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.__float__()

    def __reduce_ex__(self, _: Any) -> Any:
        self.__float__()

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, _: Any) -> Number:
        return self

    def __round__(self, digits: Any = None) -> Any:
        return self._step(round, *([] if digits is None else [digits]))

    def _step(self, f: Any, *more: Any) -> Any:
        return number(self.run, f(self.value, *map(value_of, more)), self.run.step(self.dependence))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if not _is_number(other) or modulus is not None:
            return NotImplemented
        return apply(self.run, operator.pow, KINDS[operator.pow], (self, other))


Number.__name__ = Number.__qualname__ = "number that depends on the inputs"  # errors of C code show it

for _name in "floor", "ceil", "trunc":
    setattr(Number, f"__{_name}__", functools.partialmethod(Number._step, getattr(math, _name)))
for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"]:
    _function = getattr(operator, _name, None) or getattr(operator, f"{_name}_")
    setattr(Number, f"__{_name}__", _binary(_function, False))
    setattr(Number, f"__r{_name}__", _binary(_function, True))
Number.__rpow__ = _binary(operator.pow, True)  # type: ignore[attr-defined]  # made by a function
for _name in ["lt", "le", "eq", "ne", "gt", "ge"]:
    setattr(Number, f"__{_name}__", _binary(getattr(operator, _name), False))
for _name in ["neg", "pos", "abs", "invert"]:
    setattr(Number, f"__{_name}__", _unary(getattr(operator, _name)))
