"""The trace of one call: arguments are taken apart into inputs, the function runs, the result becomes a template."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from cassette_import.activation.verbs import overdub
from cassette_import.contexts.graph.context import TraceContext
from cassette_import.contexts.graph.nodes import (
    Built,
    Constant,
    GuardFailed,
    Made,
    Node,
    NotRepresentable,
    Step,
    Template,
    leaves_in,
    mapped,
    nodes_in,
    recorded_value,
    refusal,
    same,
)
from cassette_import.contexts.graph.outside import NOT_FOLLOWED, Outside, namespace, reachable, slots_of
from cassette_import.contexts.graph.overloads import TraceContext as _Traced
from cassette_import.contexts.graph.overloads import register_optional
from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.callables import python_function
from cassette_import.kits.events import CallSite
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.kits.outliving import outliving
from cassette_import.kits.tagging import metas_of, own_store, plain

__all__ = [
    "Argument",
    "Parts",
    "Trace",
    "is_plain_object",
    "is_unknown",
    "marked",
    "store_of",
    "template_of",
    "trace",
    "unknown",
]

# ---- the result of a traced call as a template, and what of it each run makes anew
#
# A known object in the result that the call has made, such as an array, is another object in each call. One that is
# older, such as a known argument or a table of a module, is the same, unless the call changes it: then it is a copy
# with the changes.

_COPIED: Final = (set, bytearray, deque)
_MOST: Final = 10_000
_DEEPEST: Final = 100
_REFUSED: Final = "a graph cannot represent this"


class Parts:
    """The known values of a result, which are taken out of it while one looks for what refers to them.

    Attributes
    ----------
    values:
        The values. Nothing else of a trace refers to them in the block of `with`.
    """

    def __init__(self, result: Template) -> None:
        self._constants = [one for one in leaves_in(result) if isinstance(one, Constant)]
        self.values: list[Any] = []
        self._older: Collection[int] | None = None
        self._restored: frozenset[int] = frozenset()

    def __enter__(self) -> Parts:
        for constant in self._constants:
            self.values.append(constant.value)
            constant.value = None
        return self

    def __exit__(self, *error: object) -> None:
        for constant, value in zip(self._constants, self.values, strict=True):
            constant.value = value

    def look_for_outliving(self, outside: Outside) -> None:
        """Find the values, and parts of them, that something outside of the result refers to."""
        self._restored = outside.restored
        entries = {**_changeable(self.values), **outside.changed}
        self._older = outliving(entries, self.values, NOT_FOLLOWED) if entries else ()

    def made_anew(self, result: Template) -> Template:
        """The template, with copies of what is not older than the call."""
        return mapped(result, lambda one: self._anew(one.value, 0) if isinstance(one, Constant) else one)

    def _anew(self, value: Any, depth: int) -> Template:
        kind = type(value)
        is_restored = bool(self._restored) and not self._restored.isdisjoint(reachable([value]))
        if (self._older is None or id(value) in self._older) and not is_restored:
            return Constant(value)
        if depth > _DEEPEST:
            raise NotRepresentable(f"{_REFUSED}: the result contains itself\nReturn its parts")
        if can_change(value) or kind in _COPIED:
            return Made(value.copy())  # its former content comes back after the trace
        content = _content(value)
        if content is not None:
            return Built(kind, tuple(self._anew(one, depth + 1) for one in content.values()), _keys(kind, content))
        if is_restored:
            raise NotRepresentable(
                f"{_REFUSED}: the result has a known {kind.__name__} that the function changes\nReturn its parts"
            )
        return Constant(value)


def _changeable(values: list[Any]) -> dict[int, tuple[Any, ...]]:
    """The values that can change, and those that they consist of, as entries for `outliving`."""
    entries: dict[int, tuple[Any, ...]] = {}
    work = list(values)
    while work and len(entries) < _MOST:
        one = work.pop()
        kind = type(one)
        if id(one) in entries:
            continue
        content = _content(one)
        if kind in _COPIED or can_change(one) or content is not None:
            entries[id(one)] = one, []
        work += (content or {}).values()
    return entries


def _content(value: Any) -> dict[Any, Any] | None:
    """The parts of a list, tuple, dict or simple object, by place, key or attribute; None for other values."""
    if type(value) in (list, tuple):
        return dict(enumerate(value))
    return value if type(value) is dict else vars(value) if is_plain_object(value) else None


def _keys(kind: type, content: dict[Any, Any]) -> tuple[Any, ...]:
    """The keys of a dict, or the names of attributes; none for the items of a list."""
    return () if kind in (list, tuple) else tuple(content)


def is_plain_object(value: Any) -> bool:
    """Whether an object has attributes only, and a class of the program."""
    kind: Any = type(value)
    is_heap_type = bool(kind.__flags__ & 1 << 9)
    new: Any = kind.__new__
    return is_heap_type and new is object.__new__ and namespace(value) is not None and not slots_of(kind)


def store_of(ctx: TraceContext) -> Any:
    """The store of the metadata of a trace."""
    return own_store(ctx, create=True)


def template_of(ctx: TraceContext, value: Any, around: frozenset[int] = frozenset()) -> Template:
    """The template of a result.

    Parameters
    ----------
    ctx:
        The context of the trace.
    value:
        The result, or a part of it.
    around:
        The identities of the objects that it is a part of.

    Raises
    ------
    NotRepresentable
        If it contains itself, or unknown values where a template has no place for them.
    """
    node, bare = ctx.node_of(value), plain(value)
    if node is not None:
        return node
    kind = type(bare)
    if id(bare) in around:
        raise NotRepresentable(f"{_REFUSED}: the result contains itself\nReturn its parts")
    around = around | {id(bare)}
    store: Any = own_store(ctx)
    if isinstance(bare, (list, tuple)) and (kind in (list, tuple) or hasattr(kind, "_fields")):
        return Built(kind, tuple(template_of(ctx, item, around) for item in store.wrapped_items(bare)))
    if kind is dict:
        slots = store.slots_by_key(bare)
        values = [store.load_part(store.items, bare, key, part) if key in slots else part for key, part in bare.items()]
        return Built(dict, tuple(template_of(ctx, part, around) for part in values), tuple(bare))
    if kind in (set, frozenset) and not metas_of(value):
        if store.slots_by_key(bare):
            raise NotRepresentable(f"{_REFUSED}: the result is a set of unknown values")
        return Constant(bare)
    entry = store.attributes.of(bare)
    if entry is not None and not is_plain_object(bare):
        raise refusal(f"the result is a {kind.__name__} with unknown parts", "Return its parts")
    if is_plain_object(bare) and (entry is not None or store.has_metadata_in(_parts(bare), _parts)):
        names = tuple(vars(bare))
        parts = [store.load_part(store.attributes, bare, name, vars(bare)[name]) for name in names]
        return Built(kind, tuple(template_of(ctx, part, around) for part in parts), names)
    return Constant(bare)


def _parts(value: Any) -> Iterable[Any]:
    """What a container or a simple object consists of."""
    if isinstance(value, (list, tuple)):
        return value
    return value.values() if isinstance(value, dict) else vars(value).values() if is_plain_object(value) else ()


# ---- the trace of one call: arguments are taken apart into inputs, the function runs, the result becomes a template

_UNKNOWN_TYPES: Final = (int, float, complex, str, bytes)
_MOST_OBJECTS: Final = 10_000


class Unknown:
    """The mark of an argument that stays unknown. `unknown` makes it."""

    def __init__(self, name: str, example: Any) -> None:
        self.name = name
        self.example = example

    def __repr__(self) -> str:
        return f"unknown({self.name!r}, {self.example!r})"


def unknown(name: str, example: Any) -> Any:
    """Mark an argument of `graph` or `residual` as unknown.

    Parameters
    ----------
    name:
        The name that the argument has in the program. It is an identifier.
    example:
        A value, with which the function is run. Lists, tuples, dicts and simple objects have unknown parts.

    Returns
    -------
    The mark, which stands for the argument.

    Raises
    ------
    ValueError
        If the name is no identifier.

    >>> unknown("x", 2.5)
    unknown('x', 2.5)
    """
    if not (type(name) is str and name.isidentifier()):
        raise ValueError(f"the name of an unknown is an identifier, not {name!r}")
    return Unknown(name, example)


def is_unknown(value: Any) -> bool:
    """Whether an argument is marked."""
    return isinstance(value, Unknown)


class Argument:
    """An unknown argument: how inputs are read from a value that is given for it.

    `template` is the argument as it was in the trace: its nodes are inputs, and everything else has to be the same.
    """

    def __init__(self, name: str, template: Template) -> None:
        self.name = name
        self.template = template

    def read(self, value: Any, results: dict[int, Any]) -> None:
        """Put the inputs into `results`.

        Raises
        ------
        GuardFailed
            If the value has another structure or other types.
        """
        _read(self.name, self.template, value, results)


def _read(name: str, template: Template, value: Any, results: dict[int, Any]) -> None:
    if isinstance(template, Node):
        if type(value) is not template.type:
            raise GuardFailed(f"another path: {name} was {template.type.__name__}, and is {type(value).__name__}")
        results[template.number] = value
    elif isinstance(template, Constant):
        if not same(value, template.value):
            raise GuardFailed(f"another path: {name} was {template.value!r}, and is {value!r}")
    else:
        parts = parts_of(name, template)
        content = _content(value) if type(value) is template.kind else None
        if content is None or list(content) != [key for key, _, _ in parts]:
            raise GuardFailed(f"another path: {name} has another structure")
        for key, part, place in parts:
            _read(place, part, content[key], results)


def parts_of(name: str, template: Built) -> list[tuple[Any, Template, str]]:
    """The key, the template and the name of each part."""
    keys = template.keys or range(len(template.parts))
    return [
        (key, part, _name_of_part(name, template.kind, key)) for key, part in zip(keys, template.parts, strict=True)
    ]


def _name_of_part(name: str, kind: type, key: Any) -> str:
    return f"{name}[{key!r}]" if kind in (list, tuple, dict) else f"{name}.{key}"


@dataclass(eq=False)
class Trace:
    """What one call has done: its inputs, steps and result. `is_changed` says whether a known argument was changed."""

    arguments: list[Argument]
    inputs: list[Node]
    steps: list[Step]
    result: Template
    value: Any
    is_changed: bool = False


def _argument_names(f: Callable[..., Any], count: int) -> list[str]:
    """The names of the first parameters of a function; ``x0`` and so on where it has none."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for number in range(count):
        parameter = parameters[number] if number < len(parameters) else None
        star = parameter is None or parameter.kind is parameter.VAR_POSITIONAL
        if star and parameters and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            parameters.append(parameters[-1])
        names.append(f"x{number}" if star or parameter is None else parameter.name)
    return names


