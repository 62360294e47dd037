"""Rules for what makes objects: classes, exceptions, `pickle` and copies; arguments keep their metadata.

A class calls `__new__` and then `__init__`. A method of the program gets wrapped arguments. A method of a leaf has a
rule, or the attributes are known that it assigns its arguments to: those of dataclasses, named tuples, namespaces.
"""

from __future__ import annotations

import _pickle
import builtins
import copy
import dataclasses
import functools
import io
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from types import FunctionType, MemberDescriptorType, SimpleNamespace
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, is_a
from cassette_import.runtime.tagging.computed_metadata import add_to_contents, with_computed_metadata
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, has, items_in, size_of, wrapped_values_in
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.rule_table import RULES, rule, rule_of_code, rule_of_python_function
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped

# ---- rules for classes: what `type.__call__` does, with arguments that keep their metadata

_TYPE_CALL: Final = type.__dict__["__call__"]
_OBJECT_NEW: Final = object.__dict__["__new__"]
_OBJECT_INIT: Final = object.__dict__["__init__"]


@rule(_TYPE_CALL)
@hidden
def call_class(call: LeafCall) -> Any:
    """`super().__call__(…)` in a metaclass."""
    kind, *given = call.arguments
    return _construct(call, plain(kind), tuple(given)) if is_a(plain(kind), type) else without_rule(call)


@hidden
def construct(call: LeafCall) -> Any:
    """The rule function of all classes that have no rule."""
    if lookup(type(call.function), "__call__") is not _TYPE_CALL:
        return without_rule(call)
    return _construct(call, call.function, call.arguments)


@hidden
def _construct(call: LeafCall, kind: Any, given: tuple[Any, ...]) -> Any:
    if kind is type and len(given) == 3:
        return _make_class(call)
    new, init = lookup(kind, "__new__"), lookup(kind, "__init__")
    new = new.__func__ if is_a(new, staticmethod) else new
    moves_new, moves_init = _moves(call, new), _moves(call, init)
    if kind is type or not (moves_new or moves_init):
        return _construct_natively(call, kind, given)
    if type(init) is FunctionType or moves_init or init is _OBJECT_INIT:
        made = call.forward(new, kind, *given, **call.keywords)
        bare = plain(made)
        if new is _OBJECT_NEW and type(init) is FunctionType and _only_assigns(init, kind):
            made = bare
        if is_a(bare, kind):
            _keep_arguments_of_exception(call, bare, given)
            _initialise(call, bare, lookup(type(bare), "__init__"), given)
        return made
    return _construct_natively(call, kind, given)


@rule(type.__new__)
@hidden
def _make_class(call: LeafCall) -> Any:
    """The values of the namespace become attributes of the class."""
    made = call.native()
    for name, slot in call.store.slots_by_key(plain(call.arguments[-1])).items():
        if is_a(made, type) and class_namespace(made).get(name) is slot[0]:
            call.store.store_part(call.store.attributes, made, name, Tagged(*slot))
    return made


@hidden
def _moves(call: LeafCall, method: Any) -> bool:
    """Whether metadata is propagated to what a method makes: it is overdubbed, or has a rule."""
    if id(method) in RULES:
        return True
    return type(method) is FunctionType and (
        calls_overdubbed(call.activation, method)
        or is_generated_by_dataclass(method)
        or rule_of_python_function(method) is not None
    )


@hidden
def _initialise(call: LeafCall, made: Any, init: Any, given: tuple[Any, ...]) -> None:
    is_generated = type(init) is FunctionType and is_generated_by_dataclass(init)
    if is_generated and not calls_overdubbed(call.activation, init):
        result = initialise_dataclass(call, init, made, given)
    else:
        result = call.forward(init, made, *given, **call.keywords)
    if plain(result) is not None:
        raise TypeError(f"__init__() should return None, not '{type(plain(result)).__name__:.200}'")


# ---- making dataclasses

_GENERATED_FILES: Final = "<string>"


