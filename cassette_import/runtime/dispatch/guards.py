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
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, ClassVar, Final

from cassette_import.interpreter.callables import CALLS_OF_INSTANCES, CARRIERS, BuiltinMethodOfClass, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE, bases_of, class_namespace
from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting import variant_names
from cassette_import.rewriting.variant_names import GUARD_FLAGS, GuardKind, VariantNames, parts_of_guard
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.callee_stability import (
    BUILTINS,
    all_classes_have_hash,
    has_usual_hash,
    is_method_of_class,
    is_reached_by,
    lasts_for_ever,
    outlives_call_site,
    stands_in_its_module,
    type_with_method,
)
from cassette_import.runtime.dispatch.event_runner import EventRunner
from cassette_import.runtime.dispatch.frame_readers import FRAME_READERS
from cassette_import.runtime.names import NAMES, cell_attributes

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch.accelerator._dispatch import Learn

__all__ = ["Guards", "InstancesInPython", "InstancesOf"]


# ---- whether a value has one of some types


class InstancesInPython:
    """Contains the instances of some types, not those of their subclasses.

    Parameters
    ----------
    types:
        The types.
    """

    __slots__ = ("types",)

    @hidden
    def __init__(self, types: tuple[type, ...]) -> None:
        self.types = types

    @hidden
    def __contains__(self, value: object) -> bool:
        return id(type(value)) in map(id, self.types)


InstancesOf: Final[Any] = InstancesInPython if DISPATCH.reason else DISPATCH.InstancesOf


# ---- guards by their kind: what each kind holds, and when it is safe to hold it

_PLAIN: Final = frozenset(map(id, (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)))
"""Types, by identity, whose instances are what a class holds for a method, and no other descriptors."""


class OfVariant(Protocol):
    """The guards of a variant, as far as one guard asks them."""

    may_hash_classes: bool
    targets: frozenset[int]
    is_plain: Callable[[Any], bool]


class LearningGuard:
    """A guard of a call site, and how often it has missed. There is a subclass for each kind of guard."""

    __slots__ = ("_held", "_key", "_path", "anywhere", "keywords", "misses")
    NOTHING: ClassVar[Any] = None
    """What a guard holds that has learned nothing."""

    @hidden
    def __init__(self, held: dict[str, Any], key: str, keywords: bool, anywhere: bool, path: tuple[str, ...]) -> None:
        self._held = held
        self._key = key
        self._path = path
        self.keywords = keywords
        self.anywhere = anywhere
        self.misses = 0
        self.clear()

    @hidden
    def clear(self) -> None:
        """Hold nothing."""
        self._held[self._key] = self.NOTHING

    @hidden
    def learn(self, callee: Any, receiver: Any, guards: OfVariant) -> bool:
        """Hold a callee that is not intercepted, if that is safe; return False if the guard is of no use.

        `receiver` is what the call site passed with the callee.
        """
        raise NotImplementedError


class CalleeGuard(LearningGuard):
    """Holds the callee of `f(x)`."""

    __slots__ = ()

    @hidden
    def learn(self, callee: Any, receiver: Any, guards: OfVariant) -> bool:
        if outlives_call_site(callee):
            self._held[self._key] = callee
        return True


class ModuleGuard(LearningGuard):
    """Holds the callee of `os.path.join(x)`; the receiver is the first module."""

    __slots__ = ()

    @hidden
    def learn(self, callee: Any, receiver: Any, guards: OfVariant) -> bool:
        if is_reached_by(callee, receiver, self._path[1:]):
            self._held[self._key] = callee
        return True


class ClassGuard(LearningGuard):
    """Holds the receiver of `Class.method(x)`."""

    __slots__ = ()

    @hidden
    def learn(self, callee: Any, receiver: Any, guards: OfVariant) -> bool:
        if is_method_of_class(callee, receiver, self._path[-1]):
            self._held[self._key] = receiver
        return True


