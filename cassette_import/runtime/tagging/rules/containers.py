"""Rules for the methods of lists, deques, dicts, sets, counters and proxies, and for subscripts."""

from __future__ import annotations

import gc
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MappingProxyType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import computed_metadata
from cassette_import.runtime.tagging.c_callers import HashedStepper
from cassette_import.runtime.tagging.compared_items import Compared, compared, sought
from cassette_import.runtime.tagging.computed_metadata import add_to_contents, has_contents, is_computed_from
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c
from cassette_import.runtime.tagging.held_metadata import CONTAINERS, SEQUENCES, has, items_in, size_of
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.lost_metadata import lose_key
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.container_constructors import add_pairs
from cassette_import.runtime.tagging.rules.operators import container_whose_method_runs, operate
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.watched_calls import RecordedRest, rest_of, watch
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

# ---- rules for the methods of sets and frozensets


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


# ---- rules for subscripts and slices: loading, storing, deleting

METHODS_IN_C = (MethodDescriptorType, WrapperDescriptorType)
"""The types of the methods of containers that a class of the program does not override."""


@hidden
def _position(owner: Any, index: Any) -> int:
    """An index that counts from the start."""
    number = operator.index(index)
    return number + size_of(owner) if number < 0 else number


@rule(operator.getitem, returns_method_result=True)
@rule(list.__getitem__, tuple.__getitem__, dict.__getitem__, deque.__getitem__, MappingProxyType.__getitem__)
@hidden
def load_item(call: LeafCall) -> Any:
    store, owner, key = call.store, plain(call.arguments[0]), plain(call.arguments[1])
    if type(call.arguments[1]) is Tagged or type(key) is tuple:
        call.compare(call.arguments[1])
    if type(owner) is MappingProxyType:
        return call.forward(operator.getitem, gc.get_referents(owner)[0], call.arguments[1])
    own = call.function is operator.getitem and _has_own_getitem(owner)
    has_tagged_key = type(call.arguments[1]) is Tagged or (type(key) is tuple and store.items.of(key) is not None)
    if own and has_tagged_key:
        method, *receiver = _method_of_subscripts(owner)
        if type(method) is FunctionType:
            return call.call_method(method, *receiver, call.arguments[1])
    LOCAL.returned = None
    if type(owner) is defaultdict and type(owner.default_factory) is partial and not has(owner, key):
        made = call.call_back(owner.default_factory)
        return call.forward(defaultdict.setdefault, owner, call.arguments[1], made)
    value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        if is_a(owner, dict) and not _has_own_getitem(owner) and dict.get(owner, key) is value:
            store.store_part(store.items, owner, key, found)  # the factory of a `defaultdict`, or a `__missing__`
        return found  # a `__getitem__` of the program
    if own and has_tagged_key:
        return call.with_computed_metadata(value)
    if is_computed_from(call.arguments[0]) and (store.items.of(owner) is None or own):
        return call.with_computed_metadata(value)
    if has_contents(store, owner):
        return call.with_computed_metadata(value)
    if not store.items.entries or own:
        return store.recognised.wrapped(value)
    if is_a(owner, SEQUENCES):
        if is_a(key, slice):
            metas = store.item_metas(owner)
            if metas is not None and is_a(value, (list, tuple)) and value is not owner:
                store.set_item_metas(value, metas[key])
            return value
        value = store.load_part(store.items, owner, _position(owner, key), value)
    elif is_a(owner, dict):
        value = store.load_part(store.items, owner, key, value)
    return value if type(value) is Tagged else store.recognised.wrapped(value)


@hidden
def _method_of_subscripts(owner: Any) -> tuple[Any, ...]:
    """The function that defines the subscripts of an object or class, and its receiver."""
    method = lookup(type(owner), "__getitem__")
    if method is not None or not is_a(owner, type):
        return method, owner
    method = lookup(owner, "__class_getitem__")
    return (method.__func__ if is_a(method, classmethod) else method), owner


@hidden
def _has_own_getitem(owner: Any) -> bool:
    """Whether a class of the program defines the subscripts of an object."""
    return id(type(owner)) not in _BUILTIN and type(lookup(type(owner), "__getitem__")) not in METHODS_IN_C


_BUILTIN: Final = frozenset(map(id, (list, tuple, dict, deque)))


