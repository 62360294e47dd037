"""Values bound to names without an event: defaults, `from … import`, `with`, `await`, `async for`, class bodies.

The value is plain. Helpers that stand before and after the statement or expression restore its wrapper. What is to be
known from before is kept by the frame of the program.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import AsyncGenerator
from types import AsyncGeneratorType, CoroutineType, FrameType, FunctionType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, is_a
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.computed_metadata import with_computed_metadata_here
from cassette_import.runtime.tagging.held_metadata import attributes_of
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.overdubbed_calls import is_of_overdubbed_file
from cassette_import.runtime.tagging.parcels import arrived
from cassette_import.runtime.tagging.plain_bodies import MANAGERS_OF_GENERATORS, begin_again, note_resumption
from cassette_import.runtime.tagging.tag_scopes import active_store, note_stored
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

# ---- default arguments with metadata: the function has the plain values, and the shadow store their metadata

DEFAULTS: Final[dict[int, tuple[weakref.ref[Any], dict[str, tuple[Any, Metas]]]]] = {}
"""The defaults that have metadata, by the function's identity: each with its plain value, by the parameter's name."""


_CALLED_WITH_DEFAULTS: Final = ("__init__", "__new__", "__call__", "__post_init__")
"""The special methods whose calls get the defaults with their metadata."""


@hidden
def with_plain_defaults(function: Any) -> Any:
    """A function that has just been made, with plain defaults."""
    if not FLAGS[METADATA_EXISTS]:
        return function
    found: dict[str, tuple[Any, Metas]] = {}
    defaults, named = function.__defaults__, function.__kwdefaults__
    if defaults and any(type(value) is Tagged for value in defaults):
        code = function.__code__
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        found.update(_slots(zip(names, defaults, strict=True)))
        function.__defaults__ = tuple(map(plain, defaults))
    if named and any(type(value) is Tagged for value in named.values()):
        found.update(_slots(named.items()))
        named.update({name: plain(value) for name, value in named.items()})
    if found:
        name = function.__name__
        if name.startswith("__") and name.endswith("__") and name not in _CALLED_WITH_DEFAULTS:
            for _, metas in found.values():
                lose_number(metas, f"a default argument of {name}")  # the interpreter calls it, without the wrapper
        note_stored(*found.values())
        _keep(function, found)
    return function


@hidden
def note_assigned_defaults(function: FunctionType) -> None:
    """The program has assigned other defaults, or may change the keyword defaults in place."""
    store = active_store()
    if store is None:
        return
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    _keep(function, _slots(zip(names, store.wrapped_items(defaults), strict=False)))


def _keep(function: Any, slots: dict[str, tuple[Any, Metas]]) -> None:
    key = id(function)
    DEFAULTS[key] = weakref.ref(function, lambda _: DEFAULTS.pop(key, None)), slots


def _slots(pairs: Any) -> dict[str, tuple[Any, Metas]]:
    return {name: (value._tagged_value, value._tagged_metas) for name, value in pairs if type(value) is Tagged}


@hidden
def with_defaults(
    function: Any, number: int, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with the defaults that have metadata; `number` arguments go before them."""
    entry = DEFAULTS.get(id(function))
    if entry is None or type(function) is not FunctionType:
        return arguments, keywords
    slots = entry[1]
    code, defaults, named = function.__code__, function.__defaults__ or (), function.__kwdefaults__ or {}
    if number + len(arguments) > code.co_argcount and not code.co_flags & code_objects.VARARGS:
        return arguments, keywords  # they are too many: the message of the error counts those that were given
    first = code.co_argcount - len(defaults)
    given, added = list(arguments), dict(keywords)
    for index in range(number + len(arguments), code.co_argcount):
        name = code.co_varnames[index]
        if index < first:
            if index < code.co_posonlyargcount:
                return arguments, keywords  # an argument is missing
            continue
        value = defaults[index - first]
        if name in slots and slots[name][0] is value:
            value = Tagged(*slots[name])
        if index < code.co_posonlyargcount:
            given.append(value)
        elif type(value) is Tagged:
            added.setdefault(name, value)
    store = active_store() if named else None
    changed = store.slots_by_key(named) if store is not None else {}
    for name, value in named.items():
        slot = changed.get(name) or slots.get(name)
        if slot is not None and slot[0] is value:
            added.setdefault(name, Tagged(*slot))
    return tuple(given), added


# ---- values that `from … import` binds to variables of a function: the interpreter reads them from the module, plain


