"""Expressions that decide what is evaluated, in the untagged form: their parts are steps in the branches of `if`.

A step is the plain operation if a test says that nothing is tagged, and else the event.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.bound_variables import BoundVariables
from cassette_import.rewriting.forms.guarded import is_class, is_of_module
from cassette_import.rewriting.syntax.expressions import attribute_name, is_own_callee
from cassette_import.rewriting.trees.annotations import DEBUGGER, GLOBAL, NOOVERDUB, RECEIVER, has
from cassette_import.rewriting.trees.node_builder import At, is_plain_super
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.trees.traversal import parts
from cassette_import.rewriting.variant_names import Guard, GuardKind, VariantNames

# ---- how the untagged form asks whether events have to be carried out, and how it carries them out


class VariantEvents:
    """The events of one variant.

    Parameters
    ----------
    names:
        The names of the variant.
    """

    def __init__(self, names: VariantNames) -> None:
        self.names = names
        self.begun, self.plain = names.begun, names.plain

    def asked(self, at: At) -> ast.expr:
        """The test whether events have to be carried out."""
        return at.symbol(self.names.is_dispatched)

    def over(self, at: At, kind: Events, callee: ast.expr) -> ast.expr:
        """What an event calls in place of its callee."""
        return at.call(at.symbol(self.names.overload(kind)), [callee])


# ---- steps of a statement in the untagged form (see `forms.untagged`)

Claim = Callable[[At, str], ast.expr]
"""Builds what a variable holds if the first value was tagged while its value was computed."""


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


class StepWriter:
    """Emits the steps of one block after the other.

    Parameters
    ----------
    events:
        Says how to ask whether events have to be carried out.
    """

    def __init__(self, events: VariantEvents) -> None:
        self.events = events
        self.out: list[ast.stmt] = []
        """What has been emitted of the block."""
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
        self._in_use: set[str] = set()
        """The same, since statements may have thousands of them."""

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
            self.out.append(at.put(ast.If(self._test(at, ()), begun, [])))
            self._claimed(False)

    def _claimed(self, is_unsettled: bool) -> None:
        """Note that everything is claimed, and whether an event has begun since."""
        self.pending, self.deferred, self.is_unsettled = [], [], is_unsettled

    def _test(self, at: At, tests: Sequence[ast.expr]) -> ast.expr:
        full = self.notified(at, self.events.asked(at))
        return at.put(ast.BoolOp(ast.Or(), [full, *tests])) if tests else full

    @staticmethod
    def notified(at: At, test: ast.expr) -> ast.expr:
        """A test that a frame makes only after it was notified that events may have to be carried out."""
        is_notified = at.put(ast.Compare(at.load(temporaries.EPOCH), [ast.IsNot()], [at.constant(None)]))
        return at.put(ast.BoolOp(ast.And(), [is_notified, test]))

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
            assert isinstance(part, ast.Assign)
            assert isinstance(part.targets[0], ast.Name)
            lets.append(at.let(part.targets[0].id, part.value))
        return at.either(statement.test, at.pick(lets, 0), at.constant(None))

    # ---- temporaries

    def temporary(self) -> str:
        """A temporary that the statement does not use yet."""
        number = len(self.used)
        while (name := temporaries.step(number)) in self._in_use:
            number -= 1  # one of so many names is free
        self.used.append(name)
        self._in_use.add(name)
        return name

    def use_only(self, names: list[str]) -> None:
        """Let these be the temporaries of the statement."""
        self.used, self._in_use = names, set(names)

    def taken(self, mark: int) -> list[str]:
        """The temporaries beyond the first `mark` ones: what they hold has been used, and others may use them."""
        names = self.used[mark:]
        del self.used[mark:]
        self._in_use.difference_update(names)
        return names

    def clear(self, at: At, names: Sequence[str]) -> None:
        """Clear temporaries: their values die when they would die in the plain program."""
        if any(read in names for _, _, read in self.pending):
            self.flush(at)
        self.out.extend(self.cleared(at, names))

    def cleared(self, at: At, names: Sequence[str]) -> list[ast.stmt]:
        """The statement that clears temporaries."""
        self.pending = [claim for claim in self.pending if claim[0] not in names]
        targets: list[ast.expr] = [at.put(ast.Name(name, ast.Del())) for name in names]
        return [at.put(ast.Delete(targets))] if targets else []

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
            old = [used for used in self.taken(mark) if used != name]
            self.used.append(name)
            self._in_use.add(name)
        self.clear(at, [used for used in old if used != name])
        read = at.load(name)
        return read, read

    def apart(self, make: Callable[[], None]) -> list[ast.stmt]:
        """The statements that a function emits."""
        outer, self.out = self.out, []
        make()
        made, self.out = self.out, outer
        return made


def is_temporary(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith(temporaries.STEP)


# ---- plain calls while nothing is tagged: guards show that the rules of a callee do not apply then
#
# The callees of names and the methods of instances have the guards of `forms.guarded`, which hold callees here that are
# called plainly as long as nothing is tagged.

Arguments = tuple[list[ast.expr], list[ast.keyword]]


class PlainCall(NamedTuple):
    """A plain call, and the test that says that it may be made."""

    is_known: ast.expr
    call: ast.expr
    otherwise: ast.expr
    """The call of what looks the callee up."""
    claim: Claim
    """Builds what a variable with the result holds if the first value was tagged meanwhile."""
    read_by_claim: str | None = None
    """The variable with the callee, if the claim reads it."""


def is_plain_call(node: ast.Call) -> bool:
    """Whether a call may be a step: the interpreter takes no arguments out of iterables, and knows no more of it."""
    if has(node, DEBUGGER) or is_plain_super(node):
        return False
    splats = any(isinstance(argument, ast.Starred) for argument in node.args)
    return not splats and all(keyword.arg is not None for keyword in node.keywords)


def is_call_with_splats(node: ast.Call) -> bool:
    """Whether a call with `*` or `**` may be a step: what follows the first `*` are variables and constants.

    The items of what is splatted are taken when everything else has been evaluated.
    """
    if has(node, DEBUGGER) or is_plain_super(node):
        return False
    at, has_begun = At(node), False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            if has_begun and not at.is_variable_here(argument.value):
                return False
            has_begun = True
        elif has_begun and not at.is_variable_here(argument):
            return False
    for keyword in node.keywords:
        value = keyword.value if keyword.arg is not None else mapping_of(keyword)
        if value is None or not at.is_variable_here(value):
            return False
    return True


def mapping_of(keyword: ast.keyword) -> ast.expr | None:
    """What `**` splats in a call; None for another keyword."""
    value = keyword.value
    is_mapping = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == symbols.MAPPING
    return value.args[0] if keyword.arg is None and is_mapping else None  # type: ignore[attr-defined]


def receiver_of_super(node: ast.Call) -> str | None:
    """The name of the instance, if a call is that of a method of `super()`."""
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    if not isinstance(receiver, ast.Call) or not is_plain_super(receiver):
        return None
    name: str | None = getattr(receiver, RECEIVER, None)
    return name


class PlainCalls:
    """Builds plain calls for one variant.

    Parameters
    ----------
    prefix:
        The prefix of the variant's names.
    file:
        A digest of the name of the file. In one file, the same text usually means the same callee.
    objects:
        The names that the module assigns: they hardly ever hold modules.
    plain:
        What looks a callee up that no guard knows.
    has_targets:
        Whether calls of chosen functions are events.
    """

    def __init__(self, prefix: str, file: str, objects: frozenset[str], plain: str, has_targets: bool = False) -> None:
        self._has_targets = has_targets
        self._objects = objects
        self._names = VariantNames(prefix)
        self._file = file
        self._plain = plain

    def of_method(self, node: ast.Call, function: ast.Attribute) -> PlainCall:
        """A call of a method of a variable, which stays a fast method call of the interpreter."""
        at, instance = At(function), receiver_of_super(node)
        receiver = function.value if instance is None else at.load(instance)
        guard, known = self._of_receiver(at, node, function, receiver, instance is not None)
        other: Any = clone(node)
        other.func = self._looked_up(at, other.func, guard, receiver)
        return PlainCall(known, node, other, self._claim(guard))

    def of_read_method(
        self, node: ast.Call, function: ast.Attribute, callee: ast.expr, receiver: ast.expr, arguments: Arguments
    ) -> PlainCall:
        """A call of what an attribute of a variable held before the arguments were evaluated."""
        at = At(node)
        guard, known = self._of_receiver(At(function), node, function, receiver, False)
        looked_up = self._looked_up(at, callee, guard, receiver)
        return PlainCall(known, at.call(callee, *arguments), at.call(looked_up, *arguments), self._claim(guard))

    def is_of_module(self, function: ast.expr) -> bool:
        """Whether a callee is an attribute of a module."""
        return isinstance(function, ast.Attribute) and is_of_module(function, self._objects)

    def of_module(self, at: At, path: tuple[str, ...], callee: ast.expr, arguments: Arguments) -> PlainCall:
        """A call of what an attribute of a module held; `path` is how the program has written it."""
        guard = self._guard(GuardKind.OF_MODULE, *path)
        known = at.same(callee, at.symbol(self._names.guard(guard)))
        looked_up = self._looked_up(at, callee, guard, at.load(path[0]))
        return PlainCall(known, at.call(callee, *arguments), at.call(looked_up, *arguments), self._claim(guard))

    def _of_receiver(
        self, at: At, node: ast.Call, function: ast.Attribute, receiver: ast.expr, is_super: bool
    ) -> tuple[Guard, ast.expr]:
        """The guard of a method, and the test whether it holds."""
        of_class = isinstance(function.value, ast.Name) and is_class(function.value)
        of_instance = GuardKind.INSTANCES_OF_SUPER if is_super else GuardKind.INSTANCES
        kind = GuardKind.CLASS if of_class else of_instance
        guard = self._guard(kind, str(node.lineno), str(node.col_offset), attribute_name(function))
        held = at.symbol(self._names.guard(guard))
        if of_class:
            return guard, at.same(receiver, held)
        return guard, at.put(ast.Compare(receiver, [ast.In()], [held]))

    def of_function(self, at: At, callee: ast.Name, function: ast.expr, arguments: Arguments) -> PlainCall:
        """A call of a variable; `function` is how the program has written the callee."""
        call = at.call(callee, *arguments)
        if isinstance(function, ast.Name) and has(function, GLOBAL):
            guard = self._guard(GuardKind.CALLEE, function.id)
            known: ast.expr = at.same(callee, at.symbol(self._names.guard(guard)))
            looked_up = self._looked_up(at, callee, guard)
            return PlainCall(known, call, at.call(looked_up, *arguments), self._claim(guard))
        names = self._names if self._has_targets else None
        known = _is_python(at, callee, names)
        looked_up = at.call(at.symbol(self._plain), [callee])
        return PlainCall(known, call, at.call(looked_up, *arguments), _claim_of(callee), callee.id)

    def _guard(self, kind: GuardKind, *path: str) -> Guard:
        return Guard(kind, False, False, self._file, path)

    def _looked_up(self, at: At, callee: ast.expr, guard: Guard, *receiver: ast.expr) -> ast.expr:
        return at.call(at.symbol(self._plain), [callee, at.constant(guard.key), *receiver])

    def _claim(self, guard: Guard) -> Claim:
        key = guard.key

        def claim(at: At, name: str) -> ast.expr:
            return at.call(at.symbol(self._names.claim), [at.constant(key), at.load(name)])

        return claim


def _claim_of(callee: ast.expr) -> Claim:
    def claim(at: At, name: str) -> ast.expr:
        return at.call(at.symbol(symbols.CLAIMED_OF), [callee, at.load(name)])

    return claim


def _is_python(at: At, callee: ast.expr, names: VariantNames | None) -> ast.expr:
    """The test whether a callee is a Python function, or a method that is one, or a class without a rule.

    If the variant has targets, with these names, the callee must be none.
    """

    def has_kind(value: ast.expr, kind: str) -> ast.expr:
        return at.same(at.call(at.symbol(symbols.TYPE), [value]), at.kind(kind))

    def others(value: ast.expr, targets: str | None) -> list[ast.expr]:
        return [] if targets is None else [at.put(ast.Compare(value, [ast.NotIn()], [at.symbol(targets)]))]

    functions = None if names is None else names.target_functions(with_keywords=True)
    behind = at.attribute(callee, "__func__")
    function = [has_kind(callee, "function"), *others(callee, functions)]
    method = [has_kind(callee, "method"), has_kind(behind, "function"), *others(behind, functions)]
    is_class = at.same(at.call(at.symbol(symbols.TYPE), [callee]), at.symbol(symbols.TYPE))
    identity = at.call(at.symbol(symbols.ID), [callee])
    unruled = at.put(ast.Compare(identity, [ast.NotIn()], [at.symbol(symbols.RULED)]))
    kinds = [is_class, unruled, *others(identity, None if names is None else names.target_classes)]
    ways = [function, method, kinds]
    tests = [at.put(ast.BoolOp(ast.And(), way)) if len(way) > 1 else way[0] for way in ways]
    return at.put(ast.BoolOp(ast.Or(), tests))


# ---- expressions that decide what is evaluated, in the untagged form: their parts are steps in the branches of `if`

_DEEPEST: Final = 30
"""How deeply expressions may nest: to make steps of them takes two Python frames for each level."""


class Branches(StepWriter):
    """Makes steps of expressions that have branches, and of the operands of others.

    Parameters
    ----------
    events:
        Says how to ask whether events have to be carried out.
    bound:
        The variables that are bound.
    """

    def __init__(self, events: VariantEvents, bound: BoundVariables) -> None:
        super().__init__(events)
        self.bound = bound

    def value(self, node: ast.expr) -> Value:
        """The two forms of an expression, whose parts are evaluated by then."""
        raise NotImplementedError

    # ---- operands

    def operand(self, node: ast.expr, is_kept: bool = False) -> tuple[ast.expr, ast.expr]:
        """Evaluate an operand; return what reads it, plainly and for an event."""
        mark = len(self.used)
        value = self.value(node)
        is_new = value.is_event or value.is_inlined or bool(value.tests)
        if is_kept:
            is_new = is_new or not (isinstance(value.light, ast.Constant) or is_temporary(value.light))
            is_new = is_new and not self.bound.stays(value.light)
        if not is_new:
            return value.light, value.full
        return self.kept(At(node), value, mark)

    def operands(self, at: At, nodes: Sequence[ast.expr]) -> list[tuple[ast.expr, ast.expr]]:
        """Evaluate operands in order; what is read on the line of the event needs no temporary if it is last."""
        still = len(nodes)
        while still and at.is_variable_here(nodes[still - 1]):
            still -= 1
        return [self.at_event(at, *self.operand(node, number < still - 1)) for number, node in enumerate(nodes)]

    @staticmethod
    def at_event(at: At, light: ast.expr, full: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Temporaries are read on the line of the event, since tracers are notified when the line changes."""
        if light is full and isinstance(light, ast.Name) and is_temporary(light):
            light = full = at.load(light.id)
        return light, full

    # ---- branches

    def tested(self, node: ast.expr) -> ast.expr:
        """The test of a statement, whose parts have been evaluated before it."""
        if isinstance(node, ast.BoolOp):
            are_still = all(map(is_still, node.values[1:]))
            return self._all_tested(node) if are_still else self._tested_in_turn(node)
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and not has(node, NOOVERDUB):
            return self.tested(self.chain(node))
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

    def _into(self, name: str, node: ast.expr) -> list[ast.stmt]:
        """The statements that evaluate an expression into a temporary."""

        def make() -> None:
            at, mark = At(node), len(self.used)
            self.assign(at, name, self.value(node))
            self.clear(at, self.taken(mark))
            self.flush(at)

        return self.apart(make)

    def conditional(self, node: ast.IfExp) -> Value | None:
        """`a if b else c`; None if its parts are on several lines."""
        if spans_lines(node):
            return None
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

    def connected(self, node: ast.BoolOp) -> Value | None:
        """The value of ``and`` or ``or``; None if its parts are on several lines."""
        if len(node.values) > _DEEPEST or spans_lines(node):
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

    def chain(self, node: ast.Compare) -> ast.BoolOp:
        """``a < b < c`` as ``a < @e0 and @e0 < c``; the operands of the first comparison are evaluated."""
        at = At(node)
        first, second = node.left, node.comparators[0]
        left, left_full = self.operand(first, True)
        assert left is left_full
        middle, _ = self.operand(second, True)
        compared = at.put(ast.Compare(left, [node.ops[0]], [middle]))
        others = at.put(ast.Compare(middle, node.ops[1:], node.comparators[1:]))
        return at.put(ast.BoolOp(ast.And(), [compared, others]))


def spans_lines(node: ast.expr) -> bool:
    """Whether an expression has several lines: tracers would see the line of its begin again behind its branches."""
    return node.lineno != node.end_lineno


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
        if any(isinstance(part, ast.Compare) and len(part.ops) > _DEEPEST for part in level):
            return True  # each comparison of a chain decides over the next one
        level = [part for above in level for part in parts(above)]
        if not level:
            return False
    return True
