"""Rules for the methods of lists and deques, and for `+=` with a list or deque on the left.

The same change is made to the list and to the list of its items' metadata. `list.sort` is in `sorting`.
"""

from __future__ import annotations

import operator
from collections import deque
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.compared_items import Compared, compared, sought
from cassette_import.runtime.tagging.container_contents import SEQUENCES, items_in, size_of
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.rules.operators import operate
from cassette_import.runtime.tagging.watched_calls import RecordedRest, rest_of, watch
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain


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
