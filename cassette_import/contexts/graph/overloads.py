"""The overloads of a trace: operators, decisions, subscripts, and functions that ask for types.

Importing the module registers them. The overloads are hidden frames, because the program may inspect its callers.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from typing import Any, Final

from cassette_import.activation.tagging import allmetadata, metadata
from cassette_import.contexts.graph.arrays import CHANGED_ARRAY, creators, leaves_numbers, owner_of
from cassette_import.contexts.graph.context import TraceContext
from cassette_import.contexts.graph.known_functions import IN_PLACE, OPERATORS
from cassette_import.contexts.graph.nodes import LITERALS, Node, refusal, same
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import nearest_site
from cassette_import.kits.numbers.lost_numbers import unshared
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.kits.numbers.overloads import call_without_overload, runs_own_method
from cassette_import.kits.tagging import Tagged, items_outside, own_store, plain
from cassette_import.rewriting import primitives

__all__ = ["CONTAINERS", "TraceContext", "bound", "called", "changes_array", "items_of", "register_arrays"]

# ---- the overloads of a trace for arrays: what makes one, and statements that change one
#
# An array that gets unknown numbers is a node from the call on that has made it. That is known when the first such
# number is assigned: the trace begins again then.

_registered: Final[set[Any]] = set()


def register_arrays() -> None:
    """Register the overloads of NumPy's functions that make arrays, if NumPy is imported by now."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or _registered or not hasattr(numpy, "full_like"):
        return
    functions = [*creators(), numpy.ndarray.copy]
    _registered.update(functions)
    TraceContext.overdub.register(*functions)(_made)


@hidden
def _made(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """A call that makes an array. It is a node if the program changes the array later."""
    is_known = not allmetadata(ctx, *arguments, *keywords.values())
    site = nearest_site()
    if not is_known or not (leaves_numbers(f) or site in ctx.changed_later):
        value = call_without_overload(f, arguments, keywords)
        if is_known:
            ctx.arrays.made[id(plain(value))] = plain(value), site
        return value
    call = functools.partial(f, *map(plain, arguments), **{name: plain(one) for name, one in keywords.items()})
    return ctx.operation(f, arguments, keywords, call())


@hidden
def changes_array(ctx: Any, f: Any, array: Any, *operands: Any) -> Any:
    """A statement that changes an array: an item, or all of it by an operator."""
    node, bare = metadata(array, ctx), plain(array)
    if not isinstance(node, Node):
        owner = owner_of(bare)
        made, site = ctx.arrays.made.get(id(owner), (None, None))
        if made is owner and site is not None:
            ctx.begins_again = site
        raise ctx.refuse(refusal(*CHANGED_ARRAY))
    templates = tuple(map(ctx.template, operands))
    values = tuple(map(_plain_key_of_array, operands) if f is operator.setitem else map(plain, operands))
    try:
        ctx.arrays.change(bare, node, f, templates, values)
    except Exception as error:
        ctx.raised(error, f)
        raise
    return None if f is operator.setitem else array


def _plain_key_of_array(key: Any) -> Any:
    bare = plain(key)
    if type(bare) is slice:
        return slice(plain(bare.start), plain(bare.stop), plain(bare.step))
    return tuple(map(_plain_key_of_array, bare)) if type(bare) is tuple else bare


# ---- the overloads of a trace that read and change containers: items, keys, lengths, iterators and attributes
#
# The items of a container that is unknown itself are nodes; where only the key is unknown, a guard decides it, or the
# container becomes an operand. Importing the module registers them.

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
        ctx.check_iterator(value)
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


@hidden
def _next(ctx: Any, f: Any, iterator: Any, *default: Any) -> Any:
    ctx.check_iterator(iterator)
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


_OF_CONTAINERS: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    (_size, (len, len)),
    (_iterate, (iter, reversed, enumerate)),
    (_getitem, (operator.getitem, operator.getitem)),
    (_by_key, (operator.setitem, operator.delitem, dict.get, dict.pop, dict.setdefault, dict.__getitem__,
               dict.__setitem__, dict.__contains__, set.add, set.discard, set.remove, list.pop, list.insert)),
    (_contains, (operator.contains, operator.contains)),
    (_setattr, (setattr, delattr)),
    (_next, (next, next)),
)  # fmt: skip
for _overload, _functions in _OF_CONTAINERS:
    TraceContext.overdub.register(*_functions, _functions[-1])(_overload)


# ---- the overloads of a trace: operators, decisions, subscripts, and functions that ask for types

_SINGLETONS: Final = (None, True, False, Ellipsis, NotImplemented)


