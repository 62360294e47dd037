"""Events as statements, where values may be tagged and there are no hooks: one test each while nothing is tagged.

``x = f(a) + b`` becomes steps, each in two forms. ``@7.full`` says whether events have to be carried out::

    if @7.full:
        … @e0 = @7.over.1(f)(a)
    elif f is @7.g.….f:
        @e0 = f(a)
    else:
        @e0 = @7.plain(f, "g.….f")(a)
    if @7.full:
        if @d is not @epoch:
            @e0, @d = @7.claim("g.….f", @e0), @epoch.begin()
        x = @7.over.2(@operator.add)(@e0, b)
    else:
        x = @e0 + b
    @e0 = None

The first value may be tagged while a step runs plainly. Then its result is *claimed* at the next test, which is that of
the next step, or one of its own where the path of control ends. ``@d`` is the epoch in which this frame has carried out
an event: in the same epoch, all later results are as they are. So what is tested before a step is all that is tested.

What is no step (a comprehension, a lambda) takes the inlined form. Knows expressions; must not know statements, or what
a wrapper is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged_events
from cassette_import.rewriting.forms.guarded import path_of
from cassette_import.rewriting.forms.untagged_calls import PlainCalls, is_plain_call, receiver_of_super
from cassette_import.rewriting.primitives import BINARY, COMPARE, EVENT_OF, INPLACE, UNARY
from cassette_import.rewriting.shape import Interest, Shape
from cassette_import.rewriting.symbols import VariantNames
from cassette_import.rewriting.syntax.expressions import attribute_load, is_own_callee, name_load
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import GLOBAL, LITERAL, NOOVERDUB, has, is_number
from cassette_import.rewriting.trees.node_builder import At, is_plain_super
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.trees.traversal import parts

Claim = Callable[[At, str], ast.expr]
"""Builds what a variable holds if the first value was tagged while its value was computed."""

_KINDS: Final = (Events.OPERATORS, Events.ATTRIBUTES, Events.ITERATION, Events.DISPLAYS, Events.NAMES)
_DEEPEST: Final = 30
"""How deeply expressions may nest: to make steps of them takes two Python frames for each level."""

_SAME_WHILE_UNTAGGED: Final = {
    **dict.fromkeys((symbols.PLAIN, symbols.PLAIN_BOUND, symbols.RETURNED, symbols.TIDY), 1),
    **dict.fromkeys((symbols.MESSAGE, symbols.MAPPING), 1),
    symbols.HANDED: 2,
}
"""How many arguments the helpers have that return their last argument as long as there is no metadata."""


def has_untagged_form(shape: Shape) -> bool:
    """Whether the events of a shape may be such steps: values may be tagged, and nothing else is done."""
    if not shape.tagging or shape.passes or shape.has_errorhooks or shape.primitives or shape.has_overloads:
        return False
    if symbols.is_wildcard(shape.prefix):
        return False
    hooked = Events.NONE
    for context in shape.contexts:
        if context.prehook or context.posthook:
            hooked |= context.events
    wanted = shape.interest(Events.TRUTH), shape.interest(Events.CONTROL)
    return not any(kind in hooked for kind in _KINDS) and wanted == (Interest.NOTHING, Interest.NOTHING)


class Value(NamedTuple):
    """An expression that is about to be evaluated: as it is while nothing is tagged, and as an event."""

    light: ast.expr
    full: ast.expr
    is_event: bool = False
    """Whether code of the program may run meanwhile."""
    claim: Claim | None = None
    """None if the result is never tagged."""
    read_by_claim: str | None = None
    """A variable that the claim reads."""
    other: tuple[ast.expr, ast.expr] | None = None
    """A test, and the light form if it is false."""
    tests: tuple[ast.expr, ...] = ()
    """Further tests of which one says that it has to be an event."""
    is_inlined: bool = False
    """Whether it is in the inlined form."""


def claimed(at: At, name: str) -> ast.expr:
    """The claim of the result of a special method."""
    return at.call(at.symbol(symbols.CLAIMED), [at.load(name)])


class Steps:
    """Makes steps of the expressions in one block.

    Parameters
    ----------
    shape:
        The stack of contexts.
    rewrite:
        Rewrites an expression into the inlined form.
    calls:
        Builds plain calls.
    """

    def __init__(self, shape: Shape, rewrite: Callable[[ast.AST], Any], calls: PlainCalls) -> None:
        self.shape = shape
        self.names = VariantNames(shape.prefix)
        self.rewrite = rewrite
        self.out: list[ast.stmt] = []
        self.pending: list[tuple[str, Claim, str | None]] = []
        """The variables whose values may have to be claimed, and what the claims read."""
        self.deferred: list[tuple[str, ast.expr]] = []
        """The temporaries into which names of the module were read plainly, and how events read them."""
        self.target: str | None = None
        """The variable that the statement assigns."""
        self.is_unsettled = False
        """Whether a wrapper may have been left in the state of the thread that nothing takes."""
        self.used: list[str] = []
        """The temporaries of the statement."""
        self._calls = calls
        self._are_calls_steps = not shape.tags_beside_targets and not any(
            Events.CALLS in context.events and (context.prehook or context.posthook) for context in shape.contexts
        )

    # ---- what is emitted

    def emit(self, at: At, value: Value, made: Callable[[ast.expr], ast.stmt]) -> None:
        """Emit a statement with a value: one for each form of it."""
        if value.light is value.full:
            self.flush(at)
            self.out.append(at.put(made(value.light)))
            return
        full = [*self._begun(at), at.put(made(value.full))]
        plain: list[ast.stmt] = [at.put(made(value.light))]
        if value.other is not None:
            plain = [at.put(ast.If(value.other[0], plain, [at.put(made(value.other[1]))]))]
        self.out.append(at.put(ast.If(self._test(at, value.tests), full, plain)))
        self._claimed(value.is_event)

    def assign(self, at: At, name: str, value: Value, target: ast.expr | None = None) -> None:
        """Emit an assignment to a variable, `target` being the node that stores it."""
        self.emit(at, value, lambda made: ast.Assign([target or at.store(name)], made))
        if value.claim is not None:
            self.pending.append((name, value.claim, value.read_by_claim))

    def choose(self, at: At, event: ast.stmt, plain: ast.stmt, tests: Sequence[ast.expr] = ()) -> None:
        """Emit an event that has no value, and the statement that does the same."""
        self.out.append(at.put(ast.If(self._test(at, tests), [*self._begun(at), event], [plain])))
        self._claimed(True)

    def augment(self, at: At, name: str, node: ast.AugAssign) -> None:
        """Emit ``name op= value``."""
        primitive = INPLACE[type(node.op).__name__]
        ((light, full),) = self.operands(at, [node.value])
        event = at.put(ast.Assign([at.store(name)], self.over(at, primitive, [at.load(name), full])))
        plain = at.put(ast.AugAssign(at.store(name), node.op, light))
        self.choose(at, event, plain, tagged_events.tests_of_whole(at, primitive, light))
        self.pending = [(name, claimed, None)]

    def chosen(self, at: At, value: Value) -> ast.expr:
        """A value as the test of a statement, which runs code of the program itself."""
        if value.light is value.full:
            self.flush(at)
            return value.light
        begun = [self._in_expression(part) for part in self._begun(at)]
        full = at.pick([*begun, value.full], len(begun))
        light = value.light
        if value.other is not None:
            light = at.either(value.other[0], light, value.other[1])
        self._claimed(True)
        return at.either(self._test(at, value.tests), full, light)

    def flush(self, at: At, settle: bool = False) -> None:
        """Claim the values of variables here, if anything was tagged."""
        if self.pending or self.deferred or (settle and self.is_unsettled):
            begun = self._begun(at)
            self.out.append(at.put(ast.If(at.symbol(self.names.is_dispatched), begun, [])))
            self._claimed(False)

    def _claimed(self, is_unsettled: bool) -> None:
        """Note that everything is claimed, and whether an event has begun since."""
        self.pending, self.deferred, self.is_unsettled = [], [], is_unsettled

    def _test(self, at: At, tests: Sequence[ast.expr]) -> ast.expr:
        full = at.symbol(self.names.is_dispatched)
        return at.put(ast.BoolOp(ast.Or(), [full, *tests])) if tests else full

    def _begun(self, at: At) -> list[ast.stmt]:
        """What an event begins with: if it is the first one of this frame in its epoch, values are claimed."""
        read = [at.put(ast.Assign([at.store(name)], full)) for name, full in self.deferred]
        if not (self.pending or self.is_unsettled):
            return [at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(symbols.EPOCH))), *read]
        claims: list[ast.stmt] = [
            at.put(ast.Assign([at.store(name)], claim(at, name))) for name, claim, _ in self.pending
        ]
        begin = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.call(at.symbol(symbols.BEGIN_EPOCH), [])))
        other = at.put(ast.Compare(at.load(temporaries.EPOCH), [ast.IsNot()], [at.symbol(symbols.EPOCH)]))
        return [at.put(ast.If(other, [*claims, begin], [])), *read]

    def _in_expression(self, statement: ast.stmt) -> ast.expr:
        """What begins an event, as an expression."""
        at = At(statement)
        if isinstance(statement, ast.Assign):
            assert isinstance(statement.targets[0], ast.Name)
            return at.let(statement.targets[0].id, statement.value)
        assert isinstance(statement, ast.If)
        lets: list[ast.expr] = []
        for part in statement.body:
            assert isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
            lets.append(at.let(part.targets[0].id, part.value))
        return at.either(statement.test, at.pick(lets, 0), at.constant(None))

    # ---- temporaries

    def temporary(self) -> str:
        """A temporary that the statement does not use yet."""
        number = 0
        while temporaries.step(number) in self.used:
            number += 1
        name = temporaries.step(number)
        self.used.append(name)
        return name

    def taken(self, mark: int) -> list[str]:
        """The temporaries beyond the first `mark` ones: what they hold has been used, and others may use them."""
        names = self.used[mark:]
        del self.used[mark:]
        return names

    def clear(self, at: At, names: Sequence[str]) -> None:
        """Clear temporaries: their values die when they would die in the plain program."""
        if any(read in names for _, _, read in self.pending):
            self.flush(at)
        self.out.extend(self.cleared(at, names))

    def cleared(self, at: At, names: Sequence[str]) -> list[ast.stmt]:
        """The statement that clears temporaries."""
        self.pending = [claim for claim in self.pending if claim[0] not in names]
        targets: list[ast.expr] = [at.store(name) for name in names]
        return [at.put(ast.Assign(targets, at.constant(None)))] if targets else []

    # ---- operands

    def operand(self, node: ast.expr, is_kept: bool = False) -> tuple[ast.expr, ast.expr]:
        """Evaluate an operand; return what reads it, plainly and for an event."""
        mark = len(self.used)
        value = self.value(node)
        is_new = value.is_event or value.is_inlined
        if is_kept:
            is_new = is_new or not (isinstance(value.light, ast.Constant) or _is_temporary(value.light))
        if not is_new:
            return value.light, value.full
        return self.kept(At(node), value, mark)

    def kept(self, at: At, value: Value, mark: int) -> tuple[ast.expr, ast.expr]:
        """Evaluate a value into a temporary; those that it has used beyond the first `mark` ones are cleared."""
        old = [] if value.read_by_claim in self.used[mark:] else self.taken(mark)
        name = self.temporary()
        if isinstance(value.light, ast.Name) and value.full is not value.light and not value.is_event:
            self.flush(at)
            self.out.append(at.put(ast.Assign([at.store(name)], value.light)))
            self.deferred.append((name, value.full))
        else:
            self.assign(at, name, value)
        if not old:
            old = [used for used in self.used[mark:] if used != name]
            self.used[mark:] = [name]
        self.clear(at, [used for used in old if used != name])
        read = at.load(name)
        return read, read

    def operands(self, at: At, nodes: Sequence[ast.expr]) -> list[tuple[ast.expr, ast.expr]]:
        """Evaluate operands in order; what is read on the line of the event needs no temporary if it is last."""
        still = len(nodes)
        while still and at.is_variable_here(nodes[still - 1]):
            still -= 1
        return [
            self._at_event(at, *self.operand(node, number < still - 1)) for number, node in enumerate(nodes)
        ]

    @staticmethod
    def _at_event(at: At, light: ast.expr, full: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Temporaries are read on the line of the event, since tracers are notified when the line changes."""
        if light is full and isinstance(light, ast.Name) and _is_temporary(light):
            light = full = at.load(light.id)
        return light, full

    # ---- expressions

    def value(self, node: ast.expr) -> Value:
        """The two forms of an expression, whose parts are evaluated by then."""
        if isinstance(node, ast.Constant) or has(node, NOOVERDUB) or has(node, LITERAL):
            return Value(node, node)
        make = _MAKERS.get(type(node))
        found = None if make is None else make(self, node)
        if found is not None:
            return found
        self.flush(At(node))
        inlined = self.rewrite(node)
        return Value(inlined, inlined, is_inlined=True)

    def over(self, at: At, name: str, arguments: list[ast.expr]) -> ast.expr:
        """The event of a primitive."""
        over = at.call(at.symbol(self.names.overload(EVENT_OF[name])), [at.symbol(symbols.primitive(name))])
        return at.call(over, arguments)

    def operation(self, operation: Operation, is_event: bool = True, tests: tuple[ast.expr, ...] = ()) -> Value:
        """An operation whose operands are those of its node."""
        at, name = operation.place, operation.name
        read = self.operands(at, [slot.get() for slot in operation.slots])
        full = self.over(at, name, operation.arguments([part for _, part in read]))
        light = operation.plain([part for part, _ in read])
        claim = claimed if tagged_events.helper_after(name) == symbols.CLAIMED else None
        return Value(light, full, is_event, claim, tests=tests)

    # ---- branches

    def tested(self, node: ast.expr) -> ast.expr:
        """The test of a statement, whose parts have been evaluated before it."""
        if isinstance(node, ast.BoolOp):
            are_still = all(map(is_still, node.values[1:]))
            return self._all_tested(node) if are_still else self._tested_in_turn(node)
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and not has(node, NOOVERDUB):
            return self.tested(self._chain(node))
        return self.chosen(At(node), self.value(node))

    def _all_tested(self, node: ast.BoolOp) -> ast.expr:
        """An ``and`` or ``or`` of tests of which only the first one may need statements before it."""
        tests = [self.tested(node.values[0])]
        self.flush(At(node))
        for value in node.values[1:]:
            self.is_unsettled = True
            tests.append(self.tested(value))
        self.is_unsettled = True
        node.values = tests
        return node

    def _tested_in_turn(self, node: ast.BoolOp) -> ast.expr:
        """Any other: a temporary holds what has been decided, since the truth of each part is asked for once."""
        at, name, is_and = At(node), self.temporary(), isinstance(node.op, ast.And)

        def decide(values: list[ast.expr]) -> None:
            decided: list[ast.stmt] = [at.put(ast.Assign([at.store(name)], at.constant(not is_and)))]
            if not values:
                self.out.append(at.put(ast.Assign([at.store(name)], at.constant(is_and))))
                return
            mark = len(self.used)
            test = self.tested(values[0])
            cleared = self.cleared(at, self.taken(mark))
            others = self.apart(lambda: decide(values[1:]))
            branches = ([*cleared, *others], [*cleared, *decided])
            then, otherwise = branches if is_and else branches[::-1]
            self.out.append(at.put(ast.If(test, then, otherwise)))
            self.is_unsettled = True

        decide(node.values)
        return at.load(name)

    def apart(self, make: Callable[[], None]) -> list[ast.stmt]:
        """The statements that a function emits."""
        outer, self.out = self.out, []
        make()
        made, self.out = self.out, outer
        return made

    def _into(self, name: str, node: ast.expr) -> list[ast.stmt]:
        """The statements that evaluate an expression into a temporary."""

        def make() -> None:
            at, mark = At(node), len(self.used)
            self.assign(at, name, self.value(node))
            self.clear(at, self.taken(mark))
            self.flush(at)

        return self.apart(make)

    def _conditional(self, node: ast.IfExp) -> Value:
        at, mark = At(node), len(self.used)
        test = self.tested(node.test)
        cleared = self.cleared(at, self.taken(mark))
        name = self.temporary()
        before = self.is_unsettled
        then = self._into(name, node.body)
        after, self.is_unsettled = self.is_unsettled, before
        otherwise = self._into(name, node.orelse)
        self.is_unsettled = self.is_unsettled or after
        self.out.append(at.put(ast.If(test, [*cleared, *then], [*cleared, *otherwise])))
        return Value(at.load(name), at.load(name))

    def _connected(self, node: ast.BoolOp) -> Value | None:
        if len(node.values) > _DEEPEST:
            return None
        at, name, is_and = At(node), self.temporary(), isinstance(node.op, ast.And)
        first, *others = node.values
        self.out.extend(self._into(name, first))

        def go_on(values: list[ast.expr]) -> None:
            self.out.extend(self._into(name, values[0]))
            if values[1:]:
                self.out.append(going_on(values[1:]))

        def going_on(values: list[ast.expr]) -> ast.stmt:
            read: ast.expr = at.load(name)
            test = read if is_and else at.put(ast.UnaryOp(ast.Not(), read))
            made = at.put(ast.If(test, self.apart(lambda: go_on(values)), []))
            self.is_unsettled = True
            return made

        self.out.append(going_on(others))
        return Value(at.load(name), at.load(name))

    def _name(self, node: ast.Name) -> Value:
        if not has(node, GLOBAL):
            return Value(node, node)
        operation = name_load(node)
        return Value(node, self.over(At(node), operation.name, operation.arguments([])))

    def _binary(self, node: ast.BinOp) -> Value:
        return self.operation(
            Operation(BINARY[type(node.op).__name__], node, [Slot(node, "left"), Slot(node, "right")])
        )

    def _unary(self, node: ast.UnaryOp) -> Value | None:
        if is_number(node):
            return None
        return self.operation(Operation(UNARY[type(node.op).__name__], node, [Slot(node, "operand")]))

    def _compare(self, node: ast.Compare) -> Value | None:
        if len(node.ops) > 1:
            return self._connected(self._chain(node))
        op = node.ops[0]
        name = COMPARE[type(op).__name__]
        slots = [Slot(node, "left"), Slot(node, "comparators", 0)]
        if name != "operator.contains":
            is_identity = isinstance(op, (ast.Is, ast.IsNot))
            return self.operation(Operation(name, node, slots), not is_identity)
        value = self.operation(Operation(name, node, slots, lambda read: read[::-1]))
        if isinstance(op, ast.NotIn):
            value = value._replace(full=At(node).put(ast.UnaryOp(ast.Not(), value.full)))
        return value

    def _chain(self, node: ast.Compare) -> ast.BoolOp:
        """``a < b < c`` as ``a < @e0 and @e0 < c``; the operands of the first comparison are evaluated."""
        at = At(node)
        first, second = node.left, node.comparators[0]
        left, left_full = self.operand(first, True)
        assert left is left_full
        middle, _ = self.operand(second, True)
        compared = at.put(ast.Compare(left, [node.ops[0]], [middle]))
        others = at.put(ast.Compare(middle, node.ops[1:], node.comparators[1:]))
        return at.put(ast.BoolOp(ast.And(), [compared, others]))

    def _attribute(self, node: ast.Attribute) -> Value | None:
        if is_own_callee(node) and not _is_temporary(node.value):
            return None
        operation = attribute_load(node)
        return self.operation(operation, tests=self.watched(At(node), node))

    def watched(self, at: At, node: ast.Attribute) -> tuple[ast.expr, ...]:
        """The test whether a context watches an attribute, if one of the stack may do so."""
        name = getattr(node, "_private", node.attr)
        return (at.symbol(symbols.attribute_watched(name)),) if self.shape.watches else ()

    def _subscript(self, node: ast.Subscript) -> Value | None:
        index, name = node.slice, "operator.getitem"
        if isinstance(index, ast.Tuple) and any(isinstance(part, ast.Slice) for part in index.elts):
            return None
        if not isinstance(index, ast.Slice):
            return self.operation(Operation(name, node, [Slot(node, "value"), Slot(node, "slice")]))
        at = At(node)
        bounds = [(field, bound) for field in ("lower", "upper", "step") if (bound := getattr(index, field))]
        (light, full), *read = self.operands(at, [node.value, *(bound for _, bound in bounds)])
        given = {field: part for (field, _), (_, part) in zip(bounds, read, strict=True)}
        for (field, _), (part, _) in zip(bounds, read, strict=True):
            setattr(index, field, part)
        node.value = light
        made = [given.get(field) or at.constant(None) for field in ("lower", "upper", "step")]
        return Value(node, self.over(at, name, [full, at.call(at.symbol(symbols.SLICE), made)]), True, claimed)

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Value | None:
        if any(isinstance(part, (ast.Starred, ast.Slice)) for part in node.elts):
            return None
        slots = [Slot(node, "elts", number) for number in range(len(node.elts))]
        name = f"primitives.build_{type(node).__name__.lower()}"
        return self.operation(Operation(name, node, slots), isinstance(node, ast.Set))

    def _dict(self, node: ast.Dict) -> Value | None:
        if any(key is None for key in node.keys):
            return None
        slots = [Slot(node, field, number) for number in range(len(node.keys)) for field in ("keys", "values")]
        return self.operation(Operation("primitives.build_dict", node, slots), bool(node.keys))

    def _string(self, node: ast.JoinedStr) -> Value | None:
        """An f-string. The interpreter formats numbers and texts itself."""
        at = At(node)
        calls = [part for part in node.values if isinstance(part, ast.Call)]
        if not all(_is_formatted(call) for call in calls):
            return None
        read = self.operands(at, [call.args[0] for call in calls])
        values, parts, kinds = iter(read), [], []
        for part in node.values:
            if not isinstance(part, ast.Call):
                parts.append(part)
                continue
            value, part.args[0] = next(values)
            conversion = part.args[1].value if len(part.args) > 1 else -1  # type: ignore[attr-defined]
            specification = part.args[2] if len(part.args) > 2 else None
            parts.append(At(part).put(ast.FormattedValue(value, conversion, specification)))
            kinds.append(at.call(at.symbol(symbols.ID), [at.call(at.symbol(symbols.TYPE), [value])]))
        given = [at.put(ast.JoinedStr([part])) if isinstance(part, ast.FormattedValue) else part for part in node.values]
        full = self.over(at, "primitives.build_string", given)
        others = [at.put(ast.Compare(kind, [ast.NotIn()], [at.symbol(symbols.SIMPLE)])) for kind in kinds]
        return Value(at.put(ast.JoinedStr(parts)), full, tests=(*others,))

    def _call(self, node: ast.Call) -> Value | None:
        at = At(node)
        if is_own_callee(node.func):
            return self._helper(at, node)
        if not self._are_calls_steps or not is_plain_call(node):
            return None
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        are_steps = not all(map(at.is_variable_here, arguments))
        function = node.func
        if isinstance(function, ast.Attribute) and self._calls.is_of_module(function):
            return self._of_module(at, node, function, arguments)
        if isinstance(function, ast.Attribute) and not are_steps:
            return self._method(at, node, function)
        if receiver_of_super(node) is not None:
            return None
        if isinstance(function, ast.Attribute):
            return self._read_method(at, node, function, arguments)
        return self._function(at, node, arguments, are_steps)

    def _arguments(
        self, node: ast.Call, values: list[ast.expr]
    ) -> tuple[list[ast.expr], list[ast.keyword]]:
        count = len(node.args)
        named = zip(node.keywords, values[count:], strict=True)
        return values[:count], [At(value).put(ast.keyword(keyword.arg, value)) for keyword, value in named]

    def _called(self, at: At, callee: ast.expr, arguments: tuple[list[ast.expr], list[ast.keyword]]) -> ast.expr:
        """The event of a call."""
        return at.call(at.call(at.symbol(self.names.overload(Events.CALLS)), [callee]), *arguments)

    def _method(self, at: At, node: ast.Call, function: ast.Attribute) -> Value:
        """A call of an attribute whose arguments are variables and constants."""
        mark, given = len(self.used), function.value
        if isinstance(given, ast.Call) and is_plain_super(given):
            light: ast.expr = given
            full: ast.expr = clone(given)  # type: ignore[assignment]
        else:
            light, full = self.operand(given)
            if not isinstance(light, ast.Name):
                light, full = self.kept(At(given), Value(light, full), mark)
        function.value = light
        tests = self.watched(at, function)
        attribute = attribute_load(function).arguments([full])
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        called = self._called(at, self.over(At(function), "getattr", attribute), self._arguments(node, values))
        plain = self._calls.of_method(node, function)
        return Value(node, called, True, plain.claim, None, (plain.is_known, plain.otherwise), tests)

    def _function(self, at: At, node: ast.Call, arguments: list[ast.expr], are_steps: bool) -> Value:
        """Any other call: the callee is a variable."""
        function, mark = node.func, len(self.used)
        is_target = isinstance(function, ast.Name) and function.id == self.target
        light, full = self.operand(function, are_steps or is_target)
        if not isinstance(light, ast.Name):
            light, full = self.kept(At(function), Value(light, full), mark)
        assert isinstance(light, ast.Name)
        read = self.operands(at, arguments)
        called = self._called(at, full, self._arguments(node, [part for _, part in read]))
        plain = self._calls.of_function(at, light, function, self._arguments(node, [part for part, _ in read]))
        return Value(plain.call, called, True, plain.claim, plain.read_by_claim, (plain.is_known, plain.otherwise))

    def _of_module(self, at: At, node: ast.Call, function: ast.Attribute, arguments: list[ast.expr]) -> Value:
        """A call of an attribute of a module."""
        path = path_of(function)
        callee, _ = self.operand(function)
        read = self.operands(at, arguments)
        called = self._called(at, callee, self._arguments(node, [part for _, part in read]))
        plain = self._calls.of_module(at, path, callee, self._arguments(node, [part for part, _ in read]))
        return Value(plain.call, called, True, plain.claim, None, (plain.is_known, plain.otherwise))

    def _read_method(self, at: At, node: ast.Call, function: ast.Attribute, arguments: list[ast.expr]) -> Value:
        """A call of an attribute that is read before the arguments are evaluated."""
        owner, _ = self.operand(function.value, True)
        original = copy.copy(function)
        function.value = owner
        callee, _ = self.operand(function)
        read = self.operands(at, arguments)
        called = self._called(at, callee, self._arguments(node, [part for _, part in read]))
        given = self._arguments(node, [part for part, _ in read])
        plain = self._calls.of_read_method(node, original, callee, owner, given)
        return Value(plain.call, called, True, plain.claim, None, (plain.is_known, plain.otherwise))

    def _helper(self, at: At, node: ast.Call) -> Value | None:
        """A call of a helper that does nothing while nothing is tagged."""
        function = node.func
        count = _SAME_WHILE_UNTAGGED.get(function.id) if isinstance(function, ast.Name) else None
        if len(node.args) != count or node.keywords or isinstance(node.args[-1], ast.Starred):
            return None
        light, full = self.operand(node.args[-1])
        node.args[-1] = full
        return Value(light, node)


