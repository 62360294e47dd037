"""Guards: callees, and types of receivers, that are known not to be intercepted by a variant.

`rewrite.guarded_form` tells where they stand.

What a guard holds cannot become a target unless something is registered, and then all guards are forgotten; of methods
this is true as long as their classes keep them. Holds nothing alive that would die otherwise.

Knows callables; must not know events.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from cassette_import.interpreter.callables import CALLS_OF_INSTANCES, CARRIERS, BuiltinMethodOfClass, lookup, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import bases_of, of_class, of_module
from cassette_import.rewriting.symbols import Guard, GuardKind, VariantNames
from cassette_import.runtime.names import NAMES

_IMMUTABLE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_NO_TYPES: Final[tuple[type, ...]] = ()
"""Not a set: whether something is in that would ask for its hash."""

_CALLEE: Final = GuardKind.CALLEE
_OF_MODULE: Final = GuardKind.OF_MODULE
_CLASS: Final = GuardKind.CLASS
_TYPES_OF_SUPER: Final = GuardKind.TYPES_OF_SUPER
"""Up to 3.11, asking the enumeration for one of them would run Python code, which tracers would see."""
_OF_TYPES: Final = (GuardKind.TYPES, GuardKind.TYPES_OF_SUPER)
_BUILTINS: Final = frozenset(map(id, (BuiltinFunctionType, BuiltinMethodOfClass)))
_METHODS: Final = _BUILTINS | set(map(id, (MethodWrapperType, MethodType, FunctionType)))
"""Types by identity: a metaclass of the program may be asked for a hash, or whether it equals."""
_PLAIN: Final = frozenset(map(id, (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)))
_LRU_CACHE: Final = type(functools.lru_cache(print))
_MOST_MISSES: Final = 8
"""A guard that does not come to hold is left alone after so many calls."""


class Guards:
    """The guards of one variant.

    Those of code that may run while another variant is active hold as long as this one is alone.
    """

    def __init__(self, prefix: str) -> None:
        self._variant_names = VariantNames(prefix)
        self.alone = True
        self._may_hash = True
        self._is_superseded = False
        self._told = False
        self._misses: dict[str, int] = {}
        self._given_up: dict[str, Callable[[Any], Any]] = {}
        self._guards: dict[str, tuple[Guard, str]] = {}
        """Each guard and its name, by its key."""
        self._targets: frozenset[int] = frozenset()

    def provide(self, code: CodeType) -> None:
        """Make the guards that a code object names."""
        for name in code.co_names:
            if name not in NAMES and (guard := self._variant_names.guard_of(name)) is not None:
                self._guards[guard.key] = guard, name
                self._clear(guard, name)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self.provide(const)

    @staticmethod
    def _clear(guard: Guard, name: str) -> None:
        NAMES[name] = _NO_TYPES if guard.kind in _OF_TYPES else None

    def forget(self) -> None:
        """Something was registered: what was known may be so no more."""
        self._misses.clear()
        self._given_up.clear()
        for guard, name in list(self._guards.values()):
            self._clear(guard, name)

    def look_at_classes(self) -> None:
        """See whether all classes have a hash, which guards ask them for. Else types of receivers are not learned."""
        may_hash = all(lookup(metaclass, "__hash__") is not None for metaclass in _metaclasses())
        if self._may_hash and not may_hash:
            self._may_hash = False
            self.forget()

    def be_alone(self, alone: bool) -> None:
        """Whether there is no other variant that functions have bodies for and that intercepts anything."""
        if alone is self.alone:
            return
        self.alone = alone
        self._say_kinds()
        if not alone:
            self._given_up.clear()
            for guard, name in list(self._guards.values()):
                if guard.anywhere:
                    self._clear(guard, name)

    def supersede(self) -> None:
        """Another variant is in the place of this one; bodies that are being executed have these guards."""
        self._is_superseded = True
        self.know_targets(False)
        self.forget()

    def know_targets(self, known: bool) -> None:
        """Whether it is enough to look at a Python function or a builtin to know that it is no target."""
        self._told = known
        self._say_kinds()

    def _say_kinds(self) -> None:
        kinds, nothing = (FunctionType, BuiltinFunctionType), (None, None)  # no class has a name: see `provided`
        NAMES[self._variant_names.function_types(anywhere=False)] = kinds if self._told else nothing
        NAMES[self._variant_names.function_types(anywhere=True)] = kinds if self._told and self.alone else nothing

    def make_learn(self, calls: Any, pick_anywhere: Callable[[Any], Any]) -> Callable[..., Any]:
        """`learn(callee, guard)`: what `pick` gives; the guard remembers a callee that is not intercepted.

        Call sites with keywords or splats may hand a callback to a higher-order leaf by its name. Those without need
        none of Python's errors about them, so that what `pick` gives can be made once.
        """
        given_up, ready = self._given_up, calls.shortcuts
        pick, pick_with_callbacks = calls.intercept_positional, calls.intercept
        targets, names, guards = calls.plan.targets_and_leaves, calls.plan.builtin_names, self._guards
        self._targets = targets
        methods: dict[tuple[type, str], tuple[Callable[..., Any], bool]] = {}
        """What calls methods of builtin types that are targets: given the receiver, or else the callee."""

        @hidden
        def pick_ready(callee: Any) -> Any:
            if id(callee) in ready:
                return ready[id(callee)]
            if id(type(callee)) not in _BUILTINS or callee.__name__ not in names:
                return pick(callee)
            receiver = callee.__self__
            kind = type(receiver)
            if type(kind) is not type or kind is type or kind is ModuleType:
                return pick(callee)
            key = kind, callee.__name__
            if key in methods:
                event, takes_receiver = methods[key]
                return functools.partial(event, receiver if takes_receiver else callee)
            picked = pick(callee)
            if picked is not callee and (kind.__flags__ & _IMMUTABLE or _stands_in_its_module(kind)):
                event = ready.get(id(split(callee)[0]))
                if event is not None or picked.func in calls.leaf_events:
                    methods[key] = event or picked.func, event is not None
            return picked

        @hidden
        def learn(callee: Any, key: str, receiver: Any = None, forgotten: None = None) -> Any:
            if key in given_up:
                kind: Any = type(callee)
                if kind is MethodType:
                    is_none = type(callee.__func__) is FunctionType and id(callee.__func__) not in targets
                elif kind is BuiltinFunctionType:
                    is_none = callee.__name__ not in names
                else:
                    is_bare = kind is FunctionType or (id(kind) not in CARRIERS and not CALLS_OF_INSTANCES)
                    is_none = is_bare and id(callee) not in targets
                return callee if is_none else given_up[key](callee)
            guard, name = guards[key]
            if self._is_superseded or (guard.anywhere and not self.alone):
                return pick_anywhere(callee)
            find = pick_with_callbacks if guard.keywords else pick_ready
            picked = find(callee)
            if picked is callee:
                self._remember(callee, guard, key, name, receiver, find)
            return picked

        return learn

    @hidden
    def _remember(
        self, callee: Any, guard: Guard, key: str, name: str, receiver: Any, find: Callable[[Any], Any]
    ) -> None:
        """A callee was no target: let the guard hold, or do without it if that does not come about."""
        kind = guard.kind
        self._misses[key] = self._misses.get(key, 0) + 1
        if self._misses[key] > _MOST_MISSES:
            self._given_up[key] = find
        elif kind is _CALLEE:
            if _is_lasting(callee):
                NAMES[name] = callee
        elif kind is _OF_MODULE:
            if _stands_in_module(callee, guard, receiver):
                NAMES[name] = callee
        elif kind is _CLASS:
            if _is_of_class(callee, guard, receiver):
                NAMES[name] = receiver
        elif not self._may_hash or not _has_usual_hash(type(receiver)):
            self._given_up[key] = find
            NAMES[name] = _NO_TYPES
        elif kind is _TYPES_OF_SUPER and not self._is_safe_above(type(receiver), guard):
            self._given_up[key] = find
        elif (owner := _owner(callee, guard, receiver)) is not None:
            NAMES[name] = frozenset((*NAMES[name], owner))

    @hidden
    def _is_safe_above(self, owner: type, guard: Guard) -> bool:
        """Whether nothing that `super()` may find is a target: which class it is asked for is not known."""
        name = guard.path[-1]
        for base in bases_of(owner) or ():
            held: Any = of_class(base).get(name)
            if held is None:
                continue
            if type(held) is staticmethod or type(held) is classmethod:
                held = held.__func__
            if id(type(held)) not in _PLAIN or id(held) in self._targets:
                return False
        return True


def _metaclasses() -> Iterator[type]:
    work = [type]
    while work:
        found = work.pop()
        yield found
        work += type.__subclasses__(found)


@hidden
def _has_usual_hash(kind: type) -> bool:
    """Whether a class does not notice that it is looked for in a set."""
    return all(lookup(type(kind), name) is getattr(type, name) for name in ("__hash__", "__eq__"))


@hidden
def _is_lasting(callee: Any) -> bool:
    """Whether a callee lives as long as its module does."""
    kind = type(callee)
    if kind is BuiltinFunctionType:
        holder = callee.__self__
        return type(holder) is ModuleType or (type(holder) is type and bool(holder.__flags__ & _IMMUTABLE))
    if kind is FunctionType or kind is _LRU_CACHE or (_is_usual_class(callee) and not callee.__flags__ & _IMMUTABLE):
        return _stands_in_its_module(callee)
    return kind is type


@hidden
def _is_usual_class(kind: Any) -> bool:
    """Whether it is a class that does not notice that it is asked for its attributes."""
    return issubclass(type(kind), type) and lookup(type(kind), "__getattribute__") is type.__getattribute__


@hidden
def _stands_in_module(callee: Any, guard: Guard, found: Any) -> bool:
    """Whether a callee is what a module or class holds under the name in the guard, seen from what its start names."""
    lasts = True
    for name in guard.path[1:]:
        if type(found) is ModuleType:
            found = vars(found).get(name)
        elif issubclass(type(found), type) and _is_usual_class(found):
            found = lookup(found, name)
            found = found.__func__ if type(found) is staticmethod else found
            lasts = _is_lasting(callee)
        else:
            return False
    return found is callee and lasts


@hidden
def _stands_in_its_module(named: Any) -> bool:
    """Whether a function or class is found where its qualified name says."""
    qualified, module = getattr(named, "__qualname__", None), sys.modules.get(named.__module__)
    if type(qualified) is not str:  # what `functools.lru_cache` makes of a callable without a name
        return False
    found: Any = module if type(module) is ModuleType else None
    for name in qualified.split("."):
        if not issubclass(type(found), (ModuleType, type)):
            return False
        found = (of_class(found) if issubclass(type(found), type) else of_module(found)).get(name)
    return found is named or (type(found) is staticmethod and found.__func__ is named)


@hidden
def _owner(callee: Any, guard: Guard, receiver: Any) -> type | None:
    """The type all of whose instances have this method, if it is certain."""
    kind = type(callee)
    owner: type = type(receiver)
    if id(kind) not in _METHODS or issubclass(owner, (type, ModuleType)):
        return None  # what else there is would notice that it is asked
    if kind is not FunctionType and callee.__self__ is not receiver and callee.__self__ is not owner:
        return None
    if not _is_usual_class(owner) or type(owner.__getattribute__) is not WrapperDescriptorType:
        return None
    if not _has_method(owner, callee, guard):
        return None
    return owner if owner.__flags__ & _IMMUTABLE or _stands_in_its_module(owner) else None


@hidden
def _has_method(owner: type, callee: Any, guard: Guard) -> bool:
    """Whether a callee is what a class says for the name, or one of its bases, if `super()` is asked."""
    name = guard.path[-1]
    for base in owner.__mro__:
        held = vars(base).get(name)
        if type(held) is FunctionType and type(callee) is MethodType and held is callee.__func__:
            return callee.__self__ is not owner
        if type(held) is classmethod and type(callee) is MethodType and held.__func__ is callee.__func__:
            return callee.__self__ is owner
        if type(held) is staticmethod and type(callee) is FunctionType and held.__func__ is callee:
            return True
        if type(held) is MethodDescriptorType and id(type(callee)) in _BUILTINS:
            return bool(callee.__name__ == held.__name__)
        if type(held) is WrapperDescriptorType and type(callee) is MethodWrapperType:
            return bool(callee.__objclass__ is held.__objclass__)
        if held is not None and guard.kind is not _TYPES_OF_SUPER:
            return False
    return False


@hidden
def _is_of_class(callee: Any, guard: Guard, receiver: Any) -> bool:
    """Whether a callee is a method of a class, which is called on the class."""
    if type(receiver) is not type or not _is_lasting(receiver):
        return False
    name = guard.path[-1]
    for base in receiver.__mro__:
        held = vars(base).get(name)
        if held is not None:
            if type(held) is classmethod:
                return type(callee) is MethodType and held.__func__ is callee.__func__
            return held is callee or (type(held) is staticmethod and held.__func__ is callee)
    return False
