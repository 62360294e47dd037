"""Calls in the program: effects that are undone, stores into objects, what is called, and which calls are refused."""

from __future__ import annotations

import collections
import functools
import gc
import math
import operator
import sys
from collections import OrderedDict, defaultdict, deque
from enum import Enum
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.call_rules import NAMES_ATTRIBUTE, RULES, sequence_call
from cassette_import.contexts.lanes.columns import is_immutable
from cassette_import.contexts.lanes.containers import can_be_apart, contains_lane
from cassette_import.contexts.lanes.elementwise import compute
from cassette_import.contexts.lanes.errors import EffectError, is_compiled_by_numba, name_of, place
from cassette_import.contexts.lanes.known_functions import (
    CHANGING,
    EFFECTS,
    EFFECTS_BY_NAME,
    ELEMENTWISE,
    KEEPS_ITERATORS,
    MOVING,
    PURE_MODULES,
    SEQUENCE_FUNCTIONS,
    TAKES_ITERATORS,
    WITHOUT_STATE,
)
from cassette_import.contexts.lanes.lane import MOST_VALUES, Lane, LaneMethod, agreed
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet, ToldApart
from cassette_import.contexts.lanes.masks import scattered
from cassette_import.contexts.lanes.nested_functions import NESTED, original_of
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.events import OVERDUBBED, is_silent
from cassette_import.kits.outliving import COPIED, OPAQUE, copy_of, fill, outliving
from cassette_import.kits.tagging import is_new_of_named_tuple
from cassette_import.passes.if_conversion.conversion import SPECIAL_METHODS
from cassette_import.passes.if_conversion.converted_code import ConvertedCode

__all__ = ["Calls", "shared_iterators"]


# ---- effects: what the function writes to, how it is undone, and whether it outlives the call
#
# A run repeats the function for lanes that were dropped, so it must leave nothing behind. Every object that the program
# changes is noted with its former content. After the run, an object that something else than the result refers to has
# outlived the call.

_OPAQUE: Final = (*OPAQUE, Lane)
_EMPTY: Final = object()


class Changes:
    """The objects that a run has changed.

    Parameters
    ----------
    shared:
        Objects that exist before the call: its arguments.
    """

    def __init__(self, shared: Any) -> None:
        self._shared = {id(one): one for one in shared}
        self.entries: dict[int, tuple[Any, Any, str]] = {}
        """The changed objects by identity: each with its former content, and the place of the first change."""
        self.is_undone = True
        """Whether `undo` restores all objects that outlive the call."""

    def begun(self) -> Changes:
        """The changes of a part of the run, which ends before the run goes on."""
        return Changes(self._shared.values())

    def note(self, holder: Any) -> str | None:
        """Note an object that is about to change; return why that is an effect, if it is certain already."""
        if isinstance(holder, (type, ModuleType)):
            return f"{holder!r} is changed"
        if id(holder) in self._shared:
            return "an argument of the function is changed"
        if id(holder) not in self.entries:
            self.entries[id(holder)] = holder, _content_of_holder(holder), place()
        return None

    def undo(self) -> None:
        """Restore the former content of every object, for the latest one first."""
        for holder, content, _ in reversed(self.entries.values()):
            _restore(holder, content)

    def outliving(self, outcome: list[Any]) -> str | None:
        """The place at which an object was first changed that something outside of the result refers to.

        If the object is an iterator, `is_undone` is false from now on: an iterator cannot be put back.
        """
        if not self.entries:
            return None
        place = self._reachable_from_outside(outcome)
        if place is not None:
            gc.collect()  # cycles that nothing refers to
            place = self._reachable_from_outside(outcome)
        return place

    def _reachable_from_outside(self, outcome: list[Any]) -> str | None:
        seen = outliving(self.entries, outcome, _OPAQUE)
        if seen is None:
            return next(iter(self.entries.values()))[2]
        reached = [entry for key, entry in self.entries.items() if key in seen]
        self.is_undone = not any(hasattr(type(holder), "__next__") for holder, _, _ in reached)
        return reached[0][2] if reached else None