def is_generated_by_dataclass(method: FunctionType) -> bool:
    """Whether `dataclasses.dataclass` has generated an `__init__`."""
    return method.__code__.co_filename == _GENERATED_FILES and method.__name__ == "__init__"


def _only_assigns(init: FunctionType, kind: type) -> bool:
    """Whether nothing of an object is computed of its arguments: they become fields, as the other parameters do."""
    return is_generated_by_dataclass(init) and bool(_fields_of(init, kind)) and lookup(kind, "__post_init__") is None


class _Receiver:
    """What a generated `__init__` gets as `self`, so that it can be called with wrapped arguments."""

    def __init__(self, call: LeafCall, made: Any) -> None:
        object.__setattr__(self, " made", (call, made))

    @hidden
    def __setattr__(self, name: str, value: Any) -> None:
        call, made = object.__getattribute__(self, " made")
        _flush(self)
        call.forward(setattr, made, name, value)

    @hidden
    def __getattr__(self, name: str) -> Any:
        call, made = object.__getattribute__(self, " made")
        _flush(self)
        return _Forwarded(call, getattr(made, name))


class _Forwarded:
    """A method of the object that is initialised: `__post_init__`."""

    __slots__ = ("_call", "_method")

    def __init__(self, call: LeafCall, method: Any) -> None:
        self._call = call
        self._method = method

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._call.forward(self._method, *arguments, **keywords)


@hidden
def _flush(receiver: _Receiver) -> None:
    """Assign the fields of a frozen dataclass, which `object.__setattr__` has assigned to the receiver."""
    attributes = object.__getattribute__(receiver, "__dict__")
    call, made = attributes[" made"]
    for name in [name for name in attributes if name != " made"]:
        call.forward(object.__setattr__, made, name, attributes.pop(name))


@hidden
def initialise_dataclass(call: LeafCall, init: FunctionType, made: Any, given: tuple[Any, ...]) -> Any:
    """Call the generated `__init__`: it only moves its arguments, so it gets them wrapped."""
    receiver = _Receiver(call, made)
    fields = _fields_of(init, type(made))
    keywords = {**call.keywords, **_made_by_factories(call, init, fields, len(given))}
    result = LeafCall(call.activation, call.store, functools.partial(init, receiver), init, (), given, keywords).run()
    _flush(receiver)
    for name, field in fields.items():
        if not field.init and field.default_factory is not dataclasses.MISSING:
            factory, value = field.default_factory, read_attribute(made, name)
            with_computed_metadata(call.activation, factory, (factory,), {}, value)  # no rule moves it
    return result


@hidden
def _fields_of(init: FunctionType, kind: Any) -> dict[str, Any]:
    """The fields that a generated `__init__` assigns, by name."""
    owner = next((base for base in kind.__mro__ if class_namespace(base).get("__init__") is init), kind)
    found: dict[str, Any] = getattr(owner, "__dataclass_fields__", {})
    return found


@hidden
def _made_by_factories(call: LeafCall, init: FunctionType, fields: Any, count: int) -> dict[str, Any]:
    """The values of the parameters that are not given, as the factories make them; `count` arguments are positional."""
    code = init.__code__
    names = code.co_varnames[1 + count : code.co_argcount + code.co_kwonlyargcount]
    missing = [fields[name] for name in names if name in fields and name not in call.keywords]
    return {
        field.name: call.call_back(field.default_factory)
        for field in missing
        if field.default_factory is not dataclasses.MISSING
    }


# ---- classes whose fields are known


@hidden
def _construct_natively(call: LeafCall, kind: Any, given: tuple[Any, ...]) -> Any:
    names = _parameters(kind)
    if names is None:
        made = without_rule(call)
        _keep_arguments_of_exception(call, plain(made), given)
        return made
    made = call.native_then_drop_stale()
    if names and is_a(made, tuple):
        call.store.bind_items(made, [*given, *(call.keywords.get(name) for name in names[len(given) :])])
        return made
    keywords = dict(call.keywords)
    keywords.update(zip(names, given, strict=False))
    for name, value in keywords.items():
        if type(value) is Tagged and read_attribute(made, name) is plain(value):
            call.store.store_part(call.store.attributes, made, name, value)
    if is_a(made, tuple):  # such as `time.struct_time`
        call.store.recognise_parts(made)
    return made