class TypesGuard(LearningGuard):
    """Holds the types of receivers of `instance.method(x)`."""

    __slots__ = ()
    NOTHING = ()  # no set: to look a type up in a set would call its hash
    _OF_SUPER: ClassVar[bool] = False

    @hidden
    def learn(self, callee: Any, receiver: Any, guards: OfVariant) -> bool:
        if not guards.may_hash_classes or not has_usual_hash(type(receiver)):
            self.clear()
            return False
        if self._OF_SUPER and not self._is_safe_above(type(receiver), guards):
            return False
        owner = type_with_method(callee, receiver, self._path[-1], self._OF_SUPER)
        if owner is not None:
            self._hold(owner)
        return True

    @hidden
    def _hold(self, owner: type) -> None:
        self._held[self._key] = frozenset((*self._held[self._key], owner))

    @hidden
    def _is_safe_above(self, owner: type, guards: OfVariant) -> bool:
        """Whether nothing that `super()` may find is a target, whichever class it starts from."""
        for base in bases_of(owner) or ():
            held: Any = class_namespace(base).get(self._path[-1])
            if held is None:
                continue
            if type(held) is staticmethod or type(held) is classmethod:
                held = held.__func__
            if id(type(held)) not in _PLAIN or id(held) in guards.targets or not guards.is_plain(held):
                return False
        return True


class TypesOfSuperGuard(TypesGuard):
    """Holds the types of instances at which `super().method(x)` is called."""

    __slots__ = ()
    _OF_SUPER = True


class InstancesGuard(TypesGuard):
    """Holds the types of receivers of `instance.method(x)`; the call site asks whether the receiver is in it."""

    __slots__ = ()

    @hidden
    def _hold(self, owner: type) -> None:
        held = self._held[self._key]
        types = (*held.types, owner) if held is not self.NOTHING else (owner,)
        self._held[self._key] = InstancesOf(types)


class InstancesOfSuperGuard(InstancesGuard):
    """The same for `super().method(x)`."""

    __slots__ = ()
    _OF_SUPER = True


_CLASSES: Final[dict[str, type[LearningGuard]]] = {
    GuardKind.CALLEE.value: CalleeGuard,
    GuardKind.OF_MODULE.value: ModuleGuard,
    GuardKind.CLASS.value: ClassGuard,
    GuardKind.TYPES.value: TypesGuard,
    GuardKind.TYPES_OF_SUPER.value: TypesOfSuperGuard,
    GuardKind.INSTANCES.value: InstancesGuard,
    GuardKind.INSTANCES_OF_SUPER.value: InstancesOfSuperGuard,
}
"""By the letter of the kind: kinds are hashed by a Python function."""

_EMPTY: Final = {f"{letter}{flags}": kind.NOTHING for letter, kind in _CLASSES.items() for flags in GUARD_FLAGS}
"""What a guard holds that has not missed yet, by the first part of its key."""


# ---- known callees: what call sites call instead of callees that they have called before
#
# The accelerator of dispatch keeps them, in the place of `learn`.

_Learn = Callable[..., Any]


class _KnownCallees:
    """The known callees of one variant, until its hooks and overloads change.

    Parameters
    ----------
    name:
        The name by which call sites load `learn`.
    given_up, targets:
        See `guards.Guards`.
    held:
        What guards hold, by their keys.

    Attributes
    ----------
    remember:
        `remember(callee, event, binds)`: call sites without keywords and splats call `event` instead of a callee, with
        the "receiver" or the "callee" as its first argument, or None. If the event is None, the callee is no target.
        None if nothing is kept.
    """

    __slots__ = ("_given_up", "_held", "_is_only_variant", "_learn", "_name", "_slowly", "_targets", "remember")

    def __init__(
        self, name: str, given_up: dict[str, Callable[[Any], Any]], targets: frozenset[int], held: dict[str, Any]
    ) -> None:
        self._name = name
        self._given_up = given_up
        self._targets = targets
        self._held = held
        self._learn: Learn | None = None
        self._is_only_variant = False
        self._slowly: _Learn | None = None
        self.remember: Callable[[Any, Any, Any], None] | None = None

    def begin(self, slowly: _Learn) -> _Learn:
        """Begin to keep callees that `slowly`, the `learn` in Python, meets first; return what call sites call."""
        self._slowly = slowly
        self.remember = self._remember_first
        return slowly

    @hidden
    def _remember_first(self, callee: Any, event: Any, binds: Any) -> None:
        self.accelerate()
        if self.remember is not None:
            self.remember(callee, event, binds)

    @hidden
    def accelerate(self) -> None:
        """Have call sites call the accelerator, if there is one: one has given up its guard, or has a target."""
        if self._learn is not None or self.remember is None:
            return
        self.remember = None
        if DISPATCH.is_used and NAMES[self._name] is self._slowly:  # no others have replaced these
            self._learn = DISPATCH.Learn(self._slowly, self._given_up, self._targets, self._held)
            self._learn.is_only_variant = self._is_only_variant
            self.remember = self._learn.remember
            NAMES[self._name] = self._learn

    def set_only_variant(self, is_only: bool) -> None:
        """Set whether there is no other variant that intercepts anything."""
        self._is_only_variant = is_only
        if self._learn is not None:
            self._learn.is_only_variant = is_only

    def end(self) -> None:
        """Keep nothing any more: another variant replaces this one."""
        self.remember = None
        if self._learn is not None:
            self._learn.forget()


