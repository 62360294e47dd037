"""What a hook does with what it is given: whether it needs all of it, and whether it can reach overdubbed code at all.

Decided from its bytecode. A hook that provably reaches no overdubbed code need not be suspended.

Knows functions and instructions; must not know events.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import unwatched
from cassette_import.rewriting.trees.scopes import LOOKS_AT_LOCALS

_SELF, _OWN, _GIVEN = "the context", "of the context", "of the program"


def handing_on(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A hook that `touches_only_itself`, as a function of the context and a value, which it returns.

    Its code goes straight to its one return. Nothing reads its second variable.
    """
    assert type(function) is FunctionType
    code = function.__code__
    *_, before, last = dis.get_instructions(code)
    leaves_a_value = last.opname == "RETURN_VALUE"
    drops_it = leaves_a_value and before.opname not in _CONSTANTS
    kept = code.co_code[: before.offset if leaves_a_value and not drops_it else last.offset]
    kept += bytes([dis.opmap["POP_TOP"], 0]) * drops_it
    kept += bytes([dis.opmap["LOAD_FAST"], 1, dis.opmap["RETURN_VALUE"], 0])
    added = (len(kept) - len(code.co_code)) // 2
    names = code.co_varnames if len(code.co_varnames) > 1 else (*code.co_varnames, "value")
    made = code.replace(
        co_argcount=2,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS),
        co_code=kept,
        co_varnames=names,
        co_nlocals=len(names),
        # On the line of the last instruction, without columns: https://github.com/python/cpython, locations.md
        co_linetable=code.co_linetable + (bytes([0x80 | 13 << 3 | added - 1, 0]) if added else b""),
    )
    return FunctionType(made, function.__globals__, function.__name__)


def reads_no_arguments(method: Callable[..., Any], leading: int) -> bool:
    """Whether a hook takes the arguments of a call as `*args`, and `**kwargs`, and never looks at them."""
    if type(method) is not FunctionType:
        return False
    code = method.__code__
    if code.co_argcount != leading or code.co_kwonlyargcount or not code.co_flags & inspect.CO_VARARGS:
        return False
    rest = {*code.co_varnames[leading : leading + 1 + bool(code.co_flags & inspect.CO_VARKEYWORDS)]}
    if (
        rest & {*code.co_cellvars}
        or LOOKS_AT_LOCALS & {*code.co_names}
        or any(name[0] == "@" for name in code.co_names)
    ):
        return False
    for instruction in dis.get_instructions(code):
        named = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if "FAST" in instruction.opname and not rest.isdisjoint(named):
            return False
    return True


def without_rest(function: FunctionType) -> FunctionType:
    """A copy of such a hook that takes no arguments of calls."""
    code = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    made = FunctionType(
        unwatched(code.replace(co_flags=flags)),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__qualname__ = function.__qualname__
    return made


def touches_only_itself(method: Callable[..., Any], context_type: type) -> bool:
    """Whether a hook only counts: reads and writes attributes of its context, and computes with them and constants.

    (An attribute that holds a number with overdubbed operators would be an exception that nobody has seen.)
    """
    return _follow(method, context_type, {_SELF})


def only_keeps(method: Callable[..., Any], context_type: type) -> bool:
    """Whether a hook does no more than that, and keep what it is given in attributes of its context."""
    return _follow(method, context_type, {_SELF, _GIVEN})


def _follow(method: Callable[..., Any], context_type: type, loaded: set[str]) -> bool:
    """Go through the instructions with what is on the stack; False at the first that may reach anything else."""
    if (
        type(method) is not FunctionType
        or not method.__code__.co_argcount
        or method.__code__.co_freevars
        or _has_ways_of_its_own(context_type)
    ):
        return False
    context, stack = method.__code__.co_varnames[0], list[str]()
    for instruction in dis.get_instructions(method):
        operation, argument = instruction.opname, instruction.argval
        if operation in _NOTHING:
            continue
        if operation in _LOADS:
            for name in argument if isinstance(argument, tuple) else (argument,):
                stack.append(_SELF if name == context else _GIVEN)
                if stack[-1] not in loaded:
                    return False
        elif operation in _CONSTANTS:
            stack.append(_OWN)
        elif operation in ("LOAD_ATTR", "STORE_ATTR"):
            if stack.pop() != _SELF or hasattr(getattr(context_type, argument, None), "__get__"):
                return False
            if operation == "LOAD_ATTR":
                stack.append(_OWN)
            else:
                stack.pop()
        elif operation in ("BUILD_TUPLE", "BUILD_LIST"):
            count = len(stack) - argument
            stack[count:] = [_GIVEN if _GIVEN in stack[count:] else _OWN]
        elif operation == "BINARY_OP":
            if {stack.pop(), stack.pop()} != {_OWN}:
                return False
            stack.append(_OWN)
        elif operation == "COPY":
            stack.append(stack[-argument])
        elif operation == "SWAP":
            stack[-1], stack[-argument] = stack[-argument], stack[-1]
        elif operation in ("POP_TOP", "RETURN_VALUE"):
            stack.pop()
        else:
            return False
    return True


def _has_ways_of_its_own(context_type: type) -> bool:
    """Whether reading or writing an attribute of the context may run code."""
    ways = ("__setattr__", "__getattribute__", "__getattr__")
    return any(way in vars(base) for base in context_type.__mro__[:-1] for way in ways)


_NOTHING: Final = frozenset({"RESUME", "NOP", "CACHE", "NOT_TAKEN", "RETURN_CONST"})
_CONSTANTS: Final = frozenset({"LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT"})
_LOADS: Final = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"})
