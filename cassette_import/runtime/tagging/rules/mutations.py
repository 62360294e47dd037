"""Rules for what changes containers, and for operators that make containers of containers.

A change is done to the container, and the same change to the list of its items' metadata. Knows methods of lists,
deques, dicts and sets; must not know how a call got here.
"""

from __future__ import annotations

import array
import io
import operator
from collections import deque
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import computed_values
from cassette_import.runtime.tagging.fast_path import always, are_whole, claiming
from cassette_import.runtime.tagging.propagation import Call, rule
from cassette_import.runtime.tagging.rules.consumers import in_order, take_pairs
from cassette_import.runtime.tagging.rules.iterators import may_carry, observed
from cassette_import.runtime.tagging.rules.object_parts import keep_elements, keep_pairs
from cassette_import.runtime.tagging.shadow_store import SEQUENCES, has, items_in, size_of
from cassette_import.runtime.tagging.wrappers import LOCAL, Metas, Tagged, metas_of, plain

_Parts = Any

# ---- lists and deques


@rule(list.append)
@hidden
def append(call: Call) -> None:
    owner = call.owner
    call.native()
    entry = call.store.items.of(owner)
    if entry is not None and entry.size != size_of(owner) - 1:
        call.store.items.drop(owner)
    if entry is not None or type(call.arguments[1]) is Tagged:
        call.store.put(call.store.items, owner, size_of(owner) - 1, call.arguments[1])


@hidden
def _parts(call: Call, owner: Any) -> _Parts:
    found: list[Metas | None] = call.store.parts(owner) or [None] * size_of(owner)
    return deque(found, owner.maxlen) if is_a(owner, deque) else found


@rule(
    list.insert, list.reverse, list.clear,
    deque.append, deque.appendleft, deque.insert, deque.reverse, deque.rotate, deque.clear,
)  # fmt: skip
@hidden
def rearrange(call: Call) -> Any:
    """The same method, applied to the metadata; wrapped arguments stand for theirs."""
    owner, name = call.owner, call.function.__name__
    parts = _parts(call, owner)
    result = call.native()
    arguments = [plain(argument) for argument in call.arguments[1:]]
    if name in _WITH_ITEM:
        arguments[-1] = metas_of(call.arguments[-1])
    getattr(parts, name)(*arguments)
    call.store.set_parts(owner, parts)
    return result


_WITH_ITEM: Final = ("insert", "append", "appendleft")


@rule(
    io.StringIO.write, io.StringIO.writelines, io.BytesIO.write, io.BytesIO.writelines,
    bytearray.append, bytearray.extend, bytearray.insert, array.array.append, array.array.extend,
)  # fmt: skip
@hidden
def absorb(call: Call) -> Any:
    """What is written into a buffer is among its contents."""
    owner, result = call.owner, call.native()
    found = metas_of(computed_values.computed(call.activation, call.function, call.arguments, call.keywords, owner))
    if found is not None:
        slots = call.store.attributes.make(owner).slots
        slots[computed_values.CONTENTS] = owner, {**slots.get(computed_values.CONTENTS, (owner, {}))[1], **found}
    return result


@rule(list.pop, deque.pop, deque.popleft)
@hidden
def pop(call: Call) -> Any:
    owner, parts = call.owner, _parts(call, call.owner)
    value = call.native()
    metas = getattr(parts, call.function.__name__)(*map(plain, call.arguments[1:]))
    call.store.set_parts(owner, parts)
    return Tagged(value, metas) if metas else value


@rule(list.remove, deque.remove)
@hidden
def remove(call: Call) -> None:
    owner, before, parts = call.owner, items_in(call.owner), _parts(call, call.owner)
    call.native()
    after = items_in(owner)
    position = next((n for n, value in enumerate(after) if value is not before[n]), len(after))
    while position and before[position - 1] is before[position]:
        position -= 1  # of the same object several times, the first
    del parts[position]
    call.store.set_parts(owner, parts)


