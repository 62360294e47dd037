"""The context of a run: what converted code calls."""

from __future__ import annotations

import operator
import sys
from collections import defaultdict
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.lanes.call_rules import contents, identical, looked_up
from cassette_import.contexts.lanes.calls import Calls
from cassette_import.contexts.lanes.columns import is_immutable, kind_of
from cassette_import.contexts.lanes.containers import can_be_apart, contains_lane
from cassette_import.contexts.lanes.elementwise import compute
from cassette_import.contexts.lanes.errors import EffectError, place
from cassette_import.contexts.lanes.known_functions import STANDARD_LIBRARY
from cassette_import.contexts.lanes.lane import Lane, agreed
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet, ToldApart
from cassette_import.contexts.lanes.masks import Choice, Frame, Loop, Partial, choice_of
from cassette_import.passes.if_conversion import if_conversion
from cassette_import.passes.if_conversion.converted_code import CONVERSIONS, UNBOUND
from cassette_import.rewriting.events import Events

__all__ = ["LanesContext"]

# ---- the classes that converted patterns name: `isinstance` asks them about values that differ between lanes
#
# Where lanes decide differently, the run is split, as by any truth test in code that is not converted.


class _Singleton(type):
    """A class whose one instance is an object: the class attribute `only`."""

    only: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(identical(value, cls.only)) if type(value) is Lane else value is cls.only


class _None(metaclass=_Singleton):
    only: Final = None


class _True(metaclass=_Singleton):
    only: Final = True


class _False(metaclass=_Singleton):
    only: Final = False


class _OfLanes(type):
    """A class whose instances are the lanes of objects, whatever class these pretend to have."""

    def __instancecheck__(cls, value: Any) -> bool:
        return type(value) is Lane


class _Lane(metaclass=_OfLanes):
    pass


class PatternClasses:
    """The part of the context that patterns name."""

    none_class: Any = _None
    true_class: Any = _True
    false_class: Any = _False
    lane_class: Any = _Lane


# ---- the context of a run: what converted code calls


class LanesContext(Context, PatternClasses, Calls, events=Events.NONE):
    """Runs a function once for many lanes. `vectorize` is its interface."""

    passes: Any = [if_conversion]
    _entered_modules = STANDARD_LIBRARY

    def __init__(self, lanes: Lanes, roots: frozenset[str], shared: Any) -> None:
        Context.__init__(self)
        Calls.__init__(self, lanes, roots, shared)

    # ---- branches

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return choice_of(test if type(test) is Lane else self.truth_of(test), saved)

    def unless(self, test: Any) -> bool:
        """Whether to run a block that raises: only if all lanes do. Otherwise those that do are dropped."""
        choice = self.choice(test)
        if isinstance(choice, Choice):
            choice.one()
            ids = self.lanes.active.ids
            self.lanes.active = self.lanes.current(choice.parent)
            self.lanes.drop(ids)
            return False
        return bool(choice.one())

    def loop(self, *iterable: Any, names: tuple[str, ...] = ()) -> Loop:
        """A loop."""
        return Loop(self.lanes, self)

    def frame(self) -> Frame:
        """A function that is left in several places."""
        return Frame(self.lanes)

    def alive(self) -> bool:
        """Whether some lanes have not left."""
        return self.lanes.active.size > 0

    def iterated(self, *iterable: Any) -> Any:
        """What a loop that is not converted iterates, or what is unpacked."""
        self.advances(iterable)
        return iterable[0]

    # ---- expressions

    def not_(self, value: Any) -> Any:
        """`not value`."""
        if type(value) is not Lane:
            value = self.truth_of(value)
            if type(value) is not Lane:
                return not value
        truth = compute(bool, value)
        if type(truth) is not Lane:
            return not truth
        return Lane(self.lanes, self.lanes.active, ~truth.now())

    def is_(self, one: Any, other: Any) -> Any:
        """`one is other`."""
        if type(one) is Lane or type(other) is Lane:
            return identical(one, other)
        if one is not other and self.lanes.containers.stands(one) and self.lanes.containers.stands(other):
            raise self.lanes.refuse(ToldApart())
        return one is other

    def contains(self, item: Any, *of: Any) -> Any:
        """`item in container`."""
        (container,) = of
        if hasattr(type(container), "__next__"):
            del container
            self.advances(of)
            (container,) = of
        if (
            type(item) is Lane
            or type(container) is Lane
            or (type(container) in (list, tuple) and contains_lane(container))
        ):
            return contents(container, item)
        return item in container

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        if type(key) is Lane:
            return looked_up(holder, key)
        if type(holder) is defaultdict and key not in holder:
            self.changes(holder)
        return holder[key]

    def mod(self, one: Any, other: Any) -> Any:
        """`one % other`: a remainder, or text."""
        return compute(operator.mod, one, other) if _makes_text(one) and can_be_apart(one, other) else one % other

    def _formatted(self, value: Any, conversion: int, spec: Any) -> Any:
        convert = CONVERSIONS[conversion]
        if not is_immutable(value) and type(value) is not Lane:
            if conversion >= 0:
                value, convert = self.call(convert, value), CONVERSIONS[-1]
            elif type(spec) is str:
                return self.call(format, value, spec)
        if type(value) is Lane or type(spec) is Lane:
            return compute(lambda one, how: format(convert(one), how), value, spec)
        return format(convert(value), spec)

    def _concatenated(self, parts: list[Any]) -> Any:
        if any(type(part) is Lane for part in parts):
            return compute(lambda *texts: "".join(texts), *parts)
        return "".join(parts)

    def subject(self, value: Any) -> Any:
        """The subject of `match`: patterns compare it by identity, too."""
        if type(value) is Lane and kind_of(value.now()) not in "fi":
            return agreed(value, "is the subject of match")
        return value

    # ---- variables, exceptions, scopes

    def bound(self, value: Any, name: str) -> Any:
        """The value of a variable that may be unbound in some lanes."""
        if value is not UNBOUND and type(value) is not Partial:
            return value
        if type(value) is Partial:
            inside = self.lanes.inside(self.lanes.active, self.lanes.current(value.members))
            if inside.any():
                self.lanes.drop(self.lanes.active.ids[~inside])
                return value.value
        raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")

    def caught(self) -> None:
        """Begin a handler: what was raised, was raised for the active lanes."""
        if self.lanes.failure is not None:
            raise self.lanes.failure
        self.lanes.commit()

    def leaving(self) -> None:
        """Begin a `finally` clause."""
        if sys.exc_info()[0] is not None:
            self.lanes.commit()

    def here(self) -> LaneSet:
        """The active lanes, before a `with` statement."""
        return self.lanes.active

    def still(self, before: LaneSet) -> None:
        """End a `with` statement, which may have caught an exception of some lanes."""
        if self.lanes.failure is not None:
            raise self.lanes.failure
        if self.lanes.active is not self.lanes.current(before):
            self.lanes.commit()

    def refuses(self, what: str) -> None:
        """Refuse a construct."""
        raise self.lanes.refuse(EffectError(f"{what} cannot run for many lanes, at {place()}"))


def _makes_text(value: Any) -> bool:
    """Whether `%` formats it."""
    return type(value) in (str, bytes) or (type(value) is Lane and kind_of(value.now()) in "OM")
