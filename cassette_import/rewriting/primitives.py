"""Primitives: for each kind of syntax, the function that does the same, with which hooks are called as `f`.

Where Python has no such function, it is defined here. ``python -m cassette_import primitives`` prints the table.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from cassette_import.interpreter.callables import special
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Record
from cassette_import.rewriting.events import Events

# ---- displays and literals


@hidden
def build_list(*items: Any) -> list[Any]:
    """`[a, b]`."""
    return list(items)


@hidden
def build_tuple(*items: Any) -> tuple[Any, ...]:
    """`a, b`."""
    return items


@hidden
def build_set(*items: Any) -> set[Any]:
    """`{a, b}`."""
    return {*items}


@hidden
def build_dict(*keys_and_values: Any) -> dict[Any, Any]:
    """`{a: b, c: d}`, called with ``a, b, c, d``."""
    values = iter(keys_and_values)
    return dict(zip(values, values, strict=True))


@hidden
def build_string(*parts: str) -> str:
    """An f-string, of its parts after formatting."""
    return parts[0] if len(parts) == 1 else "".join(parts)


@hidden
def build_template(*parts: Any) -> Any:
    """A t-string (PEP 750), of its strings and `Interpolation` objects."""
    from string.templatelib import Template  # type: ignore[import-not-found,unused-ignore]  # from 3.14 on

    return Template(*parts)


@hidden
def number(value: Any) -> Any:
    """A literal number."""
    return value


# ---- names of modules


@hidden
def load_global(namespace: dict[str, Any], name: str) -> Any:
    """The value of a global name: of the module's namespace, or a builtin."""
    value = namespace.get(name, _NOTHING) if type(namespace) is dict else _item(namespace, name)
    if value is _NOTHING:
        found = namespace.get("__builtins__", builtins)
        found = vars(found) if isinstance(found, ModuleType) else found
        value = found.get(name, _NOTHING) if type(found) is dict else _item(found, name)
    if value is _NOTHING:
        raise NameError(f"name {name!r} is not defined", name=name)
    return value


_NOTHING: Final = object()


@hidden
def _item(mapping: Any, name: str) -> Any:
    """The item of a mapping of the program's own, or `_NOTHING`.

    For a dict `get` is used: tracers would be notified of the `KeyError`.
    """
    try:
        return mapping[name]
    except KeyError:
        return _NOTHING


@hidden
def store_global(namespace: dict[str, Any], name: str, value: Any) -> None:
    """Assign to a global name."""
    namespace[name] = value


@hidden
def delete_global(namespace: dict[str, Any], name: str) -> None:
    """Delete a global name."""
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined", name=name)
    del namespace[name]


# ---- control flow: the result replaces the value


@hidden
def return_value(value: Any = None) -> Any:
    """`return value`: its result is returned."""
    return value


@hidden
def yield_value(value: Any = None) -> Any:
    """`yield value`: its result is yielded."""
    return value


@hidden
def await_value(awaitable: Any) -> Any:
    """`await awaitable`: its result is awaited."""
    return awaitable


@hidden
def raise_exception(exception: Any = None, cause: Any = None) -> Any:
    """`raise exception from cause`: its result is raised. A bare `raise` has no arguments."""
    return exception


@hidden
def enter_context(manager: Any) -> Any:
    """The start of `with manager as target`: its result is bound to the target."""
    return special(manager, "__enter__")()


@hidden
def exit_context(manager: Any, kind: Any = None, value: Any = None, traceback: Any = None) -> Any:
    """The end of a `with` block: whether the exception is suppressed."""
    return special(manager, "__exit__")(kind, value, traceback)


@hidden
def enter_async_context(manager: Any) -> Any:
    """The start of `async with manager as target`: an awaitable of the value that is bound to the target."""
    return special(manager, "__aenter__")()


@hidden
def exit_async_context(manager: Any, kind: Any = None, value: Any = None, traceback: Any = None) -> Any:
    """The end of an `async with` block: an awaitable."""
    return special(manager, "__aexit__")(kind, value, traceback)


@hidden
def import_name(
    name: str, namespace: Any = None, local_names: Any = None, names: tuple[str, ...] | None = None, level: int = 0
) -> Any:
    """`import name`, or ``from name import names``: the module that `__import__` returns."""
    found = builtins if namespace is None else namespace.get("__builtins__", builtins)
    lookup = vars(found) if isinstance(found, ModuleType) else found
    return lookup["__import__"](name, namespace, local_names, names, level)


# ---- the table


class Primitive(Record):
    """One row of the table: `syntax` is an event of kind `event`, and hooks are called with `function` as `f`."""

    event: Events
    syntax: str
    function: Callable[..., Any] | None
    name: str