def _content_of_holder(holder: Any) -> Any:
    if type(holder) is CellType:
        return [getattr(holder, "cell_contents", _EMPTY)]
    if hasattr(type(holder), "__next__"):
        return []
    if isinstance(holder, COPIED):
        return [copy_of(holder)]
    content = [dict(vars(holder))] if hasattr(holder, "__dict__") else []
    slots = {
        name: getattr(holder, name)
        for kind in type(holder).__mro__
        for name in _names(getattr(kind, "__slots__", ()))
        if hasattr(holder, name) and name not in ("__dict__", "__weakref__")
    }
    return [*content, slots] if slots else content


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _restore(holder: Any, content: list[Any]) -> None:
    if type(holder) is CellType:
        if content[0] is _EMPTY:
            del holder.cell_contents
        else:
            holder.cell_contents = content[0]
        return
    if isinstance(holder, COPIED):
        fill(holder, content[0])
    else:
        for part in content:
            if part is content[0] and hasattr(holder, "__dict__"):
                vars(holder).clear()
                vars(holder).update(part)
            else:
                for name, value in part.items():
                    object.__setattr__(holder, name, value)


# ---- objects that the program changes: a store under a mask changes the parts of the active lanes only

_MISSING: Final = object()
_WITHOUT_METHODS: Final = (SimpleNamespace,)


