"""Paths through a function as one function for JAX: without side effects, and with `lax.cond` for decisions.

The expressions are those of a kernel.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

from cassette_import.contexts.backends.kernel import KERNEL, Kernel, condition
from cassette_import.contexts.backends.operations import Operand, as_float, operand
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.nodes import Constant, Guard, Node, Template
from cassette_import.contexts.graph.program_frame import DEEPEST
from cassette_import.kits.numbers.table import NUMBERS, QUESTIONS, ROUNDINGS

__all__ = ["VANISHED", "ZEROS", "JaxKernel", "Table", "function_of", "namespace", "with_zeros"]

# ---- the functions that kernels call, on numbers of JAX
#
# Importing the module does not import JAX.

_LARGEST: Final = 2.0**62
_EXACT: Final = 2**53
_FUNCTIONS: Final = (
    *("sqrt", "exp", "expm1", "log", "log1p", "fabs", "degrees", "radians", "pow", "floor", "ceil", "hypot"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2"),
    *("copysign", "isnan", "isinf", "isfinite"),
)
_NAMES: Final = {row.name: row.ufuncs[0] for row in (*NUMBERS, *QUESTIONS, *ROUNDINGS) if row.ufuncs}
"""The names of functions in JAX, which are those of NumPy."""


class Table:
    """A known table of numbers. It is an array of JAX where it is read, when 64-bit numbers are on."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __getitem__(self, index: Any) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(self._values)[index]


def namespace() -> dict[str, Any]:
    """The functions by name. They take the place of Python's `float`, `int` and `math`."""
    import jax
    import jax.numpy as jnp

    return {
        **_conversions(jnp),
        **_remainders(jax, jnp),
        "_is_tiny": _is_tiny,
        "_results": _results,
        "_choose": lambda test, then, other, bad: jax.lax.cond(test, then, other, jnp.asarray(bad)),
        "_where": jnp.where,
        "numpy": jnp,
        **_array_tests(jnp),
        "_not": jnp.logical_not,
        "_both": jnp.logical_and,
        "_least": lambda one, other: jnp.where(other < one, other, one),
        "_greatest": lambda one, other: jnp.where(other > one, other, one),
        "math": SimpleNamespace(
            **{name: getattr(jnp, _NAMES.get(name, name)) for name in _FUNCTIONS},
            **_logarithms(jax, jnp),
            erf=jax.scipy.special.erf,
            erfc=jax.scipy.special.erfc,
            nan=math.nan,
            inf=math.inf,
        ),
    }


def _results(path: Any, floats: list[Any], integers: list[Any], arrays: Sequence[Any] = ()) -> Any:
    """The results of a block, which have the same types for every block."""
    import jax.numpy as jnp

    found = [tuple(jnp.asarray(one, kind) for one in row) for row, kind in ((floats, "float64"), (integers, "int64"))]
    return jnp.asarray(path, "int64"), *found, tuple(map(jnp.asarray, arrays))


def _array_tests(jnp: Any) -> dict[str, Callable[..., Any]]:
    """What is true where NumPy raises an exception, or has another result."""
    return {
        "_any_outside": lambda index, length: jnp.any((index < -length) | (index >= length)),
        "_any_zero": lambda array: jnp.any(array == 0),
        "_any_below_zero": lambda array: jnp.any(array < 0),
        "_any_not_finite": lambda array: jnp.any(jnp.logical_not(jnp.isfinite(array))),
        "_with_item": lambda array, key, value: jnp.asarray(array).at[key].set(jnp.asarray(value, array.dtype)),
        "_where_item": lambda array, mask, value: jnp.where(mask, jnp.asarray(value, array.dtype), array),
        "_any_without_integer": lambda array: jnp.any(jnp.logical_not(jnp.abs(array) < _LARGEST)),
    }


def _is_tiny(number: Any) -> Any:
    """Whether a float is below the normal numbers. XLA takes it for zero, so its bits tell."""
    import jax
    import jax.numpy as jnp

    bits = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(number), jnp.int64)
    return (bits & 0x7FF0_0000_0000_0000 == 0) & (bits & 0xF_FFFF_FFFF_FFFF != 0)


def _zero() -> Any:
    """A zero that the compiler does not know."""
    import jax

    return jax.lax.optimization_barrier(jax.numpy.asarray(0.0))


def _sum(jnp: Any, numbers: Sequence[Any]) -> Any:
    """The sum of floats as `sum` computes it: with what the additions have lost."""
    total = lost = _zero()
    for number in numbers:
        after = total + number
        is_larger = jnp.fabs(total) >= jnp.fabs(number)
        lost += jnp.where(is_larger, (total - after) + number, (number - after) + total)
        total = after
    return jnp.where((lost != 0.0) & jnp.isfinite(lost), total + lost, total)


