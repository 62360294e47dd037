"""Rules for `list.sort` and `sorted`: the metadata moves with the items."""

from __future__ import annotations

from collections import deque
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.c_callers import keywords_with_key
from cassette_import.runtime.tagging.compared_items import compared, keywords_for_compared
from cassette_import.runtime.tagging.container_contents import items_in
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.watched_calls import RecordedRest, RestOfKey, rest_of, watch
from cassette_import.runtime.tagging.wrappers import metas_of, plain


@rule(list.sort, while_tagged=True)
@hidden
def sort_in_place(call: LeafCall) -> None:
    owner = call.owner
    items = call.store.wrapped_items(owner) if len(call.arguments) == 1 else []
    if _is_decided(call, items):
        made = sorted(compared(call, items), **keywords_for_compared(call))
        list.__setitem__(owner, slice(None), [item.value for item in made])
        call.store.set_item_metas(owner, [metas_of(item.carried) for item in made])
        return
    call.callee(*map(plain, call.given), **keywords_with_key(call, items))
    if FLAGS[METADATA_EXISTS]:
        call.store.set_item_metas(owner, _metas_in_order(items, items_in(owner)))


@rule(sorted, plain_if=are_iterated_by_c)
@hidden
def sort_copy(call: LeafCall) -> Any:
    source = call.given[0] if call.given else ()
    is_decided = "key" in call.keywords or call.is_watched
    if len(call.given) != 1 or not (is_decided or may_have_tagged_items(call.store, source)):
        return call.native()
    items = list(iterate_wrapped(call, source))
    if _is_decided(call, items):
        found = [item.carried for item in sorted(compared(call, items), **keywords_for_compared(call))]
        return call.store.bind_items(list(map(plain, found)), found)
    made = sorted(map(plain, items), **keywords_with_key(call, items))
    if FLAGS[METADATA_EXISTS]:
        call.store.set_item_metas(made, _metas_in_order(items, made))
    return made


@hidden
def _is_decided(call: LeafCall, items: list[Any]) -> bool:
    """Whether contexts decide how the items, or their keys, compare."""
    if plain(call.keywords.get("key")) is not None:
        return call.is_watched
    return len(items) > 1 and call.is_decided(*items)


class _SortedRest(RecordedRest):
    """The rest of what is sorted: without a key, the items themselves are compared when all are there."""

    __slots__ = ("_has_key",)

    @hidden
    def __init__(self, watched: Any) -> None:
        RecordedRest.__init__(self, watched)
        self._has_key = watched.has_key

    @hidden
    def __next__(self) -> Any:
        try:
            return RecordedRest.__next__(self)
        except StopIteration:
            self.ended()
            raise

    @hidden
    def ended(self) -> None:
        items = [*self.kept, *self.items]
        if len(items) > 1 and not self._has_key:
            self._call.compare(*items)


@hidden
def _in_order(call: LeafCall, watched: tuple[Any, ...], made: Any) -> Any:
    rest = rest_of(watched[0])
    if rest is not None:
        call.store.set_item_metas(made, _metas_in_order([*rest.kept, *rest.items], made))
    return made


watch(sorted, source=_SortedRest, callback=RestOfKey, end=_in_order, keywords=True, keeps=2)


@hidden
def _metas_in_order(items: list[Any], moved: list[Any]) -> list[Metas | None]:
    """The metadata of items after they have been sorted: several references to one object keep their order."""
    waiting: dict[int, deque[Metas | None]] = {}
    for item in items:
        waiting.setdefault(id(plain(item)), deque()).append(metas_of(item))
    return [queue.popleft() if (queue := waiting.get(id(value))) else None for value in moved]