@rule(operator.setitem, list.__setitem__, dict.__setitem__)
@hidden
def store_item(call: LeafCall) -> Any:
    owner, key, value = call.arguments
    if type(key) is tuple:
        call.compare(key)
    if type(key) is Tagged:
        call.compare(key)
        if type(plain(owner)) is dict:
            lose_key(key._tagged_value, key._tagged_metas)
    owner, key, store = plain(owner), plain(key), call.store
    method = lookup(type(owner), "__setitem__")
    if type(method) is FunctionType and call.function is operator.setitem:
        return call.call_method(method, owner, key, value)
    if call.function is operator.setitem and type(method) not in METHODS_IN_C:
        return call.native_then_drop_stale()
    if is_a(key, slice) and is_a(owner, list):
        metas = store.item_metas(owner) or [None] * size_of(owner)
        items = list(iterate_wrapped(call, value))
        operator.setitem(owner, key, [plain(item) for item in items])
        metas[key] = [metas_of(item) for item in items]
        store.set_item_metas(owner, metas)
        return None
    if is_a(owner, SEQUENCES):
        call.native()
        store.store_part(store.items, owner, _position(owner, key), value)
    else:
        call.native()
        if is_a(owner, dict):
            store.store_part(store.items, owner, key, value)
        elif type(value) is Tagged or is_a(value, CONTAINERS):
            add_to_contents(call, owner)
    return None


@rule(operator.delitem, list.__delitem__, dict.__delitem__)
@hidden
def delete_item(call: LeafCall) -> Any:
    owner, key, store = plain(call.arguments[0]), plain(call.arguments[1]), call.store
    call.compare(call.arguments[1])
    if call.function is operator.delitem and type(lookup(type(owner), "__delitem__")) not in METHODS_IN_C:
        return call.native_then_drop_stale()
    metas = store.item_metas(owner) if is_a(owner, (list, deque)) else None
    call.native()
    if metas is not None:
        del metas[key]
        store.set_item_metas(owner, metas)
    elif is_a(owner, dict):
        store.store_part(store.items, owner, key, None)
    return None


# ---- rules for `collections.Counter`: counts are sums of values, or are computed of the elements that were counted


@rule_of_code("collections", "Counter.__init__", "Counter.update", "Counter.subtract")
@hidden
def count(call: LeafCall) -> Any:
    """A new count is the sum or difference of the old one and the values, or the number of the elements."""
    owner, *sources = call.arguments
    if len(sources) > 1 or not is_a(plain(owner), Counter):
        return without_rule(call)
    counter = plain(owner)
    slots = call.store.slots_by_key(counter)
    values: list[tuple[Any, Any]] = []
    items: list[Any] = []
    bare: list[Any] = []
    try:
        for source in sources:
            given = plain(source)
            if is_a(given, Mapping):
                found = call.store.slots_by_key(given) if is_a(given, dict) else {}
                values += [(key, Tagged(*found[key]) if key in found else value) for key, value in given.items()]
                bare.append(given)
            elif given is not None:
                bare.append([])
                for item in iterate_wrapped(call, source):
                    items.append(item)
                    bare[0].append(plain(item))
    finally:  # the elements before an error are counted
        values += call.keywords.items()
        touched = [*(key for key, _ in values), *map(plain, items)]
        counts = {key: Tagged(*slots[key]) if key in slots else dict.get(counter, key) for key in _hashable(touched)}
        call.function(counter, *bare, **call.plain_keywords)
    call.compare(*items)
    for key, value in values:
        counts[key] = _summed(call, counts[key], value)
    elements: dict[Any, list[Any]] = {}
    for item in items:
        elements.setdefault(plain(item), []).append(item)
    for key, counted in elements.items():
        counts[key] = _counted(call, counts[key], counted, dict.get(counter, key))
    # The objects are those in the counter, which are equal to these.
    pairs = [(key, Tagged(dict.get(counter, key), metas_of(value) or {})) for key, value in counts.items()]
    call.store.bind_pairs(counter, [(key, value if value._tagged_metas else plain(value)) for key, value in pairs])
    return None


def _hashable(keys: list[Any]) -> list[Any]:
    """The keys; none if one of them has no hash, which is an error of the call."""
    try:
        return list(dict.fromkeys(keys))
    except TypeError:
        return []


