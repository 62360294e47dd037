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

What is no step (a comprehension, a lambda) takes the inlined form.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from cassette_import.rewriting import symbols, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged_events
from cassette_import.rewriting.forms.bound_variables import BoundVariables
from cassette_import.rewriting.forms.guarded import path_of
from cassette_import.rewriting.forms.untagged_branches import (
    Branches,
    PlainCalls,
    Value,
    VariantEvents,
    claimed,
    is_call_with_splats,
    is_plain_call,
    is_temporary,
    is_too_deep,
    mapping_of,
    receiver_of_super,
    spans_lines,
)
from cassette_import.rewriting.modes import make_lambdas_bare
from cassette_import.rewriting.primitives import BINARY, COMPARE, EVENT_OF, INPLACE, UNARY
from cassette_import.rewriting.shape import Interest, Shape
from cassette_import.rewriting.syntax.expressions import attribute_load, is_own_callee, name_load
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import CLASS_NAME, GLOBAL, LITERAL, NOOVERDUB, has, is_number
from cassette_import.rewriting.trees.node_builder import At, is_plain_super
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.uninterrupted import suspends
from cassette_import.rewriting.variant_names import VariantNames

# ---- events as statements, where values may be tagged and there are no hooks: one test each while nothing is tagged

_KINDS: Final = (Events.OPERATORS, Events.ATTRIBUTES, Events.ITERATION, Events.DISPLAYS, Events.NAMES)
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
    if variant_names.is_wildcard(shape.prefix):
        return False
    hooked = Events.NONE
    for context in shape.contexts:
        if context.prehook or context.posthook:
            hooked |= context.events
    wanted = shape.interest(Events.TRUTH), shape.interest(Events.CONTROL)
    return not any(kind in hooked for kind in _KINDS) and wanted == (Interest.NOTHING, Interest.NOTHING)