def _conversions(jnp: Any) -> dict[str, Callable[..., Any]]:
    """Conversions, and tests whether numbers fit."""

    def fits(number: Any) -> Any:
        return (number > -_LARGEST) & (number < _LARGEST)

    return {
        "float": lambda number: jnp.asarray(number, "float64"),
        "int": lambda number: jnp.trunc(number).astype("int64"),
        "_float": lambda truth: jnp.asarray(truth, "float64"),
        "_integer": lambda truth: jnp.asarray(truth, "int64"),
        "_inexact": lambda number: (number > _EXACT) | (number < -_EXACT),
        "_huge": lambda number: (number > 2**62 - 1) | (number < 1 - 2**62),
        "_no_integer": lambda number: jnp.logical_not(fits(number)),
        "_fitting": lambda number: jnp.where(fits(number), number, 0.0),
        "_nearest": jnp.round,
        "_product_huge": lambda one, other: jnp.logical_not(
            fits(jnp.asarray(one, "float64") * jnp.asarray(other, "float64"))
        ),
        "_outside": lambda index, length: (index < -length) | (index >= length),
        "_within": lambda index, length: jnp.where(
            (index < -length) | (index >= length), 0, jnp.where(index < 0, index + length, index)
        ),
        "_zero": _zero,
        "_sum": lambda numbers: _sum(jnp, numbers),
        "_not_finite": lambda number: jnp.logical_not(jnp.isfinite(number)),
    }


def _logarithms(jax: Any, jnp: Any) -> dict[str, Callable[..., Any]]:
    """Logarithms that are integers where Python's are, because programs count digits with them."""

    def exact(base: float, logarithm: Callable[..., Any], largest: int) -> Callable[..., Any]:
        powers = [base**exponent for exponent in range(largest + 1)]

        def function(number: Any) -> Any:
            found = logarithm(number)
            nearest = jnp.round(found)
            power = jnp.asarray(powers)[jnp.clip(jnp.abs(nearest), 0, largest).astype("int64")]
            is_exact = (number == jnp.where(nearest < 0, 1.0 / power, power)) & (jnp.abs(nearest) <= largest)
            return found + jax.lax.stop_gradient(jnp.where(is_exact, nearest - found, 0.0))

        return function

    return {"log2": exact(2.0, jnp.log2, 1023), "log10": exact(10.0, jnp.log10, 22)}


def _remainders(jax: Any, jnp: Any) -> dict[str, Callable[..., Any]]:
    """Divisions with remainder, with the signs of zeros and the roundings of Python."""

    def is_float(*numbers: Any) -> bool:
        return bool(jnp.issubdtype(jnp.result_type(*numbers), jnp.floating))

    def float_modulo(x: Any, y: Any) -> Any:
        rest = jnp.fmod(x, y)
        moved = jnp.where((rest < 0) != (y < 0), rest + y, rest)
        return jnp.where(rest == 0, jnp.copysign(0.0, y), moved)

    def float_quotient(x: Any, y: Any) -> Any:
        rest = jnp.fmod(x, y)
        quotient = (x - rest) / y
        quotient = jnp.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1.0, quotient)
        whole = jnp.floor(quotient)
        nearest = jnp.where(quotient - whole > 0.5, whole + 1.0, whole)
        return jnp.where(quotient == 0, jnp.copysign(0.0, x / y), nearest)

    def float_remainder(x: Any, y: Any) -> Any:
        whole, divisor = jnp.fabs(x), jnp.fabs(y)
        rest = jnp.fmod(whole, divisor)
        other = divisor - rest
        even = rest - 2.0 * jnp.fmod(0.5 * (whole - rest), divisor)
        result = jnp.copysign(1.0, x) * jnp.where(rest < other, rest, jnp.where(rest > other, -other, even))
        return jnp.where(jnp.isfinite(x) & jnp.isfinite(y) & (divisor != 0), result, jnp.nan)

    def smooth(function: Callable[..., Any]) -> Callable[..., Any]:
        """The derivative of what is left of a division is that of `x - n * y`, also at multiples of `y`."""
        made = jax.custom_jvp(function)
        made.defjvps(lambda dx, rest, x, y: dx, lambda dy, rest, x, y: -jnp.round((x - rest) / y) * dy)
        return lambda x, y: made(jnp.asarray(x, "float64"), jnp.asarray(y, "float64"))

    modulo = smooth(float_modulo)
    return {
        "_modulo": lambda x, y: modulo(x, y) if is_float(x, y) else jnp.remainder(x, y),
        "_floor_division": lambda x, y: (
            float_quotient(jnp.asarray(x), jnp.asarray(y)) if is_float(x, y) else jnp.floor_divide(x, y)
        ),
        "_fmod": smooth(lambda x, y: jnp.where(y == 0, jnp.nan, jnp.fmod(x, y))),
        "_remainder": smooth(float_remainder),
    }


# ---- paths through a function as one function for JAX: without side effects, and with `lax.cond` for decisions

