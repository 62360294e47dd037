"""The classes that converted patterns name: `isinstance` asks them about values that differ between lanes.

Where lanes decide differently, the run is split, as by any truth test in code that is not converted.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.contexts.lanes.call_rules import identical
from cassette_import.contexts.lanes.lane import Lane

__all__ = ["PatternClasses"]


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