@hidden
def _summed(call: LeafCall, before: Any, value: Any) -> Any:
    """The new count of a key in a mapping."""
    if type(value) is not Tagged and type(before) is not Tagged:
        return value
    if before is None and call.function.__name__ != "subtract":
        return value
    operate = operator.sub if call.function.__name__ == "subtract" else operator.add
    return call.event(operate, 0 if before is None else before, value)


@hidden
def _counted(call: LeafCall, before: Any, items: list[Any], value: Any) -> Any:
    """The new count of an element."""
    if type(before) is not Tagged and not any(type(item) is Tagged for item in items):
        return value
    arguments = tuple(items) if before is None else (before, *items)
    return computed_metadata.with_computed_metadata(call.activation, call.function, arguments, {}, value)


# ---- rules for `types.MappingProxyType`: a proxy shows the metadata of the mapping behind it


@rule(MappingProxyType.get, MappingProxyType.values, MappingProxyType.items, MappingProxyType.copy)
@hidden
def call_method_of_mapping(call: LeafCall) -> Any:
    source = gc.get_referents(call.owner)[0]  # a proxy refers to nothing else
    return call.forward(getattr(source, call.function.__name__), *call.arguments[1:], **call.keywords)


# ---- rules for the methods of dicts, and for `|=` with a dict on the left

_DICT_ITER: Final = dict.__dict__["__iter__"]


@rule(dict.get, dict.pop, dict.setdefault, OrderedDict.pop, OrderedDict.setdefault)
@hidden
def take_by_key(call: LeafCall) -> Any:
    if len(call.arguments) < 2 or not call.keywords.keys() <= {"default"}:
        return call.native_then_drop_stale()
    _, key, *default = call.arguments
    call.compare(key)
    default += call.keywords.values()
    owner = call.owner
    slot = call.store.slots_by_key(owner).get(plain(key))
    had = has(owner, plain(key))
    value = call.native()
    name = call.function.__name__
    if not had:
        if default and name == "setdefault":
            call.store.store_part(call.store.items, owner, plain(key), default[0])
        return default[0] if default else value
    if name == "pop":
        call.store.store_part(call.store.items, owner, plain(key), None)
    return Tagged(value, slot[1]) if slot is not None and slot[0] is value else value


@rule(dict.popitem, OrderedDict.popitem)
@hidden
def take_last(call: LeafCall) -> Any:
    slots = dict(call.store.slots_by_key(call.owner))
    key, value = pair = call.native()
    slot = slots.get(key)
    if slot is not None and slot[0] is value:
        call.store.slots_by_key(call.owner)
        call.store.set_item_metas(pair, [None, slot[1]])
    return pair


