"""Paths and flows through a function as one function for JAX, and a kernel as a program of XLA."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Hashable, Sequence
from types import SimpleNamespace
from typing import Any, Final

from cassette_import.contexts.backends.kernel import ARRAY_HELPERS, KERNEL, FlowKernel, Kernel, condition, leaves
from cassette_import.contexts.backends.operations import (
    Operand,
    array_constants,
    array_name,
    as_float,
    as_truth,
    operand,
    operation,
    refused,
    table_of,
)
from cassette_import.contexts.backends.points import Columns, alike, filled
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.blocks import Assign, Block, Branch, Check, Item, Jump, Part, Repeat
from cassette_import.contexts.graph.flow.statements import (
    all_items,
    has_open_loops,
    inner_blocks,
    iterations_of,
    read_outside,
)
from cassette_import.contexts.graph.nodes import (
    ArrayKind,
    Constant,
    Guard,
    Kind,
    Node,
    Template,
    dtype_of,
    kind_of,
    name_of,
    shape_of,
)
from cassette_import.contexts.graph.program import DEEPEST
from cassette_import.contexts.graph.tracing import Trace
from cassette_import.errors import CassetteError
from cassette_import.kits.numbers.table import NUMBERS, QUESTIONS, ROUNDINGS

__all__ = ["JaxCompiled", "JaxFlowKernel", "JaxKernel"]


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


class _Table:
    """A known table of numbers. It is an array of JAX where it is read, when 64-bit numbers are on."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __getitem__(self, index: Any) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(self._values)[index]


def _namespace() -> dict[str, Any]:
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
#
# The expressions are those of a kernel.