@hidden
def adds_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether nothing is added to a list but what runs no code."""
    return not is_a(arguments[0], (list, deque)) or are_whole(arguments[1:], keywords)


@claiming(operator.iadd, idle=adds_plainly)
@always(list.extend, deque.extend, deque.extendleft, idle=are_whole)
@rule(list.extend, deque.extend, deque.extendleft, operator.iadd, operator.iconcat)
@hidden
def extend(call: Call) -> Any:
    owner = call.owner
    if not is_a(owner, (list, deque)) or type(lookup(type(owner), "__iadd__")) is FunctionType:
        return _operate(call)
    source = plain(call.arguments[1])
    if call.function is operator.iadd and lookup(type(source), "__radd__") is not None:
        return _operate(call)  # the other operand is asked first
    if not may_carry(call.store, source) and call.store.items.of(owner) is None:
        call.native()
        return call.given[0] if call.function in (operator.iadd, operator.iconcat) else None
    parts = _parts(call, owner)
    items: list[Any] = []
    try:
        items.extend(observed(call, source))
    finally:  # what came before an error is there
        add = operator.iadd if call.function in (operator.iadd, operator.iconcat) else call.function
        add(owner, list(map(plain, items)))
        getattr(parts, "extendleft" if call.function is deque.extendleft else "extend")(map(metas_of, items))
        call.store.set_parts(owner, parts)
    return call.given[0] if call.function in (operator.iadd, operator.iconcat) else None


@rule(list.sort)
@hidden
def sort(call: Call) -> None:
    owner = call.owner
    items = call.store.items_of(owner)
    call.native()
    call.store.set_parts(owner, in_order(items, items_in(owner)))


# ---- dicts and sets


@rule(dict.get, dict.pop, dict.setdefault)
@hidden
def take_by_key(call: Call) -> Any:
    _, key, *default = call.arguments
    owner = call.owner
    slot = call.store.keyed(owner).get(plain(key))
    had = has(owner, plain(key))
    value = call.native()
    name = call.function.__name__
    if not had:
        if default and name == "setdefault":
            call.store.put(call.store.items, owner, plain(key), default[0])
        return default[0] if default else value
    if name == "pop":
        call.store.put(call.store.items, owner, plain(key), None)
    return Tagged(value, slot[1]) if slot is not None and slot[0] is value else value


@rule(dict.popitem)
@hidden
def take_last(call: Call) -> Any:
    slots = dict(call.store.keyed(call.owner))
    key, value = pair = call.native()
    slot = slots.get(key)
    if slot is not None and slot[0] is value:
        call.store.keyed(call.owner)
        call.store.set_parts(pair, [None, slot[1]])
    return pair


_DICT_ITER: Final = dict.__dict__["__iter__"]


@hidden
def joins_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether nothing is put into a dict but another dict."""
    return not is_a(arguments[0], dict) or type(arguments[1]) is dict


@claiming(operator.ior, idle=joins_plainly)
@rule(dict.update, operator.ior)
@hidden
def update(call: Call) -> Any:
    owner = call.owner
    if is_a(owner, (set, frozenset)):
        return combine(call)
    if not is_a(owner, dict):
        return _operate(call)
    pairs: list[Any] = []
    try:
        for source in map(plain, call.arguments[1:]):
            if is_a(source, dict) and lookup(type(source), "__iter__") is _DICT_ITER:
                slots = call.store.keyed(source)
                pairs += [(key, Tagged(*slots[key]) if key in slots else value) for key, value in dict.items(source)]
            elif hasattr(source, "keys"):
                for key in source.keys():  # noqa: SIM118
                    pairs.append((key, call.event(operator.getitem, source, key)))
            else:
                take_pairs(call, source, pairs)
        pairs += call.keywords.items()
    finally:  # what came before an error is there
        call.function(owner, dict([tuple(map(plain, pair)) for pair in pairs]))
        keep_pairs(call.store, owner, pairs)
    return call.given[0] if call.function is operator.ior else None


@rule(dict.clear, set.clear)
@hidden
def clear(call: Call) -> None:
    call.native()
    call.store.items.drop(call.owner)


@rule(dict.keys)
@hidden
def keys(call: Call) -> Any:
    """Keys have no metadata of their own; what holds for a dict as a whole holds for its keys."""
    return call.computed(call.native()) if computed_values.flows(call.arguments[0]) else call.native()


@rule(dict.values, dict.items)
@hidden
def view(call: Call) -> Any:
    made = call.native()
    owner = call.owner
    if call.store.keyed(owner):
        call.store.views.make(made).extra = owner, call.function.__name__
    return made


@rule(set.add)
@hidden
def add(call: Call) -> None:
    owner, item = call.owner, call.arguments[1]
    had = has(owner, plain(item))
    call.native()
    if not had:
        call.store.put(call.store.items, owner, plain(item), item)


@rule(set.pop)
@hidden
def take_any(call: Call) -> Any:
    slots = dict(call.store.keyed(call.owner))
    value = call.native()
    slot = slots.get(value)
    return Tagged(value, slot[1]) if slot is not None and slot[0] is value else value


