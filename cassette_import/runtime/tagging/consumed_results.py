"""What special methods of the program return to the interpreter, which decides by it: `__bool__`, `__len__` and so on.

The interpreter, or a leaf, gets the plain value, and no event shows what it does with it. So the context types are
asked when the method returns, as they are where a leaf tests a value itself. The same applies to truth values that
Python code gets which is not overdubbed: `functools.total_ordering` tests what `__lt__` returns.
"""

from __future__ import annotations

import operator
from types import FrameType, FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.runtime.names import is_rewritten
from cassette_import.runtime.state import ACTIVE, call_as_hook
from cassette_import.runtime.tagging.handover import CONSUMED
from cassette_import.runtime.tagging.wrappers import Tagged, plain

_TESTED: Final = {
    **dict.fromkeys(("__bool__", "__exit__", "__aexit__"), operator.truth),
    "__instancecheck__": isinstance,
    "__subclasscheck__": issubclass,
}
"""Methods whose result is a truth value, and the function that tests it."""
_NEEDED: Final = {
    "__len__": len,
    "__index__": operator.index,
    "__hash__": hash,
    "__length_hint__": operator.length_hint,
}
"""Methods whose result is a number that the interpreter counts with, and the function that asks for it."""
_MOST_PARAMETERS: Final = 4


@hidden
def _consumed(value: Tagged, frame: FrameType) -> Any:
    """What a function returns: the plain value if a context has decided it, because the interpreter will."""
    activation = ACTIVE.get()
    for level, tag in enumerate(activation.tags):
        if tag is None or tag not in value._tagged_metas:
            continue
        for methods, hook in ((_TESTED, tag.tested), (_NEEDED, tag.needed)):
            function = methods.get(_special_name(frame, methods)) if hook is not None else None
            if function is None and hook is not None and methods is _TESTED and _is_unseen(value, frame.f_back):
                function = operator.truth
            if function is not None:
                return call_as_hook(activation, level, hook, activation.contexts[level], function, value)
    return value


def _special_name(frame: FrameType, methods: dict[str, Any]) -> str:
    """Which of these methods a frame is of, also if the class has the function by another name; "" if of none."""
    code = frame.f_code
    if code.co_name in methods or not 1 <= code.co_argcount <= _MOST_PARAMETERS:
        return code.co_name
    kind = type(plain(frame.f_locals.get(code.co_varnames[0])))
    for name in methods:
        method = lookup(kind, name)
        if type(method) is FunctionType:
            found = method.__code__
            if (found.co_firstlineno, found.co_filename) == (code.co_firstlineno, code.co_filename):
                return name if found.co_name == code.co_name else ""
    return ""


def _is_unseen(value: Tagged, caller: FrameType | None) -> bool:
    """Whether a truth value is returned to Python code that is not overdubbed."""
    if type(value._tagged_value) is not bool or caller is None:
        return False
    code = caller.f_code
    return not code.co_filename.startswith(PACKAGE_FOLDER) and not is_rewritten(code)


CONSUMED.append(_consumed)