def _is_formatted(node: ast.Call) -> bool:
    """Whether it is the call of the helper for values in f-strings, with a constant specification."""
    if not isinstance(node.func, ast.Name) or node.func.id != symbols.FORMATTED:
        return False
    specification = node.args[2] if len(node.args) > 2 else None
    return specification is None or (
        isinstance(specification, ast.JoinedStr)
        and all(isinstance(part, ast.Constant) for part in specification.values)
    )


def _is_temporary(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith(temporaries.STEP)


def is_still(node: ast.expr) -> bool:
    """Whether a test needs no statements before it."""
    here = At(node).is_variable_here
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and here(node.left) and here(node.comparators[0])
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and here(node.operand)
    if isinstance(node, ast.Attribute):
        return here(node.value)
    if isinstance(node, ast.Subscript):
        return here(node.value) and here(node.slice)
    if isinstance(node, ast.Call) and not is_own_callee(node.func) and is_plain_call(node):
        if isinstance(node.func, ast.Attribute) and has(node.func.value, GLOBAL):
            return False
        callee = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        return isinstance(callee, ast.Name) and all(map(here, arguments))
    return False


def is_too_deep(node: ast.AST) -> bool:
    """Whether an expression nests too deeply for steps."""
    level: list[ast.AST] = [node]
    for _ in range(_DEEPEST):
        level = [part for above in level for part in parts(above)]
        if not level:
            return False
    return True


_MAKERS: Final[dict[type[ast.AST], Callable[[Steps, Any], Value | None]]] = {
    ast.Name: Steps._name,
    ast.BinOp: Steps._binary,
    ast.UnaryOp: Steps._unary,
    ast.Compare: Steps._compare,
    ast.Attribute: Steps._attribute,
    ast.Subscript: Steps._subscript,
    ast.List: Steps._list,
    ast.Tuple: Steps._list,
    ast.Set: Steps._list,
    ast.Dict: Steps._dict,
    ast.Call: Steps._call,
    ast.IfExp: Steps._conditional,
    ast.JoinedStr: Steps._string,
    ast.BoolOp: Steps._connected,
}
