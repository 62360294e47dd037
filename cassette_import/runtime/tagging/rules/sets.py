"""Rules for the methods of sets and frozensets."""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.c_callers import HashedStepper
from cassette_import.runtime.tagging.container_contents import has
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@rule(set.add)
@hidden
def add(call: LeafCall) -> None:
    owner, item = call.owner, call.arguments[1]
    call.compare(item)
    had = has(owner, plain(item))
    call.native()
    if not had:
        call.store.store_part(call.store.items, owner, plain(item), item)


@rule(set.discard, set.remove, set.__contains__, frozenset.__contains__)
@hidden
def find(call: LeafCall) -> Any:
    call.compare(*call.arguments[1:])
    return call.native_then_drop_stale()


@rule(set.pop)
@hidden
def take_any(call: LeafCall) -> Any:
    slots = dict(call.store.slots_by_key(call.owner))
    value = call.native()
    slot = slots.get(value)
    return Tagged(value, slot[1]) if slot is not None and slot[0] is value else value


@rule(set.clear)
@hidden
def clear(call: LeafCall) -> None:
    call.native()
    call.store.items.drop(call.owner)


@rule(
    set.update, set.union, set.intersection, set.difference, set.symmetric_difference,
    set.intersection_update, set.difference_update, set.symmetric_difference_update,
    frozenset.union, frozenset.intersection, frozenset.difference, frozenset.symmetric_difference,
)  # fmt: skip
@hidden
def combine(call: LeafCall) -> Any:
    """The elements of the result keep the metadata that they have in one of the sets or iterables."""
    owner = call.owner
    items: list[Any] = []
    given: list[Any] = []
    steppers: list[HashedStepper] = []
    for source in map(plain, call.arguments):
        if is_a(source, (set, frozenset)):
            items += [Tagged(*slot) for slot in call.store.slots_by_key(source).values()]
            given.append(source)
        elif type(source) is dict:  # its keys have no metadata
            call.compare(*source)
            given.append(source)
        else:
            stepper = HashedStepper(call, source)
            steppers.append(stepper)
            given.append(stepper)
    try:
        made = call.function(*given, **call.plain_keywords)
    except BaseException:
        if is_a(owner, set):  # the elements before an error are added or removed
            held = set(map(id, set.__iter__(owner)))
            items += [item for stepper in steppers for item in stepper.items]
            call.store.bind_elements(owner, [item for item in items if id(plain(item)) in held])
        raise
    items += [item for stepper in steppers for item in stepper.items]
    call.store.bind_elements(owner if made is None else made, items)
    return made