VANISHED: Final[dict[Any, str]] = {
    operator.add: "({} != -({}))",
    operator.sub: "({} != {})",
    operator.mul: "({} != 0.0) & ({} != 0.0)",
    operator.mod: "({} != 0.0) & (abs({}) < 1e-290)",
    math.exp: "({} > -745.2)",
    math.erfc: "({} < 27.3)",
    **dict.fromkeys((operator.truediv, operator.pow, pow, math.pow, math.atan2), "({} != 0.0)"),
}
"""When a float that is zero may be one below the normal numbers, which XLA takes for zero: by function."""


_ZERO: Final = Node(-1, None, (), {}, 0.0, None)
_NEGATIVE_ZERO: Final = Node(-2, None, (), {}, -0.0, None)
ZEROS: Final = {-1: Operand("_zero()", float), -2: Operand("(-_zero())", float)}
"""Zeros that XLA does not know: it takes `x + 0.0` for `x`, which has the other sign where `x` is -0.0."""


def with_zeros(node: Node) -> Node:
    """An operation, with zeros that XLA does not know in the place of those that are added or subtracted."""
    if node.function not in (operator.add, operator.sub) or node.type is not float:
        return node
    operands = tuple(map(_without_zero, node.operands))
    made = Node(node.number, node.function, operands, node.keywords, node.value, node.site)
    made.fixed = node.fixed
    return made


def _without_zero(operand: Template) -> Template:
    if not isinstance(operand, Constant) or type(operand.value) not in (bool, int, float) or operand.value != 0:
        return operand
    return _NEGATIVE_ZERO if math.copysign(1.0, operand.value) < 0 else _ZERO


class JaxKernel(Kernel):
    """The source of a kernel for JAX. Its functions are those of `namespace`."""

    def function(self) -> Callable[..., Any]:
        """The kernel as a function of numbers of JAX: the path, the floats and the integers of the result."""
        return function_of(self)

    def _text(self) -> str:
        tiny = [f"    bad |= _is_tiny(x{node.number})" for node in self.inputs if node.type is float]
        self._lines[:0] = tiny
        return self._kernel()

    def _block(self, paths: list[int], start: int, indent: int, known: dict[int, Operand]) -> None:
        if indent > DEEPEST:
            raise NotRepresentable("the paths are nested too deeply for JAX")
        steps = self.traces[paths[0]].steps
        for number in range(start, len(steps)):
            step = steps[number]
            if isinstance(step, Guard):
                groups = self._outcomes(paths, number)
                if len(groups) > 1:
                    return self._choice(groups, number, indent, known)
                test = condition(step, known[step.node.number])
                if test != "True":
                    self._line(indent, f"bad |= _not({test})")
            elif step.number not in known:
                self._statement(step, indent, known)
        self._return(paths[0], indent, known)
        return None

    def _statement(self, node: Node, indent: int, known: dict[int, Operand]) -> None:
        known.update(ZEROS)
        node = with_zeros(node)
        super()._statement(node, indent, known)
        test = VANISHED.get(node.function)
        if test is not None and node.type is float:
            operands = [as_float(operand(part, known, node)) for part in node.operands]
            self._line(indent, f"bad |= ({known[node.number].text} == 0.0) & {test.format(*operands)}")

    def _choice(
        self, groups: list[tuple[Guard, list[int]]], number: int, indent: int, known: dict[int, Operand]
    ) -> None:
        """A decision of which several outcomes are known: a function for each."""
        tests = []
        for guard, paths in groups:
            tests.append(condition(guard, known[guard.node.number]))
            self._line(indent, f"def path_{indent}_{len(tests)}(bad):")
            self._block(paths, number + 1, indent + 1, dict(known))
        *first, last = [f"path_{indent}_{place}" for place in range(1, len(tests) + 1)]
        if tests[-1] != f"_not({tests[0]})":
            self._line(indent, f"bad |= _not({' | '.join(tests)})")
        chosen = last
        for test, name in zip(reversed(tests[:-1]), reversed(first), strict=True):
            chosen = f"lambda bad, _then={name}, _else={chosen}: _choose({test}, _then, _else, bad)"
        self._line(indent, f"return ({chosen})(bad)")

    def _number(self, path: int) -> str:
        return f"_where(bad, -1, {path})"

    def _results(self, path: str, floats: list[str], integers: list[str], *arrays: str) -> str:
        lists = [(floats, self.floats), (integers, self.integers)]
        texts = [", ".join([*numbers, *["0"] * (count - len(numbers))]) for numbers, count in lists]
        return f"_results({path}, [{texts[0]}], [{texts[1]}])"


def function_of(kernel: JaxKernel) -> Callable[..., Any]:
    """The kernel as a function of numbers of JAX: the path, the floats and the integers of the result."""
    names = namespace()
    names.update({name: Table(values) for name, values in kernel.tables.items()})
    exec(compile(kernel.source, "<kernel>", "exec"), names)
    found: Callable[..., Any] = names[KERNEL]
    return found