class Objects(ConvertedCode):
    """The part of the context that knows which objects the program changes."""

    def __init__(self, lanes: Lanes, roots: frozenset[str], shared: Any) -> None:
        self.lanes = lanes
        self.roots = roots
        lanes.log = Changes(shared)
        self._kinds: dict[type, bool] = {}
        self._converted: dict[Any, bool] = {}
        self._fresh: dict[int, tuple[Any, LaneSet]] = {}

    @property
    def log(self) -> Changes:
        """What the run has changed."""
        return self.lanes.log  # type: ignore[no-any-return]  # of this type

    def effect(self, what: str, advice: str) -> Exception:
        """The error for an effect."""
        return self.lanes.refuse(
            EffectError(f"{what} at {place()}, which outlives the call or is seen outside: {advice}")
        )

    def is_converted(self, kind: type) -> bool:
        """Whether the methods of a class are converted when they run, or are none of the program's."""
        known = self._kinds.get(kind)
        if known is None:
            module = sys.modules.get(kind.__module__)
            filename = getattr(module, "__file__", None)
            file = OVERDUBBED.files.get(filename) if filename else None
            known = filename in self.roots or (file is not None and file.installed)
            known = known or issubclass(kind, BaseException) or kind in _WITHOUT_METHODS
            self._kinds[kind] = known
        return known

    def made(self, value: Any) -> Any:
        """Note an object that the active lanes have made: no other lane knows it."""
        if self.lanes.masked:
            if not is_immutable(value) and type(value) is not Lane:
                self._fresh[id(value)] = value, self.lanes.active
        elif self._fresh:
            self._fresh.clear()
        return value

    def is_fresh(self, value: Any) -> bool:
        """Whether no lane but the active ones knows an object."""
        known = self._fresh.get(id(value))
        return known is not None and self.lanes.current(known[1]).size == self.lanes.active.size

    def forget(self) -> None:
        """Release the objects that have been noted."""
        self._fresh.clear()
        self.lanes.containers.forget()

    def changes(self, holder: Any) -> None:
        """Note that an object changes as a whole. If other lanes know it, they are dropped."""
        self._keeps_standing(holder)
        why = self.log.note(holder)
        if why is not None:
            raise self.effect(why, "change a copy that the function makes itself, or return the value")
        if self.lanes.masked and not self.is_fresh(holder):
            self.lanes.commit()

    def _keeps_standing(self, holder: Any) -> None:
        """End the run if the change of a container tells it from the one that stands for it."""
        if self.lanes.containers.is_told_apart(holder, [self.log.entries, self._fresh]):
            raise self.lanes.refuse(ToldApart())

    def _changes_part(self, holder: Any, old: Any, value: Any) -> Any:
        """Note that a part of an object changes; return what to store, so that other lanes keep the old part."""
        self._keeps_standing(holder)
        why = self.log.note(holder)
        if why is not None:
            raise self.effect(why, "change a copy that the function makes itself, or return the value")
        if not self.lanes.masked or self.is_fresh(holder):
            return value
        merged_part = None if old is _MISSING else scattered(self.lanes, old, value)
        if merged_part is None:
            self.lanes.commit()
            return value
        return merged_part[0]

    # ---- attributes

    def store_attribute(self, holder: Any, name: str, value: Any) -> None:
        """`holder.name = value`."""
        holder = agreed(holder, "has an attribute set")
        kind = type(holder)
        if type(kind.__setattr__) is FunctionType:
            setattr(holder, name, value)  # a method of the program, which is converted, too
            return
        self.store_plain_attribute(holder, name, value)

    def store_plain_attribute(self, holder: Any, name: str, value: Any) -> None:
        """A store as `object.__setattr__` makes it."""
        described = getattr(type(holder), name, None)
        if hasattr(type(described), "__set__") and not isinstance(described, MemberDescriptorType):
            setattr(holder, name, value)  # the code of a property is converted, too
            return
        old = _MISSING
        if isinstance(described, MemberDescriptorType):
            old = getattr(holder, name, _MISSING)
        elif hasattr(holder, "__dict__"):
            old = vars(holder).get(name, _MISSING)
        if type(value) is Lane and not self.is_converted(type(holder)):
            raise self.lanes.refuse(
                EffectError(
                    f"a value that differs between lanes is stored in a {type(holder).__qualname__}, whose methods are "
                    f"not converted, at {place()}: add its package to the argument packages "
                    f"({type(holder).__module__!r} is not installed)"
                )
            )
        value = self._changes_part(holder, old, value)
        if type(type(holder).__setattr__) is FunctionType:
            object.__setattr__(holder, name, value)
        else:
            setattr(holder, name, value)

    def delete_attribute(self, holder: Any, name: str) -> None:
        """`del holder.name`."""
        self.changes(holder)
        delattr(holder, name)

    def stores_global(self, name: str) -> None:
        """Refuse the assignment to a name of the module."""
        raise self.effect(f"the global name {name} is assigned", "return the value")

    def stores_nonlocal(self, reader: Any) -> None:
        """Note that a variable of an enclosing function is about to be bound."""
        self.changes(reader.__closure__[0])

    # ---- items

    def store_item(self, holder: Any, key: Any, value: Any) -> None:
        """`holder[key] = value`."""
        kind = type(holder)
        if kind not in (list, dict):
            if kind in (deque, bytearray) or kind.__module__ in ("collections", "array", "numpy", "builtins"):
                if kind.__module__ == "numpy" and (type(value) is Lane or type(key) is Lane):
                    operator.setitem(holder, key, value)  # NumPy asks the value for an array, which is refused
                self.changes(holder)
            holder[key] = value
            return
        if type(key) is Lane:
            self._store_by_key(holder, key, value)
            return
        if type(key) is slice or (type(key) is tuple and kind is list):
            self.changes(holder)
            holder[key] = value
            return
        try:
            old = holder[key]
        except (LookupError, TypeError):
            old = _MISSING
        if old is _MISSING and kind is list:
            holder[key] = value  # it raises
            return
        holder[key] = self._changes_part(holder, old, value)

    def _store_by_key(self, holder: Any, key: Lane, value: Any) -> None:
        """Each lane has its own key: one masked store for each."""
        lanes = self.lanes
        values = key.now().tolist()
        distinct = dict.fromkeys(values)
        if len(distinct) > MOST_VALUES:
            raise lanes.refuse(
                EffectError(
                    f"lanes store under more than {MOST_VALUES} keys of a {type(holder).__name__}, at {place()}"
                )
            )
        active = lanes.active
        for one in distinct:
            lanes.active = lanes.current(active.part(np.array([value == one for value in values])))
            if lanes.active.size:
                try:
                    self.store_item(holder, one, value)
                except LookupError:
                    if lanes.active.size == lanes.current(active).size:
                        raise
                    lanes.drop(lanes.active.ids)
        lanes.active = lanes.current(active)

    def delete_item(self, holder: Any, key: Any) -> None:
        """`del holder[key]`."""
        if type(holder) in (list, dict, deque, bytearray):
            self.changes(holder)
        del holder[agreed(key, "is the key of a deletion") if type(key) is Lane else key]

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """`old += value` and the like: an operation on numbers, or a change in place."""
        if type(old) is not Lane and not is_immutable(old) and hasattr(type(old), f"__{name}__"):
            self._changes_in_place(old)
        function: Any = getattr(operator, name)
        return function(old, value)

    def _changes_in_place(self, holder: Any) -> None:
        """Note the change of an object in C; that of a method of the program is noted where it is made."""
        if isinstance(holder, (list, dict, set, deque, bytearray)) or type(holder).__module__ == "numpy":
            self.changes(holder)


