"""Paths through a function as one kernel: a function of machine numbers, without exceptions, and a tree of `if`.

The kernel returns the number of the path, or -1 where Python has to compute the result, and the numbers of the result.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

from cassette_import.contexts.backends.operations import (
    Operand,
    array_constants,
    array_name,
    as_float,
    as_integer,
    as_truth,
    constant,
    operation,
    refused,
    table_of,
)
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.blocks import Assign, Block, Branch, Check, Item, Jump, Part, Repeat
from cassette_import.contexts.graph.flow.statements import inner_blocks, join_kinds, used_numbers
from cassette_import.contexts.graph.nodes import (
    NUMBERS,
    ArrayKind,
    Built,
    Constant,
    Guard,
    Kind,
    Node,
    Template,
    is_value,
    kind_of,
    nodes_in,
    same,
)
from cassette_import.contexts.graph.program import DEEPEST
from cassette_import.contexts.graph.tracing import Trace

__all__ = ["ARRAY_HELPERS", "HELPERS", "KERNEL", "LOOP", "MISSING", "FlowKernel", "Kernel", "condition", "leaves"]

# ---- the functions that the expressions of operations call, as the text of modules

HELPERS: Final = '''
import math


def _not(truth):
    return not truth


def _both(one, other):
    return one and other


def _modulo(x, y):
    return x % y


def _floor_division(x, y):
    return x // y


def _float(truth):
    return 1.0 if truth else 0.0


def _integer(truth):
    return 1 if truth else 0


def _least(one, other):
    return other if other < one else one


def _greatest(one, other):
    return other if other > one else one


def _inexact(number):
    """Whether a float may be another number."""
    return number > 9007199254740992 or number < -9007199254740992


def _huge(number):
    return number > 4611686018427387903 or number < -4611686018427387903


def _no_integer(number):
    """Whether a float has no integer of 64 bits."""
    return not (-4611686018427387904.0 < number < 4611686018427387904.0)


def _fitting(number):
    """The float, or zero if it has no integer of 64 bits."""
    return number if -4611686018427387904.0 < number < 4611686018427387904.0 else 0.0


def _nearest(number):
    """The nearest integer, of two the even one."""
    whole = float(math.floor(number))
    rest = number - whole
    up = rest > 0.5 or (rest == 0.5 and whole % 2.0 != 0.0)
    return whole + 1.0 if up else whole


def _product_huge(one, other):
    return not (-4611686018427387904.0 < float(one) * float(other) < 4611686018427387904.0)


def _not_finite(number):
    return not (-math.inf < number < math.inf)


def _outside(index, length):
    """Whether a table has no item with an index."""
    return index < -length or index >= length


def _within(index, length):
    """The place of the item with an index, which counts from the end if it is negative; zero if there is none."""
    if index < -length or index >= length:
        return 0
    return index + length if index < 0 else index


def _sum(numbers):
    """The sum of floats as `sum` computes it: with what the additions have lost."""
    total = 0.0
    lost = 0.0
    for number in numbers:
        after = total + number
        lost += (total - after) + number if math.fabs(total) >= math.fabs(number) else (number - after) + total
        total = after
    return total + lost if lost != 0.0 and -math.inf < lost < math.inf else total


def _fmod(x, y):
    if y == 0.0:
        return math.nan
    return math.copysign(math.fabs(x) % math.fabs(y), x)


def _remainder(x, y):
    if y == 0.0 or not (-math.inf < x < math.inf and -math.inf < y < math.inf):
        return math.nan
    whole, divisor = math.fabs(x), math.fabs(y)
    rest = whole % divisor
    other = divisor - rest
    if rest < other:
        result = rest
    elif rest > other:
        result = -other
    else:
        result = rest - 2.0 * ((0.5 * (whole - rest)) % divisor)
    return math.copysign(1.0, x) * result
'''
"""The functions that expressions call, as the text of a module for numba."""

ARRAY_HELPERS: Final = '''
import numpy


def _any_outside(index, length):
    """Whether an axis has no item with some index."""
    return bool(numpy.any((index < -length) | (index >= length)))


def _any_zero(numbers):
    return bool(numpy.any(numbers == 0))


def _any_below_zero(numbers):
    return bool(numpy.any(numbers < 0))


def _any_not_finite(numbers):
    return not numpy.all(numpy.isfinite(numbers))


def _any_without_integer(numbers):
    """Whether some float has no integer of 64 bits."""
    return not numpy.all(numpy.abs(numbers) < 4611686018427387904.0)


def _with_item(array, key, value):
    """A copy of an array with other items."""
    made = numpy.array(array)
    made[key] = value
    return made


def _where_item(array, mask, value):
    """A copy of an array with one number where a mask is true."""
    return numpy.where(mask, numpy.asarray(value, array.dtype), array)
'''
"""The functions that tests call, as the text of a module."""


# ---- paths through a function as one kernel: a function of machine numbers, without exceptions, and a tree of `if`

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
        self.kinds = [[kind_of(leaf.value) for leaf in leaves(trace.result)] for trace in traces]
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


# ---- a flow as one kernel: a function of machine numbers, with its branches and loops

_LETTERS: Final = {float: "f", int: "i", bool: "b"}
_ZEROS: Final = {float: "0.0", int: "0", bool: "False"}
_Known = dict[int, Operand]


def _has_loops(block: Block) -> bool:
    return any(isinstance(item, Repeat) or any(map(_has_loops, inner_blocks(item))) for item in block.items)


class FlowKernel(Kernel):
    """The source of a kernel for a flow."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.used = used_numbers(flow)
        self.join_kinds, self.unbound = join_kinds(flow)
        self._constructs: list[Hashable] = []
        self._exits: dict[Hashable, list[_Known]] = {}
        self._leaving: dict[Hashable, str] = {}
        self._count = 0
        self.has_loops = _has_loops(flow.body)
        first = flow.points[0]
        super().__init__([Trace(first.arguments, first.inputs, [], flow.result, None)])
        self.steps = self._count

    def _block(self, paths: list[int], start: int, indent: int, known: _Known) -> None:
        after = self._items(self.flow.body, indent, known)
        if after is None:
            raise NotRepresentable("the function does not return")
        for node in nodes_in(self.flow.result):
            self._operand(node, after)
            self._reads(indent, [node])
        self._return(0, indent, after)

    @property
    def in_python(self) -> str:
        """The source of a kernel that Python runs."""
        return self.source

    # ---- blocks

    def _items(self, block: Block, indent: int, known: _Known) -> _Known | None:
        """The items of a block; returns what is known after it, or None if it is not left at its end."""
        before = len(self._lines)
        now: _Known | None = dict(known)
        place = 0
        while place < len(block.items) and now is not None:
            item = block.items[place]
            end = place + 1
            if isinstance(item, Assign):
                while end < len(block.items) and isinstance(block.items[end], Assign):
                    end += 1
                self._assign(block.items[place:end], indent, now)  # type: ignore[arg-type]
            elif isinstance(item, Node):
                self._count += 1
                for source in item.sources:
                    self._operand(source, now, item)
                self._reads(indent, item.sources)
                self._statement(item, indent, now)
            elif isinstance(item, Check):
                truth = as_truth(self._operand(item.node, now))
                self._reads(indent, [item.node])
                self._line(indent, f"if {'not ' if item.expected else ''}{truth}:")
                self._elsewhere(indent + 1)
            elif isinstance(item, Jump):
                self._jump(item, indent, now)
                now = None
            else:
                now = self._construct(item, indent, now)
            place = end
        if len(self._lines) == before:
            self._line(indent, "pass")
        return now

    def _elsewhere(self, indent: int, path: str = "-1") -> None:
        self._line(indent, f"return {self._results(path, [], [])}")

    def _construct(self, item: Item, indent: int, known: _Known) -> _Known | None:
        if isinstance(item, Branch):
            return self._branches(item, indent, known)
        assert isinstance(item, (Repeat, Part))
        return self._while(item, indent, known)

    def _branches(self, item: Branch, indent: int, known: _Known) -> _Known | None:
        test = as_truth(self._operand(item.node, known))
        self._reads(indent, [item.node])
        after: list[_Known] = []
        for truth in (True, False):
            side = item.sides.get(truth)
            self._line(indent, f"if {test}:" if truth else "else:")
            if side is None:
                self._elsewhere(indent + 1, str(MISSING))
                continue
            found = self._items(side, indent + 1, known)
            after += [] if found is None else [found]
        return _meet(after)

    def _operand(self, node: Node, known: _Known, reader: Node | None = None) -> Operand:
        found = known.get(node.number)
        if found is None:
            where = "" if reader is None or reader.site is None else f", at {reader.site}: {reader.site.source}"
            raise NotRepresentable(f"a variable has different types on two ways, or none on one{where}")
        return found

    def _assign(self, group: Sequence[Assign], indent: int, known: _Known) -> None:
        """Assignments at a join, which happen at once. A variable that is not bound is zero, and has a mark."""
        targets: list[str] = []
        sources: list[str] = []
        made: _Known = {}
        for one in group:
            number = one.target.number
            if number not in self.used:
                continue
            source = self._source(one, known)
            if source is None:
                known.pop(number, None)
                continue
            made[number] = Operand(f"x{number}{_letter(source.kind)}", source.kind)
            pairs = [(made[number].text, source.text)]
            if number in self.unbound:
                pairs.append((f"unbound{number}", self._mark(one)))
            for target, text in pairs:
                if target != text:
                    targets.append(target)
                    sources.append(text)
        if targets:
            self._line(indent, f"{', '.join(targets)} = {', '.join(sources)}")
        known.update(made)

    def _mark(self, one: Assign) -> str:
        """Whether the source of an assignment is not bound."""
        if isinstance(one.source, Node) and one.source.number in self.unbound:
            return f"unbound{one.source.number}"
        return str(one.source is None)

    def _reads(self, indent: int, nodes: Iterable[Node]) -> None:
        """Python has to raise the exception if a variable that is read is not bound."""
        for node in nodes:
            if node.number in self.unbound:
                self._line(indent, f"bad |= unbound{node.number}")

    def _source(self, one: Assign, known: _Known) -> Operand | None:
        template = one.source
        if template is None:
            kind = self.unbound.get(one.target.number)
            return None if kind is None else Operand(_zero(kind), kind)
        if isinstance(template, Node):
            return known.get(template.number)
        assert isinstance(template, Constant)
        if not is_value(template.value) or (type(template.value) is int and abs(template.value) >= 2**62):
            return None
        if isinstance(kind_of(template.value), ArrayKind):
            return self._result_constant(template.value)
        return Operand(constant(template.value), type(template.value))

    # ---- loops and jumps

    def _while(self, item: Repeat | Part, indent: int, known: _Known) -> _Known | None:
        """A loop; or a part, which is a loop of one iteration."""
        lines, self._lines = self._lines, []
        flags, self._leaving = self._leaving, {}
        self._exits[item.key] = []
        self._constructs.append(item.key)
        self._heads = {**getattr(self, "_heads", {}), item.key: known}
        after = self._items(item.body, indent + 1, known)
        if after is not None:
            if isinstance(item, Repeat):
                raise NotRepresentable("a loop has no end of an iteration")
            self._exits[item.key].append(after)
            self._line(indent + 1, "break")
        self._constructs.pop()
        body, self._lines = self._lines, lines
        inner, self._leaving = self._leaving, flags
        for name in inner.values():
            self._line(indent, f"{name} = False")
        self._line(indent, "while True:")
        self._lines += body
        ends = self._exits[item.key]
        for place, (target, name) in enumerate(inner.items(), 1):
            is_sure = not ends and place == len(inner)  # numba refuses variables that a way could reach without a value
            if not is_sure:
                self._line(indent, f"if {name}:")
            self._leave(target, indent if is_sure else indent + 1)
        return _meet(ends)

    def _jump(self, item: Jump, indent: int, known: _Known) -> None:
        if item.again:
            head = self._heads[item.target]
            for number, one in head.items():
                if number in self.used and (number not in known or known[number].kind is not one.kind):
                    raise NotRepresentable("a variable of a loop has another type in each iteration")
            self._line(indent, "if bad:")
            self._elsewhere(indent + 1)
            if self._constructs[-1] != item.target:
                raise NotRepresentable("a jump leads out of an inner loop to the next iteration of an outer one")
            self._line(indent, "continue")
            return
        self._exits[item.target].append(dict(known))
        self._leave(item.target, indent)

    def _leave(self, target: Hashable, indent: int) -> None:
        if self._constructs[-1] != target:
            name = self._leaving.setdefault(target, f"leave{len(self._leaving)}_{len(self._constructs)}")
            self._line(indent, f"{name} = True")
        self._line(indent, "break")


def _letter(kind: Kind) -> str:
    return "a" if isinstance(kind, ArrayKind) else _LETTERS[kind]


def _zero(kind: Kind) -> str:
    return f"numpy.zeros({kind.shape}, {kind.dtype!r})" if isinstance(kind, ArrayKind) else _ZEROS[kind]


def _meet(ways: list[_Known]) -> _Known | None:
    """What is known where several ways come together."""
    if not ways:
        return None
    first, *rest = ways
    return {
        number: one
        for number, one in first.items()
        if all(number in other and other[number].kind is one.kind and other[number].text == one.text for other in rest)
    }
