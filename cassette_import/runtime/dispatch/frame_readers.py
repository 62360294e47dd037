"""Frame readers: functions that read the frame they are called from, and how they are called for another frame.

Call sites of the inlined form call them in the program's own frame. Elsewhere the call is made from a hidden frame, and
an overload calls them from its own one. There a stand-in calls them as they would have been called in the program's
frame: with its variables, its globals, and its `__future__` features.
"""

from __future__ import annotations
import __future__

import builtins
import functools
import sys
import typing
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.callables import CallableProxy
from cassette_import.interpreter.hidden_frames import hidden, hide

_FUTURES: Final = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def _call(function: Any, arguments: Any, keywords: Any) -> Any:
    return function(*arguments, **keywords)


@functools.cache
def _caller(flags: int) -> CodeType:
    """The hidden code of `_call`, whose `__future__` features are these."""
    return hide(_call.__code__.replace(co_flags=_call.__code__.co_flags & ~_FUTURES | flags))


@hidden
def _in_module_of(function: Any, frame: FrameType, *arguments: Any, **keywords: Any) -> Any:
    """Call a function from a hidden frame with the globals and the `__future__` features of another frame."""
    call = FunctionType(_caller(frame.f_code.co_flags & _FUTURES), frame.f_globals)
    return call(function, arguments, keywords)


@hidden
def _locals(frame: FrameType) -> Any:
    """`locals()` in a frame. Functions of a context have variables that the program does not see."""
    variables = frame.f_locals
    if not frame.f_code.co_flags & code_objects.OPTIMIZED:
        return variables
    names = [name for name in variables if name[:1] != "@"]
    is_own = type(variables) is dict and len(names) == len(variables)
    return variables if is_own else {name: variables[name] for name in names}


@hidden
def _vars(frame: FrameType, *arguments: Any) -> Any:
    return vars(*arguments) if arguments else _locals(frame)


@hidden
def _dir(frame: FrameType, *arguments: Any) -> Any:
    return dir(*arguments) if arguments else sorted(_locals(frame))


@hidden
def _globals(frame: FrameType) -> Any:
    return frame.f_globals


@hidden
def _super(frame: FrameType, *arguments: Any) -> Any:
    if arguments:
        return super(*arguments)
    code = frame.f_code
    variables = frame.f_locals
    if not code.co_argcount:
        raise RuntimeError("super(): no arguments")
    if code.co_varnames[0] not in variables:
        raise RuntimeError("super(): arg[0] deleted")
    if "__class__" not in variables:
        raise RuntimeError("super(): __class__ cell not found")
    return super(variables["__class__"], variables[code.co_varnames[0]])


_class_of_super: Final = super.__dict__["__thisclass__"].__get__  # the program's classes may have such attributes
_receiver_of_super: Final = super.__dict__["__self__"].__get__


@hidden
def arguments_of_super(callee: Any) -> tuple[Any, ...]:
    """What `super()` takes from the frame that calls this; nothing if the callee is another one, or would raise."""
    if callee is not super:
        return ()
    try:
        made = callee() if super in _SKIPS_HIDDEN else _super(sys._getframe(1))
    except (RuntimeError, TypeError):
        return ()
    return _class_of_super(made), _receiver_of_super(made)


@hidden
def _evaluate(function: Any, frame: FrameType, /, *arguments: Any, **keywords: Any) -> Any:
    """`eval` or `exec`, whose globals and locals are those of a frame if they are not given."""
    source, *given = arguments
    names = [*given, *[keywords.pop(name) for name in ("globals", "locals")[len(given) :] if name in keywords]]
    if not names or names[0] is None:
        own_locals = _locals(frame) if len(names) < 2 or names[1] is None else names[1]
        names = [frame.f_globals, own_locals]
    return _in_module_of(function, frame, source, *names, **keywords)


@hidden
def _getframe(frame: FrameType, depth: int = 0, /) -> Any:
    found: FrameType | None = frame
    for _ in range(depth):
        found = None if found is None else found.f_back
    if found is None:
        raise ValueError("call stack is not deep enough")
    return found