@rule(
    set.update, set.union, set.intersection, set.difference, set.symmetric_difference,
    set.intersection_update, set.difference_update, set.symmetric_difference_update,
    frozenset.union, frozenset.intersection, frozenset.difference, frozenset.symmetric_difference,
)  # fmt: skip
@hidden
def combine(call: Call) -> Any:
    owner = call.owner
    items: list[Any] = []
    given: list[Any] = []
    error: BaseException | None = None
    for source in map(plain, call.arguments):
        if is_a(source, (set, frozenset)):
            items += [Tagged(*slot) for slot in call.store.keyed(source).values()]
            given.append(source)
        else:
            found: list[Any] = []
            try:
                found.extend(observed(call, source))
            except BaseException as raised:
                if call.function not in (set.update, set.difference_update):
                    raise
                error = raised  # what came before it counts
            items += found
            given.append(list(map(plain, found)))
            if error is not None:
                break
    made = call.function(*given, **call.options)
    target = owner if made is None else made
    keep_elements(call.store, target, items)
    if error is not None:
        raise error
    return made


# ---- operators


_NAMES: Final = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.matmul: "matmul",
    operator.truediv: "truediv", operator.floordiv: "floordiv", operator.mod: "mod", operator.pow: "pow",
    operator.lshift: "lshift", operator.rshift: "rshift", operator.and_: "and", operator.or_: "or",
    operator.xor: "xor", operator.lt: "lt", operator.le: "le", operator.eq: "eq", operator.ne: "ne",
    operator.gt: "gt", operator.ge: "ge",
    operator.isub: "sub", operator.imul: "mul", operator.itruediv: "truediv", operator.ifloordiv: "floordiv",
    operator.imod: "mod", operator.ipow: "pow", operator.iadd: "add", operator.iand: "and", operator.ixor: "xor",
    operator.ior: "or", operator.imatmul: "matmul", operator.ilshift: "lshift", operator.irshift: "rshift",
}  # fmt: skip
_REFLECTED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


@claiming(*(function for function in _NAMES if function not in (operator.iadd, operator.ior)))
@claiming(operator.neg, operator.pos, operator.invert, abs, round)
@rule(
    *(function for function in _NAMES if function not in (operator.iadd, operator.ior)),
    operator.neg, operator.pos, operator.invert, operator.concat, abs, round,
)  # fmt: skip
@hidden
def _operate(call: Call) -> Any:
    name = _NAMES.get(call.function)
    if name is not None and len(call.given) == 2 and not call.leading:
        left, right = call.given
        if (type(left) is Tagged) != (type(right) is Tagged):
            result = _special(call, plain(left), plain(right), left, right, name, call.function.__name__)
            if result is not NotImplemented:
                return result
    LOCAL.returned = None
    value = call.checked()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a special method of the program
    if type(value) not in _JOINED:
        return call.computed(value)
    if call.store.items.entries:
        _join(call, value)
    return value


_JOINED: Final = (list, tuple, deque, dict, set, frozenset)
"""What operators put together of the parts of others."""


@hidden
def _special(call: Call, left: Any, right: Any, first: Any, second: Any, name: str, function: str) -> Any:
    """A special method of the program, which gets the other operand as it is."""
    reflected = _REFLECTED.get(name, f"r{name}")
    own, other = lookup(type(left), f"__{name}__"), lookup(type(right), f"__{reflected}__")
    if function == f"i{name}":
        inplace = lookup(type(left), f"__i{name}__")
        own = inplace if type(inplace) is FunctionType else own
    subclass = type(left) is not type(right) and issubclass(type(right), type(left))
    if type(own) is FunctionType and not subclass and type(first) is not Tagged:
        return call.enter(own, left, second)
    if type(other) is FunctionType and type(second) is not Tagged and type(own) is not FunctionType:
        return call.enter(other, right, first)
    return NotImplemented


@hidden
def _join(call: Call, value: Any) -> None:
    """Sequences that are added or repeated, sets and dicts that are combined."""
    arguments = [plain(argument) for argument in call.given]
    kind = type(value)
    if kind in (list, tuple) and call.function in (operator.add, operator.concat, operator.iadd):
        if all(is_a(argument, SEQUENCES) for argument in arguments):
            call.store.set_parts(value, [part for argument in arguments for part in _parts(call, argument)])
    elif kind in (list, tuple, deque) and call.function in (operator.mul, operator.imul):
        owner = next((argument for argument in arguments if is_a(argument, SEQUENCES)), None)
        times = next((argument for argument in arguments if not is_a(argument, SEQUENCES)), 1)
        if owner is not None and owner is not value:
            call.store.set_parts(value, list(_parts(call, owner)) * operator.index(times))
        elif owner is value:
            call.store.items.drop(value)
    elif kind in (set, frozenset):
        keep_elements(
            call.store, value, [Tagged(*slot) for argument in arguments for slot in call.store.keyed(argument).values()]
        )
    elif kind is dict and call.function is operator.or_:
        pairs: list[Any] = [(key, Tagged(*slot)) for key, slot in call.store.keyed(arguments[0]).items()]
        slots = call.store.keyed(arguments[1])
        pairs += [(key, Tagged(*slots[key]) if key in slots else None) for key in arguments[1]]
        keep_pairs(call.store, value, pairs)
