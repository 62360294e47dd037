"""Guards by their kind: what each kind holds, and when it is safe to hold it."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, ClassVar, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import bases_of, class_namespace
from cassette_import.interpreter.protocols import Protocol
from cassette_import.rewriting.guard_keys import GUARD_FLAGS, GuardKind
from cassette_import.runtime.dispatch.callee_stability import (
    has_usual_hash,
    is_method_of_class,
    is_reached_by,
    outlives_call_site,
    type_with_method,
)
from cassette_import.runtime.dispatch.instances import InstancesOf

__all__ = ["CLASSES", "EMPTY", "LearningGuard"]

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


CLASSES: Final[dict[str, type[LearningGuard]]] = {
    GuardKind.CALLEE.value: CalleeGuard,
    GuardKind.OF_MODULE.value: ModuleGuard,
    GuardKind.CLASS.value: ClassGuard,
    GuardKind.TYPES.value: TypesGuard,
    GuardKind.TYPES_OF_SUPER.value: TypesOfSuperGuard,
    GuardKind.INSTANCES.value: InstancesGuard,
    GuardKind.INSTANCES_OF_SUPER.value: InstancesOfSuperGuard,
}
"""By the letter of the kind: kinds are hashed by a Python function."""

EMPTY: Final = {f"{letter}{flags}": kind.NOTHING for letter, kind in CLASSES.items() for flags in GUARD_FLAGS}
"""What a guard holds that has not missed yet, by the first part of its key."""
