"""Paths through a function as one function for JAX: without side effects, and with `lax.cond` for decisions.

The expressions are those of a kernel.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.backends.jax_functions import Table, namespace
from cassette_import.contexts.backends.kernel import KERNEL, Kernel, condition
from cassette_import.contexts.backends.operations import Operand, as_float, operand
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.nodes import Constant, Guard, Node, Template
from cassette_import.contexts.graph.program_frame import DEEPEST

__all__ = ["VANISHED", "ZEROS", "JaxKernel", "function_of", "with_zeros"]

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