def marked(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as unknown ones; as they are, if some are marked already."""
    if any(map(is_unknown, args)):
        return args
    return tuple(unknown(*pair) for pair in zip(_argument_names(f, len(args)), args, strict=True))


def trace(f: Callable[..., Any], args: tuple[Any, ...]) -> Trace:
    """Run a function, with the marked arguments as unknown ones.

    Parameters
    ----------
    f:
        A function of a package that is installed, or of the module that calls.
    args:
        The arguments, the unknown ones marked.

    Returns
    -------
    The trace.

    Raises
    ------
    NotOverdubbable
        If the function has no Python source.
    NotRepresentable
        If it does something that a graph cannot represent exactly.
    """
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if python_function(f) is None:
        raise NotOverdubbable(f"there is no graph of {f!r}: it has no Python source")
    known = [f, *(one for one in args if not is_unknown(one))]
    register_optional()
    changed_later: frozenset[CallSite] = frozenset()
    while True:
        ctx = _Traced(Outside(f, known), changed_later)
        try:
            return _run(ctx, f, *_arguments(ctx, args))
        except NotRepresentable:
            if ctx.begins_again is None or ctx.begins_again in changed_later:
                raise
            changed_later |= {ctx.begins_again}


def _arguments(ctx: TraceContext, args: tuple[Any, ...]) -> tuple[list[Any], list[Argument]]:
    """The values for the run, and the unknown arguments."""
    arguments: list[Argument] = []
    given: list[Any] = []
    for one in args:
        if is_unknown(one):
            value, template = _given(ctx, one.example, one.name, [0])
            arguments.append(Argument(one.name, template))
            given.append(value)
        else:
            given.append(one)
    return given, arguments


def _run(ctx: TraceContext, f: Callable[..., Any], given: list[Any], arguments: list[Argument]) -> Trace:
    try:
        with ctx.checked():
            value = overdub(ctx, f, *given)
        if ctx.caught is not None:
            raise ctx.caught
        result = template_of(ctx, value)
        del value
        for node in nodes_in(result):
            if can_change(node.value):
                ctx.arrays.check_set(ctx.arrays.memory_of(node))
        with Parts(result) as parts:
            _check_effects(ctx, parts.values)
            parts.look_for_outliving(ctx.outside)
        result = parts.made_anew(result)
        value = recorded_value(result)
    finally:
        ctx.outside.undo()
    return Trace(arguments, ctx.inputs, ctx.steps, result, value, ctx.outside.is_changed)


def _check_effects(ctx: TraceContext, result: list[Any]) -> None:
    """Refuse changes that outlive the call. Nothing but the list holds what the result consists of."""
    changed = ctx.outside.changed_variable()
    if changed is not None:
        raise NotRepresentable(
            f"a graph cannot represent this: a variable outside of the call is assigned, in {changed}\n"
            "Return the value, or keep it in an object"
        )
    own_store(ctx).keep_parts_of(None)
    ctx.forget_functions()
    ctx.arrays.forget()
    outliving = ctx.outside.changed_object(result)
    if outliving is not None:
        owner, site = outliving
        what = (
            "an iterator that exists outside of the call is advanced"
            if hasattr(type(owner), "__next__")
            else (f"an object that exists outside of the call is changed ({type(owner).__name__})")
        )
        raise NotRepresentable(
            f"a graph cannot represent this: {what}, at {site}: {site.source}\n"
            "Give it as a known argument, or copy it in the function"
        )


def _given(ctx: TraceContext, value: Any, name: str, count: list[int]) -> tuple[Any, Template]:
    """An argument for the run, and its template."""
    count[0] += 1
    kind = type(value)
    if count[0] > _MOST_OBJECTS:
        raise NotRepresentable(f"the argument {name} has more than {_MOST_OBJECTS} parts")
    if (isinstance(value, _UNKNOWN_TYPES) and kind.__module__ == "builtins") or is_array(value):
        made = ctx.input(value.copy() if is_array(value) else value, name)
        return made, ctx.inputs[-1]
    content = _content(value)
    if content is None:
        return value, Constant(value)
    given = {key: _given(ctx, part, _name_of_part(name, kind, key), count) for key, part in content.items()}
    parts = {key: part for key, (part, _) in given.items()}
    store = store_of(ctx)
    if kind in (list, tuple):
        made = store.bind_items(kind(map(plain, parts.values())), list(parts.values()))
    elif kind is dict:
        made = {key: plain(part) for key, part in parts.items()}
        store.bind_pairs(made, list(parts.items()))
    else:
        made = object.__new__(kind)
        for key, part in parts.items():
            object.__setattr__(made, key, plain(part))
            store.store_part(store.attributes, made, key, part)
    ctx.outside.unknown[id(made)] = made
    return made, Built(kind, tuple(template for _, template in given.values()), _keys(kind, content))
