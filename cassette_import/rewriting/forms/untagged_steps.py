"""Steps of a statement in the untagged form (see `forms.untagged`): the statements that evaluate its values in order.

A step is the plain operation if a test says that nothing is tagged, and else the event.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames

# ---- how the untagged form asks whether events have to be carried out, and how it carries them out
#
# `EventsHere` is for bodies in which one variant is active from their entry to their end. `EventsAnywhere` is for
# bodies that another context may resume: each event that is carried out looks up the active context, and results are
# claimed only where a context that tags values is active.


class EventsHere:
    """The events of one variant.

    Parameters
    ----------
    names:
        The names of the variant.
    """

    begins_epoch = symbols.BEGIN_EPOCH

    def __init__(self, names: VariantNames) -> None:
        self.names = names
        self.begun, self.plain = names.begun, names.plain

    def asked(self, at: At) -> ast.expr:
        """The test whether events have to be carried out."""
        return at.symbol(self.names.is_dispatched)

    def asked_of_metadata(self, at: At) -> ast.expr:
        """The test whether a value may have a wrapper to be taken off."""
        return self.asked(at)

    def over(self, at: At, kind: Events, callee: ast.expr) -> ast.expr:
        """What an event calls in place of its callee."""
        return at.call(at.symbol(self.names.overload(kind)), [callee])

    def claimed(self, at: At, name: str, claim: ast.expr) -> ast.expr:
        """What a variable holds when it is claimed."""
        return claim


class EventsAnywhere(EventsHere):
    """The events of whichever variant is active."""

    begins_epoch = symbols.EPOCH_ANYWHERE

    def __init__(self, names: VariantNames) -> None:
        super().__init__(names)
        self.begun, self.plain = names.resumed, names.plain_anywhere

    def asked(self, at: At) -> ast.expr:
        """The test whether events have to be carried out."""
        return at.put(ast.BoolOp(ast.And(), [self.asked_of_metadata(at), at.symbol(symbols.IS_ANY_ACTIVE)]))

    def asked_of_metadata(self, at: At) -> ast.expr:
        """The test whether a value may have a wrapper to be taken off, which it has outside of the context too."""
        return at.symbol(self.names.is_asked)

    def over(self, at: At, kind: Events, callee: ast.expr) -> ast.expr:
        """What an event calls in place of its callee."""
        return at.call(at.symbol(symbols.pick_anywhere(kind)), [callee])

    def claimed(self, at: At, name: str, claim: ast.expr) -> ast.expr:
        """What a variable holds when it is claimed."""
        return at.either(at.call(at.symbol(symbols.TAGS_HERE), []), claim, at.load(name))


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
    takes_wrapper_off: bool = False
    """Whether the event takes a wrapper off, and does nothing else."""


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

    def __init__(self, events: EventsHere) -> None:
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
        self.out.append(at.put(ast.If(self._test(at, value.tests, value.takes_wrapper_off), full, plain)))
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
        return at.either(self._test(at, value.tests, value.takes_wrapper_off), full, light)

    def flush(self, at: At, settle: bool = False) -> None:
        """Claim the values of variables here, if anything was tagged."""
        if self.pending or self.deferred or (settle and self.is_unsettled):
            begun = self._begun(at)
            self.out.append(at.put(ast.If(self._test(at, ()), begun, [])))
            self._claimed(False)

    def _claimed(self, is_unsettled: bool) -> None:
        """Note that everything is claimed, and whether an event has begun since."""
        self.pending, self.deferred, self.is_unsettled = [], [], is_unsettled

    def asked_of_metadata(self, at: At) -> ast.expr:
        """The test whether a value may have a wrapper."""
        return self._test(at, (), True)

    def _test(self, at: At, tests: Sequence[ast.expr], of_metadata: bool = False) -> ast.expr:
        full = self.notified(at, self.events.asked_of_metadata(at) if of_metadata else self.events.asked(at))
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
            at.put(ast.Assign([at.store(name)], self.events.claimed(at, name, claim(at, name))))
            for name, claim, _ in self.pending
        ]
        begin = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.call(at.symbol(self.events.begins_epoch), [])))
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