# The operators that nodes of syntax trees have, by the names of their classes.
BINARY: Final[dict[str, str]] = {
    "Add": "operator.add",
    "Sub": "operator.sub",
    "Mult": "operator.mul",
    "MatMult": "operator.matmul",
    "Div": "operator.truediv",
    "FloorDiv": "operator.floordiv",
    "Mod": "operator.mod",
    "Pow": "operator.pow",
    "LShift": "operator.lshift",
    "RShift": "operator.rshift",
    "BitAnd": "operator.and_",
    "BitOr": "operator.or_",
    "BitXor": "operator.xor",
}
INPLACE: Final[dict[str, str]] = {kind: name.replace(".", ".i").rstrip("_") for kind, name in BINARY.items()}
UNARY: Final[dict[str, str]] = {
    "USub": "operator.neg",
    "UAdd": "operator.pos",
    "Invert": "operator.invert",
    "Not": "operator.not_",
}
COMPARE: Final[dict[str, str]] = {
    "Lt": "operator.lt",
    "LtE": "operator.le",
    "Eq": "operator.eq",
    "NotEq": "operator.ne",
    "Gt": "operator.gt",
    "GtE": "operator.ge",
    "Is": "operator.is_",
    "IsNot": "operator.is_not",
    "In": "operator.contains",
    "NotIn": "operator.contains",
}
_SYMBOLS: Final[dict[str, str]] = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "is_": "is", "is_not": "is not",
    "neg": "-", "pos": "+", "invert": "~", "not_": "not ",
}  # fmt: skip


def _symbol(name: str) -> str:
    return _SYMBOLS[name.removeprefix("operator.")]


def _operators() -> list[Primitive]:
    rows = [(f"a {_symbol(name)} b", name) for name in BINARY.values()]
    rows += [(f"a {_symbol(BINARY[kind])}= b", name) for kind, name in INPLACE.items()]
    rows += [(f"a {_symbol(name)} b", name) for name in COMPARE.values() if name != "operator.contains"]
    rows += [("b in a", "operator.contains"), ("b not in a", "operator.contains")]
    rows += [(f"{_symbol(name)}a", name) for name in UNARY.values()]
    rows += [("a[b]", "operator.getitem"), ("a[b] = c", "operator.setitem"), ("del a[b]", "operator.delitem")]
    return [
        Primitive(Events.OPERATORS, syntax, getattr(operator, name.removeprefix("operator.")), name)
        for syntax, name in rows
    ]


def _own(event: Events, rows: list[tuple[str, Callable[..., Any]]]) -> list[Primitive]:
    return [Primitive(event, syntax, function, f"primitives.{function.__name__}") for syntax, function in rows]


def _builtin(event: Events, rows: list[tuple[str, Callable[..., Any]]]) -> list[Primitive]:
    return [Primitive(event, syntax, function, function.__name__) for syntax, function in rows]


TABLE: Final[tuple[Primitive, ...]] = (
    Primitive(Events.CALLS, "f(...)", None, "the callee"),
    Primitive(Events.CALLS, "@decorator", None, "the decorator"),
    *_operators(),
    *_builtin(Events.ATTRIBUTES, [("a.b", getattr), ("a.b = c", setattr), ("del a.b", delattr)]),
    *_builtin(
        Events.ITERATION,
        [
            ("for, comprehension, a, b = c, f(*c), [*c], yield from c: at the start", iter),
            ("the same: each step", next),
            ("async for: at the start", aiter),
            ("async for: each step", anext),
        ],
    ),
    Primitive(
        Events.TRUTH, "if, while, and, or, assert, a if b else c, comprehension if", operator.truth, "operator.truth"
    ),
    *_own(
        Events.DISPLAYS,
        [
            ("[a, b]", build_list),
            ("(a, b)", build_tuple),
            ("{a, b}", build_set),
            ("{a: b}", build_dict),
            ('f"..."', build_string),
            ('t"..."', build_template),
            ("1, 1.5, 1j", number),
        ],
    ),
    *_own(
        Events.NAMES,
        [("name of a module", load_global), ("name = a", store_global), ("del name", delete_global)],
    ),
    *_own(
        Events.CONTROL,
        [
            ("return a", return_value),
            ("yield a", yield_value),
            ("await a", await_value),
            ("raise a from b", raise_exception),
            ("with a: at the start", enter_context),
            ("with a: at the end", exit_context),
            ("async with a: at the start", enter_async_context),
            ("async with a: at the end", exit_async_context),
            ("import a, from a import b", import_name),
        ],
    ),
)
"""Every row, in the order in which `python -m cassette_import primitives` prints them."""

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {row.name: row.function for row in TABLE if row.function is not None}
"""The functions of the table by name, `operator.add` and the like."""

EVENT_OF: Final[dict[str, Events]] = {row.name: row.event for row in TABLE if row.function is not None}
"""The kind of event that a function of the table belongs to, by name."""

NAME_OF: Final[dict[int, str]] = {id(function): name for name, function in FUNCTIONS.items()}
"""The name of a function of the table, by identity."""
