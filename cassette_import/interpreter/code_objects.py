"""Code objects: their kinds and flags, changed copies, constants in a settled order, and tables by code."""

from __future__ import annotations

import opcode
import sys
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, Final, Generic, TypeVar

__all__ = [
    "ASYNC_GENERATOR",
    "COROUTINE",
    "DERIVED",
    "GENERATOR",
    "GENERATOR_EXPRESSION",
    "ITERABLE_COROUTINE",
    "LAMBDA",
    "METHOD",
    "NESTED",
    "OPTIMIZED",
    "VARARGS",
    "VARKEYWORDS",
    "CodeTable",
    "can_be_suspended",
    "changed_copy",
    "has_sets",
    "is_function",
    "with_settled_sets",
]


# ---- changed copies of code objects that keep what `code.replace` forgets
#
# On 3.12 the variables of inlined comprehensions are *hidden* variables of the module or class body around them:
# `locals` and `exec` leave them out there. `code.replace` tells them by their `LOAD_FAST_AND_CLEAR` instructions. The
# compiler removes these where a comprehension is never executed, as in ``assert True, [x for x in xs]``. A copy of the
# code would then have ordinary variables without values, and `locals()` would delete the names of the body that are
# equal to theirs.

_OPTIMIZED: Final = 0x01
_FORGETS_HIDDEN_VARIABLES: Final = sys.version_info[:2] == (3, 12)
_OF_THE_COMPILER: Final = ("__class__", "__classdict__")
"""The cells of a class body that are no variables of comprehensions."""


def changed_copy(code: CodeType, **changes: Any) -> CodeType:
    """Do what `code.replace` does, and keep hidden variables hidden."""
    if _FORGETS_HIDDEN_VARIABLES and not code.co_flags & _OPTIMIZED:
        instructions = _hiding(code)
        if instructions:
            count = len(instructions) // 2
            # Places without lines, for eight instructions at most: https://github.com/python/cpython, locations.md
            sizes = [min(8, count - start) for start in range(0, count, 8)]
            changes["co_code"] = code.co_code + instructions
            changes["co_linetable"] = code.co_linetable + bytes(0x80 | 15 << 3 | size - 1 for size in sizes)
    return code.replace(**changes)


def _hiding(code: CodeType) -> bytes:
    """Instructions that are never reached, and show that some variables are hidden.

    All variables of a body that is not optimised are those of comprehensions.
    """
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    places = [place for place, name in enumerate(code.co_varnames + cells) if name not in _OF_THE_COMPILER]
    if not places:
        return b""
    load_and_clear = opcode.opmap["LOAD_FAST_AND_CLEAR"]
    existing = code.co_code
    shown = {existing[at + 1] for at in range(0, len(existing), 2) if existing[at] == load_and_clear}
    instructions = bytearray()
    for place in places:
        if place > 0xFF:
            instructions += bytes((opcode.EXTENDED_ARG, place >> 8))
        if place > 0xFF or place not in shown:
            instructions += bytes((load_and_clear, place & 0xFF))
    return bytes(instructions)


# ---- sets in the constants of code objects, in an order that does not depend on where the code comes from
#
# The compiler adds the items of a set in the order of the source, and `marshal` in an order that depends on reference
# counts. Where hashes collide, the same code therefore iterates over a set in another order after it was read from a
# file. A program would run otherwise the second time, and its recording would not replay.


def has_sets(code: CodeType) -> bool:
    """Whether code, or code nested in it, has a constant set whose order may vary."""
    work, seen = [code], {id(code)}  # branches share nested code
    while work:
        for const in work.pop().co_consts:
            kind = type(const)
            if kind is CodeType:
                if id(const) not in seen:
                    seen.add(id(const))
                    work.append(const)
            elif kind is frozenset and len(const) > 1:
                return True
    return False


def with_settled_sets(code: CodeType) -> CodeType:
    """The code with the items of its constant sets added in one order; the code itself if they are already.

    >>> code = compile("{8, 0, 16} in x", "", "eval")
    >>> items = next(list(const) for const in with_settled_sets(code).co_consts if type(const) is frozenset)
    >>> items == list(frozenset([0, 16, 8]))
    True
    """
    return _settled(code, {}) if has_sets(code) else code


