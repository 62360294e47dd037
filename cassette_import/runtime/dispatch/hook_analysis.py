"""Hook analysis: what a hook reads and calls, according to its bytecode.

Three questions are answered here. Does a hook read the arguments of calls (`reads_no_arguments`)? Does it touch nothing
but attributes of its context (`touches_only_context`), or store its arguments in them at most (`only_stores`)? A hook
that provably reaches no overdubbed code need not be suspended.
"""

from __future__ import annotations

import dis
import enum
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.code_objects import DERIVED
from cassette_import.rewriting.temporaries import LOCALS_READERS
from cassette_import.runtime.dispatch.hook_functions import plain_code, specialised_calls
from cassette_import.runtime.names import is_rewritten

_KIND: Final = "@event "
_REST: Final = code_objects.VARARGS | code_objects.VARKEYWORDS


def reads_no_arguments(method: Callable[..., Any], leading: int) -> bool:
    """Whether a hook takes the arguments of a call as `*args`, and perhaps `**kwargs`, and never reads them.

    `leading` is the number of parameters before these.
    """
    if type(method) is not FunctionType:
        return False
    code = plain_code(method)
    if code.co_argcount != leading or code.co_kwonlyargcount or not code.co_flags & code_objects.VARARGS:
        return False
    rest = {*code.co_varnames[leading : leading + 1 + bool(code.co_flags & code_objects.VARKEYWORDS)]}
    if rest & {*code.co_cellvars} or LOCALS_READERS & {*code.co_names} or is_rewritten(code):
        return False
    for instruction in dis.get_instructions(code):
        named = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if "FAST" in instruction.opname and not rest.isdisjoint(named):
            return False
    return True


def without_rest(function: FunctionType) -> CodeType:
    """The plain code of a hook that `reads_no_arguments`, without the parameters for these."""
    code = plain_code(function)
    return code.replace(co_flags=code.co_flags & ~_REST)


def passing_value_through(function: Callable[..., Any], kind: str = "") -> Callable[[Any, Any], Any]:
    """A hook that `touches_only_context`, as a function of the context and of a value that it returns.

    The code of such a hook goes straight to its one return. None of its instructions reads its second variable, whose
    name becomes ``@event`` and its kind: if the hook raises, no variable of its frame looks like an argument. It
    is never overdubbed: its module may be, but the source has no such function.
    """
    assert type(function) is FunctionType
    code = plain_code(function)
    *_, before, last = dis.get_instructions(code)
    leaves_a_value = last.opname == "RETURN_VALUE"
    drops_it = leaves_a_value and before.opname not in _CONSTANTS
    kept = code.co_code[: before.offset if leaves_a_value and not drops_it else last.offset]
    kept += bytes([dis.opmap["POP_TOP"], 0]) * drops_it
    kept += bytes([dis.opmap["LOAD_FAST"], 1, dis.opmap["RETURN_VALUE"], 0])
    added = (len(kept) - len(code.co_code)) // 2
    names = code.co_varnames[0], f"{_KIND}{kind}", *code.co_varnames[2:]
    made = code.replace(
        co_argcount=2,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~_REST,
        co_code=kept,
        co_varnames=names,
        co_nlocals=len(names),
        # On the line of the last instruction, without columns: https://github.com/python/cpython, locations.md
        co_linetable=code.co_linetable + (bytes([0x80 | 13 << 3 | added - 1, 0]) if added else b""),
    )
    return specialised_calls(FunctionType(DERIVED.add(made), function.__globals__, function.__name__))


def argument_free_kind(code: CodeType) -> str | None:
    """The kind of event that a hook `passing_value_through` runs for; None for other code."""
    name = "".join(code.co_varnames[1:2])
    return name.removeprefix(_KIND) if name.startswith(_KIND) else None


def touches_only_context(method: Callable[..., Any], context_type: type) -> bool:
    """Whether a hook only counts: reads and writes attributes of its context, and computes with them and constants.

    An attribute that holds a number with overdubbed operators would break this promise; no such case is known.
    """
    return _Interpretation.is_known(method, context_type, {_Value.CONTEXT})


def only_stores(method: Callable[..., Any], context_type: type) -> bool:
    """Whether a hook does no more than that, and store its arguments in attributes of its context."""
    return _Interpretation.is_known(method, context_type, {_Value.CONTEXT, _Value.ARGUMENT})