class Steps(Branches):
    """Makes steps of the expressions in one block.

    Parameters
    ----------
    shape:
        The stack of contexts.
    rewrite:
        Rewrites an expression into the inlined form.
    events:
        Says how to ask whether events have to be carried out.
    calls:
        Builds plain calls.
    bound:
        The variables that are bound.
    """

    makers: ClassVar[dict[type[ast.AST], Callable[[Any, Any], Value | None]]]

    def __init__(
        self,
        shape: Shape,
        rewrite: Callable[[ast.AST], Any],
        events: VariantEvents,
        calls: PlainCalls,
        bound: BoundVariables,
    ) -> None:
        super().__init__(events, bound)
        self.shape = shape
        self.rewrite = rewrite
        self._calls = calls
        self._are_calls_steps = shape.tags_beside_targets or not any(
            Events.CALLS in context.events and (context.prehook or context.posthook) for context in shape.contexts
        )

    def augment(self, at: At, name: str, node: ast.AugAssign) -> None:
        """Emit ``name op= value``."""
        primitive = INPLACE[type(node.op).__name__]
        ((light, full),) = self.operands(at, [node.value])
        read = At(node.target).load(name)
        event = at.put(ast.Assign([at.store(name)], self.over(at, primitive, [read, full])))
        plain = at.put(ast.AugAssign(At(node.target).store(name), node.op, light))
        is_computed = isinstance(node.value, ast.BinOp)
        self.choose(at, event, plain, tagged_events.tests_of_whole(at, primitive, light, is_computed))
        self.pending = [(name, claimed, None)]

    # ---- expressions

    def value(self, node: ast.expr) -> Value:
        """The two forms of an expression, whose parts are evaluated by then."""
        if isinstance(node, ast.Constant) or has(node, NOOVERDUB) or has(node, LITERAL):
            return Value(node, node)
        make = self.makers.get(type(node))
        found = None if make is None else make(self, node)
        if found is not None:
            return found
        self.flush(At(node))
        inlined = self.rewrite(node)
        return Value(inlined, inlined, is_inlined=True)

    def over(self, at: At, name: str, arguments: list[ast.expr]) -> ast.expr:
        """The event of a primitive."""
        return at.call(self.events.over(at, EVENT_OF[name], at.symbol(symbols.primitive(name))), arguments)

    def operation(self, operation: Operation, is_event: bool = True, tests: tuple[ast.expr, ...] = ()) -> Value:
        """An operation whose operands are those of its node."""
        at, name = operation.place, operation.name
        read = self.operands(at, [slot.get() for slot in operation.slots])
        full = self.over(at, name, operation.arguments([part for _, part in read]))
        light = operation.plain([part for part, _ in read])
        claim = claimed if tagged_events.helper_after(name) == symbols.CLAIMED else None
        return Value(light, full, is_event, claim, tests=tests)

    def _name(self, node: ast.Name) -> Value:
        if not has(node, GLOBAL):
            return Value(node, node)
        operation = name_load(node)
        return Value(node, self.over(At(node), operation.name, operation.arguments([])))

    def _named(self, node: ast.NamedExpr) -> Value | None:
        """`name := value`, which assigns a variable before what is around it is evaluated."""
        target = node.target
        if has(target, GLOBAL) or has(target, CLASS_NAME):
            return None
        outer, self.target = self.target, target.id
        self.assign(At(node), target.id, self.value(node.value), target)
        self.target = outer
        read = At(node).load(target.id)
        return Value(read, read)

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
            return None if spans_lines(node) else self.connected(self.chain(node))
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

    def _attribute(self, node: ast.Attribute) -> Value | None:
        if is_own_callee(node) and not is_temporary(node.value):
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
        node.value, full, index_full = self.sliced(at, node.value, index)
        return Value(node, self.over(at, name, [full, index_full]), True, claimed)

    def sliced(self, at: At, owner: ast.expr, index: ast.Slice) -> tuple[ast.expr, ast.expr, ast.expr]:
        """Evaluate an owner and bounds of a slice of it; return what reads the owner plainly, and both for an event."""
        bounds = [(field, bound) for field in ("lower", "upper", "step") if (bound := getattr(index, field))]
        (light, full), *read = self.operands(at, [owner, *(bound for _, bound in bounds)])
        given = {field: part for (field, _), (_, part) in zip(bounds, read, strict=True)}
        for (field, _), (part, _) in zip(bounds, read, strict=True):
            setattr(index, field, part)
        made = [given.get(field) or at.constant(None) for field in ("lower", "upper", "step")]
        return light, full, at.call(at.symbol(symbols.SLICE), made)

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
        """An f-string: the text of each value is made before the next value is evaluated."""
        calls = [part for part in node.values if isinstance(part, ast.Call)]
        if not all(map(_is_formatted, calls)):
            return None
        at, moving = At(node), len(calls)
        while moving and at.is_variable_here(calls[moving - 1].args[0]):
            moving -= 1
        parts: list[ast.expr] = []
        given: list[ast.expr] = []
        tests: list[ast.expr] = []
        for part in node.values:
            if not isinstance(part, ast.Call):
                parts.append(part)
                given.append(at.put(ast.JoinedStr([part])) if isinstance(part, ast.FormattedValue) else part)
                continue
            mark = len(self.used)
            light, full, test = self._formatted(at, part)
            if part in calls[: max(moving - 1, 0)]:
                text = Value(At(part).put(ast.JoinedStr([light])), full, True, claimed, tests=(test,))
                kept, full = self.kept(At(part), text, mark)
                light = At(part).put(ast.FormattedValue(kept, -1, None))
            else:
                tests.append(test)
            parts.append(light)
            given.append(full)
        full = self.over(at, "primitives.build_string", given)
        return Value(at.put(ast.JoinedStr(parts)), full, tests=(*tests,))

    def _formatted(self, at: At, part: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr]:
        """A value in an f-string, and the test whether it is neither a number nor a text, which have no own methods."""
        value, part.args[0] = self.at_event(at, *self.operand(part.args[0]))
        conversion = part.args[1].value if len(part.args) > 1 else -1  # type: ignore[attr-defined]  # its kind is known
        specification = part.args[2] if len(part.args) > 2 else None
        light = At(part).put(ast.FormattedValue(value, conversion, specification))
        kind = at.call(at.symbol(symbols.ID), [at.call(at.symbol(symbols.TYPE), [value])])
        return light, part, at.put(ast.Compare(kind, [ast.NotIn()], [at.symbol(symbols.SIMPLE)]))

    def _call(self, node: ast.Call) -> Value | None:
        at = At(node)
        if is_own_callee(node.func):
            return self._helper(at, node)
        if not self._are_calls_steps or not (is_plain_call(node) or is_call_with_splats(node)):
            return None
        arguments = [argument.value if isinstance(argument, ast.Starred) else argument for argument in node.args]
        arguments += [mapping_of(keyword) or keyword.value for keyword in node.keywords]
        are_steps = not all(map(at.is_variable_here, arguments))
        function = node.func
        if isinstance(function, ast.Attribute) and self._calls.is_of_module(function):
            return self._of_module(at, node, function, arguments)
        if isinstance(function, ast.Attribute) and not are_steps:
            return self._method(at, node, function, arguments)
        if receiver_of_super(node) is not None:
            return None
        if isinstance(function, ast.Attribute):
            return self._read_method(at, node, function, arguments)
        return self._function(at, node, arguments, are_steps)

    def _arguments(self, node: ast.Call, values: list[ast.expr]) -> tuple[list[ast.expr], list[ast.keyword]]:
        count = len(node.args)
        given = [
            _splatted(node, argument, value) if isinstance(argument, ast.Starred) else value
            for argument, value in zip(node.args, values[:count], strict=True)
        ]
        named: list[ast.keyword] = []
        for keyword, value in zip(node.keywords, values[count:], strict=True):
            at = At(value)
            value = at.call(at.symbol(symbols.MAPPING), [value]) if keyword.arg is None else value
            named.append(at.put(ast.keyword(keyword.arg, value)))
        return given, named

    def _called(self, at: At, callee: ast.expr, arguments: tuple[list[ast.expr], list[ast.keyword]]) -> ast.expr:
        """The event of a call."""
        if self.shape.tags_beside_targets:  # hooks take calls of chosen functions
            pick = at.symbol(VariantNames(self.shape.prefix).pick_callee(with_keywords=True))
            return at.call(at.call(pick, [callee]), *arguments)
        return at.call(self.events.over(at, Events.CALLS, callee), *arguments)

    def _method(self, at: At, node: ast.Call, function: ast.Attribute, arguments: list[ast.expr]) -> Value:
        """A call of an attribute whose arguments are variables and constants."""
        mark, given = len(self.used), function.value
        if isinstance(given, ast.Call) and is_plain_super(given):
            light: ast.expr = given
            full: ast.expr = clone(given)
        else:
            light, full = self.operand(given)
            if not isinstance(light, ast.Name):
                light, full = self.kept(At(given), Value(light, full), mark)
        function.value = light
        tests = self.watched(at, function)
        attribute = attribute_load(function).arguments([full])
        node.args, node.keywords = self._arguments(node, arguments)
        called = self._called(at, self.over(At(function), "getattr", attribute), (node.args, node.keywords))
        plain = self._calls.of_method(node, function)
        return Value(node, called, True, plain.claim, None, (plain.is_known, plain.otherwise), tests)

    def _function(self, at: At, node: ast.Call, arguments: list[ast.expr], are_steps: bool) -> Value:
        """Any other call: the callee is a variable."""
        function, mark = node.func, len(self.used)
        is_target = isinstance(function, ast.Name) and function.id == self.target
        light, full = self.operand(function, are_steps or is_target)
        if not isinstance(light, ast.Name) or (is_target and not is_temporary(light)):
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


