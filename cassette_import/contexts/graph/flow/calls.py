"""Calls and stores of a recorded run: the rules of functions that get symbols, and what is refused."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.contexts.graph.array_changes import leaves_numbers
from cassette_import.contexts.graph.array_functions import METHODS, is_of_array, makes_array
from cassette_import.contexts.graph.flow.loops import SymbolicRange
from cassette_import.contexts.graph.flow.recorder import Recorder
from cassette_import.contexts.graph.flow.shared import Stale
from cassette_import.contexts.graph.flow.symbol import (
    NOT_OF_ARRAYS,
    Symbol,
    applied,
    changes_an_array,
    contains_symbol,
    is_array_symbol,
    value_of,
)
from cassette_import.contexts.graph.kinds import kind_of
from cassette_import.passes.if_conversion.converted_code import ConvertedCode

__all__ = ["Calls"]

_LISTS: Final = (list, dict, set)
_SEEN: Final = frozenset({*_LISTS, Stale})
_GROWING: Final = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "popitem", "add", "discard"})
_CHANGING: Final = frozenset({"sort", "reverse", "update", "setdefault", "__setitem__", "__delitem__"})
_FOLDS: Final = (sum, min, max)


class Calls(ConvertedCode):
    """The part of the context that makes calls and stores."""

    def __init__(self, run: Recorder, roots: frozenset[str]) -> None:
        self.run = run
        self.roots = roots

    def call(self, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make a call of the program."""
        if type(f) is functools.partial:
            return self.call(f.func, *f.args, *arguments, **{**f.keywords, **keywords})
        for one in arguments:
            if type(one) in _SEEN:
                self.run.sees(one)
        function = f.__func__ if type(f) is MethodType else f
        if type(function) is FunctionType and self._runs(function):
            return f(*arguments, **keywords)
        method: Any = type(f).__call__
        if type(method) is FunctionType and self._runs(method):
            return f(*arguments, **keywords)
        if self._is_initialised(f):
            made: Any = self.run.made(object.__new__(f))
            made.__init__(*arguments, **keywords)
            return made
        if any(f is one for one in _FOLDS) and len(arguments) == 1 and hasattr(type(arguments[0]), "__next__"):
            arguments = (list(arguments[0]),)
        if self.run.arrays and (contains_symbol(arguments) or contains_symbol(keywords)):
            found = applied(self.run, f, arguments, keywords)
            if found is not NOT_OF_ARRAYS:
                return found
        elif self.run.arrays and makes_array(f):
            if is_of_array(f):
                f, arguments = METHODS[f.__name__], (f.__self__, *arguments)
            return self.run.array_changes.made(f, arguments, keywords, leaves_numbers(f))
        inside = any(type(one) is Symbol for one in (*arguments, *keywords.values()))
        rule = _RULES.get(f) if f.__hash__ is not None and not isinstance(f, MethodType) else None
        if rule is not None and (inside or contains_symbol(arguments)):
            return rule(self, f, arguments, keywords)
        if f in self.run.shared.functions and inside and not keywords:
            return self.run.operation(f, *arguments)
        if inside and not self._takes_symbols(f, function):
            raise self.run.refuse(f"{getattr(f, '__qualname__', f)} gets an unknown number")
        if not inside and _is_of_arrays(f) and (contains_symbol(arguments) or contains_symbol(keywords)):
            raise self.run.refuse(f"{getattr(f, '__qualname__', f)} gets an unknown number")
        self._note(f)
        return self.run.made(f(*arguments, **keywords))

    def _takes_symbols(self, f: Any, function: Any) -> bool:
        """Whether a function does with symbols what it does with numbers."""
        if isinstance(f, type):
            return dataclasses.is_dataclass(f) or issubclass(f, BaseException) or hasattr(f, "_fields")
        owner = getattr(f, "__self__", None)
        return type(f) is BuiltinFunctionType and isinstance(owner, (list, dict)) and f.__name__ != "sort"

    def _note(self, f: Any) -> None:
        """Note the change of a container by one of its methods."""
        owner = getattr(f, "__self__", None)
        if isinstance(owner, _LISTS) and (f.__name__ in _GROWING or f.__name__ in _CHANGING):
            self._changes_whole(owner)

    def _changes_whole(self, owner: Any) -> None:
        if self.run.regions and isinstance(owner, (list, dict)):
            self.run.changes(owner, "length", None)
            for key in owner if isinstance(owner, dict) else range(len(owner)):
                self.run.changes(owner, "item", key)
        elif self.run.regions:
            raise self.run.refuse(f"a {type(owner).__name__} is changed where the arguments decide")
        else:
            self.run.changes(owner, "length", None)

    # ---- stores

    def store_attribute(self, holder: Any, name: str, value: Any) -> None:
        """`holder.name = value`."""
        if type(holder) is Symbol:
            raise self.run.refuse("an attribute of an unknown number is assigned")
        self.run.changes(holder, "attribute", name)
        self.run.template(value)
        setattr(holder, name, value)

    def delete_attribute(self, holder: Any, name: str) -> None:
        """`del holder.name`."""
        if self.run.regions:
            raise self.run.refuse("an attribute is deleted where the arguments decide")
        self.run.changes(holder, "attribute", name)
        delattr(holder, name)

    def store_item(self, holder: Any, key: Any, value: Any) -> None:
        """`holder[key] = value`."""
        is_unknown = contains_symbol(key) or contains_symbol(value)
        if changes_an_array(holder) and (type(holder) is Symbol or is_unknown or self.run.regions):
            if not self.run.arrays:
                raise self.run.refuse("an array is changed in place")
            self.run.array_changes.stores(holder, key, value)
            return
        if is_array_symbol(holder):
            raise self.run.refuse("an unknown number is taken for an array")
        if contains_symbol(key):
            raise self.run.refuse("an item with an unknown index is assigned")
        if isinstance(holder, (list, dict)):
            is_new = isinstance(holder, dict) and key not in holder
            if isinstance(key, slice) or is_new:
                self._changes_whole(holder)
            elif isinstance(holder, list) and isinstance(key, int):
                self.run.changes(holder, "item", key % len(holder) if holder else key)
            self.run.changes(holder, "item", key) if isinstance(holder, dict) else None
        elif contains_symbol(value) or self.run.regions:
            raise self.run.refuse(f"an item of a {type(holder).__name__} is assigned")
        else:
            self.run.outside.forbids(holder)
        holder[key] = value

    def delete_item(self, holder: Any, key: Any) -> None:
        """`del holder[key]`."""
        self._changes_whole(holder)
        del holder[key]

    def stores_global(self, name: str) -> None:
        """Refuse the assignment to a name of the module."""
        raise self.run.refuse(f"the global name {name} is assigned")

    def stores_nonlocal(self, reader: Any) -> None:
        """Refuse the assignment to a variable of an enclosing function, where the arguments decide."""
        if self.run.regions:
            raise self.run.refuse("a variable of an enclosing function is assigned")

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """What `x += y` and the like store."""
        if changes_an_array(old) and (type(old) is Symbol or contains_symbol(value) or self.run.regions):
            if not self.run.arrays:
                raise self.run.refuse("an array is changed in place")
            return self.run.array_changes.augments(name, old, value)
        if isinstance(old, _LISTS):
            self._changes_whole(old)
        elif not isinstance(old, (int, float, complex, str, bytes, tuple)) and type(old) is not Symbol:
            self.run.outside.forbids(old)
            if self.run.regions and type(old).__module__ == "numpy":
                raise self.run.refuse("an array is changed in place")
        return getattr(operator, name)(old, value)