_VANISHED: Final[dict[Any, str]] = {
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
_ZEROS: Final = {-1: Operand("_zero()", float), -2: Operand("(-_zero())", float)}
"""Zeros that XLA does not know: it takes `x + 0.0` for `x`, which has the other sign where `x` is -0.0."""


def _with_zeros(node: Node) -> Node:
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
    """The source of a kernel for JAX. Its functions are those of `_namespace`."""

    def function(self) -> Callable[..., Any]:
        """The kernel as a function of numbers of JAX: the path, the floats and the integers of the result."""
        return _function_of(self)

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
        known.update(_ZEROS)
        node = _with_zeros(node)
        super()._statement(node, indent, known)
        test = _VANISHED.get(node.function)
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


def _function_of(kernel: JaxKernel) -> Callable[..., Any]:
    """The kernel as a function of numbers of JAX: the path, the floats and the integers of the result."""
    names = _namespace()
    names.update({name: _Table(values) for name, values in kernel.tables.items()})
    exec(compile(kernel.source, "<kernel>", "exec"), names)
    found: Callable[..., Any] = names[KERNEL]
    return found


# ---- a flow as a function of JAX: branches are `lax.cond`, and loops `lax.fori_loop` or `lax.while_loop`

_State = dict[str, Any]
"""By name: the numbers that branches and loops change; `bad`, and for each jump whether it was made."""


class JaxFlowKernel(FlowKernel):
    """A flow for JAX. `function` is the kernel; `source` is the text of what it does.

    Raises
    ------
    NotRepresentable
        If an operation of arrays has other types, or another shape, in JAX.
    """

    takes_arrays = True

    def __init__(self, flow: Flow) -> None:
        super().__init__(flow)
        nodes = [one for one in all_items(flow.body) if isinstance(one, Node)]
        self.has_arrays = any(isinstance(kind_of(one.value), ArrayKind) for one in (*self.inputs, *nodes))
        if self.has_arrays:
            self._check()

    def _check(self) -> None:
        """Let JAX find the types and shapes of all results."""
        import jax

        kinds = [kind_of(node.value) for node in self.inputs]
        with jax.enable_x64(True):
            jax.eval_shape(self.function(), *(jax.ShapeDtypeStruct(shape_of(one), dtype_of(one)) for one in kinds))

    def _text(self) -> str:
        text = super()._text()
        return f"{ARRAY_HELPERS}\n\n{text}" if any(one in text for one in ("numpy.", "_any_", "_item(")) else text

    @property
    def has_open_loops(self) -> bool:  # type: ignore[override]  # here it may change
        """Whether a loop is a `lax.while_loop`."""
        return has_open_loops(self.flow.body)

    def function(self) -> Callable[..., Any]:
        """The kernel as a function of numbers of JAX: the path, the floats and the integers of the result."""
        return _Interpreter(self).run


class _Interpreter:
    """Runs a flow with numbers of JAX."""

    def __init__(self, kernel: JaxFlowKernel) -> None:
        self._kernel = kernel
        self._names = _namespace()
        self._code: dict[str, Any] = {}
        self._used = kernel.used
        self._read_outside = read_outside(kernel.flow)
        self._kinds = {**kernel.join_kinds, **self._read_outside}
        self._unbound = kernel.unbound

    def run(self, *values: Any) -> Any:
        """The result for the inputs."""
        import jax.numpy as jnp

        self._false = jnp.asarray(False)
        inputs = self._kernel.inputs
        state: _State = {f"x{node.number}": value for node, value in zip(inputs, values, strict=True)}
        state["bad"] = self._false
        for node, value in zip(inputs, values, strict=True):
            if dtype_of(kind_of(node.value)) == "float64":
                state["bad"] |= jnp.any(self._names["_is_tiny"](value))
        state = self._block(self._kernel.flow.body, state)
        return self._result(state)

    def _result(self, state: _State) -> Any:
        floats: list[Any] = []
        integers: list[Any] = []
        arrays: list[Any] = []
        for leaf in leaves(self._kernel.flow.result):
            value = state[f"x{leaf.number}"] if isinstance(leaf, Node) else leaf.value
            if isinstance(leaf, Node) and leaf.number in self._unbound:
                state["bad"] |= state[f"unbound{leaf.number}"]
            kind = kind_of(leaf.value)
            (arrays if isinstance(kind, ArrayKind) else floats if kind is float else integers).append(value)
        path = self._names["_where"](state["bad"], -1, 0)
        return self._names["_results"](path, floats, integers, arrays)

    # ---- blocks

    def _block(self, block: Block, state: _State) -> _State:
        return self._items(block.items, dict(state))

    def _items(self, items: Sequence[Item], state: _State) -> _State:
        """Run items; what follows a jump that may have been made runs only if it was not."""
        place = 0
        while place < len(items):
            item = items[place]
            place += 1
            if isinstance(item, Node):
                self._operation(item, state)
            elif isinstance(item, Assign):
                group = [item]
                while place < len(items) and isinstance(items[place], Assign):
                    group.append(items[place])  # type: ignore[arg-type]
                    place += 1
                self._assign(group, state)
            elif isinstance(item, Check):
                self._reads(item.node, state)
                truth = self._truth(item.node, state)
                state["bad"] |= self._names["_not"](truth) if item.expected else truth
            elif isinstance(item, Jump):
                state[_flag(item)] = self._names["_not"](self._false)
                return state
            else:
                state = self._construct(item, state)
                jumps = _jumps([item])
                rest = items[place:]
                if jumps and rest:
                    return self._unless(jumps, rest, state)
        return state

    def _unless(self, jumps: set[str], rest: Sequence[Item], state: _State) -> _State:
        """The rest of a block, unless it was left."""
        import jax

        left = self._false
        for name in sorted(jumps):
            left |= state[name]
        return self._chosen(left, lambda one: one, lambda one: self._items(rest, one), rest, state, jax)

    def _chosen(self, test: Any, then: Any, other: Any, items: Sequence[Item], state: _State, jax: Any) -> _State:
        """`lax.cond` with what the items change as operands."""
        names = self._changed(items, state)

        def side(run: Any) -> Any:
            def function(values: Any) -> Any:
                found = run({**state, **dict(zip(names, values, strict=True))})
                return tuple(jax.numpy.asarray(found[name], self._dtype(name)) for name in names)

            return function

        before = tuple(state[name] for name in names)
        after = jax.lax.cond(test, side(then), side(other), before)
        return {**state, **dict(zip(names, after, strict=True))}

    def _changed(self, items: Sequence[Item], state: _State) -> list[str]:
        """The names that items change and that are read outside of them; those that are new are zero before."""
        import jax.numpy as jnp

        names = {"bad", *_jumps(items)}
        work = list(items)
        while work:
            item = work.pop()
            if isinstance(item, Node) and item.number in self._read_outside:
                names.add(f"x{item.number}")
            if isinstance(item, Assign) and item.target.number in self._used:
                number = item.target.number
                if number in self._kinds:
                    names.add(f"x{number}")
                    if number in self._unbound:
                        names.add(f"unbound{number}")
            for inner in inner_blocks(item):
                work += inner.items
        for name in names:
            if name not in state:
                state[name] = jnp.zeros(shape_of(self._kind(name)), self._dtype(name))
        return sorted(names)

    def _kind(self, name: str) -> Kind:
        return self._kinds[int(name[1:])] if name[0] == "x" else bool

    def _dtype(self, name: str) -> str:
        return dtype_of(self._kind(name))

    # ---- operations

    def _operation(self, node: Node, state: _State) -> None:
        import jax

        for source in node.sources:
            self._reads(source, state)
        known = {one.number: Operand(f"x{one.number}", kind_of(one.value)) for one in node.sources} | _ZEROS
        node = _with_zeros(node)
        text, test = operation(node, known)
        table = table_of(node)
        if table is not None:
            self._names[table[0]] = _Table(table[1])
        for array in array_constants(node):
            self._names[array_name(array)] = jax.numpy.asarray(array) if node.function is operator.getitem else array
        name = f"x{node.number}"
        state[name] = self._computed(node, text, state)
        if test is not None:
            state["bad"] |= self._value(test.replace("RESULT", name), state)
        vanished = _VANISHED.get(node.function)
        if vanished is not None and node.type is float:
            operands = [as_float(operand(part, known, node)) for part in node.operands]
            state["bad"] |= self._value(f"({name} == 0.0) & {vanished.format(*operands)}", state)

    def _computed(self, node: Node, text: str, state: _State) -> Any:
        """The result of an operation, which has the type and shape that it has in NumPy."""
        kind = kind_of(node.value)
        if not any(isinstance(kind_of(one.value), ArrayKind) for one in (node, *node.sources)):
            return self._value(text, state)
        try:
            value = self._value(text, state)
        except Exception as error:
            raise refused(node, f"JAX has no {node.label} of this: {str(error).partition(chr(10))[0]}") from None
        if isinstance(kind, type) and issubclass(kind, (tuple, list)):
            return value
        if "int" in str(value.dtype) and "int" in dtype_of(kind):  # an index, which fits in any case
            value = value.astype(dtype_of(kind))
        if (str(value.dtype), value.shape) != (dtype_of(kind), shape_of(kind)):
            raise refused(
                node, f"{node.label} gives {value.dtype}{list(value.shape)} in JAX, and {name_of(kind)} in NumPy"
            )
        return value

    def _value(self, text: str, state: _State) -> Any:
        code = self._code.get(text)
        if code is None:
            code = self._code[text] = compile(text, "<operation>", "eval")
        return eval(code, self._names, state)

    def _reads(self, node: Node, state: _State) -> None:
        if node.number in self._unbound:
            state["bad"] |= state[f"unbound{node.number}"]

    def _truth(self, node: Node, state: _State) -> Any:
        return self._value(as_truth(Operand(f"x{node.number}", kind_of(node.value))), state)

    def _assign(self, group: Sequence[Assign], state: _State) -> None:
        made: _State = {}
        for one in group:
            number = one.target.number
            if number not in self._used or number not in self._kinds:
                continue
            source = one.source
            if isinstance(source, Node):
                found = state.get(f"x{source.number}")
                if found is None:
                    continue
                made[f"x{number}"] = found
                mark = state[f"unbound{source.number}"] if source.number in self._unbound else self._false
            else:
                made[f"x{number}"] = self._constant(source, number)
                mark = self._false if source is not None else ~self._false
            if number in self._unbound:
                made[f"unbound{number}"] = mark
        state.update(made)

    def _constant(self, source: Any, number: int) -> Any:
        import jax.numpy as jnp

        value = source.value if isinstance(source, Constant) else 0
        kind = self._kinds[number]
        return jnp.broadcast_to(jnp.asarray(value, dtype_of(kind)), shape_of(kind))

    # ---- branches and loops

    def _construct(self, item: Item, state: _State) -> _State:
        import jax

        if isinstance(item, Branch):
            self._reads(item.node, state)
            test = self._truth(item.node, state)
            return self._chosen(test, self._side(item, True), self._side(item, False), [item], state, jax)
        assert isinstance(item, (Repeat, Part))
        if isinstance(item, Part):
            state = self._block(item.body, state)
            state.pop(_name_of(item.key), None)
            return state
        return self._loop(item, state, jax)

    def _side(self, item: Branch, truth: bool) -> Any:
        block = item.sides.get(truth)
        if block is None:
            return lambda state: {**state, "bad": ~self._false}
        return lambda state: self._block(block, state)

    def _loop(self, item: Repeat, state: _State, jax: Any) -> _State:
        """A loop ends by a jump, or where Python has to compute the result."""
        names = self._changed([item], state)
        again, ends = f"again{_name_of(item.key)}", _name_of(item.key)
        inside = [name for name in {*names, ends, *_jumps(item.body.items)} if name != again]
        for name in inside:
            state.setdefault(name, self._false)
        state[ends] = self._false
        leaving = sorted(_jumps(item.body.items) - {again})

        def goes_on(values: Any) -> Any:
            now = dict(zip(inside, values, strict=True))
            left = now["bad"]
            for name in leaving:
                left |= now[name]
            return self._names["_not"](left)

        def iteration(values: Any) -> Any:
            found = self._block(item.body, {**state, **dict(zip(inside, values, strict=True))})
            return tuple(jax.numpy.asarray(found[name], self._dtype(name)) for name in inside)

        before = tuple(jax.numpy.asarray(state[name], self._dtype(name)) for name in inside)
        iterations = iterations_of(item)
        if iterations is None:
            after = jax.lax.while_loop(goes_on, iteration, before)
        else:  # the iteration after the last one leaves the loop
            after = iteration(jax.lax.fori_loop(0, iterations, lambda _, values: iteration(values), before))
        made = {**state, **dict(zip(inside, after, strict=True))}
        made.pop(ends, None)
        return made


def _name_of(key: Hashable) -> str:
    return f"jump{hash(key) & 0xFFFF_FFFF_FFFF:x}"


def _flag(item: Jump) -> str:
    return f"{'again' if item.again else ''}{_name_of(item.target)}"


def _jumps(items: Sequence[Item]) -> set[str]:
    """The jumps that leave items."""
    found: set[str] = set()
    for item in items:
        if isinstance(item, Jump):
            found.add(_flag(item))
        for inner in inner_blocks(item):
            found |= _jumps(inner.items)
        if isinstance(item, (Repeat, Part)):
            found -= {_name_of(item.key), f"again{_name_of(item.key)}"}
    return found


# ---- a kernel as a program of XLA, by JAX

_EXACT_COMPILER_OPTIONS: Final[dict[str, Any]] = {
    "xla_backend_optimization_level": 0,
    "xla_disable_hlo_passes": "fusion,algsimp",
}
"""Numbers are rounded as in Python. Where XLA compiles several operations as one, it fuses products and sums, which are
rounded once then, and its algebraic simplifier makes `x / (y / z)` one quotient of a product."""


class JaxCompiled:
    """The program of a kernel. It is compiled as soon as it is needed: for numbers, and for arrays of a few lengths.

    `seconds` says how long the compiler has taken.
    """

    def __init__(self, kernel: JaxKernel | JaxFlowKernel) -> None:
        self.kernel = kernel
        self.function = kernel.function()
        self.seconds = 0.0
        self._compiled: dict[int | None, Any] = {}

    def _program(self, length: int | None) -> Any:
        """The program for arrays of a length; for numbers if it is None."""
        import jax

        made = self._compiled.get(length)
        if made is None:
            before = time.perf_counter()
            axis = () if length is None else (length,)
            function = self.function if length is None else jax.vmap(self.function)
            kinds = [kind_of(node.value) for node in self.kernel.inputs]
            examples = [jax.ShapeDtypeStruct((*axis, *shape_of(kind)), dtype_of(kind)) for kind in kinds]
            options = None if self.kernel.has_arrays else _EXACT_COMPILER_OPTIONS
            made = jax.jit(function, compiler_options=options).lower(*examples).compile()
            self._compiled[length] = made
            self.seconds += time.perf_counter() - before
        return made

    def call(self, numbers: Sequence[Any]) -> tuple[int, list[Any]] | None:
        """The path and the numbers of a result; None if Python has to compute it."""
        import jax
        import numpy

        with jax.enable_x64(True):
            path, floats, integers, arrays = self._program(None)(
                *(
                    numpy.asarray(one, dtype_of(kind_of(node.value)))
                    for one, node in zip(numbers, self.kernel.inputs, strict=True)
                )
            )
        number = int(path)
        if number < 0:
            return None
        rows = {float: iter(floats), int: iter(integers)}
        rows[bool] = rows[int]
        of_arrays = iter(arrays)
        return number, [
            _as_numpy(next(of_arrays), kind) if isinstance(kind, ArrayKind) else kind(next(rows[kind]).item())
            for kind in self.kernel.kinds[number]
        ]

    def loop(self, arrays: Sequence[Any], results: Columns, traces: Sequence[Trace]) -> list[int]:
        """Put the results of all points into columns; returns the places of those that Python has to compute."""
        import jax
        import numpy

        size = results.size
        if not size:
            return []
        more = _length(size) - size
        with jax.enable_x64(True):
            found = self._program(size + more)(*(numpy.pad(array, (0, more), "edge") for array in arrays))
        paths = numpy.asarray(found[0])[:size]
        floats, integers = ([numpy.asarray(row)[:size] for row in rows] for rows in found[1:3])
        for path, trace in enumerate(traces):
            places = paths == path
            if places.any():
                results.put_path(trace.result, places, floats, integers)
        return [int(place) for place in numpy.flatnonzero(paths < 0)]


def _as_numpy(array: Any, kind: ArrayKind) -> Any:
    """An array of NumPy that can be changed, or one of its numbers."""
    import numpy

    found = numpy.array(array)
    return found if issubclass(kind.owner, numpy.ndarray) else found[()]


def _length(size: int) -> int:
    """A length of arrays that is somewhat larger, so that few lengths are compiled."""
    step = 1 << max(size.bit_length() - 4, 6)
    return -(-size // step) * step


def function_of_floats(compiled: JaxCompiled, traces: Sequence[Trace]) -> Callable[..., Any]:
    """The compiled paths as a function of JAX, whose result is NaN where Python has to compute it.

    Raises
    ------
    ValueError
        If arguments or results are no floats, or the results of two paths differ in structure.
    """
    result = traces[0].result
    arguments = [kind_of(one.template.value) for one in traces[0].arguments if isinstance(one.template, Node)]
    has_parts = len(arguments) < len(traces[0].arguments)
    floats = all(map(_is_of_floats, (*arguments, *compiled.kernel.kinds[0])))
    if has_parts or not floats or not all(alike(result, trace.result) for trace in traces):
        raise ValueError("a function of JAX has floats as arguments and results, or arrays of them: return these alone")

    def function(*values: Any) -> Any:
        import jax
        import jax.numpy as jnp

        if not jax.config.jax_enable_x64:
            raise CassetteError("64-bit numbers of JAX are off: use `with jax.enable_x64(True):`")
        if len(values) != len(compiled.kernel.inputs):
            raise TypeError(f"the function has {len(compiled.kernel.inputs)} arguments, not {len(values)}")
        found = {str(jnp.result_type(one)) for one in values}
        if found != {"float64"} == {*map(dtype_of, arguments)}:
            raise TypeError(f"the arguments are 64-bit floats, not {', '.join(sorted(found))}")
        for value, kind in zip(values, arguments, strict=True):
            given = f"{jnp.result_type(value)}{list(jnp.shape(value))}"
            if given != f"{dtype_of(kind)}{list(shape_of(kind))}":
                raise TypeError(f"an argument is {given}, and its example was {name_of(kind)}: give such an example")
        return filled(result, iter(numbers_of(*map(jnp.asarray, values))))

    numbers_of = _differentiable(compiled)
    return function


def _is_of_floats(kind: Any) -> bool:
    return kind is float or (isinstance(kind, ArrayKind) and kind.dtype.startswith("float"))


def _differentiable(compiled: JaxCompiled) -> Callable[..., Any]:
    """The floats of the result, for all kinds of derivatives of JAX."""
    import jax
    import jax.numpy as jnp

    def numbers_of(*values: Any) -> tuple[Any, ...]:
        path, floats, _, arrays = compiled.function(*values)
        factor = jnp.where(path < 0, jnp.nan, 1.0)
        nothing = (factor - 1.0) * sum(map(jnp.sum, values))  # it makes derivatives NaN where the result is
        rows = {True: iter(floats), False: iter(arrays)}
        found = [next(rows[kind is float]) for kind in compiled.kernel.kinds[0]]
        return tuple(jnp.where(path < 0, (one * factor + nothing).astype(one.dtype), one) for one in found)

    if not compiled.kernel.has_open_loops:
        return numbers_of
    made: Any = jax.custom_jvp(numbers_of)

    def derivative(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """JAX differentiates a `while_loop` forwards only; what it gives is linear, so it goes backwards as well."""
        rows = jax.jacfwd(numbers_of, tuple(range(len(values))))(*values)
        changes = (
            sum(jnp.tensordot(part, tangent, tangent.ndim) for part, tangent in zip(row, tangents, strict=True))
            for row in rows
        )
        return numbers_of(*values), tuple(changes)

    made.defjvp(derivative)
    found: Callable[..., Any] = made
    return found
