"""Helpers that rewritten code calls where a value leaves the local variables of an overdubbed function.

The value goes plain: into a container that syntax makes, a class body, an f-string, a mapping after `**`, the
namespaces that `eval` gets.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.rewriting.trees.code_matching import all_names
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.frame_readers import FRAME_READERS
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.computed_metadata import metadata_in, with_computed_metadata_here
from cassette_import.runtime.tagging.handover import rewrapped
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.leaf_call import note_comparison, note_pattern
from cassette_import.runtime.tagging.lost_metadata import lose, lose_key, lose_number
from cassette_import.runtime.tagging.tag_scopes import active_store, note_stored, store_of
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- losses in `eval` and `exec`: the code that they run is not overdubbed, and computes with plain variables


@hidden
def note_argument(function: Any, value: Any) -> None:
    """An argument of `eval` or `exec`: the code, or a namespace."""
    if is_a(plain(value), dict):
        store = store_of(ACTIVE.get())
        if store is not None and store:
            slots = store.slots_by_key(plain(value))
            note_variables(
                function, {key: Tagged(*slots[key]) if key in slots else one for key, one in plain(value).items()}
            )
        return
    if is_a(plain(value), (str, bytes, CodeType)):
        LOCAL.evaluated = plain(value)
    _lose(function, value)


@hidden
def note_variables(function: Any, variables: Mapping[str, Any]) -> None:
    """The variables that the code may read: values with metadata, or objects that hold such values."""
    if LOCAL.evaluated is None:
        return
    for name in set(_names_in(LOCAL.evaluated)):
        if name in variables:
            _lose(function, variables[name])


@hidden
def _lose(function: Any, value: Any) -> None:
    activation = ACTIVE.get()
    for level, tag in enumerate(activation.tags):
        if tag is None or tag.lost == "ignore":
            continue
        is_of_text = tag.text is not None and next(metadata_in((value,), tag.text), None) is not None
        if is_of_text or next(metadata_in((value,), tag), None) is not None or holds_metadata((value,), tag):
            lose(activation.contexts[level], function)


@hidden
def _names_in(code: Any) -> Iterator[str]:
    """The names of global variables that code reads, or may read."""
    if not is_a(code, CodeType):
        try:
            code = builtins.compile(code, "<evaluated>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, TypeError):
            return
    yield from all_names(code)


# ---- containers


@hidden
def tidy(container: Any) -> Any:
    """Make the items of a container plain that the interpreter has just made: in place, but for a tuple."""
    if not FLAGS[METADATA_EXISTS]:
        return container
    kind = type(container)
    if kind is dict:
        return _tidy_dict(container)
    if kind is set:
        note_comparison(ACTIVE.get(), set, *container)
    if not any(type(item) is Tagged for item in container):
        return container
    items = list(container)
    if kind is set:
        container.clear()
        container.update(map(plain, items))
        _set_slots(container, {plain(i): (plain(i), i._tagged_metas) for i in items if type(i) is Tagged})
        return container
    if kind is tuple:
        container = tuple(map(plain, items))
    else:
        container[:] = map(plain, items)
    store = active_store()
    return store.bind_items(container, items) if store is not None else container


@hidden
def _tidy_dict(container: dict[Any, Any]) -> dict[Any, Any]:
    note_comparison(ACTIVE.get(), dict, *container)
    if not any(type(item) is Tagged for pair in container.items() for item in pair):
        return container
    pairs = list(container.items())
    container.clear()
    for key, _ in pairs:
        if type(key) is Tagged:
            lose_key(key._tagged_value, key._tagged_metas)
            note_stored((key._tagged_value, key._tagged_metas))
    slots = {plain(key): (plain(item), item._tagged_metas) for key, item in pairs if type(item) is Tagged}
    container.update((plain(key), plain(item)) for key, item in pairs)
    _set_slots(container, slots)
    return container


@hidden
def _set_slots(container: Any, slots: Any) -> None:
    store = active_store()
    if store is not None:
        note_stored(*slots.values())
        store.set_slots(container, slots)


@hidden
def is_python_mapping(value: Any) -> bool:
    """Whether the interpreter gets the items of a mapping from a method of the program."""
    kind = type(value)
    return type(lookup(kind, "__getitem__")) is FunctionType and not is_a(value, dict) and hasattr(kind, "keys")


@hidden
def mapping(value: Any) -> Any:
    """The mapping after `**`: a dict is copied with its values wrapped where they have metadata."""
    if not FLAGS[METADATA_EXISTS]:
        return value
    value = plain(value)
    store = active_store()
    if store is not None and is_python_mapping(value):
        getitem = ACTIVE.get().variant.runners[int(Events.OPERATORS)].event  # type: ignore[union-attr]
        return {key: getitem(operator.getitem, value, key) for key in value.keys()}  # noqa: SIM118
    if store is None or type(value) is not dict or not store.items.entries:
        return value
    slots = store.slots_by_key(value)
    if not slots:
        return value
    return {key: Tagged(*slots[key]) if key in slots else item for key, item in value.items()}


# ---- class bodies and annotations


@hidden
def plain_items(iterable: Any) -> Any:
    """An iterable whose items are bound to names of a class: a list or tuple with metadata is copied without it."""
    value = plain(iterable)
    store = active_store()
    if store is None or type(value) not in (list, tuple) or store.items.of(value) is None:
        return value
    items = list(value)
    return items if type(value) is list else tuple(items)


@hidden
def with_plain_annotations(function: Any) -> Any:
    """A function that has just been made, with plain annotations."""
    make_annotations_plain(function.__annotations__)
    return function


@hidden
def make_annotations_plain(found: Any) -> None:
    """Make the annotations plain of a function or class that has just been made."""
    for name, value in list(found.items()):
        if type(value) is Tagged:
            found[name] = value._tagged_value
            note_stored((value._tagged_value, value._tagged_metas))


# ---- free variables of closures


@hidden
def plain_elsewhere(value: Any) -> Any:
    """A variable of a generator, without its wrapper unless a context that tags values is active."""
    if type(value) is not Tagged:
        return value
    variant = ACTIVE.get().variant
    return value if variant is not None and variant.tagging else plain_variable(value)


@hidden
def plain_variable(value: Any) -> Any:
    """A variable of a closure that runs where its context is not active, without its wrapper."""
    if type(value) is not Tagged:
        return value
    if ACTIVE.get().suspended is None:  # no code of a hook or an overload
        for tag in value._tagged_metas:
            if tag.lost == "error" and tag.depth and tag.context is not None:
                lose(tag.context, "a function that runs where the context is not active")
    return value._tagged_value


# ---- f-strings


@hidden
def formatted(value: Any, conversion: int = -1, specification: str = "") -> Any:
    """The text of a value in an f-string, with the metadata that the contexts compute for it."""
    if not FLAGS[METADATA_EXISTS] and conversion == -1 and not specification:
        text = value if type(value) is str else format(value)
        return rewrapped(text) if FLAGS[METADATA_EXISTS] else text
    LOCAL.returned = None
    if conversion in _CONVERSIONS:
        value = _converted(value, _CONVERSIONS[conversion])
        if not specification:
            return value
    text = plain(value)
    if type(text) is not str or specification:
        text = format(text, specification)
    found = LOCAL.returned
    if found is not None and found._tagged_value is text:
        return found  # a `__str__` or `__format__` of the program
    given = (value, specification) if found is None else (value, specification, found)
    return with_computed_metadata_here(format, given, text) if ACTIVE.get().tags else text


@hidden
def _converted(value: Any, conversion: Callable[[Any], str]) -> Any:
    """The text of a conversion, such as `!r`."""
    text = conversion(plain(value))
    found, LOCAL.returned = LOCAL.returned, None
    if found is not None and found._tagged_value is text:
        return found
    given = (value,) if found is None else (value, found)
    return with_computed_metadata_here(conversion, given, text) if ACTIVE.get().tags else text


@hidden
def specified(value: Any) -> Any:
    """A plain value in a format specification. Its metadata is lost: contexts for which it is an error ignore it."""
    if type(value) is Tagged:
        note_pattern(ACTIVE.get(), value, "bound", None)
        _report(value, "a format specification")
    return plain(value)


@hidden
def _report(value: Tagged, place: str) -> None:
    for tag in value._tagged_metas:
        if tag.lost == "report" and tag.context is not None:
            lose(tag.context, place)


_CONVERSIONS: Final[dict[int, Callable[[Any], str]]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


# ---- the message of `assert`


@hidden
def message(value: Any) -> Any:
    """The plain argument of the `AssertionError` that is raised; it is recognised there, or its metadata is lost."""
    if type(value) is not Tagged:
        return value
    store = active_store()
    if store is not None:
        store.recognised.note(value._tagged_value, value._tagged_metas)
        if type(store.recognised.wrapped(value._tagged_value)) is not Tagged:
            lose_number(value._tagged_metas, "the message of an assertion")
            _report(value, "the message of an assertion")
    return value._tagged_value


# ---- functions that read the variables of their caller


@hidden
def handed(function: Any, value: Any) -> Any:
    """A plain argument of a function whose call may be no event; hooks registered for the function get it wrapped."""
    if function is vars and FLAGS[METADATA_EXISTS]:
        _join_namespace(plain(value))
    if function in _EVALUATING and FLAGS[METADATA_EXISTS]:
        note_argument(function, value)
    if type(value) is not Tagged or id(function) not in FRAME_READERS:
        return value
    activation = ACTIVE.get()
    if activation.variant is not None:
        for level, hook in activation.variant.runners[int(Events.CALLS)].prehooks:
            hook(activation.contexts[level], function, value)
    return value._tagged_value


_EVALUATING: Final = (eval, exec)


@hidden
def _join_namespace(owner: Any) -> None:
    """The program gets the `__dict__` of an object by `vars`."""
    store, namespace = active_store(), getattr(owner, "__dict__", None)
    if store is not None and type(namespace) is dict and type(owner) is not ModuleType:
        store.join_namespace(owner, namespace)


@hidden
def scope(function: Any, names: dict[str, Any], variables: Any) -> tuple[Any, ...]:
    """The namespaces for `eval` or `exec`, if there are wrappers among the variables: without wrappers."""
    if function not in (eval, exec) or not FLAGS[METADATA_EXISTS]:
        return ()
    note_variables(function, variables)
    if not any(type(value) is Tagged for value in variables.values()):
        return ()
    return names, tidy(variables)


@hidden
def snapshot(function: Any, found: Any) -> Any:
    """The result of `locals` or `vars`, without wrappers."""
    return tidy(found) if function in (locals, vars) else found


_FRACTIONS: Final = frozenset("fc")
"""The kinds of arrays of numbers that are no integers."""


@hidden
def plain_bound(value: Any) -> Any:
    """A bound or step of a slice, or an index beside slices, without its wrapper.

    Integers count items. From other numbers and arrays of these, NumPy makes arrays: there the metadata is lost.
    """
    if type(value) is not Tagged:
        return value
    bare = value._tagged_value
    note_pattern(ACTIVE.get(), value, "bound", None)
    if is_a(bare, (str, bytes)):
        return bare
    dtype = lookup(type(bare), "dtype")  # only arrays are asked for it, not objects of the program
    is_fraction = type(dtype) is GetSetDescriptorType and getattr(dtype.__get__(bare), "kind", "") in _FRACTIONS
    if is_fraction or lookup(type(bare), "__index__") is None:
        lose_number(value._tagged_metas, "a slice")
    return bare


NAMES.update(
    {
        symbols.ANNOTATED: with_plain_annotations,
        symbols.ANNOTATIONS: make_annotations_plain,
        symbols.FORMATTED: formatted,
        symbols.HANDED: DISPATCH.unless_tagged(handed),
        symbols.LOCALS: locals,
        symbols.MAPPING: DISPATCH.unless_tagged(mapping),
        symbols.PLAIN: DISPATCH.unless_tagged(hidden(plain)),
        symbols.PLAIN_BOUND: DISPATCH.unless_tagged(plain_bound),
        symbols.PLAIN_ITEMS: plain_items,
        symbols.READ_PLAIN: plain_variable,
        symbols.READ_WHERE_ACTIVE: plain_elsewhere,
        symbols.SCOPE: scope,
        symbols.SNAPSHOT: snapshot,
        symbols.TIDY: DISPATCH.unless_tagged(tidy),
        symbols.MESSAGE: DISPATCH.unless_tagged(message),
        symbols.SPECIFIED: specified,
    }
)
