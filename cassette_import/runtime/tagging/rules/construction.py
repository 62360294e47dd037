"""Rules for classes: what `type.__call__` does, with arguments that keep their metadata.

A class calls `__new__` and then `__init__`. A method of the program gets wrapped arguments. A method of a leaf has a
rule, or the attributes are known that it assigns its arguments to: those of dataclasses, named tuples, namespaces.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
from types import FunctionType, MemberDescriptorType, SimpleNamespace
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, is_a
from cassette_import.runtime.tagging.computed_metadata import with_computed_metadata
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.rule_table import RULES, rule, rule_of_python_function
from cassette_import.runtime.tagging.wrappers import Tagged, plain

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


# ---- dataclasses

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