@hidden
def _takes_dict(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether nothing is put into a dict but another dict."""
    return not is_a(arguments[0], dict) or type(arguments[1]) is dict


@rule(operator.ior, plain_if=_takes_dict, returns_method_result=True)
@rule(dict.update, dict.__init__, OrderedDict.update, OrderedDict.__init__)
@hidden
def update(call: LeafCall) -> Any:
    owner = call.owner
    if call.function is operator.ior:
        if container_whose_method_runs(operator.ior, [owner, plain(call.arguments[1])]) is None:
            return operate(call)
    elif len(call.arguments) > 2:
        return call.native_then_drop_stale()
    if _has_own_setitem(owner):
        return call.native_then_drop_stale()
    if is_a(owner, (set, frozenset)):  # `|=` takes nothing but another set
        return combine(call) if is_a(plain(call.arguments[1]), (set, frozenset)) else operate(call)
    if not is_a(owner, dict):
        return operate(call)
    pairs: list[Any] = []
    try:
        for source in map(plain, call.arguments[1:]):
            if is_a(source, dict) and lookup(type(source), "__iter__") is _DICT_ITER:
                slots = call.store.slots_by_key(source)
                pairs += [(key, Tagged(*slots[key]) if key in slots else value) for key, value in dict.items(source)]
            elif hasattr(source, "keys"):
                for key in source.keys():  # noqa: SIM118
                    pairs.append((key, call.event(operator.getitem, source, key)))
            else:
                add_pairs(call, source, pairs)
        pairs += call.keywords.items()
    finally:  # the pairs before an error are added
        call.function(owner, dict([tuple(map(plain, pair)) for pair in pairs]))
        call.store.bind_pairs(owner, pairs)
    return call.given[0] if call.function is operator.ior else None


@hidden
def _has_own_setitem(owner: Any) -> bool:
    """Whether a subclass of `OrderedDict` stores its items by its own method."""
    return is_a(owner, OrderedDict) and type(lookup(type(owner), "__setitem__")) is FunctionType


@rule(defaultdict.__init__)
@hidden
def initialise_with_factory(call: LeafCall) -> None:
    """The first argument is the factory, the others are those of a dict."""
    owner, *given = call.arguments
    if len(given) > 2:
        call.native()
    defaultdict.__init__(plain(owner), *map(plain, given[:1]))
    if len(given) > 1 or call.keywords:
        call.forward(dict.update, owner, *given[1:], **call.keywords)


@rule(vars(dict)["fromkeys"], vars(OrderedDict)["fromkeys"])
@hidden
def from_keys(call: LeafCall) -> Any:
    if len(call.arguments) > 1 and (call.is_watched or may_have_tagged_items(call.store, call.arguments[1])):
        place = 1 - len(call.leading)
        given = [*call.given[:place], HashedStepper(call, call.arguments[1]), *call.given[place + 1 :]]
        made = call.callee(*map(plain, given), **call.plain_keywords)
    else:
        made = call.native()
    value = call.arguments[2] if len(call.arguments) > 2 else call.keywords.get("value")
    if type(value) is Tagged and is_a(made, dict):
        bare, metas = plain(value), value._tagged_metas
        call.store.set_slots(made, {key: (bare, metas) for key, item in dict.items(made) if item is bare})
    return made


@rule(dict.keys)
@hidden
def keys(call: LeafCall) -> Any:
    """Keys have no metadata; that of a dict that is tagged as a whole is computed for its keys."""
    return call.with_computed_metadata(call.native()) if is_computed_from(call.arguments[0]) else call.native()


@rule(dict.values, dict.items, OrderedDict.values, OrderedDict.items)
@hidden
def view(call: LeafCall) -> Any:
    """A view shows what the dict holds when the view is read."""
    return call.native()


@rule(dict.clear, OrderedDict.clear, set.clear)
@hidden
def clear(call: LeafCall) -> None:
    call.native()
    call.store.items.drop(call.owner)


# ---- rules for the methods of lists and deques, and for `+=` with a list or deque on the left
#
# The same change is made to the list and to the list of its items' metadata. `list.sort` is in `sorting`.


@rule(list.append)
@hidden
def append(call: LeafCall) -> None:
    owner = call.owner
    call.native()
    entry = call.store.items.of(owner)
    if entry is not None and entry.size != size_of(owner) - 1:
        call.store.items.drop(owner)
    if entry is not None or type(call.arguments[1]) is Tagged:
        call.store.store_part(call.store.items, owner, size_of(owner) - 1, call.arguments[1])


_WITH_ITEM: Final = ("insert", "append", "appendleft")


@rule(
    list.insert, list.reverse, list.clear,
    deque.append, deque.appendleft, deque.insert, deque.reverse, deque.rotate, deque.clear,
)  # fmt: skip
@hidden
def rearrange(call: LeafCall) -> Any:
    """The same method is called on the list of metadata, with the metadata of an item instead of the item."""
    owner, name = call.owner, call.function.__name__
    metas = call.store.changeable_metas(owner)
    result = call.native()
    arguments = [plain(argument) for argument in call.arguments[1:]]
    if name in _WITH_ITEM:
        arguments[-1] = metas_of(call.arguments[-1])
    getattr(metas, name)(*arguments)
    call.store.set_item_metas(owner, metas)
    return result


@rule(list.pop, deque.pop, deque.popleft)
@hidden
def pop(call: LeafCall) -> Any:
    owner, metas = call.owner, call.store.changeable_metas(call.owner)
    value = call.native()
    found = getattr(metas, call.function.__name__)(*map(plain, call.arguments[1:]))
    call.store.set_item_metas(owner, metas)
    return Tagged(value, found) if found else value


@rule(list.remove, deque.remove)
@hidden
def remove(call: LeafCall) -> None:
    owner, before, metas = call.owner, items_in(call.owner), call.store.changeable_metas(call.owner)
    items = call.store.wrapped_items(owner)
    if call.is_decided(call.arguments[-1], *items):
        position = sought(call, items, call.arguments[-1])
        if position is None:
            kind = "deque" if is_a(owner, deque) else "list"
            raise ValueError(f"{kind}.remove(x): x not in {kind}")
        call.forward(operator.delitem, owner, position)
        return
    call.native()
    after = items_in(owner)
    position = next((n for n, value in enumerate(after) if value is not before[n]), len(after))
    while position and before[position - 1] is before[position]:
        position -= 1  # of several references to one object, the first
    del metas[position]
    call.store.set_item_metas(owner, metas)


@rule(
    list.index, list.count, list.__contains__, tuple.index, tuple.count, tuple.__contains__,
    deque.index, deque.count, deque.__contains__, operator.contains, operator.countOf, operator.indexOf,
)  # fmt: skip
@hidden
def look_for(call: LeafCall) -> Any:
    """Where a context decides how items compare, each comparison is an event."""
    if len(call.arguments) < 2 or not call.is_watched or call.keywords:
        return without_rule(call)
    name, owner = call.function.__name__, call.owner
    method = lookup(type(owner), "__contains__")
    if call.function is operator.contains and type(method) is FunctionType:
        if not calls_overdubbed(call.activation, method):
            return without_rule(call)
        return plain(call.event(operator.truth, call.call_method(method, *call.arguments)))
    if name == "contains" and is_a(owner, (dict, set, frozenset)):
        call.compare(call.arguments[1])  # which is hashed
        return call.native()
    kind = next((base for base in SEQUENCES if is_a(owner, base)), None)
    if kind is None:
        return without_rule(call)
    items, value, *bounds = call.store.wrapped_items(call.owner), *call.arguments[1:]
    if not call.is_decided(value, *items):
        return without_rule(call)
    find = call.function if call.function in _FINDING else getattr(kind, name)
    return find(kind(compared(call, items)), Compared(call, value), *map(plain, bounds))


_FINDING: Final = (operator.contains, operator.countOf, operator.indexOf)


@hidden
def _extends_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether the items that are added to a list come from code of the interpreter."""
    return not is_a(arguments[0], (list, deque)) or are_iterated_by_c(arguments[1:], keywords)


_IN_PLACE: Final = (operator.iadd, operator.iconcat)


@hidden
def _has_method_of_list(owner: Any) -> bool:
    """Whether `+=` calls the method of the interpreter's own list or deque."""
    return lookup(type(owner), "__iadd__") in (list.__iadd__, deque.__iadd__)


@rule(operator.iadd, plain_if=_extends_plainly, returns_method_result=True)
@rule(list.extend, deque.extend, deque.extendleft, plain_if=are_iterated_by_c)
@rule(operator.iconcat)
@hidden
def extend(call: LeafCall) -> Any:
    owner = call.owner
    if not is_a(owner, (list, deque)) or (call.function in _IN_PLACE and not _has_method_of_list(owner)):
        return operate(call)
    source = plain(call.arguments[1])
    if call.function is operator.iadd and lookup(type(source), "__radd__") is not None:
        return operate(call)  # Python calls the method of the other operand first
    in_place = call.function in _IN_PLACE
    if not may_have_tagged_items(call.store, source) and call.store.items.of(owner) is None:
        call.native()
        return call.given[0] if in_place else None
    metas = call.store.changeable_metas(owner)
    items: list[Any] = []
    try:
        items.extend(iterate_wrapped(call, source))
    finally:  # the items before an error are added
        add = operator.iadd if in_place else call.function
        add(owner, list(map(plain, items)))
        getattr(metas, "extendleft" if call.function is deque.extendleft else "extend")(map(metas_of, items))
        call.store.set_item_metas(owner, metas)
    return call.given[0] if in_place else None


@hidden
def _extended(call: LeafCall, watched: tuple[Any, ...], value: None) -> None:
    """Items that a list has got at its end."""
    owner, rest = call.owner, rest_of(watched[0])
    taken = 0 if rest is None else len(rest.items)
    metas = call.store.changeable_metas(owner)
    if taken and len(metas) >= taken:
        metas[len(metas) - taken :] = map(metas_of, rest.items)
        call.store.set_item_metas(owner, metas)


watch(list.extend, source=RecordedRest, end=_extended, end_of_error=_extended)