@hidden
def imported(value: Any, name: str, module: str, level: int, namespace: dict[str, Any]) -> Any:
    """The value of a name that was imported, wrapped if the attribute of the module has metadata."""
    store = active_store()
    if store is None:
        return value
    found = sys.modules.get(_absolute_name(module, level, namespace))
    read = value if found is None else store.load_part(store.attributes, found, name, value)
    return read if type(read) is Tagged else store.recognised.read(value, "an import of a name")


@hidden
def _absolute_name(module: str, level: int, namespace: dict[str, Any]) -> str:
    if not level:
        return module
    package = namespace.get("__package__") or namespace.get("__name__", "")
    base = package.rsplit(".", level - 1)[0]
    return f"{base}.{module}" if module else base


NAMES[symbols.IMPORTED] = imported


# ---- `with`


KEPT_BY_MANAGERS: Final = {
    ("contextlib", "nullcontext"): "enter_result",
    ("contextlib", "closing"): "thing",
    ("contextlib", "aclosing"): "thing",
}
"""The attributes whose value a context manager of the standard library hands to the program."""


@hidden
def entering(manager: Any) -> Any:
    """The manager of a `with` block; a wrapper that was left before is discarded."""
    manager = plain(manager)
    name, store = KEPT_BY_MANAGERS.get((type(manager).__module__, type(manager).__name__)), active_store()
    LOCAL.returned = None
    if name is not None and store is not None and store.attributes.of(manager) is not None:
        found = store.load_part(store.attributes, manager, name, attributes_of(manager).get(name))
        LOCAL.returned = found if type(found) is Tagged else None
    return manager


@hidden
def manager_of_block(manager: Any) -> Any:
    """The plain manager of a `with` block."""
    manager = plain(manager)
    if id(type(manager)) in MANAGERS_OF_GENERATORS:
        begin_again(manager)
    return manager


# ---- `await`, `yield from`, `async for`

_waiting: Final[dict[Any, Any]] = {}
"""Whether what a frame waits for is overdubbed, by the frame's identity: it is set before each use. The metadata of an
awaitable that a leaf has made stands for False."""

_MOST: Final = 10_000

_CODES: Final[dict[type, str]] = {GeneratorType: "gi_code", CoroutineType: "cr_code", AsyncGeneratorType: "ag_code"}


@hidden
def _runs_overdubbed(running: Any) -> bool:
    """Whether a generator or coroutine runs the body of an overdubbed function."""
    kind = type(running)
    if kind not in _CODES:
        return False
    return is_of_overdubbed_file(getattr(running, _CODES[kind]))


@hidden
def waiting(running: Any) -> Any:
    """What `await` or `yield from` is about to run."""
    given, running = running, plain(running)
    if FLAGS[METADATA_EXISTS] or ACTIVE.get().tags:
        if len(_waiting) > _MOST:
            _waiting.clear()  # frames that were closed while they waited leave their entries
        is_overdubbed = _runs_overdubbed(running)
        metas = metas_of(given) if not is_overdubbed else None
        if FLAGS[METADATA_EXISTS]:
            note_resumption(running, value_sent_by(running) if type(running) is _AWAITABLE_OF_ASEND else None)
        _waiting[id(sys._getframe(1))] = is_overdubbed if metas is None else metas
        LOCAL.returned = None
        if not is_overdubbed and type(running) is _AWAITABLE_OF_ASEND:
            LOCAL.sent = value_sent_by(running)
    return running


@hidden
def value_sent_by(awaitable: Any) -> Tagged | None:
    """The wrapped value that an awaitable of `asend` sends into its generator, if it has metadata."""
    store = active_store()
    entry = store.attributes.of(awaitable) if store is not None else None
    return Tagged(*entry.slots[SENT]) if entry is not None and SENT in entry.slots else None


SENT: Final = "the value that is sent"
"""The key for the metadata of what `asend` sends into a generator."""


async def _asynchronous_generator() -> AsyncGenerator[None, None]:
    yield


def _type_of_asend() -> type:
    made = _asynchronous_generator().asend(None)
    made.close()
    return type(made)


_AWAITABLE_OF_ASEND: Final = _type_of_asend()


@hidden
def finished(value: Any) -> Any:
    """The value of an `await` or `yield from`: an overdubbed function has left its wrapper when it returned."""
    return _finished(value, _waiting.pop(id(sys._getframe(1)), None))