def _settled(code: CodeType, made: dict[int, CodeType]) -> CodeType:
    """The code with settled sets; `made` has the copy of each code object by its `id`: branches share them."""
    found = made.get(id(code))
    if found is None:
        consts = [*code.co_consts]
        is_same = True
        for index, const in enumerate(consts):
            kind = type(const)
            if kind is CodeType:
                new: Any = _settled(const, made)
            elif kind is frozenset and len(const) > 1:
                new = _settled_set(const)
            else:
                continue
            if new is not const:
                consts[index], is_same = new, False
        found = made[id(code)] = code if is_same else changed_copy(code, co_consts=tuple(consts))
    return found


def _settled_set(const: frozenset[Any]) -> frozenset[Any]:
    settled = frozenset(sorted(const, key=_key))
    return const if list(settled) == list(const) else settled


def _key(item: Any) -> tuple[str, str]:
    return type(item).__name__, repr(item)


# ---- a table by code objects, which it does not keep alive
#
# Code objects are equal if they do the same, so they are keys by identity.

Value = TypeVar("Value")


class CodeTable(Generic[Value]):
    """A value for each code object, for as long as that exists.

    Parameters
    ----------
    default:
        Makes the value of a code object that has none yet.
    """

    def __init__(self, default: Callable[[], Value]) -> None:
        self._default = default
        self._entries: dict[int, tuple[weakref.ref[CodeType], Value]] = {}

    def __getitem__(self, code: CodeType) -> Value:
        key = id(code)
        entry = self._entries.get(key)
        if entry is None:
            entry = weakref.ref(code, lambda _: self._entries.pop(key, None)), self._default()
            self._entries[key] = entry
        return entry[1]

    def __len__(self) -> int:
        return len(self._entries)


# ---- derived code: the code objects that cassette_import makes of a program's functions, and that stay as they are
#
# A copy of a function has the file, name and line of the original, so it looks like one of the program's functions. The
# registry tells the two apart, by identity: code in it is never instrumented, and never compiled from the source that
# its file and line point to. Trampolines and compiled bodies are not in it: the index of code knows their units.


class _DerivedCode:
    """The code objects that stay as they are. It does not keep them alive."""

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[CodeType]] = {}  # by identity: equal code objects differ in their use

    def add(self, code: CodeType) -> CodeType:
        """Add a code object, before a function has it; return it."""
        key = id(code)
        self._references[key] = weakref.ref(code, lambda _: self._references.pop(key, None))
        return code

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self._references


DERIVED: Final = _DerivedCode()


# ---- kinds of code objects, and their flags, which are those of `inspect`: importing that takes long

OPTIMIZED: Final = 0x01
_NEWLOCALS: Final = 0x02
VARARGS: Final = 0x04
VARKEYWORDS: Final = 0x08
NESTED: Final = 0x10
GENERATOR: Final = 0x20
COROUTINE: Final = 0x80
ITERABLE_COROUTINE: Final = 0x100
ASYNC_GENERATOR: Final = 0x200
METHOD: Final = 0x8000000
"""From 3.14 on; never set before."""

LAMBDA: Final = "<lambda>"
GENERATOR_EXPRESSION: Final = "<genexpr>"
_SUSPENDABLE: Final = GENERATOR | COROUTINE | ASYNC_GENERATOR
_ANNOTATION_SCOPES: Final = ("__annotate__", "__annotations__", "__conditional_annotations__")
"""PEP 649 scopes are functions to the interpreter only. So are those of PEP 695, which have other names."""
_PARAMETERS_OF_SCOPES: Final = (".format", ".defaults", ".generic_base", ".type_params")


_NAMES_OF_SCOPES: Final = frozenset(("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", GENERATOR_EXPRESSION))


def is_function(code: CodeType) -> bool:
    """Whether the code is that of a `def` or `lambda`, not of a module, class body or comprehension."""
    name = code.co_name
    if not code.co_flags & _NEWLOCALS or name in _ANNOTATION_SCOPES:
        return False
    if name[0] == "<" and (name in _NAMES_OF_SCOPES or name.startswith("<generic parameters of ")):
        return False  # other names of this kind are those that programs give to functions that they generate
    return not code.co_argcount or code.co_varnames[0] not in _PARAMETERS_OF_SCOPES


def can_be_suspended(code: CodeType) -> bool:
    """Whether code is that of a generator, a coroutine or an asynchronous generator."""
    return bool(code.co_flags & _SUSPENDABLE)