def _has_node(ctx: Any, values: Any) -> bool:
    return any(type(one) is Tagged and ctx.has_node(one) for one in values)


# ---- operators and conversions


@hidden
def _operate(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if f in IN_PLACE and can_change(plain(arguments[0])) and allmetadata(ctx, *arguments):
        return changes_array(ctx, f, *arguments)
    values = [plain(one) for one in arguments]
    if f in _COMPARISONS and _is_container_of_data(ctx, arguments):
        return ctx.operation(f, arguments, {}, called(ctx, f, values))
    if keywords or not _has_node(ctx, arguments) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    has_container = any(isinstance(one, CONTAINERS) for one in values)
    if has_container and f not in _COMPARISONS and not (f is operator.mod and isinstance(values[0], (str, bytes))):
        return call_without_overload(f, tuple(map(ctx.decided, arguments)), {})
    return ctx.operation(f, arguments, {}, called(ctx, f, values))


def _is_container_of_data(ctx: Any, operands: Any) -> bool:
    """Whether containers of the interpreter's own are compared or searched, of which some parts are unknown."""
    kinds = {type(plain(one)) for one in operands[:1]}
    return kinds <= {list, tuple, dict} and bool(allmetadata(ctx, *operands)) and all(map(ctx.is_data, operands))


@hidden
def _look_for(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if keywords or not _is_container_of_data(ctx, arguments) or len(arguments) > 2:
        return call_without_overload(f, arguments, keywords)
    return ctx.operation(f, arguments, {}, called(ctx, f, list(map(plain, arguments))))


_COMPARISONS: Final = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)


@hidden
def _convert(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not (_has_node(ctx, arguments) or allmetadata(ctx, *arguments)) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    values = [plain(one) for one in arguments]
    if type(f) is type and type(values[0]) is f and len(values) == 1 and ctx.node_of(arguments[0]).fixed:
        return arguments[0]  # the same object
    named = {name: plain(one) for name, one in keywords.items()}
    return ctx.operation(f, arguments, keywords, unshared(called(ctx, functools.partial(f, **named), values)))


@hidden
def _fold(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """`sum`, `max`, `sorted`, `str.join` and the like: the items of an iterable, or several arguments."""
    place = 1 if f is str.join else 0
    several = f in (min, max) and len(arguments) > 1
    given = list(arguments)
    if not several and len(given) > place and ctx.node_of(given[place]) is None:
        given[place] = _listed(ctx, given[place])
    values = given if several else [*given[place : place + 1], *given[:place], *given[place + 1 :]]
    if not allmetadata(ctx, *values, *keywords.values()):
        return call_without_overload(f, tuple(given), keywords)
    items = list(values) if several else items_of(ctx, given[place])
    if (
        plain(keywords.get("key")) is not None
        or runs_own_method(f, items)
        or not all(map(ctx.is_data, items))
        or (f in _CHOOSING and any(isinstance(plain(item), CONTAINERS) for item in items))  # the same objects
    ):
        return call_without_overload(f, tuple(given), keywords)
    named = {name: plain(one) for name, one in keywords.items()}
    return ctx.operation(
        f, tuple(given), keywords, unshared(called(ctx, functools.partial(f, **named), list(map(plain, given))))
    )


_CHOOSING: Final = (min, max, sorted)
"""Functions whose results are items. Of containers, each comparison is a guard, and the result is the object itself."""


def _listed(ctx: Any, source: Any) -> list[Any]:
    return bound(ctx, items_of(ctx, source))


@hidden
def _sort(ctx: Any, f: Any, owner: Any, **keywords: Any) -> None:
    """`list.sort`: the items of `sorted`, or the comparisons that the rule makes."""
    if plain(keywords.get("key")) is not None or not (allmetadata(ctx, plain(owner)) and ctx.is_data(plain(owner))):
        return call_without_overload(f, (owner,), keywords)  # type: ignore[no-any-return]  # it is None
    ctx.check_change(f, (owner,))
    made = _fold(ctx, sorted, owner, **keywords)
    call_without_overload(operator.setitem, (owner, slice(None), made), {})
    return None


# ---- decisions


@hidden
def _truth(ctx: Any, f: Any, value: Any) -> bool:
    node = ctx.node_of(value)
    if node is None or runs_own_method(f, (value,)):
        return call_without_overload(f, (value,), {})  # type: ignore[no-any-return]  # f is `truth`
    found = bool(called(ctx, f, (plain(value),)))
    ctx.guard("truth", node, found)
    return found


@hidden
def _not(ctx: Any, f: Any, value: Any) -> Any:
    if ctx.node_of(value) is None or runs_own_method(f, (value,)):
        return call_without_overload(f, (value,), {})
    return ctx.operation(f, (value,), {}, not plain(value))


@hidden
def _identity(ctx: Any, f: Any, one: Any, other: Any) -> Any:
    if not _has_node(ctx, (one, other)):
        return f(plain(one), plain(other))
    value = f(plain(one), plain(other))
    for first, second in ((one, other), (other, one)):
        node = ctx.node_of(first)
        if node is not None and any(plain(second) is single for single in _SINGLETONS) and not _has_node(ctx, [second]):
            if node.fixed and node.type is not bool:
                return value
            return ctx.operation(f, (one, other), {}, value)
        if node is not None and type(plain(first)) is not type(plain(second)) and ctx.node_of(second) is None:
            ctx.fix_type(node)
            return value
    raise ctx.refuse(refusal("the identity of an unknown value decides", "Compare with =="))


@hidden
def _of_type(ctx: Any, f: Any, value: Any, *more: Any) -> Any:
    """`isinstance`, `type` and the like: the type of a value that may have another type is a guard."""
    node = ctx.node_of(value)
    if node is None:
        return call_without_overload(f, (value, *more), {})
    ctx.fix_type(node)
    if f is type and more:
        return call_without_overload(f, (value, *more), {})
    return f(plain(value), *map(plain, more))


@hidden
def _known(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """Functions that need all their numbers as known ones, such as `range`."""
    named = {name: ctx.decided(one) for name, one in keywords.items()}
    return call_without_overload(f, tuple(map(ctx.decided, arguments)), named)


@hidden
def _counted(ctx: Any, f: Any, source: Any, *more: Any, **keywords: Any) -> Any:
    """Functions that make an iterator, and need all their numbers as known ones."""
    named = {name: ctx.decided(one) for name, one in keywords.items()}
    return call_without_overload(f, (source, *map(ctx.decided, more)), named)


@hidden
def _escaped(ctx: Any, f: Any, text: Any) -> Any:
    """`escape` of markupsafe in C: what it does, by methods of texts."""
    if ctx.node_of(text) is None:
        return f(plain(text))
    for old, new in _ESCAPES:
        text = ctx.operation(str.replace, (text, old, new), {}, str.replace(plain(text), old, new))
    return text


_ESCAPES: Final = (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;"))


def register_optional() -> None:
    """Register overloads of functions of packages that are imported by now."""
    register_arrays()
    module = sys.modules.get("markupsafe._speedups")
    function = getattr(module, "_escape_inner", None)
    if function is not None and function not in _optional:
        _optional.add(function)
        TraceContext.overdub.register(function)(_escaped)


_optional: Final[set[Any]] = set()


@hidden
def _refuse(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()):
        return call_without_overload(f, arguments, keywords)
    raise ctx.refuse(refusal(f"{f.__name__} of an unknown value", "Its result differs from run to run"))


@hidden
def _global(ctx: Any, f: Any, namespace: Any, name: str, *value: Any) -> Any:
    found = namespace.get(name, ctx)
    is_known = bool(value) and not allmetadata(ctx, *value)
    if is_known and (found is plain(value[0]) or same(found, plain(value[0]))):
        return None
    raise ctx.refuse(refusal(f"the global name {name} is assigned", "Return the value, or keep it in an object"))


_OF_OPERATORS_AND_TYPES: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    (_operate, (*OPERATORS, *IN_PLACE, abs, pow, divmod, round, math.floor, math.ceil, math.trunc)),
    (_convert, (float, int, complex, bool, str, repr, format, ascii, bytes)),
    (_fold, (sum, min, max, sorted, str.join, math.fsum, math.prod)),
    (_look_for, (list.index, list.count, tuple.index, tuple.count, operator.countOf, operator.indexOf)),
    (_sort, (list.sort, list.sort)),
    (_truth, (operator.truth, operator.truth)),
    (_not, (operator.not_, operator.not_)),
    (_identity, (operator.is_, operator.is_not)),
    (_of_type, (isinstance, type, callable, hasattr)),
    (_known, (range, slice, operator.itemgetter, itertools.count)),
    (_counted, (itertools.islice, itertools.repeat, itertools.combinations, itertools.permutations,
                itertools.combinations_with_replacement, itertools.tee,
                *filter(None, [getattr(itertools, "batched", None)]))),
    (_refuse, (id, hash)),
    (_global, (primitives.store_global, primitives.delete_global)),
)  # fmt: skip
for _overload, _functions in _OF_OPERATORS_AND_TYPES:
    TraceContext.overdub.register(*_functions, _functions[-1])(_overload)