@hidden
def _finished(value: Any, is_overdubbed: Any) -> Any:
    found, LOCAL.returned = LOCAL.returned, None
    if found is not None and found._tagged_value is value and is_overdubbed is not None:
        return found if is_overdubbed is True or not is_a(value, int) else value
    if is_overdubbed is True or type(value) is Tagged:
        return value
    stopped, LOCAL.stopped = LOCAL.stopped, None
    if stopped is not None and stopped._tagged_value is value:
        return stopped
    found = arrived(value)
    if type(is_overdubbed) is dict and type(found) is not Tagged and value is not None:
        lose_number(is_overdubbed, "a coroutine of code that is not overdubbed")
    return found


def _loop_key(frame: FrameType, place: tuple[Any, ...]) -> Any:
    """The key of a loop: that of one in a comprehension does not depend on the frame, since there may be two."""
    return (id(frame) if len(place) == 2 else frame.f_code.co_filename), place


@hidden
def async_source(source: Any, place: Any) -> Any:
    """What `async for` takes items from."""
    if len(_waiting) > _MOST:
        _waiting.clear()
    source = plain(source)
    _waiting[_loop_key(sys._getframe(1), place)] = _runs_overdubbed(source)
    return source


@hidden
def async_item(value: Any, place: Any) -> Any:
    """An item of `async for`: an overdubbed generator has left its wrapper when it yielded the item."""
    return _item(value, _waiting.get(_loop_key(sys._getframe(1), place), False))


@hidden
def _item(value: Any, is_overdubbed: bool) -> Any:
    found, LOCAL.returned = LOCAL.returned, None
    if found is None or found._tagged_value is not value:
        return value
    return found if is_overdubbed or not is_a(value, int) else value


# ---- class bodies


class _ClassDecorator:
    """The innermost decorator of a class: metadata of values in its namespace becomes that of its attributes."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[str, tuple[Any, Metas]] = {}

    @hidden
    def __call__(self, made: Any) -> Any:
        classes = LOCAL.classes
        while classes and classes.pop() is not self:
            pass
        store = active_store()
        if store is not None and LOCAL.returned is not None:  # by a method that has made a value of the class
            store.recognised.note(LOCAL.returned._tagged_value, LOCAL.returned._tagged_metas)
        if self.values and store is not None and is_a(made, type):
            namespace = class_namespace(made)
            for name, slot in self.values.items():
                if namespace.get(name) is slot[0]:
                    store.store_part(store.attributes, made, name, Tagged(*slot))
                elif name in namespace:  # the metaclass has made another object of it, as that of `Enum`
                    lose_number(slot[1], f"the attribute {name} of a class")
                    computed = with_computed_metadata_here(type(made), (Tagged(*slot),), namespace[name])
                    store.store_part(store.attributes, made, name, computed)
        return made


@hidden
def class_begin() -> Any:
    """A class statement begins: returns its decorator."""
    decorator = _ClassDecorator()
    LOCAL.classes.append(decorator)
    return decorator


@hidden
def class_value(value: Any, name: str) -> Any:
    """A value that is bound to a name of a class."""
    if LOCAL.classes:
        values = LOCAL.classes[-1].values
        values.pop(name, None)
        if type(value) is Tagged:
            values[name] = value._tagged_value, value._tagged_metas
            note_stored(values[name])
    return plain(value)


@hidden
def class_read(value: Any, name: str) -> Any:
    """The value of a name of a class, which its body reads; a `__prepare__` method may have put it there."""
    slot = LOCAL.classes[-1].values.get(name) if LOCAL.classes else None
    if slot is not None and slot[0] is value:
        return Tagged(*slot)
    found, LOCAL.returned = LOCAL.returned, None
    if found is not None and found._tagged_value is value:
        namespace: Any = sys._getframe(1).f_locals
        is_stored = type(namespace) is dict or (is_a(namespace, dict) and dict.__contains__(namespace, name))
        if not is_stored or (type(namespace) is not dict and not is_a(value, int)):
            if is_stored and LOCAL.classes:  # by a dict that stores what its factory returns
                LOCAL.classes[-1].values[name] = value, found._tagged_metas
            return found  # a method of the namespace, such as `__missing__`, has left its wrapper when it returned
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    return value if store is None else store.recognised.read(value, "the namespace of a class body")


NAMES.update(
    {
        symbols.ENTERING: entering,
        symbols.MANAGER: manager_of_block,
        symbols.WAITING: waiting,
        symbols.FINISHED: finished,
        symbols.ASYNC_SOURCE: async_source,
        symbols.ASYNC_ITEM: async_item,
        symbols.CLASS_BEGIN: class_begin,
        symbols.CLASS_READ: class_read,
        symbols.CLASS_VALUE: class_value,
        symbols.DEFAULTS: with_plain_defaults,
    }
)
