"""Which functions a graph may call, which change something, and which give a result of a certain type.

What is not listed here is refused: it may read a clock, or write a file.
"""

from __future__ import annotations

import builtins
import collections
import functools
import math
import operator
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType, NoneType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.contexts.graph.nodes import Constant, Node, Template

__all__ = [
    "BINARY",
    "IN_PLACE",
    "MUTATORS",
    "OPERATORS",
    "UNARY",
    "is_pure",
    "keeps_types",
    "makes_text",
    "module_of",
    "never_raises",
]

# ---- operations that raise for no values of the types that their operands have, so that unused ones can be left out
#
# What is not listed here may raise, and stays in a program.

_FLOATS: Final = frozenset({float, bool})
_INTEGERS: Final = frozenset({int, bool})
_NUMBERS: Final = _FLOATS | _INTEGERS
_TEXTS: Final = frozenset({str})
_PLAIN: Final = _NUMBERS | _TEXTS | {NoneType}
_LARGEST: Final = 2**1000
"""Integers up to here can be converted to float."""

_KINDS: Final[dict[Any, tuple[frozenset[type], ...]]] = {
    **dict.fromkeys((operator.add, operator.sub, operator.mul), (_FLOATS, _INTEGERS)),
    **dict.fromkeys((operator.neg, operator.pos, operator.abs, abs), (_FLOATS, _INTEGERS)),
    **dict.fromkeys((operator.lt, operator.le, operator.gt, operator.ge), (_NUMBERS, _TEXTS)),
    **dict.fromkeys((operator.eq, operator.ne, operator.not_, operator.truth, bool), (_PLAIN,)),
    **dict.fromkeys((math.fabs, math.copysign, math.isnan, math.isinf, math.isfinite, math.atan), (_FLOATS,)),
    **dict.fromkeys((math.degrees, math.radians, float), (_FLOATS,)),
    **dict.fromkeys((str, repr), (_FLOATS | _TEXTS,)),
    **dict.fromkeys((len, str.upper, str.lower, str.title, str.capitalize, str.swapcase, str.casefold), (_TEXTS,)),
    **dict.fromkeys((str.isdigit, str.isalpha, str.isalnum, str.isspace, str.isupper, str.islower), (_TEXTS,)),
    int: (_INTEGERS,),
}
"""The types that all operands may have: one of these sets has to contain them. `int` of a text and the text of a long
integer may raise; so may an integer with a float, since it may be too large; and a text repeated may be too long."""
_OF_TWO: Final = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.lt, operator.le, operator.gt, operator.ge),
        *(operator.eq, operator.ne, math.copysign),
    }
)
"""The functions of two operands; the others have one."""


def never_raises(node: Node) -> bool:
    """Whether an operation raises no exception, whatever values its operands have, if these have their known types."""
    sets = None if node.keywords or not node.fixed else _KINDS.get(node.function)
    if sets is None or len(node.operands) != (2 if node.function in _OF_TWO else 1):
        return False
    kinds = {_kind(one) for one in node.operands if not _is_small(one)}
    return any(kinds <= one for one in sets)


def _kind(operand: Template) -> type | None:
    """The type of an operand; None if another run may have another one."""
    if isinstance(operand, Node):
        return operand.type if operand.fixed else None
    return type(operand.value) if isinstance(operand, Constant) else None


def _is_small(operand: Template) -> bool:
    """Whether an operand is a known integer that fits any other number."""
    return isinstance(operand, Constant) and type(operand.value) is int and abs(operand.value) < _LARGEST


# ---- which functions a graph may call, which change something, and which give a result of a certain type

BINARY: Final[dict[Any, str]] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.matmul: "@", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.concat: "+",
    operator.lt: "<", operator.le: "<=", operator.eq: "==", operator.ne: "!=", operator.gt: ">", operator.ge: ">=",
}  # fmt: skip
UNARY: Final[dict[Any, str]] = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}
OPERATORS: Final = (*BINARY, *UNARY)
IN_PLACE: Final = {
    getattr(operator, f"i{name}"): getattr(operator, f"{name}_" if name in ("and", "or") else name)
    for name in (
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"),
    )
}
"""The operator that does the same with immutable values."""