def _splatted(node: ast.Call, argument: ast.Starred, value: ast.expr) -> ast.expr:
    """What is splatted in a call, as `syntax.statements.splats` makes it: the call is where errors are shown."""
    at, is_late = At(node), len(node.args) == 1 and node.keywords
    taken = at.call(at.symbol(symbols.SPLAT_IN_CALL if is_late else symbols.SPLAT), [value])
    return At(argument).put(ast.Starred(taken, ast.Load()))


def _is_formatted(node: ast.Call) -> bool:
    """Whether it is the call of the helper for values in f-strings, with a constant specification."""
    if not isinstance(node.func, ast.Name) or node.func.id != symbols.FORMATTED:
        return False
    specification = node.args[2] if len(node.args) > 2 else None
    return specification is None or (
        isinstance(specification, ast.JoinedStr)
        and all(isinstance(part, ast.Constant) for part in specification.values)
    )


MAKERS: Final[dict[type[ast.AST], Callable[[Any, Any], Value | None]]] = {
    ast.Name: Steps._name,
    ast.NamedExpr: Steps._named,
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
    ast.IfExp: Steps.conditional,
    ast.JoinedStr: Steps._string,
    ast.BoolOp: Steps.connected,
}
"""What makes the two forms of an expression, by its type."""

Steps.makers = MAKERS


# ---- the untagged form where no statement is possible: in comprehensions, and in lambdas
#
# The steps of such an expression are made as statements, and become parts of one expression, which are evaluated in
# order: ``b if (a is None or True) else None`` evaluates ``a``, then ``b``. The compiler leaves a single jump of it.

