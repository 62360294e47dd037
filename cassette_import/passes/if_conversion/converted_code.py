"""The base of contexts whose code is converted: what converted code calls does what Python does.

A context derives from `ConvertedCode`, and replaces the methods for what has another meaning in it.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.passes.if_conversion.uniform import UNIFORM, UniformFrame, UniformLoop
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, INACTIVE

__all__ = ["CONVERSIONS", "UNBOUND", "ConvertedCode"]

CONVERSIONS: Final[dict[int, Callable[[Any], Any]]] = {-1: lambda value: value, 115: str, 114: repr, 97: ascii}
"""What `!s`, `!r` and `!a` in an f-string do, by the number that the tree has for it."""


class _Unbound:
    """The type of `UNBOUND`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND: Final = _Unbound()
"""The value of a variable that is not bound."""


class _OneObject(type):
    """A class whose one instance is an object: the class attribute `only`."""

    only: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return value is cls.only


class _True(metaclass=_OneObject):
    only: Final = True


class _False(metaclass=_OneObject):
    only: Final = False


class _Differing:
    """The class of what stands for objects that differ between executions: there are none."""


class ConvertedCode:
    """What converted code calls, with the meaning that its statements and expressions have in Python.

    Attributes
    ----------
    roots:
        The files of functions that are converted without being installed.
    none_class, true_class, false_class, lane_class:
        The classes that converted patterns of `match` name.
    """

    roots: frozenset[str] = frozenset()
    none_class: Any = type(None)
    true_class: Any = _True
    false_class: Any = _False
    lane_class: Any = _Differing

    # ---- which functions are converted

    def _runs(self, function: FunctionType) -> bool:
        """Whether a function is converted when it runs."""
        file = OVERDUBBED.record_with(function.__code__)
        is_in_file = file is not None and (file.installed or file.filename in self.roots)
        return is_in_file and OVERDUBBED.overdubbable(function)

    def _is_initialised(self, kind: Any) -> bool:
        """Whether the instances of a class are made by `object`, and initialised by a converted function."""
        if type(kind) is not type:
            return False
        init: Any = kind.__init__  # type: ignore[misc]  # of the class, which may be any
        new: Any = kind.__new__
        return new is object.__new__ and type(init) is FunctionType and self._runs(init)

    # ---- branches, loops, calls

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return UNIFORM[bool(test)]

    def unless(self, test: Any) -> bool:
        """Whether to run a block that raises."""
        return bool(test)

    def raises(self) -> bool:
        """Whether to run a `raise` statement."""
        return True

    def loop(self, *iterable: Any, names: tuple[str, ...] = ()) -> Any:
        """A loop."""
        return UniformLoop()

    def frame(self) -> Any:
        """A function that is left in several places."""
        return UniformFrame()

    def alive(self) -> bool:
        """Whether what follows a jump runs."""
        return True

    def iterated(self, iterable: Any) -> Any:
        """What a loop that is not converted iterates, or what is unpacked."""
        return iterable

    def call(self, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """A call."""
        return f(*arguments, **keywords)

    # ---- expressions

    def not_(self, value: Any) -> Any:
        """`not value`."""
        return not value

    def is_(self, one: Any, other: Any) -> Any:
        """`one is other`."""
        return one is other

    def is_not(self, one: Any, other: Any) -> Any:
        """`one is not other`."""
        return self.not_(self.is_(one, other))

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`."""
        return item in container

    def lacks(self, item: Any, container: Any) -> Any:
        """`item not in container`."""
        return self.not_(self.contains(item, container))

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        return holder[key]

    def mod(self, one: Any, other: Any) -> Any:
        """`one % other`: a remainder, or text."""
        return one % other

    def matmul(self, one: Any, other: Any) -> Any:
        """`one @ other`."""
        return one @ other

    def text(self, *parts: Any) -> Any:
        """An f-string: texts, and for each expression its value, conversion and format."""
        return self._concatenated([part if type(part) is str else self._formatted(*part) for part in parts])

    def _formatted(self, value: Any, conversion: int, spec: Any) -> Any:
        return format(CONVERSIONS[conversion](value), spec)

    def _concatenated(self, parts: list[Any]) -> Any:
        return "".join(parts)

    def subject(self, value: Any) -> Any:
        """The subject of `match`."""
        return value

    def made(self, value: Any) -> Any:
        """A list, dict or set that an expression has made."""
        return value

    # ---- stores

    def store_attribute(self, holder: Any, name: str, value: Any) -> None:
        """`holder.name = value`."""
        setattr(holder, name, value)

    def delete_attribute(self, holder: Any, name: str) -> None:
        """`del holder.name`."""
        delattr(holder, name)

    def store_item(self, holder: Any, key: Any, value: Any) -> None:
        """`holder[key] = value`."""
        holder[key] = value

    def delete_item(self, holder: Any, key: Any) -> None:
        """`del holder[key]`."""
        del holder[key]

    def stores_global(self, name: str) -> None:
        """Begin to bind a name of the module."""

    def stores_nonlocal(self, reader: Any) -> None:
        """Begin to bind a variable of an enclosing function, which is in the closure of `reader`."""

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """What `old += value` and the like store."""
        return getattr(operator, name)(old, value)

    # ---- variables, exceptions, scopes

    def unbound_mark(self) -> Any:
        """The value of a variable that is not bound."""
        return UNBOUND

    def bound(self, value: Any, name: str) -> Any:
        """The value of a variable that may be unbound."""
        if value is UNBOUND:
            raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
        return value

    def caught(self) -> None:
        """Begin a handler."""

    def leaving(self) -> None:
        """Begin a `finally` clause."""

    def here(self) -> Any:
        """The active executions, before a `with` statement."""

    def still(self, before: Any) -> None:
        """End a `with` statement, which may have caught an exception."""

    def special(self, value: Any) -> Any:
        """What a special method returns whose result code in C checks, such as `__bool__`."""
        return value

    def imports(self, name: str, names: tuple[str, ...], level: int) -> None:
        """Begin an import: a module that is new is executed outside of the context, since it outlives the call."""
        module = None if level else sys.modules.get(name)
        if module is not None and all(one in module.__dict__ for one in names):
            return
        outside = ACTIVE.set(INACTIVE)
        try:
            builtins.__import__(name, sys._getframe(1).f_globals, None, names, level)
        finally:
            ACTIVE.reset(outside)

    def refuses(self, what: str) -> None:
        """Begin a construct that is not converted."""
