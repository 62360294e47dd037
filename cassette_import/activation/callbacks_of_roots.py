"""Callbacks of root calls: the Python code that a root in C, or in the standard library, calls for the program.

`overdub(ctx, map, f, xs)` runs `f` as `overdub(ctx, root)` does whose root is ``def root(): return map(f, xs)`` in the
module that calls `overdub`. So the files of that module and of the functions among the arguments are overdubbed.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from itertools import islice, repeat
from types import FrameType
from typing import Any, Final

from cassette_import.activation.adoption import adopted_file, instrument_functions_of, makes_functions
from cassette_import.errors import CassetteWarning
from cassette_import.interpreter import code_objects
from cassette_import.interpreter.callables import python_function, wrapped_by
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.runtime.callbacks_in_c import function_of, functions_behind
from cassette_import.runtime.driven_generators import SUSPENDABLE
from cassette_import.runtime.state import Activation
from cassette_import.specialization.registry import registry


def files_of_root(f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> frozenset[str]:
    """The files that are overdubbed for a root call, beside that of a root in Python itself, by name."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(PACKAGE_FOLDER) and frame.f_back is not None:
        frame = frame.f_back
    files: set[str | None] = set(map(registry.add_root, functions_behind([f, *arguments, *keywords.values()])))
    files |= files_of_wrapped(f, python_function(f))
    adopted = adopted_file(frame)
    if adopted is not None and makes_functions(frame.f_code):
        instrument_functions_of(frame, adopted)
    files.add(adopted)
    return frozenset(file for file in files if file is not None)


def files_of_wrapped(*roots: Any) -> frozenset[str]:
    """The files of the functions that roots wrap, as `functools.wraps` says: their decorators may be in other files."""
    functions = functions_behind([one for root in roots for one in islice(wrapped_by(root), _DECORATORS)])
    return frozenset(file for file in map(registry.add_root, functions) if file is not None)


_DECORATORS: Final = 20
"""How many decorators of one function are looked through."""


# ---- generators and coroutines that were made for the call


def _references(arguments: tuple[Any, ...]) -> list[int]:
    return list(map(sys.getrefcount, arguments))


_ALONE: Final = _references((object(),))[0]
"""The reference count of an argument that nothing else holds."""


def begun_inside(arguments: tuple[Any, ...], activation: Activation) -> tuple[Any, ...]:
    """The arguments of a root call, with new generators and coroutines in the places of those that were made for it.

    The frame of a generator holds the code that its function had when it was called: plain code, if that was before the
    first context. So, if it has not begun, and only the call holds it, its function is called once more, with the same
    arguments. If something else holds it, a warning says that it is plain.
    """
    counts = _references(arguments)
    return tuple([_begun(arguments, number, count, activation) for number, count in enumerate(counts)])


def _is_kept(value: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether something keeps a value that is among some arguments: not only the code that is calling with them."""
    holders = gc.get_referrers(value)
    if any(map(_keeps, holders, repeat(arguments))):
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        is_own = frame.f_code.co_filename.startswith(PACKAGE_FOLDER)
        if not is_own and id(value) in map(id, frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False


def _keeps(holder: Any, arguments: tuple[Any, ...]) -> bool:
    return holder is not arguments and type(holder) is not FrameType


def _begun(arguments: tuple[Any, ...], number: int, count: int, activation: Activation) -> Any:
    """An argument with so many references. A generator or coroutine begins in an activation, if that is possible."""
    suspendable = arguments[number]
    if type(suspendable) not in SUSPENDABLE:
        return suspendable
    prefix = SUSPENDABLE[type(suspendable)][:3]
    frame, function = getattr(suspendable, prefix + "frame"), function_of(suspendable)
    if frame is None or function is None or getattr(suspendable, prefix + "suspended", True):
        return suspendable
    code = frame.f_code
    if not registry.runs_plain(code, activation.roots):
        return suspendable
    if count > _ALONE and _is_kept(suspendable, arguments):
        _warn_of_plain_body(suspendable, frame)
        return suspendable
    registry.instrument_maker(function)
    values, count = frame.f_locals, code.co_argcount
    rest = count + code.co_kwonlyargcount
    names = code.co_varnames
    positional = [values[name] for name in names[:count]]
    keywords = {name: values[name] for name in names[count:rest]}
    if code.co_flags & code_objects.VARARGS:
        positional += values[names[rest]]
        rest += 1
    if code.co_flags & code_objects.VARKEYWORDS:
        keywords |= values[names[rest]]
    suspendable.close()
    return function(*positional, **keywords)


def _warn_of_plain_body(suspendable: Any, frame: FrameType) -> None:
    """Warn of a generator or coroutine that was made before the context was entered, and is in use elsewhere too."""
    caller = sys._getframe()
    while caller.f_code.co_filename.startswith(PACKAGE_FOLDER) and caller.f_back is not None:
        caller = caller.f_back
    place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
    warnings.warn_explicit(
        f"{suspendable.__qualname__} ({place}) began before any context was entered, so its body runs plain: "
        "pass it to the call without keeping it, or call it inside",
        CassetteWarning,
        caller.f_code.co_filename,
        caller.f_lineno,
    )