class _Value(enum.Enum):
    """What the analysis knows of a value on the stack."""

    CONTEXT = enum.auto()
    OWN = enum.auto()
    """A constant, an attribute of the context, or a result of these."""
    ARGUMENT = enum.auto()
    """An argument of the hook, or a tuple or list that holds one."""


class _Interpretation:
    """Interprets the instructions of a hook. The stack holds what is known of each value instead of the value.

    There is a method for each sort of instruction. It returns whether the instruction reaches no other code.
    """

    def __init__(self, context: str, context_type: type, readable: set[_Value]) -> None:
        self._context = context
        self._context_type = context_type
        self._readable = readable
        self._stack: list[_Value] = []

    @classmethod
    def is_known(cls, method: Callable[..., Any], context_type: type, readable: set[_Value]) -> bool:
        """Whether no instruction of a hook reaches other code, or reads another variable than the readable ones."""
        if type(method) is not FunctionType or _customises_attributes(context_type):
            return False
        code = plain_code(method)
        if not code.co_argcount or code.co_freevars:
            return False
        interpretation = cls(code.co_varnames[0], context_type, readable)
        return all(
            instruction.opname in _HANDLERS and _HANDLERS[instruction.opname](interpretation, instruction.argval)
            for instruction in dis.get_instructions(code)
        )

    def _skip(self, argument: Any) -> bool:
        return True

    def _load(self, argument: Any) -> bool:
        names = argument if isinstance(argument, tuple) else (argument,)
        values = [_Value.CONTEXT if name == self._context else _Value.ARGUMENT for name in names]
        self._stack += values
        return self._readable.issuperset(values)

    def _load_constant(self, argument: Any) -> bool:
        self._stack.append(_Value.OWN)
        return True

    def _load_attribute(self, argument: Any) -> bool:
        owner = self._stack.pop()
        self._stack.append(_Value.OWN)
        return self._is_plain_attribute(owner, argument)

    def _store_attribute(self, argument: Any) -> bool:
        owner = self._stack.pop()
        self._stack.pop()
        return self._is_plain_attribute(owner, argument)

    def _is_plain_attribute(self, owner: _Value, name: str) -> bool:
        """Whether it is an attribute of the context, and no descriptor."""
        return owner is _Value.CONTEXT and not hasattr(getattr(self._context_type, name, None), "__get__")

    def _build(self, argument: Any) -> bool:
        first = len(self._stack) - argument
        holds_argument = _Value.ARGUMENT in self._stack[first:]
        self._stack[first:] = [_Value.ARGUMENT if holds_argument else _Value.OWN]
        return True

    def _compute(self, argument: Any) -> bool:
        operands = {self._stack.pop(), self._stack.pop()}
        self._stack.append(_Value.OWN)
        return operands == {_Value.OWN}

    def _copy(self, argument: Any) -> bool:
        self._stack.append(self._stack[-argument])
        return True

    def _swap(self, argument: Any) -> bool:
        self._stack[-1], self._stack[-argument] = self._stack[-argument], self._stack[-1]
        return True

    def _drop(self, argument: Any) -> bool:
        self._stack.pop()
        return True


_CONSTANTS: Final = ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT")
_LOADS: Final = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
_HANDLERS: Final[dict[str, Callable[[_Interpretation, Any], bool]]] = {
    **dict.fromkeys(("RESUME", "NOP", "CACHE", "NOT_TAKEN", "RETURN_CONST"), _Interpretation._skip),
    **dict.fromkeys(_LOADS, _Interpretation._load),
    **dict.fromkeys(_CONSTANTS, _Interpretation._load_constant),
    "LOAD_ATTR": _Interpretation._load_attribute,
    "STORE_ATTR": _Interpretation._store_attribute,
    "BUILD_TUPLE": _Interpretation._build,
    "BUILD_LIST": _Interpretation._build,
    "BINARY_OP": _Interpretation._compute,
    "COPY": _Interpretation._copy,
    "SWAP": _Interpretation._swap,
    "POP_TOP": _Interpretation._drop,
    "RETURN_VALUE": _Interpretation._drop,
}
"""What each instruction does to the stack, by its name; all others may reach other code."""


def _customises_attributes(context_type: type) -> bool:
    """Whether reading or writing an attribute of the context may run code."""
    methods = ("__setattr__", "__getattribute__", "__getattr__")
    return any(name in vars(base) for base in context_type.__mro__[:-1] for name in methods)
