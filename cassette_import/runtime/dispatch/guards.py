"""Guards: what call sites have learned about callees that are not intercepted.

A guard is an attribute of the cell of one variant. The call site compares it with its callee, or its receiver. While
the guard holds, the call needs no lookup. `rewriting.forms.guarded` builds such call sites. When a guard misses, the
call site calls `learn`, which looks the callee up, and makes the guard hold it if it is not intercepted.

What a guard holds can become a target only by a registration, after which all guards are cleared. Methods are held only
if their class keeps them (`callee_stability`). Guards keep nothing alive that would otherwise die.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import CALLS_OF_INSTANCES, CARRIERS, BuiltinMethodOfClass, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE
from cassette_import.rewriting import symbol_places
from cassette_import.rewriting.guard_keys import parts_of_guard
from cassette_import.rewriting.variant_names import VariantNames
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.callee_stability import all_classes_have_hash, lasts_for_ever
from cassette_import.runtime.dispatch.event_runner import EventRunner
from cassette_import.runtime.dispatch.frame_readers import FRAME_READERS
from cassette_import.runtime.dispatch.known_callees import KnownCallees
from cassette_import.runtime.dispatch.learning_guards import CLASSES, EMPTY, LearningGuard
from cassette_import.runtime.dispatch.method_shortcuts import make_intercept_directly
from cassette_import.runtime.names import NAMES, cell_attributes
from cassette_import.runtime.state import ACTIVE

_MOST_MISSES: Final = 8
"""A guard that misses more often is deactivated."""
_NOT_TESTABLE: Final = None
"""Replaces the type of functions where call sites must not test callees: no callee has such a type."""
_IN_C: Final = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)


@hidden
def _is_in_c(function: Any) -> bool:
    """Whether a function runs no code of a package, now or later."""
    kind = type(function)
    return kind in _IN_C or (kind is type and bool(function.__flags__ & IMMUTABLE))


@hidden
def _always(callee: Any) -> bool:
    return True


class Guards:
    """The guards of one variant.

    Guards of code that may run while another variant is active hold only while this is the only variant that intercepts
    anything.
    """

    def __init__(self, prefix: str) -> None:
        self._names = VariantNames(prefix)
        self._held = cell_attributes(symbol_places.cell_of(prefix))
        self._guards: dict[str, LearningGuard] = {}
        """The guards that have missed, by their keys (`guard_keys.Guard.key`). The others hold nothing."""
        self._given_up: dict[str, Callable[[Any], Any]] = {}
        """What the call sites of deactivated guards call for their callee, by the guards' keys."""
        self._claims: dict[str, bool] = {}
        """Whether the results of the callees that a guard has learned are wrapped if their code wraps them."""
        self._is_only_variant = True
        self._is_superseded = False
        self._may_test = False
        self._no_targets: tuple[Any, Any] = (), ()
        self.may_hash_classes = True
        """Whether types of receivers may be looked up in sets."""
        self.is_plain: Callable[[Any], bool] = _always
        """Whether the rules of a callee do not apply while nothing is tagged, where values may be tagged."""
        self.targets: frozenset[int] = frozenset()
        """The targets and higher-order leaves, by identity."""
        self._positional_targets: frozenset[int] = frozenset()
        """The same for call sites without keywords."""
        self._known: KnownCallees | None = None

    def provide(self, keys: Iterable[str]) -> list[str]:
        """Bind attributes that are keys of guards, which hold nothing yet; return those that are not."""
        others = []
        held, empty = self._held, EMPTY
        for key in keys:
            kind, _, path = key.partition(".")
            if kind in empty and path:
                held.setdefault(key, empty[kind])
            else:
                others.append(key)
        return others

    @hidden
    def _guard(self, key: str) -> LearningGuard:
        """The guard that has a key, when it misses for the first time."""
        letter, keywords, anywhere, path = parts_of_guard(key)
        return self._guards.setdefault(key, CLASSES[letter](self._held, key, keywords, anywhere, path))

    def forget(self) -> None:
        """Clear all guards: a hook or overload was registered."""
        self._given_up.clear()
        for guard in list(self._guards.values()):
            guard.misses = 0
            guard.clear()

    def check_classes(self) -> None:
        """Stop learning types of receivers if some class has no hash."""
        if self.may_hash_classes and not all_classes_have_hash():
            self.may_hash_classes = False
            self.forget()

    def set_only_variant(self, is_only: bool) -> None:
        """Set whether this is the only instrumented variant that intercepts anything."""
        if is_only is self._is_only_variant:
            return
        self._is_only_variant = is_only
        if self._known is not None:
            self._known.set_only_variant(is_only)
        self._provide_testable_type()
        if not is_only:
            self._given_up.clear()
            for guard in list(self._guards.values()):
                if guard.anywhere:
                    guard.clear()

    def supersede(self) -> None:
        """Stop learning: another variant replaces this one, but bodies that are being executed have these guards."""
        self._is_superseded = True
        if self._known is not None:
            self._known.end()
        self.allow_tests(False)
        self.forget()

    def allow_tests(self, allowed: bool, positional: Any = (), with_keywords: Any = ()) -> None:
        """Set whether call sites may test themselves that a callee is no target.

        Containers have the callees that are none at call sites without keywords, and with them (`no_targets`).
        """
        self._may_test = allowed
        self._no_targets = positional, with_keywords
        self._provide_testable_type()

    def _provide_testable_type(self) -> None:
        for anywhere, may_test in ((False, self._may_test), (True, self._may_test and self._is_only_variant)):
            NAMES[self._names.function_type(anywhere)] = FunctionType if may_test else _NOT_TESTABLE
            for with_keywords, container in enumerate(self._no_targets):
                NAMES[self._names.no_targets(bool(with_keywords), anywhere)] = container if may_test else ()

    def make_learn(self, calls: EventRunner, intercept_elsewhere: Callable[[Any], Any]) -> Callable[..., Any]:
        """`learn(callee, key, receiver)`: the callee or a proxy of it; the guard learns a callee that needs none.

        Call sites with keywords or splats may hand a callback on to a higher-order leaf by its name.
        """
        guards, given_up, names = self._guards, self._given_up, calls.plan.builtin_names
        guard_of, held = self._guard, self._held
        targets = self.targets = calls.plan.targets_and_leaves
        self._positional_targets = calls.plan.targets_and_positional_leaves
        known = self._known = KnownCallees(self._names.learn, given_up, targets, self._held)
        known.set_only_variant(self._is_only_variant)
        intercept_directly, intercept_with_callbacks = make_intercept_directly(calls, known), calls.intercept

        @hidden
        def learn(callee: Any, key: str, receiver: Any = None, cleared: None = None) -> Any:
            # Call sites whose guard was given up come here for each call: a predicate would cost each of them a frame.
            if key in given_up:
                kind: Any = type(callee)
                if kind is MethodType:
                    is_none = type(callee.__func__) is FunctionType and id(callee.__func__) not in targets
                elif kind is BuiltinFunctionType or kind is BuiltinMethodOfClass:
                    is_none = callee.__name__ not in names
                    if is_none and known.remember is not None and lasts_for_ever(callee):
                        known.remember(callee, None, None)
                else:
                    is_bare = kind is FunctionType or (id(kind) not in CARRIERS and not CALLS_OF_INSTANCES)
                    is_none = is_bare and id(callee) not in targets
                return callee if is_none else given_up[key](callee)
            if held.get(key) is callee:  # a call site without temporaries has not compared them
                return callee
            guard = guards.get(key) or guard_of(key)
            if self._is_superseded or (guard.anywhere and not self._is_only_variant):
                return intercept_elsewhere(callee)
            intercept = intercept_with_callbacks if guard.keywords else intercept_directly
            found = intercept(callee)
            if found is callee:
                self._missed(guard, key, callee, receiver, intercept)
            return found

        return known.begin(learn)

    def make_plain(
        self, variant: object, calls: EventRunner, cell: dict[str, Any], elsewhere: Callable[[Any], Any]
    ) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
        """`plain(callee, key, receiver)` and `claim(key, value)`, for call sites of contexts that tag values.

        The first returns what to call while nothing is tagged: the callee, or a proxy if its rule applies always. The
        guard learns callees that are called plainly. The second is for calls that began under the guard: whether their
        results are wrapped is the same for all callees that a guard learns. The third does what the first does, or what
        `elsewhere(callee)` does if another variant is active, or none.
        """
        given_up, guards, guard_of, claims = self._given_up, self._guards, self._guard, self._claims
        with_overloads, full = calls.with_overloads, self._names.is_dispatched.partition(".")[2]
        is_plain = self.is_plain = calls.plan.propagation.is_plain_while_untagged
        returns_wrapped = calls.plan.propagation.returns_wrapped
        rewrapped, claimed = calls.plan.propagation.rewrapped, calls.plan.propagation.claimed
        call_plainly = calls.plan.propagation.call_plainly
        is_target = calls.plan.make_target_test()

        @hidden
        def plain(callee: Any, key: str | None = None, receiver: Any = None) -> Any:
            if is_target is not None and is_target(callee):
                return calls.intercept(callee)
            if (cell[full] or not is_plain(callee)) and id(callee) not in FRAME_READERS:
                return with_overloads(callee)
            if key is None:
                return callee
            function = split(callee)[0]
            is_wrapped = returns_wrapped(function)
            if claims.setdefault(key, is_wrapped) is not is_wrapped:
                return Callee(call_plainly, callee)
            if key in given_up:
                return callee
            guard = guards.get(key) or guard_of(key)
            guard.misses += 1
            # A function of a package that is not installed now may be installed later.
            may_learn = (is_wrapped or _is_in_c(function)) and not self._is_superseded
            if guard.misses > _MOST_MISSES or (may_learn and not guard.learn(callee, receiver, self)):
                given_up[key] = with_overloads
            return callee

        @hidden
        def claim(key: str, value: Any) -> Any:
            return rewrapped(value) if claims.get(key) else claimed(value)

        if DISPATCH.is_used and isinstance(calls.intercept, DISPATCH.PlainInterception):
            site = partial(DISPATCH.PlainSite, plain, calls.intercept, given_up, cell, full)
            return site(), claim, site(elsewhere)

        @hidden
        def plain_anywhere(callee: Any, key: str | None = None, receiver: Any = None) -> Any:
            return plain(callee, key, receiver) if ACTIVE.get().variant is variant else elsewhere(callee)

        return plain, claim, plain_anywhere

    @hidden
    def _missed(
        self, guard: LearningGuard, key: str, callee: Any, receiver: Any, intercept: Callable[[Any], Any]
    ) -> None:
        """Let a guard learn a callee that is not intercepted, or deactivate the guard.

        A target is not intercepted either where the context is not active, as in an external call of a recording.
        """
        has_keywords = guard.keywords or type(callee) is partial
        if id(split(callee)[0]) in (self.targets if has_keywords else self._positional_targets):
            return
        guard.misses += 1
        if guard.misses > _MOST_MISSES or not guard.learn(callee, receiver, self):
            self._given_up[key] = intercept
            if self._known is not None:
                self._known.accelerate()
