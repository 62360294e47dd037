"""The digest of a function: the same in another run only if the function would return the same results there.

It covers the code of the function, its defaults and closure, and, as far as the function names them, the functions,
classes and constants of the program that it uses, and theirs. Other packages count by name.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from cassette_import.contexts.common.targets import target_name
from cassette_import.contexts.memoize.argument_keys import PROTOCOL, CannotCache, Key
from cassette_import.interpreter.namespaces import class_namespace
from cassette_import.runtime.overdubbed_code import OVERDUBBED

__all__ = ["digest_of"]

_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None), tuple, frozenset, list, dict, set)
_COUNTED: Final = (*_PLAIN, functools.partial, MethodType)
"""The types of global variables whose values count."""
_LRU_CACHE: Final = type(functools.lru_cache(len))


def digest_of(function: Any) -> bytes:
    """The digest of a function.

    Raises
    ------
    CannotCache
        If a variable of its closure has neither a name nor a state that another run could compare.

    >>> import colorsys
    >>> digest_of(colorsys.rgb_to_hls) == digest_of(colorsys.rgb_to_hls)
    True
    """
    parts = _Parts(function)
    parts.add_callable(function)
    return parts.hash.digest()


class _Parts:
    """The parts of a function that determine its results, each added once."""

    def __init__(self, function: Any) -> None:
        self.hash = hashlib.sha256(repr(sys.version_info[:2]).encode())
        self._own_package = _package(function)
        self._order: dict[int, int] = {}

    def add(self, text: str) -> None:
        self.hash.update(f"{len(text)}:{text}".encode("utf-8", "backslashreplace"))

    def add_callable(self, function: Any) -> None:
        """Add a function or class with all that it uses; of other packages, and of C code, the name."""
        number = self._order.setdefault(id(function), len(self._order))
        self.add(f"{target_name(function)}#{number}")
        if number < len(self._order) - 1 or not self._is_of_program(function):
            return
        if isinstance(function, FunctionType):
            self._add_function(function)
        elif isinstance(function, type):
            self._add_class(function)

    def _add_function(self, function: FunctionType) -> None:
        code = OVERDUBBED.plain_code_of(function.__code__)
        self.add(_text_of(code))
        self._add_state(function.__defaults__)
        self._add_state(function.__kwdefaults__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.add(name)
            try:
                self._add_state(cell.cell_contents)
            except ValueError:  # the variable has no value yet
                continue
        names = dict.fromkeys(_names_in(code))
        for name in names:
            if name in function.__globals__:
                self.add(name)
                self._add_global(function.__globals__[name], names)

    def _add_class(self, owner: type) -> None:
        for base in type.__getattribute__(owner, "__bases__"):
            self.add_callable(base)
        for name, value in sorted(class_namespace(owner).items()):
            held = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if isinstance(held, (FunctionType, type)):
                self.add(name)
                self.add_callable(held)
            elif isinstance(held, property):
                for function in filter(None, (held.fget, held.fset, held.fdel)):
                    self.add_callable(function)
            elif not name.startswith("__"):
                self._add_plain(value)

    def _add_state(self, value: Any) -> None:
        """Add a default or a value of a closure, which all calls share."""
        if isinstance(value, (FunctionType, type, BuiltinFunctionType)):
            self.add_callable(value)
        elif isinstance(value, MethodType):
            self.add_callable(value.__func__)
            self._add_state(value.__self__)
        elif type(value) is tuple:
            self.add(f"{len(value)} items")
            for item in value:
                self._add_state(item)
        else:
            self.add_callable(type(value))
            try:
                self.hash.update(Key((value,), {}, self._mark).value)
            except CannotCache:
                kind = f"{type(value).__qualname__} object"
                raise CannotCache(f"it uses a {kind} that cannot be compared with that of another run") from None

    def _add_global(self, value: Any, names: Iterable[str]) -> None:
        """Add a global variable that code names; of a module, the attributes that it may name."""
        if isinstance(value, (FunctionType, type)):
            self.add_callable(value)
        elif isinstance(value, ModuleType):
            self.add(value.__name__)
            if self._is_in_program(value.__name__, getattr(value, "__file__", None)):
                for name in names:
                    held = vars(value).get(name)
                    if isinstance(held, (FunctionType, type)):
                        self.add_callable(held)
                    else:
                        self._add_plain(held)
        else:
            wrapped = _wrapped(value)
            if wrapped is not None:
                self.add_callable(wrapped)
            else:
                self._add_plain(value)

    def _add_plain(self, value: Any) -> None:
        """Add a value that consists of numbers, text, functions and containers of these. Of objects, add the class."""
        if isinstance(value, _COUNTED):
            try:
                self.hash.update(_PlainPickler(self._mark).pickled(value))
            except (CannotCache, RecursionError):  # of a function among the values; of a list that contains itself
                return

    def _mark(self, function: Any) -> str:
        """Add a function or class; return what represents it in the bytes of a container that holds it."""
        self.add_callable(function)
        return f"{target_name(function)}#{self._order[id(function)]}"

    def _is_of_program(self, function: Any) -> bool:
        code = getattr(function, "__code__", None)
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        filename = code.co_filename if isinstance(code, CodeType) else getattr(module, "__file__", None)
        return self._is_in_program(getattr(function, "__module__", None), filename)

    def _is_in_program(self, module: Any, filename: Any) -> bool:
        """Whether a module belongs to the program, or to the package of the function itself."""
        if not isinstance(filename, str):
            return False
        if isinstance(module, str) and module.partition(".")[0] == self._own_package:
            return True
        return not filename.startswith(_library_folders())


class _PlainPickler(pickle.Pickler):
    """Writes numbers, text and containers; functions and classes as `mark` does, and the classes of other objects."""

    def __init__(self, mark: Callable[[Any], str]) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, PROTOCOL)
        self.fast = True  # no notes of which values are the same object
        self._mark = mark

    def pickled(self, value: Any) -> bytes:
        self.dump(_in_order(value))
        return self._file.getvalue()

    def reducer_override(self, obj: Any) -> Any:
        if obj is _represented:
            return NotImplemented
        if isinstance(obj, functools.partial):
            return _represented, (_in_order((obj.func, obj.args, obj.keywords)),)
        if isinstance(obj, MethodType):
            obj = obj.__func__
        function = _wrapped(obj) or obj
        if isinstance(function, (FunctionType, type)):
            return _represented, (self._mark(function),)
        return _represented, (target_name(obj) if isinstance(obj, BuiltinFunctionType) else _kind(obj),)


def _represented(what: object) -> None:
    """Represents an object in a digest. It is never called, because the bytes are not read."""


def _kind(obj: Any) -> str:
    kind: Any = type(obj)
    return f"{kind.__module__}.{kind.__qualname__}"


def _in_order(value: Any) -> Any:
    """The value with its sets as sorted lists: the order of a set may be another one in the next run."""
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(map(_in_order, value), key=_text_of_item)]
    if isinstance(value, (list, tuple)):
        return [_in_order(item) for item in value]
    return {name: _in_order(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def _text_of_item(item: Any) -> str:
    if isinstance(item, (FunctionType, BuiltinFunctionType, type)):
        return target_name(item)
    return repr(item) if isinstance(item, _PLAIN) else _kind(item)


def _names_in(code: CodeType) -> Iterator[str]:
    """The names of global variables and attributes in code, and in the functions that it makes."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names_in(const)


def _text_of(code: CodeType) -> str:
    """What code does, without the lines that it comes from."""
    consts = [_text_of(const) if isinstance(const, CodeType) else repr(_in_order(const)) for const in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount, code.co_flags
    return f"{code.co_code!r} {code.co_exceptiontable!r} {names} {consts}"


def _wrapped(value: Any) -> FunctionType | None:
    """The function behind one of `functools.lru_cache`."""
    found = vars(value).get("__wrapped__") if type(value) is _LRU_CACHE else None
    return found if isinstance(found, FunctionType) else None


def _package(function: Any) -> str | None:
    module = getattr(function, "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else None


def _library_folders() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({os.path.join(sysconfig.get_path(name), "") for name in names})
