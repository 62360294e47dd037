"""What functions outside of the program do with values: compute element by element, move, change, or nothing."""

from __future__ import annotations

import builtins
import cmath
import collections
import copy
import dataclasses
import datetime
import functools
import itertools
import math
import operator
import statistics
import typing
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

__all__ = [
    "ARITHMETIC",
    "CHANGING",
    "COMPARISONS",
    "EFFECTS",
    "ELEMENTWISE",
    "KEEPS_ITERATORS",
    "MOVING",
    "PARTS",
    "PURE_MODULES",
    "SEQUENCE_FUNCTIONS",
    "STANDARD_LIBRARY",
    "TAKES_ITERATORS",
    "WITHOUT_STATE",
]

ARITHMETIC: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift")
COMPARISONS: Final = ("lt", "le", "eq", "ne", "gt", "ge")
_OF_OPERATOR: Final = (*ARITHMETIC, *COMPARISONS, "and_", "or_", "xor", "neg", "pos", "invert", "inv", "abs")
_OF_SEQUENCES: Final = {"fsum", "prod", "dist", "sumprod"}

_OF_STATISTICS: Final = tuple(function for name, function in vars(statistics).items() if name == "_normal_dist_inv_cdf")

SEQUENCE_FUNCTIONS: Final = frozenset(getattr(math, name) for name in _OF_SEQUENCES if hasattr(math, name))
"""Functions of sequences of numbers."""

PARTS: Final[dict[str, Any]] = {
    "real": operator.attrgetter("real"),
    "imag": operator.attrgetter("imag"),
    "conjugate": operator.methodcaller("conjugate"),
}
"""Attributes and methods of numbers that have a rule, by name."""

ELEMENTWISE: Final[frozenset[Any]] = frozenset(
    {
        *(
            function
            for module in (math, cmath)
            for name, function in vars(module).items()
            if callable(function) and name not in _OF_SEQUENCES and name[:2] != "__"
        ),
        *(float, int, bool, complex, str, abs, round, divmod, pow, ord, chr, hex, oct, bin, repr, ascii, format),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
        *(datetime.date.fromordinal, datetime.datetime.fromtimestamp, datetime.datetime.combine),
        *_OF_STATISTICS,
        *(Decimal, Fraction, int.from_bytes, float.fromhex, operator.index, operator.truth, operator.not_),
        *(getattr(operator, name) for name in _OF_OPERATOR),
        *PARTS.values(),
    }
)
"""Functions of immutable values, which are called for each lane."""

MOVING: Final[frozenset[Any]] = frozenset(
    {
        *(list, tuple, dict, set, frozenset, zip, enumerate, reversed, iter, next, len, map, filter, any, all),
        *(
            isinstance,
            issubclass,
            getattr,
            hasattr,
            callable,
            slice,
            super,
            object,
            property,
            staticmethod,
            classmethod,
        ),
        *(copy.copy, copy.deepcopy, dataclasses.replace, dataclasses.asdict, dataclasses.astuple, dataclasses.field),
        *(functools.partial, functools.reduce, functools.cmp_to_key, functools.wraps, functools.update_wrapper),
        *(collections.deque, collections.OrderedDict, collections.defaultdict, collections.namedtuple),
        *(value for name, value in vars(itertools).items() if isinstance(value, type)),
        *(operator.itemgetter, operator.attrgetter, operator.methodcaller, operator.getitem, operator.concat),
        *(getattr(typing, name) for name in ("cast", "assert_type") if hasattr(typing, name)),
    }
)
"""Functions that may get values of lanes in any place: they move them, or use their methods only."""

TAKES_ITERATORS: Final[frozenset[Any]] = frozenset(
    {
        *(list, tuple, dict, set, frozenset, zip, enumerate, next, map, filter, any, all, sum, min, max, sorted),
        *(value for name, value in vars(itertools).items() if isinstance(value, type)),
        *(functools.reduce, collections.deque, math.fsum, math.prod, operator.contains),
    }
)
"""Functions that advance an iterator, among those with a rule and those that move."""

KEEPS_ITERATORS: Final = frozenset({"append", "appendleft", "add", "insert", "setdefault", "__setitem__", "setattr"})
"""Names of functions that store an iterator as it is."""

EFFECTS: Final[frozenset[Any]] = frozenset(
    {
        *(print, open, input, exec, eval, compile, globals, setattr, delattr, breakpoint, id, hash, memoryview),
        *(datetime.date.today, datetime.datetime.today, datetime.datetime.now, datetime.datetime.utcnow),
        builtins.__import__,
    }
)
"""Builtins that reach out of the call, or that depend on more than their arguments."""

EFFECTS_BY_NAME: Final = frozenset(
    {
        *(("_bisect", name) for name in ("insort", "insort_left", "insort_right")),
        *(
            ("_operator", name)
            for name in ("setitem", "delitem", "iconcat", "iadd", "imul", "ior", "iand", "isub", "ixor")
        ),
        *(("json", "dump"), ("_struct", "pack_into"), ("calendar", "setfirstweekday")),
    }
)
"""Functions of modules without effects that have some, as module and name."""

PURE_MODULES: Final = frozenset(
    [
        "builtins",
        "math",
        "cmath",
        "_operator",
        "operator",
        "itertools",
        "functools",
        "_functools",
        "collections",
        "_collections",
        "copy",
        "fractions",
        "decimal",
        "_decimal",
        "numbers",
        "statistics",
        "_statistics",
        "string",
        "re",
        "_bisect",
        "bisect",
        "struct",
        "_struct",
        "enum",
        "types",
        "typing",
        "abc",
        "dataclasses",
        "datetime",
        "zlib",
        "binascii",
        "base64",
        "unicodedata",
        "textwrap",
        "calendar",
        "json",
        "colorsys",
        "keyword",
        "contextlib",
    ]
)
"""Modules whose functions have no effects, `EFFECTS` and the methods in `CHANGING` aside."""

STANDARD_LIBRARY: Final = ("collections", "_collections_abc", "queue", "colorsys")
"""Modules of the standard library whose code in Python computes with values, or keeps them: they are converted
like the program."""

WITHOUT_STATE: Final = frozenset(
    [
        *("builtins", "string", "textwrap", "json", "datetime", "decimal", "_decimal", "fractions", "re", "struct"),
        *("_struct", "calendar", "statistics", "operator", "_operator", "enum", "types"),
    ]
)
"""Modules whose objects are not changed by their methods, containers aside."""

CHANGING: Final[dict[type, frozenset[str]]] = {
    list: frozenset(
        [
            "append",
            "extend",
            "insert",
            "pop",
            "remove",
            "clear",
            "sort",
            "reverse",
            "__setitem__",
            "__delitem__",
            "__iadd__",
            "__imul__",
        ]
    ),
    dict: frozenset(
        ["update", "pop", "popitem", "setdefault", "move_to_end", "clear", "__setitem__", "__delitem__", "__ior__"]
    ),
    set: frozenset(
        [
            "add",
            "discard",
            "remove",
            "pop",
            "clear",
            "update",
            "intersection_update",
            "difference_update",
            "symmetric_difference_update",
        ]
    ),
    collections.deque: frozenset(
        [
            "append",
            "appendleft",
            "extend",
            "extendleft",
            "insert",
            "pop",
            "popleft",
            "remove",
            "clear",
            "rotate",
            "reverse",
        ]
    ),
    bytearray: frozenset(["append", "extend", "insert", "pop", "remove", "clear", "reverse"]),
}
"""The methods that change their object."""