def _parameters(kind: Any) -> list[str] | None:
    """The attributes that the arguments of a class go to, in order; None if that is not known."""
    if issubclass(kind, tuple):
        return list(getattr(kind, "_fields", ()))
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.init]
    return [] if issubclass(kind, SimpleNamespace) else None


@hidden
def read_attribute(owner: Any, name: str) -> Any:
    """An attribute; None if code of the program would run for it."""
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    return getattr(owner, name) if is_a(lookup(type(owner), name), MemberDescriptorType) else None


# ---- exceptions

_args_of: Final = BaseException.__dict__["args"].__get__
_ATTRIBUTES: Final[dict[type, str]] = {StopIteration: "value", SystemExit: "code"}
"""The attributes that the only argument of an exception goes to."""


_EXCEPTIONS: Final = [kind for kind in vars(builtins).values() if is_a(kind, type) and issubclass(kind, BaseException)]


@rule(*(kind.__dict__["__init__"] for kind in _EXCEPTIONS if "__init__" in kind.__dict__))
@hidden
def initialise_exception(call: LeafCall) -> Any:
    result = call.native()
    _keep_arguments_of_exception(call, call.owner, call.arguments[1:])
    return result


@hidden
def _keep_arguments_of_exception(call: LeafCall, made: Any, given: tuple[Any, ...]) -> None:
    """Keep the metadata of an exception's arguments, which are the items of its `args`."""
    if not is_a(made, BaseException):
        return
    items = _args_of(made)
    if len(items) != len(given) or any(item is not plain(value) for item, value in zip(items, given, strict=True)):
        return
    call.store.bind_items(items, given)
    for kind, name in _ATTRIBUTES.items():
        if given and is_a(made, kind) and type(given[0]) is Tagged and kind.__dict__[name].__get__(made) is items[0]:
            call.store.store_part(call.store.attributes, made, name, given[0])


