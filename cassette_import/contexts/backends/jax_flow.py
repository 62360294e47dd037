"""A flow as a function of JAX: branches are `lax.cond`, and loops `lax.fori_loop` or `lax.while_loop`.

Importing the module does not import JAX.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from cassette_import.contexts.backends.helper_functions import ARRAY_HELPERS
from cassette_import.contexts.backends.jax_kernel import VANISHED, ZEROS, JaxKernel, Table, namespace, with_zeros
from cassette_import.contexts.backends.kernel import FlowKernel, leaves
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
from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.blocks import Assign, Block, Branch, Check, Item, Jump, Part, Repeat
from cassette_import.contexts.graph.flow.uses import (
    all_items,
    has_open_loops,
    inner_blocks,
    iterations_of,
    read_outside,
)
from cassette_import.contexts.graph.kinds import ArrayKind, Kind, dtype_of, kind_of, kind_of_part, name_of, shape_of
from cassette_import.contexts.graph.nodes import Constant, Node
from cassette_import.contexts.graph.tracing import Trace
from cassette_import.errors import CassetteError

__all__ = ["JaxCompiled", "JaxFlowKernel"]

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
        self._names = namespace()
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
            kind = kind_of_part(leaf)
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
        known = {one.number: Operand(f"x{one.number}", kind_of(one.value)) for one in node.sources} | ZEROS
        node = with_zeros(node)
        text, test = operation(node, known)
        table = table_of(node)
        if table is not None:
            self._names[table[0]] = Table(table[1])
        for array in array_constants(node):
            self._names[array_name(array)] = jax.numpy.asarray(array) if node.function is operator.getitem else array
        name = f"x{node.number}"
        state[name] = self._computed(node, text, state)
        if test is not None:
            state["bad"] |= self._value(test.replace("RESULT", name), state)
        vanished = VANISHED.get(node.function)
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

_EXACT: Final[dict[str, Any]] = {
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
            options = None if self.kernel.has_arrays else _EXACT
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
