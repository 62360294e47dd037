"""Values that the interpreter binds to names without an event: `with`, `await`, `async for`, `match`, class bodies.

The value is plain. Helpers that stand before and after the statement or expression restore its wrapper. What is to be
known from before is kept by the frame of the program. Knows wrappers and the shadow store; must not know trees.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from numbers import Number
from types import AsyncGeneratorType, CoroutineType, FrameType, GeneratorType, MemberDescriptorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, flags_of, is_a
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.computed_metadata import with_computed_metadata_here
from cassette_import.runtime.tagging.container_contents import SEQUENCES, attributes_of
from cassette_import.runtime.tagging.defaults import with_plain_defaults
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.leaf_call import note_pattern
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.parcels import arrived
from cassette_import.runtime.tagging.plain_bodies import MANAGERS_OF_GENERATORS, begin_again, note_resumption
from cassette_import.runtime.tagging.running_leaves import SUBJECTS
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import active_store, note_stored
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

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
    filename = getattr(running, _CODES[kind]).co_filename
    record = OVERDUBBED.files.get(filename)
    return record is not None and (record.installed or filename in ACTIVE.get().roots)


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
    found, LOCAL.returned = LOCAL.returned, None
    is_overdubbed = _waiting.pop(id(sys._getframe(1)), None)
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
    found, LOCAL.returned = LOCAL.returned, None
    is_overdubbed = _waiting.get(_loop_key(sys._getframe(1), place), False)
    if found is None or found._tagged_value is not value:
        return value
    return found if is_overdubbed or not is_a(value, int) else value


# ---- `match`

_MATCHES_ITSELF: Final = 1 << 22
"""The flag of the builtin types of which `int(x)` captures the subject itself."""


@hidden
def subject(value: Any, tests: tuple[Any, ...]) -> Any:
    """The plain subject of a `match` statement that captures values, or tests parts of the subject."""
    if FLAGS[METADATA_EXISTS]:
        if tests:
            _note_tests(value, tests)
        if len(SUBJECTS) > _MOST:
            SUBJECTS.clear()  # a frame that left its patterns by an exception leaves its entry
        SUBJECTS[id(sys._getframe(1))] = value
    return plain(value)


@hidden
def _note_tests(value: Any, tests: tuple[Any, ...]) -> None:
    activation, store = ACTIVE.get(), active_store()
    if store is not None and any(tag is not None and (tag.matched or tag.compared) for tag in activation.tags):
        for way, kind, constant in tests:
            _refuse_computed_parts(activation, store, value, way)
            note_pattern(activation, part_of_subject(store, value, None, way), kind, constant)


@hidden
def _refuse_computed_parts(activation: Any, store: Store, subject: Any, way: Any) -> None:
    """A part that is tested, and that a special method or code in C computes from values with metadata, is a loss."""
    given = subject
    for kind, *details in way:
        part = _STEPS[kind](store, given, None, *details)
        if part is None and _is_computed(given, kind, details[0] if details else None):
            own = given._tagged_metas if type(given) is Tagged else {}
            for tag in activation.tags:
                if tag is None or not (tag.matched or tag.compared):
                    continue
                if tag in own or holds_metadata((given,), tag):
                    lose_number([tag], "a computed part that a pattern tests")
        given = part


_IS_SEQUENCE, _IS_MAPPING = 1 << 5, 1 << 6
"""The flags of types whose objects patterns take for sequences and mappings."""


@hidden
def _is_computed(given: Any, kind: str, place: Any) -> bool:
    """Whether a part that is stored nowhere would be computed."""
    owner = plain(given)
    if kind in ("index", "key"):
        return bool(flags_of(type(owner)) & (_IS_SEQUENCE if kind == "index" else _IS_MAPPING))
    if kind == "positional":
        names = getattr(type(owner), "__match_args__", ())
        place = names[place] if place < len(names) else None
    classes = [vars(one) for one in type(owner).__mro__]
    found = next((one[place] for one in classes if place in one), None)
    if found is None:
        return any("__getattr__" in one for one in classes)
    is_slot = isinstance(found, MemberDescriptorType) and type(given) is not Tagged
    return hasattr(type(found), "__get__") and not is_slot


@hidden
def part_of_subject(store: Store, subject: Any, value: Any, way: Any) -> Any:
    """The part of a subject that a way leads to; `value` is what a pattern has captured there, if it has."""
    found = subject
    for kind, *details in way:
        found = _STEPS[kind](store, found, value, *details)
    return found


@hidden
def subject_done() -> None:
    """A case is chosen."""
    if SUBJECTS:
        SUBJECTS.pop(id(sys._getframe(1)), None)


@hidden
def captured(value: Any, ways: tuple[Any, ...]) -> Any:
    """A value that a pattern has captured, wrapped if it has metadata."""
    key = id(sys._getframe(1))
    store = active_store()
    if key not in SUBJECTS or store is None:
        return value
    for way in ways:
        found = part_of_subject(store, SUBJECTS[key], value, way)
        if found is value or plain(found) is value:
            return found
    return _computed_part(store, SUBJECTS[key], value, ways)


@hidden
def _computed_part(store: Store, subject: Any, value: Any, ways: tuple[Any, ...]) -> Any:
    """A captured value that is stored nowhere: a special method of the program has returned it, or code in C."""
    found = store.recognised.wrapped(value)
    if type(found) is Tagged or isinstance(value, bool) or not isinstance(value, Number):
        return found
    for way in ways:
        if way and way[-1][0] in ("name", "positional"):
            given = part_of_subject(store, subject, value, way[:-1])
            if type(given) is Tagged:
                if given._tagged_value is value:
                    return given
                lose_number(given._tagged_metas, "an attribute that a pattern captures", is_reported=True)
    return value


@hidden
def _index(store: Store, given: Any, value: Any, index: int) -> Any:
    owner = plain(given)
    if not is_a(owner, SEQUENCES):
        return None
    items = store.wrapped_items(owner)
    return items[index] if -len(items) <= index < len(items) else None


@hidden
def _rest(store: Store, given: Any, value: Any, before: int, after: int) -> Any:
    """The interpreter has made a list of the items."""
    owner = plain(given)
    if is_a(owner, SEQUENCES) and type(value) is list:
        items = store.wrapped_items(owner)
        items = items[before : len(items) - after]
        if [id(plain(item)) for item in items] == list(map(id, value)):
            store.bind_items(value, items)
    return None


@hidden
def _key(store: Store, given: Any, value: Any, key: Any) -> Any:
    owner = plain(given)
    return store.load_part(store.items, owner, key, dict.get(owner, key)) if is_a(owner, dict) else None


@hidden
def _others(store: Store, given: Any, value: Any) -> Any:
    """The interpreter has made a dict of the other items."""
    owner = plain(given)
    if is_a(owner, dict) and type(value) is dict:
        slots = store.slots_by_key(owner)
        found = {key: slots[key] for key, item in value.items() if key in slots and slots[key][0] is item}
        store.set_slots(value, found)
    return None


@hidden
def _name(store: Store, given: Any, value: Any, name: str) -> Any:
    owner = plain(given)
    part = attributes_of(owner).get(name)
    if part is None and is_a(owner, tuple) and name in getattr(type(owner), "_fields", ()):
        return _index(store, owner, value, type(owner)._fields.index(name))
    if part is None and (entry := store.attributes.of(owner)) is not None and name in entry.slots:
        part = entry.slots[name][0]
    return store.load_part(store.attributes, owner, name, part)


@hidden
def _positional(store: Store, given: Any, value: Any, number: int) -> Any:
    owner = plain(given)
    names = getattr(type(owner), "__match_args__", ())
    if not names and number == 0 and flags_of(type(owner)) & _MATCHES_ITSELF:
        return given
    return _name(store, owner, value, names[number]) if number < len(names) else None


_STEPS: Final[dict[str, Callable[..., Any]]] = {
    "index": _index, "rest": _rest, "key": _key, "others": _others, "name": _name, "positional": _positional,
}  # fmt: skip

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
    return value if store is None else store.recognised.wrapped(value)


NAMES.update(
    {
        symbols.ENTERING: entering,
        symbols.MANAGER: manager_of_block,
        symbols.WAITING: waiting,
        symbols.FINISHED: finished,
        symbols.ASYNC_SOURCE: async_source,
        symbols.ASYNC_ITEM: async_item,
        symbols.SUBJECT: subject,
        symbols.SUBJECT_DONE: subject_done,
        symbols.CAPTURED: captured,
        symbols.CLASS_BEGIN: class_begin,
        symbols.CLASS_READ: class_read,
        symbols.CLASS_VALUE: class_value,
        symbols.DEFAULTS: with_plain_defaults,
    }
)
