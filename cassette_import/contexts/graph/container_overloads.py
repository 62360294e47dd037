"""The overloads of a trace that read and change containers: items, keys, lengths, iterators and attributes.

The items of a container that is unknown itself are nodes; where only the key is unknown, a guard decides it, or the
container becomes an operand. Importing the module registers them.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from cassette_import.activation.tagging import allmetadata
from cassette_import.contexts.common.lost_numbers import unshared
from cassette_import.contexts.common.numeric_values import can_change, is_array
from cassette_import.contexts.common.own_operators import runs_own_method
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.contexts.graph.array_changes import CHANGED_ARRAY
from cassette_import.contexts.graph.array_overloads import changes_array
from cassette_import.contexts.graph.context import LITERALS, TraceContext
from cassette_import.contexts.graph.errors import refusal
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.iterator_metadata import items_outside
from cassette_import.runtime.tagging.tag_scopes import own_store
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["CONTAINERS", "bound", "called", "items_of"]

CONTAINERS: Final = (list, tuple, dict, set, frozenset)
_SUBSCRIPTED: Final = (str, bytes, range)


@hidden
def called(ctx: Any, f: Any, values: Any) -> Any:
    """What a function returns for plain values; an exception is noted as one that each run raises."""
    try:
        return f(*values)
    except Exception as error:
        ctx.raised(error, f)
        raise


def items_of(ctx: Any, source: Any) -> list[Any]:
    """The items of an iterable, wrapped if they are unknown."""
    bare = plain(source)
    if isinstance(bare, (list, tuple)):
        return list(own_store(ctx).wrapped_items(bare))
    return items_outside(source)


def bound(ctx: Any, items: list[Any]) -> list[Any]:
    """A list of items, of which some are unknown."""
    made: list[Any] = own_store(ctx).bind_items(list(map(plain, items)), items)
    return made


@hidden
def _size(ctx: Any, f: Any, value: Any) -> Any:
    if ctx.node_of(value) is None:
        return call_without_overload(f, (value,), {})
    return ctx.operation(f, (value,), {}, f(plain(value)))


@hidden
def _iterate(ctx: Any, f: Any, value: Any, *more: Any, **keywords: Any) -> Any:
    node = ctx.node_of(value)
    if node is None:
        _check_iterator(ctx, value)
        return call_without_overload(
            f, (value, *map(ctx.decided, more)), {name: ctx.decided(one) for name, one in keywords.items()}
        )
    if not (isinstance(plain(value), (str, bytes)) or is_array(plain(value))) or more or keywords:
        raise ctx.refuse(refusal(f"an unknown {node.type.__name__} is iterated", "Give a list of unknown values"))
    ctx.guard("length", node, len(plain(value)))
    if can_change(plain(value)):
        return call_without_overload(f, (value,), {})  # the array may change before its items are read
    items = [_getitem(ctx, operator.getitem, value, number) for number in range(len(plain(value)))]
    return call_without_overload(f, (bound(ctx, items),), {})


def _check_iterator(ctx: Any, value: Any) -> None:
    if hasattr(type(plain(value)), "__next__") and ctx.outside.forbids(plain(value)):
        raise ctx.refuse(
            refusal("an iterator that exists outside of the call is advanced", "Give a list as the argument")
        )


@hidden
def _next(ctx: Any, f: Any, iterator: Any, *default: Any) -> Any:
    _check_iterator(ctx, iterator)
    return call_without_overload(f, (iterator, *default), {})


# ---- subscripts and attributes


@hidden
def _getitem(ctx: Any, f: Any, owner: Any, key: Any) -> Any:
    bare = plain(owner)
    is_unknown = bool(allmetadata(ctx, key)) or _has_unknown_bounds(ctx, key)
    if ctx.node_of(owner) is not None and not runs_own_method(f, (owner,)):
        return ctx.operation(f, (owner, key), {}, called(ctx, f, (bare, _plain_key(key))))
    if not is_unknown:
        return call_without_overload(f, (owner, key), {})
    if isinstance(bare, _SUBSCRIPTED) or is_array(bare) or _is_table(ctx, bare):
        return ctx.operation(f, (owner, key), {}, unshared(called(ctx, f, (bare, _plain_key(key)))))
    return call_without_overload(f, (owner, _decided_key(ctx, key)), {})


def _is_table(ctx: Any, owner: Any) -> bool:
    """Whether it is a container of known numbers and texts: the key need not be known."""
    if type(owner) not in (list, tuple, dict) or not owner or allmetadata(ctx, owner):
        return False
    values = list(owner.values()) if type(owner) is dict else owner
    keys = list(owner) if type(owner) is dict else ()
    return len(values) <= _LARGEST_TABLE and all(type(one) in LITERALS for one in (*values, *keys))


_LARGEST_TABLE: Final = 1000


def _has_unknown_bounds(ctx: Any, key: Any) -> bool:
    bare = plain(key)
    return type(bare) is slice and bool(allmetadata(ctx, bare.start, bare.stop, bare.step))


def _plain_key(key: Any) -> Any:
    bare = plain(key)
    return tuple(map(plain, bare)) if type(bare) is tuple else bare


@hidden
def _decided_key(ctx: Any, key: Any) -> Any:
    bare = plain(key)
    if type(bare) is tuple and ctx.node_of(key) is None:
        return tuple([_decided_key(ctx, part) for part in items_of(ctx, bare)])
    return ctx.decided(key)


@hidden
def _by_key(ctx: Any, f: Any, owner: Any, key: Any, *more: Any, **keywords: Any) -> Any:
    """`dict.get`, `operator.setitem` and the like: the key has to be known."""
    if f is operator.setitem and can_change(plain(owner)) and (ctx.has_node(owner) or _is_unknown(ctx, key, *more)):
        return changes_array(ctx, f, owner, key, *more)
    if ctx.has_node(owner) or (is_array(plain(owner)) and allmetadata(ctx, key, *more)):
        raise ctx.refuse(refusal(*CHANGED_ARRAY))
    ctx.check_change(f, (owner, key, *more))
    return call_without_overload(f, (owner, _decided_key(ctx, key), *more), keywords)


def _is_unknown(ctx: Any, key: Any, *more: Any) -> bool:
    return bool(allmetadata(ctx, key, *more)) or _has_unknown_bounds(ctx, key)


@hidden
def _contains(ctx: Any, f: Any, owner: Any, item: Any) -> Any:
    bare = plain(owner)
    if type(bare) is dict and type(item) in LITERALS:
        return item in bare  # keys are known
    if not allmetadata(ctx, owner, item) or runs_own_method(f, (owner,)):
        return call_without_overload(f, (owner, item), {})
    if not isinstance(bare, (*CONTAINERS, str, bytes, range)) or (type(bare) is dict and allmetadata(ctx, bare)):
        return call_without_overload(f, (owner, ctx.decided(item)), {})
    if not (ctx.is_data(owner) and ctx.is_data(item)):
        return call_without_overload(f, (owner, item), {})
    return ctx.operation(f, (owner, item), {}, called(ctx, f, (bare, plain(item))))


@hidden
def _setattr(ctx: Any, f: Any, owner: Any, name: Any, *value: Any) -> Any:
    if ctx.node_of(owner) is not None:
        raise ctx.refuse(refusal("an attribute of an unknown value is assigned", "Make a new object"))
    ctx.check_change(f, (owner, name, *value))
    return call_without_overload(f, (owner, name, *value), {})


_REGISTERED: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    (_size, (len, len)),
    (_iterate, (iter, reversed, enumerate)),
    (_getitem, (operator.getitem, operator.getitem)),
    (_by_key, (operator.setitem, operator.delitem, dict.get, dict.pop, dict.setdefault, dict.__getitem__,
               dict.__setitem__, dict.__contains__, set.add, set.discard, set.remove, list.pop, list.insert)),
    (_contains, (operator.contains, operator.contains)),
    (_setattr, (setattr, delattr)),
    (_next, (next, next)),
)  # fmt: skip
for _overload, _functions in _REGISTERED:
    TraceContext.overdub.register(*_functions, _functions[-1])(_overload)