# ---- special methods of the program whose result code in C checks: `__bool__`, `__float__`, `__str__` and the like
#
# C code wants one bool, float or text of them, so it gets the one that most lanes have, and the other ones are dropped.
# Where the program itself asks, as in `float(x)` or `if x`, the method is called in place of C code, and its result may
# differ between lanes.

_SPECIAL_METHODS_METHODS: Final[dict[Any, tuple[str, ...]]] = {
    bool: ("__bool__", "__len__"),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__", "__trunc__"),
    complex: ("__complex__", "__float__", "__index__"),
    operator.index: ("__index__",),
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    format: ("__format__", "__str__", "__repr__"),
    len: ("__len__",),
    abs: ("__abs__",),
    round: ("__round__",),
    math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"),
    math.trunc: ("__trunc__",),
}
"""By function: the methods of which it calls the first one that a class has."""
_CHECKED: Final[dict[str, type]] = {
    "__bool__": bool,
    "__float__": float,
    "__int__": int,
    "__index__": int,
    "__len__": int,
    "__complex__": complex,
    "__str__": str,
    "__repr__": str,
    "__format__": str,
}
"""The type of a method's result."""
_RETURNED: Final = frozenset({abs, round})
"""Functions that return whatever the method returns."""


class SpecialMethods(Objects):
    """The part of the context that calls special methods, and returns their results to C code."""

    _asked: Any = None
    """The place and name of the special method whose result the program itself has asked for."""

    def special(self, value: Any) -> Any:
        """The result of a special method, which code in C may have called."""
        if type(value) is not Lane:
            return value
        code = sys._getframe(1).f_code
        if self._asked == (code.co_filename, code.co_firstlineno, code.co_name):
            return value
        return (
            bool(value) if code.co_name == "__bool__" else agreed(value, f"is the result of {code.co_name} for C code")
        )

    def asked(self, method: Any, value: Any, *arguments: Any) -> Any:
        """Call a special method of the program: its result may differ between lanes."""
        code = method.__code__
        outer, self._asked = self._asked, (code.co_filename, code.co_firstlineno, code.co_name)
        try:
            return method(value, *arguments)
        finally:
            self._asked = outer

    def truth_of(self, test: Any) -> Any:
        """The truth of an object of the program; any other value is its own."""
        if type(test) is bool or type(test) is Lane or is_immutable(test):
            return test
        truth = self.by_method(bool, (test,))
        return test if truth is None else truth[0]

    def by_method(self, function: Any, arguments: tuple[Any, ...]) -> tuple[Any] | None:
        """What a function is for an object of the program, by its special method; None if there is none."""
        names = _SPECIAL_METHODS_METHODS.get(function)
        if names is None or not arguments or type(arguments[0]) is Lane or is_immutable(arguments[0]):
            return None
        value, *rest = arguments
        kind = type(value)
        for name in names:
            method = getattr(kind, name, None)
            if type(method) is FunctionType and method.__module__ == "collections" and issubclass(kind, tuple):
                return None  # the text of a named tuple is that of its items
            if type(method) is FunctionType:
                if function is format and name != "__format__":
                    if rest != [""]:
                        return None
                    rest = []
                result = self.asked(method, value, *rest)
                return (self._checked(function, kind, name, result),)
            if method is not None and (name != "__str__" or method is not object.__str__) and name != "__format__":
                return None
        return None

    def as_numbers(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Arguments of a function of `math`, with floats in the place of objects; None if there is none."""
        kinds = [type(one) for one in arguments]
        if not any(kind is not Lane and type(getattr(kind, "__float__", None)) is FunctionType for kind in kinds):
            return None
        return tuple(
            one if found is None else found[0] for one in arguments for found in [self.by_method(float, (one,))]
        )

    def _checked(self, function: Any, kind: type, name: str, result: Any) -> Any:
        """The result of a method as the function returns it."""
        if function in _RETURNED or name not in _CHECKED:
            return result
        wanted = _CHECKED[name]
        if type(result) is not Lane:
            return function(_returning(kind, name, result))
        if not issubclass(result.__class__, wanted):
            return function(_returning(kind, name, agreed(result)))  # it raises
        if function in (bool, float, int, complex) and name != f"__{function.__name__}__":
            return compute(function, result)
        return result


def _returning(kind: type, name: str, result: Any) -> Any:
    """An object whose special method returns this: Python checks it."""
    return type(kind.__name__, (), {name: lambda *arguments: result, "__module__": kind.__module__})()


# ---- iterators that something else than their present use refers to: advancing one for some lanes changes it for all
#
# A reference that is not explained shows that the program can come back to an iterator. `enumerate`, `zip`, generator
# expressions and the like refer to others, which are looked for, too.

_UNSHARED: Final = 2
"""The references to a temporary value: the tuple of arguments that has it, and the argument of `getrefcount`."""


def _is_iterator(value: Any) -> bool:
    """Whether a value is an iterator whose state is in C, or in the frame of a generator.

    The state of one with a method `__next__` of the program is in attributes, of which each lane has its own.
    """
    advance = getattr(type(value), "__next__", None)
    return advance is not None and type(advance) is not FunctionType


def shared_iterators(given: tuple[Any, ...], number: int = 0) -> list[Any]:
    """The iterators that advance with an argument, and to which something else refers, too.

    Parameters
    ----------
    given:
        The tuple of arguments of a call. Nothing else of the caller may refer to the argument.
    number:
        Which of them.
    """
    root = given[number]
    if not hasattr(type(root), "__next__"):
        return []
    iterators = [root] if _is_iterator(root) and sys.getrefcount(given[number]) > _UNSHARED + 1 else []
    seen: dict[int, Any] = {}
    explained: dict[int, int] = {}
    below: dict[int, list[Any]] = {}
    pending = [root]
    while pending:
        holder = pending.pop()
        parts = [part for part in gc.get_referents(holder) if _is_iterator(part) or type(part) in (tuple, CellType)]
        below[id(holder)] = parts
        for part in parts:
            explained[id(part)] = explained.get(id(part), 0) + 1
            if id(part) not in seen:
                seen[id(part)] = part
                pending.append(part)
    below = {key: [id(part) for part in parts] for key, parts in below.items()}
    del holder, parts
    part = None
    shared = [key for key in seen if sys.getrefcount(seen[key]) > _UNSHARED + explained[key]]
    while shared:
        key = shared.pop()
        if key not in seen:
            continue
        shared_object = seen.pop(key)
        if _is_iterator(shared_object):
            iterators.append(shared_object)
        else:  # a tuple or a variable: what it refers to is shared with it
            shared += below[key]
    return iterators


# ---- calls in the program: what is called when a function is, and which calls are refused

_METHODS: Final = (BuiltinFunctionType, MethodWrapperType)
_DESCRIPTORS: Final = (MethodDescriptorType, WrapperDescriptorType)
_OF_NAMED_TUPLES: Final = ("_replace", "_make", "_asdict")
"""Methods in Python of the module `collections` that move items."""
_COUNTS: Final = vars(collections).get("_count_elements")
"""The part of `Counter` in C, which changes its first argument."""
_CACHED: Final = type(functools.lru_cache(lambda: None))


class Calls(SpecialMethods):
    """The part of the context that makes calls."""

    def call(self, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make a call of the program."""
        kind = type(f)
        if kind is FunctionType:
            if self._runs(f) or is_new_of_named_tuple(f):
                return self._kept(f(*arguments, **keywords))
        elif kind is MethodType:
            if type(f.__func__) is FunctionType and self._runs(f.__func__):
                if f.__name__ in SPECIAL_METHODS and not keywords:
                    return self.asked(f.__func__, f.__self__, *arguments)
                return self._kept(f(*arguments, **keywords))
            if type(f.__func__) is _CACHED:
                return self._cached(f.__func__, (f.__self__, *arguments), keywords)
        elif kind is Lane:
            return self.call(agreed(f, "is called"), *arguments, **keywords)
        elif kind is LaneMethod:
            return f(*arguments, **keywords)
        elif kind is _CACHED:
            return self._cached(f, arguments, keywords)
        elif issubclass(kind, type):
            return self._construct(f, arguments, keywords)
        return self._leaf(f, arguments, keywords)

    def _runs(self, function: FunctionType) -> bool:
        """Whether a function is converted when it runs."""
        code = function.__code__
        key = code.co_filename, code.co_firstlineno, code.co_name
        known = self._converted.get(key)
        if known is None:
            known = self._converted[key] = super()._runs(function)
        return known

    def _kept(self, result: Any) -> Any:
        return self.made(result) if type(result) is GeneratorType else result

    def _cached(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A function with `lru_cache`: the cache holds plain values for plain arguments only."""
        plain = all(map(_is_plain, (*arguments, *keywords.values())))
        if plain and not self.lanes.masked:
            result = f(*arguments, **keywords)
            if not contains_lane(result):
                return result
            f.cache_clear()
        return self.call(f.__wrapped__, *arguments, **keywords)

    def _construct(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a class."""
        if f in ELEMENTWISE or f in RULES or f in MOVING or f in EFFECTS:
            return self._leaf(f, arguments, keywords)
        if issubclass(f, BaseException):
            return f(*arguments, **keywords)
        if issubclass(f, Enum) and len(arguments) == 1 and not keywords:  # the member with this value
            return compute(f, *arguments) if type(arguments[0]) is Lane else f(*arguments)
        init: Any = python_function(f)
        if _is_made_by(f, init) and (self._runs(init) or init.__code__.co_filename == "<string>"):
            instance = object.__new__(f)
            self.made(instance)
            init(instance, *arguments, **keywords)
            return instance
        if init is not None and (self._runs(init) or init.__code__.co_filename.startswith("<")):
            return self.made(f(*arguments, **keywords))
        if f.__init__ is object.__init__ and f.__new__ is object.__new__:
            return self.made(f(*arguments, **keywords))
        return self._leaf(f, arguments, keywords)

    # ---- leaves

    def _leaf(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a function that is not converted."""
        try:
            hash(f)
        except TypeError:
            return self._unknown(f, arguments, keywords)
        if f in TAKES_ITERATORS or not (f in MOVING or f in RULES or getattr(f, "__name__", "") in KEEPS_ITERATORS):
            self.advances(arguments)
        direct = any(type(one) is Lane for one in arguments) or any(type(one) is Lane for one in keywords.values())
        if not keywords and (found := self.by_method(f, arguments)) is not None:
            return found[0]
        if f in ELEMENTWISE:
            if f.__module__ == "math" and (numbers := self.as_numbers(arguments)) is not None:
                return self._leaf(f, numbers, keywords)
            if direct or contains_lane(arguments) or contains_lane(keywords):
                return self._elementwise(f, arguments, keywords)
        if f in RULES:
            if f in TAKES_ITERATORS:
                arguments = tuple([list(one) if hasattr(type(one), "__next__") else one for one in arguments])
            inside = direct or any(contains_lane(one) for one in arguments)
            return RULES[f](*arguments, **keywords) if inside else f(*arguments, **keywords)
        if f in SEQUENCE_FUNCTIONS:
            return sequence_call(f, arguments, keywords)
        if f in MOVING:
            return self.made(f(*arguments, **keywords))
        if (f is setattr or f is delattr) and len(arguments) > 1:
            arguments = arguments[0], agreed(arguments[1], NAMES_ATTRIBUTE), *arguments[2:]
        if f is setattr and len(arguments) == 3 and type(arguments[1]) is str:
            return self.store_attribute(*arguments)
        if f is delattr:
            return self.delete_attribute(*arguments)
        if f is hash and not direct:
            return hash(*arguments)
        if f in EFFECTS or (getattr(f, "__module__", None), getattr(f, "__name__", None)) in EFFECTS_BY_NAME:
            raise self.effect(f"{name_of(f)} is called", "take the call out of the vectorized function")
        return self._method(f, arguments, keywords)

    def _elementwise(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if not keywords:
            return compute(f, *arguments)
        names = list(keywords)
        count = len(arguments)

        def call(*given: Any) -> Any:
            return f(*given[:count], **dict(zip(names, given[count:], strict=True)))

        call.__module__, call.__qualname__ = getattr(f, "__module__", None) or "", getattr(f, "__qualname__", repr(f))
        return compute(call, *arguments, *keywords.values())

    def advances(self, arguments: tuple[Any, ...]) -> bool:
        """Note that iterators among the arguments of a call advance; return whether something else refers to some.

        These cannot be advanced for some of the lanes that use them: the other ones are dropped.
        """
        is_shared = False
        for number in range(len(arguments)):
            for iterator in shared_iterators(arguments, number):
                self.changes(iterator)
                is_shared = True
        return is_shared

    def _method(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A method in C, of an object or with the object as its first argument; or a function without a rule."""
        if type(f) in _METHODS and f.__self__ is not None and type(f.__self__) is not ModuleType:
            receiver: Any = f.__self__
            given = arguments
        elif type(f) in _DESCRIPTORS and arguments:
            receiver, given = arguments[0], arguments[1:]
        else:
            return self._unknown(f, arguments, keywords)
        name = f.__name__
        if type(receiver) is MemberDescriptorType and name == "__set__" and len(given) == 2:
            return self.store_attribute(given[0], receiver.__name__, given[1])
        if type(receiver) is Lane:
            return getattr(receiver, name)(*given, **keywords)
        if name == "__setattr__" and len(given) == 2:
            return self.store_plain_attribute(receiver, *given)
        if name in ("__init__", "__new__", "__init_subclass__", "__getattribute__", "__enter__", "__exit__"):
            return f(*arguments, **keywords)
        if type(receiver) is type and receiver in (dict, int, float, bytes, str, list):
            if receiver is not dict and contains_lane(arguments):
                return compute(f, *arguments)
            return f(*arguments, **keywords)
        kind = next((kind for kind in CHANGING if isinstance(receiver, kind)), None)
        if kind is not None:
            return self._container_method(receiver, name, f, arguments, given, keywords)
        if type(receiver) is str and name == "join" and given and type(given[0]) is not Lane:
            return sequence_call(lambda parts: receiver.join(parts), (list(given[0]),), {})
        if is_immutable(receiver) and can_be_apart(*given, *keywords.values()):
            return self._elementwise(f, arguments, keywords)
        if is_immutable(receiver) or isinstance(receiver, (tuple, frozenset)):
            return f(*arguments, **keywords)
        if type(receiver) is GeneratorType or hasattr(type(receiver), "__next__"):
            self.changes(receiver)
            return f(*arguments, **keywords)
        return self._unknown(f, arguments, keywords)

    def _container_method(
        self,
        receiver: Any,
        name: str,
        f: Any,
        arguments: tuple[Any, ...],
        given: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> Any:
        if any(isinstance(receiver, kind) and name in names for kind, names in CHANGING.items()):
            self.changes(receiver)
        if name == "sort" and type(receiver) is list and contains_lane(receiver):
            receiver[:] = RULES[sorted](receiver, **keywords)
            return None
        if name == "get" and type(receiver) is dict and given and type(given[0]) is Lane:
            return self._dict_get(receiver, *given)
        return f(*arguments, **keywords)

    def _dict_get(self, table: dict[Any, Any], key: Lane, default: Any = None) -> Any:
        if all(map(is_immutable, table.values())) and type(default) is not Lane and is_immutable(default):
            return compute(_Get(table, default), key)
        return table.get(agreed(key, "is the key of a dict"), default)

    def _unknown(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A function without a rule: it may be called if it is known to have no effects, and no lane is involved."""
        if is_compiled_by_numba(f):
            raise self.lanes.refuse(
                EffectError(
                    f"{name_of(f)} is called at {place()}, and Numba has compiled it, so it cannot be converted: take "
                    'its decorator away, call it outside, or run such lanes one by one, with effects="split"'
                )
            )
        module = getattr(f, "__module__", None) or getattr(type(getattr(f, "__self__", None)), "__module__", "")
        function = python_function(f)
        if function is not None and function is not f and self._runs(function):
            return f(*arguments, **keywords)
        if isinstance(f, functools.partial):
            return self.call(f.func, *f.args, *arguments, **{**f.keywords, **keywords})
        if type(f) is operator.methodcaller and len(arguments) == 1 and not keywords:
            name, given, named = _method_called(f)
            return self.call(getattr(arguments[0], name), *given, **named)
        code = getattr(function, "__code__", None)
        if function is not None and code is not None and code.co_filename.startswith(PACKAGE_FOLDER):
            if (inner := original_of(function)) is not None and not any(map(_is_array, arguments)):
                return self.call(inner, *arguments, **keywords)
            nested = NESTED.get((str(module), function.__qualname__))
            if nested is not None:
                return nested(self, *arguments, **keywords)
            raise self.lanes.refuse(
                EffectError(
                    f"{name_of(f)} is called in a vectorized function, at {place()}, and does not compute with lanes: "
                    'call it outside, or run such lanes one by one, with effects="split"'
                )
            )
        if module == "collections" and f.__name__ in _OF_NAMED_TUPLES and function is not None:
            return f(*arguments, **keywords)
        involved = contains_lane(arguments) or contains_lane(keywords) or contains_lane(getattr(f, "__self__", None))
        if is_silent(f, arguments) or (f is sys.exc_info and sys.exc_info()[1] is None):
            return f(*arguments, **keywords)
        if module == "statistics":
            return sequence_call(f, arguments, keywords)
        receiver = getattr(f, "__self__", None)
        if f is _COUNTS:
            self.changes(arguments[0])
        if receiver is not None and type(receiver) is not ModuleType and str(module).startswith("collections"):
            self.changes(receiver)  # a class in Python, whose methods change its objects
        if str(module).partition(".")[0] in PURE_MODULES:
            if not involved:
                return f(*arguments, **keywords)
            if can_be_apart(*arguments, *keywords.values()) and self._shares_nothing(f, *arguments, *keywords.values()):
                return self._elementwise(f, arguments, keywords)
        if code is not None:
            advice = f"add its package to the argument packages ({module!r} is not installed)"
        else:
            advice = "take the call out of the vectorized function"
        what = "gets a value that differs between lanes" if involved else "may have effects"
        if involved:
            raise self.lanes.refuse(
                EffectError(f"{name_of(f)} {what}, and there is no rule for it, at {place()}: {advice}")
            )
        raise self.effect(f"{name_of(f)} {what}", advice)

    def _shares_nothing(self, *values: Any) -> bool:
        """Whether a function without a rule, which is called for each lane, reaches no object that all lanes share."""
        return all(map(self._is_own, values))

    def _is_own(self, value: Any) -> bool:
        kind = type(value)
        if kind is FunctionType:  # what a converted function changes is noted
            return self._runs(value) or self._shares_nothing(*map(_content, value.__closure__ or ()))
        if kind in (*_METHODS, MethodType):
            return isinstance(value.__self__, (ModuleType, type)) or self._is_own(value.__self__)
        if kind in _PLAIN_CONTAINERS:
            return self._shares_nothing(*(value.values() if isinstance(value, dict) else value))
        if kind is functools.partial:
            return self._shares_nothing(value.func, *value.args, *value.keywords.values())
        return kind is Lane or is_immutable(value) or kind.__module__ in WITHOUT_STATE or value is None


_PLAIN_CONTAINERS: Final = (list, tuple, dict, set, frozenset, deque, OrderedDict, defaultdict)


def _method_called(f: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """What a `methodcaller` calls: the name, the arguments and the keywords."""
    make, given = f.__reduce__()
    keywords = make.keywords if isinstance(make, functools.partial) else {}
    name, *arguments = (*make.args, *given) if keywords else given
    return name, tuple(arguments), keywords


def _content(cell: Any) -> Any:
    return getattr(cell, "cell_contents", None)


class _Get:
    """The item of a dict that all lanes share, or a default. The key decides which one it is."""

    decides = True

    def __init__(self, table: dict[Any, Any], default: Any) -> None:
        self.table = table
        self.default = default

    def __call__(self, key: Any) -> Any:
        return self.table.get(key, self.default)


def _is_made_by(kind: Any, init: Any) -> bool:
    """Whether the instances of a class are made by `object`, and initialised by a Python function."""
    own = type(kind) is type and type(init) is FunctionType
    return own and kind.__new__ is object.__new__ and kind.__init__ is init


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _is_plain(value: Any) -> bool:
    return type(value) is not Lane and is_immutable(value)