# ---- shortcuts for methods of builtin types that are targets: what calls them is found once for each type and method


def _make_intercept_directly(calls: EventRunner, known: _KnownCallees) -> Callable[[Any], Any]:
    """`intercept(callee)` for call sites without keywords and splats.

    Python's own errors about these (`f(*1)`) cannot occur, so a plain function may replace the callee.
    """
    shortcuts, owned, intercept = calls.shortcuts, calls.shortcuts.owned, calls.intercept_positional
    names, leaf_events = calls.plan.builtin_names, calls.leaf_events
    methods: dict[tuple[type, str], tuple[Callable[..., Any], bool]] = {}
    """What calls a method, by type and name, and whether its first argument is the receiver, or else the callee."""

    @hidden
    def intercept_directly(callee: Any) -> Any:
        if id(callee) in owned:
            shortcut = shortcuts[id(callee)]
            if known.remember is not None:
                known.remember(callee, shortcut, None)
            return shortcut
        if id(type(callee)) not in BUILTINS or callee.__name__ not in names:
            return intercept(callee)
        receiver = callee.__self__
        kind = type(receiver)
        if type(kind) is not type or kind is type or kind is ModuleType or kind is NoneType:
            return intercept(callee)
        key = kind, callee.__name__
        if key in methods:
            event, takes_receiver = methods[key]
            if known.remember is not None:
                known.remember(callee, event, "receiver" if takes_receiver else "callee")
            return MethodType(event, receiver if takes_receiver else callee)
        found = intercept(callee)
        if found is not callee and (kind.__flags__ & IMMUTABLE or stands_in_its_module(kind)):
            shortcut = shortcuts[id(split(callee)[0])]
            if shortcut is not None:
                methods[key] = shortcut, True
            elif type(found) is Callee and found.func in leaf_events:
                methods[key] = found.func, False
        return found

    return intercept_directly


# ---- guards: what call sites have learned about callees that are not intercepted

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
        self._held = cell_attributes(variant_names.cell_of(prefix))
        self._guards: dict[str, LearningGuard] = {}
        """The guards that have missed, by their keys (`variant_names.Guard.key`). The others hold nothing."""
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
        self._known: _KnownCallees | None = None

    def provide(self, keys: Iterable[str]) -> list[str]:
        """Bind attributes that are keys of guards, which hold nothing yet; return those that are not."""
        others = []
        held, empty = self._held, _EMPTY
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
        return self._guards.setdefault(key, _CLASSES[letter](self._held, key, keywords, anywhere, path))

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
        known = self._known = _KnownCallees(self._names.learn, given_up, targets, self._held)
        known.set_only_variant(self._is_only_variant)
        intercept_directly, intercept_with_callbacks = _make_intercept_directly(calls, known), calls.intercept

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

    def make_plain(self, calls: EventRunner, cell: dict[str, Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """`plain(callee, key, receiver)` and `claim(key, value)`, for call sites of contexts that tag values.

        The first returns what to call while nothing is tagged: the callee, or a proxy if its rule applies always. The
        guard learns callees that are called plainly. The second is for calls that began under the guard: whether their
        results are wrapped is the same for all callees that a guard learns.
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
            return DISPATCH.PlainSite(plain, calls.intercept, given_up, cell, full), claim
        return plain, claim

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