@hidden
def _getframemodulename(frame: FrameType, depth: int = 0) -> Any:
    try:
        return _getframe(frame, depth).f_globals.get("__name__")
    except ValueError:
        return None


@hidden
def _type(frame: FrameType, /, *arguments: Any, **keywords: Any) -> Any:
    if len(arguments) == 3 and type(arguments[2]) is dict and "__name__" in frame.f_globals:
        name, bases, namespace = arguments
        arguments = name, bases, {"__module__": frame.f_globals["__name__"], **namespace}
    return type(*arguments, **keywords)


@hidden
def _made_in_module(kind: Any, frame: FrameType, /, *arguments: Any, **keywords: Any) -> Any:
    made = _in_module_of(kind, frame, *arguments, **keywords)
    if sys.version_info < (3, 12):  # it is a class in Python, which finds the module of any visible frame
        made.__module__ = frame.f_globals.get("__name__")
    return made


_MODULE_READER: Final[Any] = getattr(sys, "_getframemodulename", None)  # from 3.12 on
READERS: Final[dict[int, tuple[Any, Callable[..., Any]]]] = {
    id(function): (function, call)
    for function, call in (
        (super, _super), (locals, _locals), (globals, _globals), (vars, _vars), (dir, _dir), (type, _type),
        (eval, functools.partial(_evaluate, eval)), (exec, functools.partial(_evaluate, exec)),
        (sys._getframe, _getframe), (compile, functools.partial(_in_module_of, compile)),
        *((getattr(typing, name), functools.partial(_made_in_module, getattr(typing, name))) for name in
          ("TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType") if hasattr(typing, name)),
        *(((_MODULE_READER, _getframemodulename),) if _MODULE_READER else ()),
    )
}  # fmt: skip
"""By identity: the functions that read the frame of their caller, and what calls them for a frame."""

_SKIPS_HIDDEN: Final = (super, locals, globals, vars, dir, type, _MODULE_READER) if sys.version_info >= (3, 12) else ()
"""Functions that take no hidden frame for that of their caller."""


def _stand_in(function: Any, call: Callable[..., Any]) -> CallableProxy:
    @hidden
    def call_for_caller(*arguments: Any, **keywords: Any) -> Any:
        return call(sys._getframe(1), *arguments, **keywords)

    return CallableProxy(function, call_for_caller)


STAND_INS: Final[dict[int, CallableProxy]] = {
    key: _stand_in(function, call) for key, (function, call) in READERS.items() if function not in _SKIPS_HIDDEN
}
"""By identity: what hidden frames call in the place of frame readers."""


@hidden
def stand_in_of(callee: Any, function: Any) -> Any:
    """What a hidden frame calls in the place of a callee whose function is a frame reader."""
    if callee is function:
        return STAND_INS[id(function)]
    if type(callee) is functools.partial and callee.func is function:
        return functools.partial(STAND_INS[id(function)], *callee.args, **callee.keywords)
    return callee


_NO_ARGUMENTS: Final = frozenset(map(id, (super, locals, globals, vars, dir)))
_ARGUMENTS_OF_TYPE: Final = 3


def reads_frame(function: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether a call of a function reads the frame that makes it."""
    key = id(function)
    if key in _NO_ARGUMENTS:
        return not arguments
    return function is not type or len(arguments) == _ARGUMENTS_OF_TYPE


@hidden
def for_frame(function: Any, frame: FrameType) -> CallableProxy:
    """A frame reader for an overload, which calls it for the frame of the event."""
    return CallableProxy(function, functools.partial(READERS[id(function)][1], frame))


FRAME_READERS: Final[set[int]] = {
    *(READERS.keys() - {id(compile), *((id(type),) if sys.version_info >= (3, 12) else ())}),
    *map(id, (breakpoint, __import__, sys.exc_info, builtins.__build_class__)),
}
"""Callables that call sites call without a proxy where an event only moves metadata."""