_PURE_MODULES: Final = frozenset(
    {
        *("builtins", "math", "cmath", "_operator", "operator", "itertools", "functools", "_functools"),
        *("collections", "_collections", "collections.abc", "_collections_abc", "copy", "copyreg", "fractions"),
        *("numbers", "statistics", "_statistics", "string", "_string", "re", "re._compiler", "_bisect", "bisect"),
        *("_heapq", "heapq", "struct", "_struct", "enum", "types", "typing", "abc", "_abc", "dataclasses", "zlib"),
        *("binascii", "base64", "unicodedata", "textwrap", "colorsys", "keyword", "contextlib", "json", "weakref"),
        *(
            "_weakref",
            "datetime",
            "html",
            "markupsafe",
            "markupsafe._speedups",
            "hashlib",
            "_hashlib",
            "inspect",
            "cassette_import.rewriting.primitives",
        ),
    }
)
_IMPURE: Final = frozenset(
    map(
        id,
        (
            *(print, open, input, exec, eval, compile, breakpoint, id, builtins.__import__, globals, locals, vars),
            *(object.__hash__, memoryview),
        ),
    )
)
_IMPURE_NAMES: Final = frozenset(
    {("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"), ("date", "today"), ("datetime", "astimezone")}
    | {("datetime", "fromtimestamp"), ("date", "fromtimestamp"), ("datetime", "timestamp")}
)
_IMPURE_ARRAYS: Final = frozenset(
    {
        *("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "save", "savez", "savetxt", "load"),
        *("loadtxt", "genfromtxt", "fromfile", "memmap", "sort", "fill", "partition", "resize", "setfield", "setflags"),
        *("itemset", "tofile", "dump", "byteswap", "set_printoptions", "seterr", "vectorize"),
        *("apply_along_axis", "apply_over_axes", "frompyfunc", "fromfunction", "piecewise", "fromiter"),
    }
)
"""Functions and methods of NumPy that change something, depend on something, or call functions of the program."""
_PURE_ON_COPIES: Final = frozenset({"sort", "partition", "resize"})
"""Of these names, NumPy's functions make copies; the methods change their array."""

MUTATORS: Final[dict[int, Any]] = {
    id(getattr(kind, name)): getattr(kind, name)
    for kind, names in (
        (list, "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__ __init__"),
        (dict, "update pop popitem setdefault clear __setitem__ __delitem__ __ior__ __init__"),
        (set, "add discard remove pop clear update intersection_update difference_update"),
        (set, "symmetric_difference_update __ior__ __iand__ __isub__ __ixor__"),
        (collections.deque, "append appendleft extend extendleft insert pop popleft remove clear rotate reverse"),
        (collections.OrderedDict, "move_to_end pop popitem clear"),
        (bytearray, "append extend insert pop remove clear reverse __setitem__ __delitem__"),
        (object, "__setattr__ __delattr__"),
    )
    for name in names.split()
}
"""The functions that change their first argument, by identity; `setattr` and subscripts are events of their own."""
for _function in (setattr, delattr, operator.setitem, operator.delitem, *IN_PLACE):
    MUTATORS[id(_function)] = _function

_KEEP_TYPES: Final = frozenset(
    {
        *map(id, (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)),
        *map(id, (operator.neg, operator.pos, operator.lt, operator.le, operator.gt, operator.ge, operator.eq)),
        *map(id, (operator.ne, operator.not_, operator.is_, operator.is_not, operator.contains, abs, len, float, int)),
        *map(id, (str, repr, format, bool, complex, round, operator.truth)),
        *(id(function) for function in vars(math).values() if type(function) is BuiltinFunctionType),
        *(id(function) for function in vars(str).values() if type(function) is MethodDescriptorType),
    }
)
"""Functions whose result has a type that depends on the types of the arguments only, if these are numbers and texts."""


def keeps_types(function: Any) -> bool:
    """Whether the type of the result depends on the types of the arguments only, if these are numbers and texts."""
    return id(function) in _KEEP_TYPES


def makes_text(function: Any) -> bool:
    """Whether a function makes a text of a class of the program, and runs none of the program's code for it."""
    if function is str or not (isinstance(function, type) and issubclass(function, str)):
        return function is str.__new__
    return function.__new__ is str.__new__ and function.__init__ is object.__init__


@functools.lru_cache(maxsize=4096)
def _is_numpy(module: str) -> bool:
    return module.partition(".")[0] == "numpy" and not module.startswith(("numpy.random", "numpy.ctypeslib"))


def module_of(function: Any) -> str:
    """The module of a function, class or method; empty if it says none."""
    owner = getattr(function, "__objclass__", None)
    if owner is None:
        receiver = getattr(function, "__self__", None)
        owner = function if receiver is None or isinstance(receiver, ModuleType) else type(receiver)
        if isinstance(receiver, type):
            owner = receiver
    found = getattr(owner, "__module__", None)
    if not isinstance(found, str):
        found = getattr(type(function), "__module__", "")
    return found if isinstance(found, str) else ""


def is_pure(function: Any) -> bool:
    """Whether the result of a function depends on its arguments only, and a call changes at most its first argument.

    >>> import time
    >>> is_pure(math.sin), is_pure(str.upper), is_pure(time.time), is_pure(print)
    (True, True, False, False)
    """
    if id(function) in _IMPURE:
        return False
    module, name = module_of(function), getattr(function, "__name__", "")
    if _is_numpy(module):
        method = isinstance(function, (MethodDescriptorType, WrapperDescriptorType)) or (
            type(function) is BuiltinFunctionType and not isinstance(function.__self__, (ModuleType, type(None)))
        )
        return name not in _IMPURE_ARRAYS or (name in _PURE_ON_COPIES and not method)
    if module not in _PURE_MODULES:
        return False
    if module == "json" and name in ("load", "dump"):
        return False
    if module == "datetime":
        owner = getattr(function, "__objclass__", getattr(function, "__self__", None))
        return (getattr(owner, "__name__", ""), name) not in _IMPURE_NAMES
    if type(function) is FunctionType and module == "inspect":  # others read source files, or frames
        return name.startswith("is") or name in ("signature", "getfullargspec", "unwrap", "cleandoc")
    return True
