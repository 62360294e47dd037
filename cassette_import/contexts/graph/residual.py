"""`residual` and `inline`: partial evaluation."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final

from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.blocks import Check, Jump
from cassette_import.contexts.graph.flow.recording import GrowingFlow
from cassette_import.contexts.graph.flow.statements import (
    Choice,
    Copies,
    Early,
    Loop,
    Missing,
    Select,
    Statement,
    Variables,
    has_one_type,
    has_open_loops,
    lowered,
    nodes_read,
)
from cassette_import.contexts.graph.flow.statements import ends as never_ends
from cassette_import.contexts.graph.known_functions import OPERATORS
from cassette_import.contexts.graph.nodes import (
    LITERALS,
    NUMBERS,
    Constant,
    Guard,
    GuardFailed,
    Node,
    NotRepresentable,
    Template,
    leaves_in,
)
from cassette_import.contexts.graph.program import (
    DEEPEST,
    ProgramFrame,
    aligned,
    bare,
    check_result,
    expression,
    negated,
    operation,
    program,
)
from cassette_import.contexts.graph.tracing import Trace, is_unknown, marked, trace, unknown
from cassette_import.interpreter.callables import python_function

__all__ = ["NUMBER_FUNCTIONS", "Residual", "flow_program", "inline", "residual"]

# ---- a flow as one readable program, with `if`, `while` and `for`

NUMBER_FUNCTIONS: Final[frozenset[Any]] = frozenset(
    {
        *(one for one in vars(math).values() if callable(one)),
        *(abs, pow, round, operator.abs, operator.not_, operator.truth),
        *OPERATORS,
    }
) - {operator.matmul, operator.concat}
"""The functions of numbers that a program may call. The recorder refuses those whose result is no number."""

_Ends = frozenset[tuple[Hashable, bool]]
_NOWHERE: Final[_Ends] = frozenset()
_JUMPS: Final = ("return", "break", "continue", "raise")


def flow_program(name: str, flow: Flow) -> str:
    """The source of a function of the unknown arguments, which does what a flow does.

    Parameters
    ----------
    name:
        The name of the function.
    flow:
        The flow.

    Returns
    -------
    The text of a module. Its function raises `LookupError` where the arguments take a way that no point has taken.

    Raises
    ------
    NotRepresentable
        If there is no such program.
    """
    return _FlowWriter(name, flow).text()


class _FlowWriter(ProgramFrame):
    def __init__(self, name: str, flow: Flow) -> None:
        super().__init__(name)
        self._flow = flow
        check_result(flow.result)
        self._statements = lowered(flow)
        self._variables = Variables(self._statements, flow.inputs)
        self._known: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._wanted = self._variables.names()
        self._constructs: list[Hashable] = []
        """The loops of the program that are being written, the innermost last."""
        self._leaving: dict[Hashable, str] = {}
        self._shown: str | None = None

    def text(self) -> str:
        """The module."""
        self._names.update(self.read_arguments(self._flow.points[0].arguments))
        self._body(self._statements, 1, _NOWHERE)
        return self.module()

    # ---- names

    def _name(self, number: int) -> str:
        """The name of the variable of a result."""
        variable = self._variables.variable(number)
        if variable not in self._names:
            self._names[variable] = self.names.new(self._wanted.get(variable) or "x")
        return self._names[variable]

    def _result(self, node: Node) -> str:
        if node.number not in self._variables.folded:
            return self._name(node.number)
        return self._known[node.number]

    # ---- statements

    def _body(self, body: Sequence[Statement], indent: int, ends: _Ends) -> None:
        """Some statements. `ends` are the jumps that lead to where control comes at their end."""
        if indent > DEEPEST:
            raise NotRepresentable("the program is nested too deeply")
        for place, one in enumerate(body):
            here = ends if place == len(body) - 1 else _NOWHERE
            if isinstance(one, Node):
                self._operation(one, indent)
                continue
            self._check_bound(self._nodes_read(one), indent)
            if isinstance(one, Copies):
                self._copies(one, indent)
            elif isinstance(one, Check):
                self.unless(indent, self._test(one.node, one.expected), _what(one.node))
            elif isinstance(one, Choice):
                self._choice(one, indent, here)
            elif isinstance(one, Loop):
                self._loop(one, indent)
            elif isinstance(one, Early):
                self._early(one, indent, here)
            elif isinstance(one, Jump):
                self._leave(one, indent, here)
            elif isinstance(one, Missing):
                self.line(indent, f"raise LookupError({_what(one.node)!r})")
            else:
                self.line(indent, f"return {self._expression(one.value)}")

    def _nodes_read(self, one: Statement) -> Iterable[Node]:
        """The nodes that a statement reads; a variable without a value may be copied."""
        nodes = nodes_read(one)
        return (node for node in nodes if node.number in self._variables.folded) if isinstance(one, Copies) else nodes

    def _operation(self, node: Node, indent: int) -> None:
        if node.number not in self._variables.needed:
            return
        text = self._select(node) if isinstance(node, Select) else self._call(node)
        if node.number in self._variables.folded:
            self._known[node.number] = text
            return
        self._check_bound(node.sources, indent)
        if node.site is not None and node.site.function != self._shown:
            self._shown = node.site.function
            self.line(indent, f"# {node.site.module}.{self._shown}")
        if not self._variables.uses[node.number] and has_one_type(node):
            self.line(indent, text)
            return
        self.line(indent, f"{self._name(node.number)} = {bare(text)}")
        if not has_one_type(node):
            kind = self.names.function(node.type)
            self.unless(indent, f"type({self._name(node.number)}) is {kind}", f"the type of {node.label}")

    def _call(self, node: Node) -> str:
        return operation(node, self._result, self.names)

    def _expression(self, template: Template) -> str:
        return expression(template, self._result, self.names)

    def _select(self, node: Select) -> str:
        for part in node.parts:
            self._known[part.number] = self._select(part) if isinstance(part, Select) else self._call(part)
        test, *values = map(self._expression, node.operands)
        if node.kind == "if":
            return f"({values[0]} if {bare(test)} else {values[1]})"
        return f"({test} {node.kind} {values[0]})"

    def _check_bound(self, nodes: Iterable[Node], indent: int) -> None:
        """Another path where a variable is read that has no value there: the function raises the exception."""
        unbound = {number for number in self._variables.leaves(nodes) if number in self._variables.unbound}
        for number in sorted(unbound):
            name = self._name(number)
            self.line(indent, f"if {name} is None:")
            self.line(indent + 1, f"raise LookupError({f'{name} has no value'!r})")

    def _copies(self, one: Copies, indent: int) -> None:
        targets: list[str] = []
        sources: list[str] = []
        for target, source in one.pairs:
            if target.number not in one.live:
                if isinstance(source, Node) and self._variables.may_raise(source):
                    self.line(indent, self._result(source))
                continue
            name = self._name(target.number)
            text = self._expression(Constant(None) if source is None else source)
            if name != text:
                targets.append(name)
                sources.append(text)
        if targets:
            sources = [bare(sources[0])] if len(sources) == 1 else sources
            self.line(indent, f"{', '.join(targets)} = {', '.join(sources)}")

    # ---- branches

    def _test(self, node: Node, expected: bool = True) -> str:
        text = self._result(node)
        return bare(text) if expected else negated(text)

    def _choice(self, one: Choice, indent: int, ends: _Ends) -> None:
        for truth in (True, False):
            if truth not in one.sides:
                self.unless(indent, self._test(one.node, not truth), _what(one.node))
                self._body(one.sides[not truth], indent, ends)
                return
        first = self._lines_of(one.sides[True], indent + 1, ends)
        if _jumps(first, indent + 1):
            self._if(one.node, True, first, indent)
            self._body(one.sides[False], indent, ends)
            return
        second = self._lines_of(one.sides[False], indent + 1, ends)
        if _jumps(second, indent + 1) or not first:
            self._if(one.node, False, second, indent)
            self.lines += [line[4:] for line in first]
            return
        self._if(one.node, True, first, indent)
        if second:
            self.lines += _else(second, indent)

    def _if(self, node: Node, truth: bool, lines: list[str], indent: int) -> None:
        text = self._test(node, truth)
        if lines:
            self.line(indent, f"if {text}:")
            self.lines += lines
        elif not text.isidentifier():
            self.line(indent, text)  # it may raise an exception

    def _lines_of(self, body: Sequence[Statement], indent: int, ends: _Ends) -> list[str]:
        """The lines of some statements, which are not added."""
        lines, shown = self.lines, self._shown
        self.lines = []
        self._body(body, indent, ends)
        made, self.lines, self._shown = self.lines, lines, shown
        return made

    # ---- loops and jumps

    def _loop(self, one: Loop, indent: int) -> None:
        body, orelse, head = one.body, one.orelse, "while True:"
        if one.counter is not None:
            assert one.start is not None
            start, stop = (bare(self._expression(part)) for part in (one.start, one.counter.stop))
            step = one.counter.step
            limits = [stop] if (start, step) == ("0", 1) else [start, stop, *([str(step)] if step != 1 else [])]
            head = f"for {self._name(one.counter.join.number)} in range({', '.join(limits)}):"
        else:
            found = self._while(one)
            if found is not None:
                head, body, orelse = found
        self._construct(one.key, head, body, frozenset({(one.key, True)}), indent, orelse)

    def _while(self, one: Loop) -> tuple[str, list[Statement], list[Statement]] | None:
        """The head, body and end of a loop with a test at its head that is one expression."""
        *operations, last = one.body
        if not isinstance(last, Choice) or len(last.sides) < 2:
            return None
        if not self._variables.unbound.isdisjoint(self._variables.leaves([last.node])):
            return None
        ending = last.sides[False]
        jump = ending[-1] if ending else None
        if not (isinstance(jump, Jump) and jump.target == one.key and not jump.again):
            return None
        if any(isinstance(part, (Choice, Loop, Early)) for part in ending):
            return None
        for part in operations:
            if not isinstance(part, Node) or not (
                part.number in self._variables.folded or part.number not in self._variables.needed
            ):
                return None
        for part in operations:
            self._operation(part, 0)  # type: ignore[arg-type]
        return f"while {self._test(last.node)}:", last.sides[True], ending[:-1]

    def _construct(
        self,
        key: Hashable,
        head: str,
        body: Sequence[Statement],
        ends: _Ends,
        indent: int,
        orelse: Sequence[Statement] = (),
    ) -> None:
        """A loop of the program, and what follows where jumps out of it lead further."""
        leaving, self._leaving = self._leaving, {}
        self._constructs.append(key)
        lines = self._lines_of(body, indent + 1, ends)
        self._constructs.pop()
        inner, self._leaving = self._leaving, leaving
        for name in inner.values():
            self.line(indent, f"{name} = False")
        self.line(indent, head)
        self.lines += lines or ["    " * (indent + 1) + "pass"]
        otherwise = self._lines_of(orelse, indent + 1, _NOWHERE)
        if otherwise and any(line.strip() == "break" for line in lines):
            self.line(indent, "else:")
            self.lines += otherwise
        else:
            self.lines += [line[4:] for line in otherwise]
        for target, name in inner.items():
            self.line(indent, f"if {name}:")
            self._leave(Jump(target), indent + 1, _NOWHERE)

    def _early(self, one: Early, indent: int, ends: _Ends) -> None:
        if one.is_loop:
            body = one.body if never_ends(one.body) else [*one.body, Jump(one.key)]
            self._construct(one.key, "while True:", body, _NOWHERE, indent)
        else:
            self._body(one.body, indent, ends | {(one.key, False)})

    def _leave(self, one: Jump, indent: int, ends: _Ends) -> None:
        if (one.target, one.again) in ends:
            return
        is_innermost = bool(self._constructs) and self._constructs[-1] == one.target
        if one.again:
            if not is_innermost:
                raise NotRepresentable("a jump leads out of an inner loop to the next iteration of an outer one")
            self.line(indent, "continue")
            return
        if not is_innermost:
            name = self._leaving.setdefault(one.target, "")
            if not name:
                name = self._leaving[one.target] = self.names.new("leaves")
            self.line(indent, f"{name} = True")
        self.line(indent, "break")


def _what(node: Node) -> str:
    return f"the truth of {node.label or 'a variable'}"


def _jumps(lines: Sequence[str], indent: int) -> bool:
    """Whether lines end by a jump."""
    last = lines[-1] if lines else ""
    return last.startswith("    " * indent) and last[4 * indent :].split(" ")[0] in _JUMPS


def _else(lines: list[str], indent: int) -> list[str]:
    """The other side of an `if`; a chain of `if` becomes one of `elif`."""
    margin = "    " * (indent + 1)
    heads = [line[len(margin) :] for line in lines if not line.startswith(f"{margin} ")]
    is_chain = heads[0].startswith("if ") and all(one.startswith(("elif ", "else:")) for one in heads[1:])
    if is_chain:
        return [f"{'    ' * indent}el{heads[0]}", *(line[4:] for line in lines[1:])]
    return [f"{'    ' * indent}else:", *lines]


# ---- `residual` and `inline`: partial evaluation

_MODES: Final = ("trace", "call", "raise")
_MOST_PATHS: Final = 50
_MOST_REFUSED: Final = 10
_MOST_OPERATIONS: Final = 300_000  # to be recorded, so that loops stay loops: some ten seconds


class Residual:
    """A function of the unknown arguments, which computes what is left of another one. `residual` makes it.

    Attributes
    ----------
    source:
        The program as text: it imports the standard library and NumPy alone.

    Example
    -------
    >>> def magnitude(x, scale):
    ...     return x * scale if x > 0 else -x * scale
    >>> scaled = residual(magnitude, unknown("x", 1.0), 3.0)
    >>> scaled(-2.0), scaled.paths
    (6.0, 2)
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], on_guard: str, keeps_loops: bool = True) -> None:
        self._f = f
        self._args = args
        self._on_guard = on_guard
        function = python_function(f)
        self._name = "residual" if function is None else function.__name__.strip("<>")
        self._traces: list[Trace] = []
        self._refused = 0
        self.source = ""
        self._program: Callable[..., Any] = len
        first = trace(f, args)
        self._use(program(self._name, [first]))
        self._traces.append(first)
        self._flow: GrowingFlow[str] | None = None
        if keeps_loops and any(isinstance(step, Guard) for step in first.steps):
            self._begin_flow(first)

    def __call__(self, *values: Any) -> Any:
        """The result for the unknown arguments."""
        try:
            return self._program(*values)
        except Exception as error:
            failed = error
        return self._elsewhere(values, failed)  # outside of the handler: the function must not see the exception

    @property
    def paths(self) -> int:
        """How many paths the program has; if it has loops, from how many runs it was made."""
        return len(self._traces)

    @property
    def traces(self) -> Sequence[Trace]:
        """The paths, in the order in which they were added."""
        return tuple(self._traces)

    @property
    def original(self) -> Callable[..., Any]:
        """The function itself."""
        return self._f

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Its arguments, the unknown ones marked."""
        return self._args

    def _use(self, source: str) -> None:
        namespace: dict[str, Any] = {}
        exec(compile(source, f"<residual of {self._name}>", "exec"), namespace)
        definition: Any = ast.parse(source).body[-1]
        self.source, self._program = source, namespace[definition.name]

    def _add(self, found: Trace) -> None:
        """Add a path: as a point of the flow if the program has loops, else as a path of its own."""
        is_point = self._flow is not None and self._extends(self._flow, found)
        if self._flow is not None and self._flow.made:
            self._traces += [found] if is_point else []
        elif all(_is_alike(found, one) and aligned(one, found) for one in self._traces):
            try:
                self._use(program(self._name, [*self._traces, found]))
            except NotRepresentable:
                return  # the program keeps the paths that it has
            self._traces.append(found)

    # ---- loops

    def _begin_flow(self, first: Trace) -> None:
        """Record the flow, in which loops stay loops. Without such loops, paths are the program."""
        if not _has_numbers(first):
            return
        try:
            self._flow = GrowingFlow(
                self._f, self._args, first, NUMBER_FUNCTIONS, self._program_of, most_operations=_MOST_OPERATIONS
            )
        except NotRepresentable:
            return
        if self._flow.made:
            self._use(self._flow.made)

    def _extends(self, flow: GrowingFlow[str], found: Trace) -> bool:
        """Add a point to the flow. One that does not go with the first ends the flow, later ones are left out."""
        try:
            if not _has_numbers(found):
                raise NotRepresentable("other values than numbers")
            flow.add(found)
        except NotRepresentable:
            if flow.made and len(flow.flow.points) > 1:
                self._refused += 1
            else:
                self._flow = None
            return False
        if flow.made:
            self._use(flow.made)
        return True

    def _program_of(self, flow: Flow) -> str:
        return flow_program(self._name, flow) if has_open_loops(flow.body) else ""

    def _elsewhere(self, values: tuple[Any, ...], error: Exception) -> Any:
        """The result where the program has no path for the arguments, or has raised an exception."""
        self._check_count(values)
        if self._on_guard == "raise":
            raise GuardFailed(f"another path: {error}") from error
        is_full = len(self._traces) >= _MOST_PATHS or self._refused >= _MOST_REFUSED
        if self._on_guard == "call" or is_full or not self._has_structure(values):
            return self.computed(values)
        try:
            found = self.traced(values)
        except NotRepresentable:
            return self.computed(values)
        self._add(found)
        return found.value

    def _check_count(self, values: tuple[Any, ...]) -> None:
        count = sum(map(is_unknown, self._args))
        if len(values) != count:
            raise TypeError(f"the function has {count} unknown arguments, not {len(values)}") from None

    def _has_structure(self, values: tuple[Any, ...]) -> bool:
        """Whether arguments have the types and the structure of the examples, so that a path can be added."""
        try:
            for argument, value in zip(self._traces[0].arguments, values, strict=True):
                argument.read(value, {})
        except GuardFailed:
            return False
        return True

    def traced(self, values: tuple[Any, ...]) -> Trace:
        """The trace for the unknown arguments; it is not added to the program."""
        left = list(values)
        return trace(self._f, tuple(unknown(one.name, left.pop(0)) if is_unknown(one) else one for one in self._args))

    def computed(self, values: tuple[Any, ...]) -> Any:
        """The result of the function itself. What it writes into its known arguments is undone."""
        self._check_count(values)
        if any(one.is_changed for one in self._traces):
            return self.traced(values).value
        left = list(values)
        return self._f(*[left.pop(0) if is_unknown(one) else one for one in self._args])

    def __repr__(self) -> str:
        return f"<Residual with {len(self._traces)} paths>"


def _is_alike(one: Trace, other: Trace) -> bool:
    """Whether the arguments of two traces have the same structure and types."""
    return [(node.name, node.type) for node in one.inputs] == [(node.name, node.type) for node in other.inputs]


def _has_numbers(found: Trace) -> bool:
    """Whether a trace computes with numbers alone, and returns no object that is older than the call."""
    parts = [one.value for one in leaves_in(found.result) if isinstance(one, Constant)]
    return all(node.type in NUMBERS for node in found.inputs) and all(type(one) in LITERALS for one in parts)


def residual(f: Callable[..., Any], *args: Any, on_guard: str = "trace") -> Residual:
    """What is left of an unmodified function where some of its arguments are known: a function of the others.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    args:
        The arguments. Those marked by `unknown` stay, the others are known.
    on_guard:
        What happens where a decision differs from those that were traced. ``"trace"``: the new path is traced, and
        added to the program. ``"call"``: the function itself is called. ``"raise"``: `GuardFailed` is raised.

    Returns
    -------
    The function of the unknown arguments. Its `source` is a program.

    Raises
    ------
    NotRepresentable
        If the function does something that a program cannot represent exactly.
    NotOverdubbable
        If the function has no Python source.
    ValueError
        If no argument is unknown, or `on_guard` is another text.

    >>> def power(x, n):
    ...     return 1.0 if n == 0 else x * power(x, n - 1)
    >>> cube = residual(power, unknown("x", 2.0), 3)
    >>> cube(5.0)
    125.0
    >>> print(cube.source.splitlines()[-1].strip())
    return (x * (x * (x * 1.0)))
    """
    if on_guard not in _MODES:
        raise ValueError(f"on_guard is one of {', '.join(_MODES)}, not {on_guard!r}")
    if not any(map(is_unknown, args)):
        raise ValueError("no argument is unknown: mark one by unknown(name, example)")
    return Residual(f, args, on_guard)


def inline(f: Callable[..., Any], *args: Any) -> Residual:
    """One new function of an unmodified function and all functions that it calls: `residual` with everything unknown.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    args:
        Examples of all its arguments.

    Returns
    -------
    The function. Its `source` is a program.

    >>> def program(x, y):
    ...     def double(number):
    ...         return number + number
    ...     return double(x) * double(y)
    >>> inline(program, 1.0, 2.0)(3.0, 4.0)
    48.0
    """
    return residual(f, *marked(f, args))
