"""Paths through a function as one kernel: a function of machine numbers, without exceptions, and a tree of `if`.

The kernel returns the number of the path, or -1 where Python has to compute the result, and the numbers of the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from cassette_import.contexts.backends.array_operations import array_constants, array_name
from cassette_import.contexts.backends.helper_functions import HELPERS
from cassette_import.contexts.backends.operations import (
    Operand,
    as_float,
    as_integer,
    as_truth,
    constant,
    operation,
    refused,
    table_of,
)
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.kinds import NUMBERS, ArrayKind, Kind, is_value, kind_of, kind_of_part
from cassette_import.contexts.graph.nodes import Built, Constant, Guard, Node, Template, same
from cassette_import.contexts.graph.program_frame import DEEPEST
from cassette_import.contexts.graph.tracing import Trace

__all__ = ["KERNEL", "LOOP", "MISSING", "Kernel", "condition", "leaves"]

KERNEL: Final = "kernel"
LOOP: Final = "loop"
MISSING: Final = -2
"""The path where the program comes to a decision of which this outcome is not known; Python computes the result."""


def leaves(template: Template) -> Iterator[Node | Constant]:
    """The parts of a result that are numbers or arrays, in order."""
    if isinstance(template, Built):
        for part in template.parts:
            yield from leaves(part)
    elif isinstance(template, Node) or is_value(template.value):
        yield template


class Kernel:
    """The source of a kernel, and of a loop that calls it.

    Parameters
    ----------
    traces:
        The paths, whose arguments are alike, and which do the same up to a guard at which they part.

    Attributes
    ----------
    tables:
        The known tables that it reads, by name.
    arrays:
        The known arrays, by name.

    Raises
    ------
    NotRepresentable
        If machine code would not give Python's result.
    """

    has_loops = False
    has_open_loops = False
    """Whether a loop has a number of iterations that is not known."""
    takes_arrays = False
    has_arrays = False

    def __init__(self, traces: Sequence[Trace]) -> None:
        self.traces = traces
        self.inputs = traces[0].inputs
        self.kinds = [list(map(kind_of_part, leaves(trace.result))) for trace in traces]
        self.floats = max(kinds.count(float) for kinds in self.kinds)
        self.integers = max(kinds.count(int) + kinds.count(bool) for kinds in self.kinds)
        self.arrays: dict[str, Any] = {}
        self.steps = sum(len(trace.steps) for trace in traces)
        self._lines: list[str] = []
        self.tables: dict[str, tuple[Any, ...]] = {}
        for node in self.inputs:
            if node.type not in NUMBERS and not (self.takes_arrays and is_value(node.value)):
                raise NotRepresentable(
                    f"machine code cannot represent the argument {node.name}, of the type {node.type.__name__}\n"
                    'Use backend="python", or make it known: mark the other arguments by unknown(name, example)'
                )
        known = {node.number: Operand(f"x{node.number}", kind_of(node.value)) for node in self.inputs}
        self._block(list(range(len(traces))), 0, 1, known)
        self.source = self._text()

    def _text(self) -> str:
        tables = "".join(f"{name} = {_literal(values)}\n" for name, values in self.tables.items())
        return f"{HELPERS}\n\n{tables}\n\n{self._kernel()}\n\n{self._loop()}"

    def _kernel(self) -> str:
        names = ", ".join(f"x{node.number}" for node in self.inputs)
        return "\n".join([f"def {KERNEL}({names}):", "    bad = False", *self._lines, ""])

    def _loop(self) -> str:
        """The kernel for each element of arrays."""
        columns = [f"x{node.number}" for node in self.inputs]
        lines = [
            f"def {LOOP}({', '.join([*columns, 'paths', 'floats', 'integers'])}):",
            "    for i in range(paths.size):",
            f"        found = {KERNEL}({', '.join(f'{column}[i]' for column in columns)})",
            "        paths[i] = found[0]",
            *(f"        floats[{place}, i] = found[{1 + place}]" for place in range(self.floats)),
            *(f"        integers[{place}, i] = found[{1 + self.floats + place}]" for place in range(self.integers)),
        ]
        return "\n".join([*lines, ""])

    def _line(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _block(self, paths: list[int], start: int, indent: int, known: dict[int, Operand]) -> None:
        """The steps of some paths that have been the same so far. The block returns."""
        if indent > DEEPEST:
            raise NotRepresentable("the paths are nested too deeply for machine code")
        steps = self.traces[paths[0]].steps
        for number in range(start, len(steps)):
            step = steps[number]
            if isinstance(step, Guard):
                paths = self._branch(paths, number, step, indent, known)
            elif step.number not in known:
                self._statement(step, indent, known)
        self._return(paths[0], indent, known)

    def _statement(self, node: Node, indent: int, known: dict[int, Operand]) -> None:
        if not self.takes_arrays and isinstance(kind_of(node.value), ArrayKind):
            raise refused(node, f"the result of {node.label} is an array, or a number, of NumPy")
        text, test = operation(node, known)
        table = table_of(node)
        if table is not None:
            self.tables[table[0]] = table[1]
        for array in array_constants(node):
            self.arrays[array_name(array)] = array
        name = f"x{node.number}"
        self._line(indent, f"{name} = {text}")
        if test is not None:
            self._line(indent, f"bad |= {test.replace('RESULT', name)}")
        known[node.number] = Operand(name, kind_of(node.value))

    def _outcomes(self, paths: list[int], number: int) -> list[tuple[Guard, list[int]]]:
        """The outcomes of a guard, and the paths that have each of them."""
        groups: list[tuple[Guard, list[int]]] = []
        for path in paths:
            one: Any = self.traces[path].steps[number]
            group = next((found for other, found in groups if same(other.expected, one.expected)), None)
            if group is None:
                groups.append((one, [path]))
            else:
                group.append(path)
        return groups

    def _branch(self, paths: list[int], number: int, guard: Guard, indent: int, known: dict[int, Operand]) -> list[int]:
        """The other outcomes of a guard; returns the paths that go on."""
        groups = self._outcomes(paths, number)
        for other, found in groups[1:]:
            self._line(indent, f"if {condition(other, known[guard.node.number])}:")
            self._block(found, number + 1, indent + 1, dict(known))
        text = condition(guard, known[guard.node.number])
        if text != "True":
            self._line(indent, f"if not {text}:")
            self._line(indent + 1, f"return {self._results('-1', [], [])}")
        return groups[0][1]

    def _return(self, path: int, indent: int, known: dict[int, Operand]) -> None:
        floats: list[str] = []
        integers: list[str] = []
        arrays: list[str] = []
        for part in leaves(self.traces[path].result):
            one = known[part.number] if isinstance(part, Node) else self._result_constant(part.value)
            if isinstance(one.kind, ArrayKind):
                arrays.append(one.text)
            elif one.kind is float:
                floats.append(as_float(one))
            else:
                integers.append(as_integer(one))
        self._line(indent, f"return {self._results(self._number(path), floats, integers, *arrays)}")

    def _number(self, path: int) -> str:
        return f"-1 if bad else {path}"

    def _results(self, path: str, floats: list[str], integers: list[str], *arrays: str) -> str:
        floats = [*floats, *["0.0"] * (self.floats - len(floats))]
        integers = [*integers, *["0"] * (self.integers - len(integers))]
        return f"({', '.join([path, *floats, *integers, *arrays])},)"

    def _result_constant(self, value: Any) -> Operand:
        if isinstance(kind_of(value), ArrayKind):
            self.arrays[array_name(value)] = value
            return Operand(array_name(value), kind_of(value))
        if type(value) is int and not -(2**62) < value < 2**62:
            raise NotRepresentable(f"machine code cannot represent the result {value}, which does not fit into 64 bits")
        return Operand(constant(value), type(value), value)


def _literal(values: tuple[Any, ...]) -> str:
    return f"({''.join(f'{constant(one)}, ' for one in values)})"


def condition(guard: Guard, one: Operand) -> str:
    """The expression that is true where a guard holds."""
    expected: Any = guard.expected
    kind: Kind = type(expected)
    if guard.test == "truth":
        return as_truth(one) if expected else f"_not({as_truth(one)})"
    if guard.test == "type" and expected is one.kind:
        return "True"  # where Python's type would be another one, the kernel returns -1
    if guard.test == "value" and kind is one.kind:
        if one.kind is float:
            return _float_equal(one.text, expected)
        if -(2**62) < expected < 2**62:
            return f"({as_integer(one)} == {int(expected)})"
    raise refused(guard.node, f"the decision on the {guard.test} of {guard.node.label}, which was {expected!r}")


def _float_equal(text: str, expected: float) -> str:
    """The expression that is true for one float: NaN is itself, and zeros have signs."""
    if math.isnan(expected):
        return f"({text} != {text})"
    if expected == 0.0:
        return f"_both({text} == 0.0, math.copysign(1.0, {text}) == {math.copysign(1.0, expected)!r})"
    return f"({text} == {constant(expected)})"