def _is_of_arrays(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    return str(getattr(f, "__module__", None)).partition(".")[0] == "numpy" or type(owner).__module__ == "numpy"


# ---- rules


def _isinstance(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    one, *rest = arguments
    return f(one.node.value, *rest) if type(one) is Symbol else f(one, *rest)


def _type(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    return arguments[0].node.type if type(arguments[0]) is Symbol else f(*arguments, **keywords)


def _extreme(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    items = list(arguments[0]) if len(arguments) == 1 else list(arguments)
    kinds = {kind_of(value_of(one)) for one in items}
    if keywords or len(kinds) != 1 or not (kinds <= {int, float} or is_array_symbol(items[0])):
        raise context.run.refuse(f"{f.__name__} of other values than numbers of one type")
    return items[0] if len(items) == 1 else context.run.operation(f, *items)


def _range(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    start, stop, step = (0, *arguments, 1) if len(arguments) == 1 else (*arguments, 1)[:3]
    if type(step) is Symbol or not step:
        raise context.run.refuse("a range has an unknown step")
    start, stop = (_python_integer(context, one) for one in (start, stop))
    if any(type(one) is Symbol and one.node.type is not int for one in (start, stop)):
        raise TypeError("range needs integers")
    return SymbolicRange(start, stop, step)


def _python_integer(context: Calls, one: Any) -> Any:
    """A limit of a range, which may be one of NumPy's integers."""
    is_integer = is_array_symbol(one) and one.node.value.dtype.kind in "iu"
    return context.run.operation(int, one) if is_integer else one


def _length(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    return len(arguments[0])


def _divmod(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    return tuple(context.run.operation(part, *arguments) for part in (operator.floordiv, operator.mod))


def _sum(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    items = list(arguments[0])
    kinds = {one.node.type if type(one) is Symbol else type(one) for one in items}
    if kinds == {float} and len(arguments) == 1 and not keywords:
        return context.run.operation(f, items)
    if any(map(is_array_symbol, items)) and len(arguments) == 1 and not keywords:
        return functools.reduce(operator.add, items, 0)
    if kinds != {int} or len(arguments) > 1 or keywords:
        raise context.run.refuse("sum of other values than numbers of one type")
    return functools.reduce(operator.add, items)


def _plain(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    lonely = (type(one) is Symbol and not is_array_symbol(one) for one in arguments)
    if any(lonely) and f not in (list, tuple, dict):
        raise context.run.refuse(f"{f.__name__} of an unknown number")
    return context.run.made(f(*arguments, **keywords))


def _map(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    function, *lists = arguments
    return (context.call(function, *each) for each in zip(*lists, strict=False))


def _folded(test: bool) -> Any:
    def rule(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
        return f(arguments[0])  # each truth that is asked for is a check

    return rule


def _converted(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    one = arguments[0]
    if type(one) is Symbol and one.node.type is f and len(arguments) == 1:
        return one
    if type(one) is not Symbol or len(arguments) != 1 or keywords:
        raise context.run.refuse(f"{f.__name__} of an unknown number")
    return context.run.operation(f, one)


_Rule = Callable[[Calls, Any, Any, Any], Any]
_RULES: Final[dict[Any, _Rule]] = {
    isinstance: _isinstance, type: _type, callable: _isinstance, hasattr: _isinstance,
    min: _extreme, max: _extreme, range: _range, divmod: _divmod, sum: _sum, map: _map,
    any: _folded(True), all: _folded(False), float: _converted, int: _converted, bool: _converted,
    len: _length, getattr: lambda context, f, arguments, keywords: f(*arguments),
    **dict.fromkeys((list, tuple, dict, zip, enumerate, reversed, sorted), _plain),
    math.fabs: lambda context, f, arguments, keywords: context.run.operation(f, *arguments),
}  # fmt: skip
