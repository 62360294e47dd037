"""Parts of the subject of a `match` statement: captured ones get their metadata, tested ones are noted.

The interpreter matches the plain subject. A part is found again by its way through the subject.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Number
from types import FrameType, MemberDescriptorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import flags_of, is_a
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, attributes_of, holds_metadata
from cassette_import.runtime.tagging.leaf_call import note_pattern
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import active_store
from cassette_import.runtime.tagging.thread_state import SUBJECTS
from cassette_import.runtime.tagging.wrappers import Tagged, plain

_MATCHES_ITSELF: Final = 1 << 22
"""The flag of the builtin types of which `int(x)` captures the subject itself."""


@hidden
def _frame_key(frame: FrameType) -> tuple[int, int]:
    """The key of a frame among the `SUBJECTS`.

    Its address alone may be that of a frame that has ended, whose subject would then be kept as long as this one runs.
    """
    return id(frame), id(frame.f_code)


@hidden
def subject(value: Any, tests: tuple[Any, ...]) -> Any:
    """The plain subject of a `match` statement that captures values, or tests parts of the subject."""
    if FLAGS[METADATA_EXISTS]:
        if tests:
            _note_tests(value, tests)
        if len(SUBJECTS) > _LIMIT[0]:
            _forget_ended_frames()
        SUBJECTS[_frame_key(sys._getframe(1))] = value
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
        SUBJECTS.pop(_frame_key(sys._getframe(1)), None)


class _Paused:
    """The subject of a frame while a guard runs: ``subject | value`` is the value of the guard.

    If it is false, further patterns have the subject.
    """

    __slots__ = ("_subject",)

    @hidden
    def __init__(self, value: Any) -> None:
        self._subject = value

    @hidden
    def __or__(self, chosen: bool) -> bool:
        if not chosen:
            SUBJECTS[_frame_key(sys._getframe(1))] = self._subject
        return chosen


@hidden
def subject_paused() -> Any:
    """The subject of this frame, which it does not have until the guard has run; False if it has none."""
    key = _frame_key(sys._getframe(1))
    return _Paused(SUBJECTS.pop(key)) if key in SUBJECTS else False


_LIMIT: Final = [0]
"""With more subjects than this, a further one makes `_forget_ended_frames` run."""


@hidden
def _forget_ended_frames() -> None:
    """Release the subjects of frames that have left their patterns by an exception.

    Patterns cannot suspend a frame, so all other frames that have subjects are running. The limit doubles, so that
    patterns that nest deeply do not search the frames each time.
    """
    ended = set(SUBJECTS)
    for frame in sys._current_frames().values():
        above: FrameType | None = frame
        while above is not None:
            ended.discard(_frame_key(above))
            above = above.f_back
    for key in ended:
        SUBJECTS.pop(key, None)
    _LIMIT[0] = 2 * len(SUBJECTS)


@hidden
def captured(value: Any, ways: tuple[Any, ...]) -> Any:
    """A value that a pattern has captured, wrapped if it has metadata."""
    key = _frame_key(sys._getframe(1))
    store = active_store()
    if key not in SUBJECTS or store is None:
        return value
    for way in ways:
        found = part_of_subject(store, SUBJECTS[key], value, way)
        if found is value or plain(found) is value:
            return found
    try:
        return _computed_part(store, SUBJECTS[key], value, ways)
    except BaseException:  # the frame leaves its patterns
        del SUBJECTS[key]
        raise


@hidden
def _computed_part(store: Store, subject: Any, value: Any, ways: tuple[Any, ...]) -> Any:
    """A captured value that is stored nowhere: a special method of the program has returned it, or code in C."""
    found = store.recognised.read(value, "a pattern")
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


NAMES.update({symbols.SUBJECT: subject, symbols.SUBJECT_DONE: subject_done, symbols.CAPTURED: captured})
NAMES.update({symbols.SUBJECT_PAUSED: subject_paused})