def _kept_fields(source: Any, changes: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a dataclass that its copy with some changes keeps; None if the library has to say what is wrong,
    or if code of the program would run to read one."""
    if not dataclasses.is_dataclass(source) or is_a(source, type):
        return None
    all_fields = lookup(type(source), "__dataclass_fields__").values()
    if any(field._field_type is dataclasses._FIELD_INITVAR for field in all_fields):  # type: ignore[attr-defined]
        return None
    if any(field.name in changes and not field.init for field in all_fields):
        return None
    names = [field.name for field in dataclasses.fields(source) if field.init and field.name not in changes]
    own = getattr(source, "__dict__", {})
    if not all(name in own or is_a(lookup(type(source), name), MemberDescriptorType) for name in names):
        return None
    return {name: read_attribute(source, name) for name in names}


@rule(dataclasses.replace, getattr(copy, "replace", dataclasses.replace))
@hidden
def replace(call: LeafCall) -> Any:
    source = plain(call.arguments[0])
    kept = _kept_fields(source, call.keywords)
    if kept is not None and len(call.arguments) == 1:
        read = {name: call.store.load_part(call.store.attributes, source, name, value) for name, value in kept.items()}
        return call.forward(type(source), **call.keywords, **read)
    made = call.native()
    for name in _parameters(type(made)) or ():
        value = call.keywords.get(name)
        if name not in call.keywords:
            value = call.store.load_part(call.store.attributes, source, name, read_attribute(source, name))
        if type(value) is Tagged and read_attribute(made, name) is plain(value):
            call.store.store_part(call.store.attributes, made, name, value)
    return made


# ---- rules for `pickle`: what it writes is computed of all values that an object leads to


@rule(_pickle.dumps)
@hidden
def dump_to_bytes(call: LeafCall) -> Any:
    _add_held_values(call)
    return without_rule(call)


@rule(_pickle.dump)
@hidden
def dump_to_file(call: LeafCall) -> Any:
    file = plain(call.arguments[1]) if len(call.arguments) > 1 else plain(call.keywords.get("file"))
    if not is_a(file, _BUFFERS):
        _add_held_values(call)
        return without_rule(call)
    call.native()
    _add_held_values(call)
    add_to_contents(call, file)
    return None


_BUFFERS: Final = (io.BytesIO, io.BufferedIOBase)


@hidden
def _add_held_values(call: LeafCall) -> None:
    """Let the values that the object leads to count as arguments."""
    call.arguments = (*call.arguments, *wrapped_values_in(call.arguments[:1], call.store))


# ---- rules for copies: `copy.copy`, `copy.deepcopy`, `list.copy` and the like


@rule(
    copy.copy, copy.deepcopy, list.copy, dict.copy, set.copy, frozenset.copy, deque.copy, OrderedDict.copy,
    defaultdict.copy, defaultdict.__copy__, deque.__copy__,
)  # fmt: skip
@hidden
def copy_with_metadata(call: LeafCall) -> Any:
    source = call.arguments[0]
    made = call.native()
    _copy_metas(call.store, plain(source), made, call.function is copy.deepcopy, set())
    if call.function not in (copy.copy, copy.deepcopy):
        return made
    return wrapped(made, metas_of(source)) if type(source) is Tagged else call.store.recognised.wrapped(made)


@hidden
def copy_metas(store: Store, source: Any, made: Any) -> None:
    """Copy the metadata of an object's parts, and of their parts, to a deep copy of it."""
    _copy_metas(store, source, made, True, set())


@hidden
def _copy_metas(store: Store, source: Any, made: Any, deep: bool, seen: set[int]) -> None:
    """Copy the metadata of an object's parts to the parts of its copy; for a deep copy, also that of their parts."""
    if source is made or type(source) is not type(made) or id(source) in seen:
        return
    seen.add(id(source))
    _copy_attribute_metas(store, source, made)
    if is_a(source, SEQUENCES):
        metas = store.item_metas(source)
        if metas is not None and size_of(made) == len(metas):
            pairs = zip(metas, items_in(source), items_in(made), strict=True)
            store.set_item_metas(made, [_metas_of_copy(*pair) for pair in pairs])
    elif is_a(source, dict):
        slots = store.slots_by_key(source)
        if slots:
            found = {key: dict.get(made, key) for key in list(slots) if has(made, key)}
            copied = {key: _metas_of_copy(slots[key][1], slots[key][0], value) for key, value in found.items()}
            store.set_slots(made, {key: (found[key], metas) for key, metas in copied.items() if metas is not None})
    elif is_a(source, (set, frozenset)):
        store.set_slots(made, dict(store.slots_by_key(source)))
    if deep:
        for before, after in _pairs_of_parts(source, made):
            _copy_metas(store, before, after, deep, seen)


@hidden
def _metas_of_copy(metas: Metas | None, part: Any, copied: Any) -> Metas | None:
    """The metadata of the copy of a part; None if the program has put something else in its place.

    A class may copy its objects in its own way (`__copy__`, `__deepcopy__`, `__reduce__`, `__setstate__`). A number
    that it computes for the copy loses its metadata, because the module `copy` calls the methods, which is no event.
    """
    if metas is None or part is copied:
        return metas
    kind = type(part)
    if kind is type(copied) and (kind not in _COMPARED or part == copied or (part != part and copied != copied)):
        return metas
    lose_number(metas, "a class that copies its objects in its own way")
    return None


_COMPARED: Final = frozenset({int, float, complex, bool, str, bytes, Fraction, Decimal})
"""The types of which a copy is the same object, or an equal one."""


@hidden
def _copy_attribute_metas(store: Store, source: Any, made: Any) -> None:
    entry = store.attributes.of(source)
    if entry is not None:
        for name, (value, metas) in list(entry.slots.items()):
            if read_attribute(source, name) is value:
                copied = read_attribute(made, name)
                found = _metas_of_copy(metas, value, copied)
                if found is not None:
                    store.attributes.make(made).slots[name] = copied, found


@hidden
def _pairs_of_parts(source: Any, made: Any) -> list[tuple[Any, Any]]:
    """The parts of an object, each with its counterpart in a deep copy."""
    pairs = []
    if is_a(source, (*SEQUENCES, dict)):
        pairs = list(zip(items_in(source), items_in(made), strict=False))
    own, other = getattr(source, "__dict__", None), getattr(made, "__dict__", None)
    if type(own) is dict and type(other) is dict:
        pairs += [(value, other[name]) for name, value in own.items() if name in other]
    return pairs


# ---- named tuples


@rule_of_code("collections", "namedtuple.<locals>._replace")
@hidden
def replace_fields(call: LeafCall) -> Any:
    made = call.native()
    items = call.store.wrapped_items(call.owner)
    names = getattr(type(made), "_fields", ())
    return call.store.bind_items(made, [call.keywords.get(*pair) for pair in zip(names, items, strict=True)])


@rule_of_code("collections", "namedtuple.<locals>._make")
@hidden
def make_of_items(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or call.keywords:
        return call.native()
    items = list(iterate_wrapped(call, call.arguments[1]))
    made = call.function(plain(call.arguments[0]), list(map(plain, items)))
    return call.store.bind_items(made, items)


@rule_of_code("collections", "namedtuple.<locals>._asdict")
@hidden
def make_dict_of_fields(call: LeafCall) -> Any:
    made = call.native()
    return call.store.bind_pairs(made, zip(made, call.store.wrapped_items(call.owner), strict=True))


def is_new_of_named_tuple(function: FunctionType) -> bool:
    """Whether a function is the `__new__` that `namedtuple` has generated."""
    return function.__name__ == "__new__" and function.__globals__.get("_tuple_new") is tuple.__new__


@hidden
def new_named_tuple(call: LeafCall) -> Any:
    """The rule function of the `__new__` of named tuples."""
    made = call.native()
    given = call.arguments[1:]
    names = call.function.__code__.co_varnames[1 + len(given) : call.function.__code__.co_argcount]
    return call.store.bind_items(made, [*given, *map(call.keywords.get, names)])


# ---- `dataclasses.asdict` and `astuple`


@rule_of_code("dataclasses", "asdict", "astuple")
@hidden
def convert_fields(call: LeafCall) -> Any:
    made = call.native()
    _follow(call.store, call.owner, made)
    return made


@hidden
def _follow(store: Store, source: Any, made: Any) -> None:
    """Copy the metadata of a value's parts to what `asdict` or `astuple` made of it, in parallel."""
    if dataclasses.is_dataclass(source) and not is_a(source, type):
        names = [field.name for field in dataclasses.fields(source)]
        values = [store.load_part(store.attributes, source, name, read_attribute(source, name)) for name in names]
        if is_a(made, dict) and list(made) == names:
            parts = items_in(made)
            store.bind_pairs(made, zip(names, map(_moved, values, parts), strict=True))
        elif is_a(made, tuple) and len(made) == len(names):
            parts = items_in(made)
            store.bind_items(made, list(map(_moved, values, parts)))
        else:
            return
    elif is_a(source, SEQUENCES) and type(source) is type(made) and len(source) == len(made):
        values, parts = store.wrapped_items(source), items_in(made)
        store.bind_items(made, list(map(_moved, values, parts)))
    elif is_a(source, dict) and is_a(made, dict) and len(source) == len(made):
        slots = store.slots_by_key(source)
        values, parts = items_in(source), items_in(made)
        wrapped = [Tagged(*slots[key]) if key in slots else value for key, value in dict.items(source)]
        store.bind_pairs(made, zip(dict.keys(made), map(_moved, wrapped, parts), strict=True))
    else:
        copy_metas(store, source, made)
        return
    for value, part in zip(values, parts, strict=True):
        _follow(store, plain(value), part)


@hidden
def _moved(value: Any, part: Any) -> Any:
    """A part of the result with the metadata of the value that it is, or is a copy of."""
    return Tagged(part, value._tagged_metas) if type(value) is Tagged and type(part) is type(plain(value)) else part