_ARE_IN_THE_FRAME: Final = sys.version_info >= (3, 12)
"""Whether comprehensions are in the frame of their function, so that they have its variables (PEP 709)."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp


def in_order(at: At, parts: Sequence[ast.expr]) -> ast.expr:
    """An expression that evaluates parts in order; its value is that of the last one."""
    *others, value = parts
    for part in reversed(others):
        evaluated = at.put(ast.BoolOp(ast.Or(), [at.same(part, at.constant(None)), at.constant(True)]))
        value = at.either(evaluated, value, at.constant(None))
    return value


def as_expressions(statements: Sequence[ast.stmt]) -> list[ast.expr]:
    """What evaluates the same as the statements of steps."""
    made: list[ast.expr] = []
    for statement in statements:
        at = At(statement)
        if isinstance(statement, ast.Assign):
            assert isinstance(statement.targets[0], ast.Name)
            made.append(at.let(statement.targets[0].id, statement.value))
        elif isinstance(statement, ast.Delete):
            made.append(at.clear([target.id for target in statement.targets]))  # type: ignore[attr-defined]  # by kind
        elif isinstance(statement, ast.If):
            none = at.constant(None)
            then, otherwise = (as_expressions(block) or [none] for block in (statement.body, statement.orelse))
            made.append(at.either(statement.test, in_order(at, then), in_order(at, otherwise)))
        else:
            assert isinstance(statement, ast.Expr), statement
            made.append(statement.value)
    return made


class ExpressionSteps(Steps):
    """Makes steps of expressions, of those in comprehensions too."""

    def __init__(
        self, *given: Any, clause: Callable[[ast.comprehension, bool], Any], whole: Callable[[Any], Any]
    ) -> None:
        super().__init__(*given)
        self._clause, self._whole = clause, whole

    def inside(self, at: At, make: Callable[[], ast.expr]) -> ast.expr:
        """The value that a function returns, after the steps that it emits."""
        outer, self.out = self.out, []
        value = make()
        made, self.out = self.out, outer
        return in_order(at, [*as_expressions(made), value])

    def _comprehended(self, node: Comprehension) -> Value | None:
        """A comprehension; None if it takes the inlined form."""
        items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        tests = [test for generator in node.generators for test in generator.ifs]
        targets = [generator.target for generator in node.generators]
        if not _ARE_IN_THE_FRAME or suspends(node) or not all(map(_is_of_names, targets)):
            return None
        if any(spans_lines(part) or is_too_deep(part) for part in (*items, *tests)) or is_too_deep(node):
            return None
        at, (first, *others) = At(node), node.generators
        first.iter, _ = self.operand(first.iter)
        self.flush(at)
        clauses: list[ast.comprehension] = []
        for generator in (first, *others):
            make_lambdas_bare(generator.iter, generator.target)
            generator.ifs = [self.test_inside(test) for test in generator.ifs]
            made = self._clause(generator, generator is not first)
            clauses += made if isinstance(made, list) else [made]
        for clause in clauses:
            item = clause.iter.elts[0] if isinstance(clause.iter, ast.Tuple) and clause.iter.elts else None
            if isinstance(item, ast.IfExp) and _is_metadata(item.test):
                item.test = self.notified(at, item.test)
        node.generators = clauses
        made_items = [self._item_inside(item, isinstance(node, ast.ListComp)) for item in items]
        if isinstance(node, ast.DictComp):
            node.key, node.value = made_items
        else:
            (node.elt,) = made_items
        self.is_unsettled = True
        made = self._whole(node)
        return Value(made, made, is_inlined=True)

    def test_inside(self, node: ast.expr) -> ast.expr:
        """A condition that is evaluated again and again: of a comprehension, or of `while`."""
        at, mark = At(node), len(self.used)
        self.is_unsettled = True

        def make() -> ast.expr:
            test = self.tested(node)
            used = self.taken(mark)
            self.pending = [claim for claim in self.pending if claim[0] not in used]
            if not used:
                return test
            none = at.constant(None)
            cleared = at.put(ast.Compare(at.clear(used), [ast.IsNot()], [none]))
            return at.either(test, at.same(at.clear(used), none), cleared)  # the truth of the test is asked for once

        return self.inside(at, make)

    def _item_inside(self, node: ast.expr, is_held: bool) -> ast.expr:
        """What a comprehension collects. With `is_held`, it is in the container, and may be in a temporary as well."""
        at, mark = At(node), len(self.used)
        self.is_unsettled = True

        def make() -> ast.expr:
            value = self.value(node)
            if not (value.is_event or value.is_inlined or value.tests):
                return self.chosen(at, value)
            read, _ = self.kept(at, value, mark)
            self.flush(at)
            return read

        made = self.inside(at, make)
        used = self.used[mark:]
        if used and is_held:
            self.out += [at.put(ast.Assign([at.store(name)], at.constant(None))) for name in used]
        elif used:
            made = at.pick([made, at.clear(self.taken(mark))], 0)
        return made

    makers = {**MAKERS, **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp), _comprehended)}


def _is_metadata(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == symbols.METADATA_EXISTS


def _is_of_names(target: ast.expr) -> bool:
    """Whether the target of a clause binds variables alone, none of them in an inner tuple."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return all(isinstance(part, ast.Name) for part in parts)
