"""Rules for operators: arithmetic, comparisons, and those that make containers of containers.

A container keeps the metadata of its parts; any other value is computed. `+=` with a list on the left is in `lists`,
`|=` with a dict on the left in `dicts`. Knows which operators move parts; must not know what a context computes for
other values.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.container_contents import SEQUENCES
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

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


@rule(
    *(function for function in _NAMES if function not in (operator.iadd, operator.ior)),
    operator.neg, operator.pos, operator.invert, abs, round, returns_method_result=True,
)  # fmt: skip
@rule(operator.concat)
@hidden
def operate(call: LeafCall) -> Any:
    name = _NAMES.get(call.function)
    if name is not None and len(call.given) == 2 and not call.leading:
        left, right = call.given
        if (type(left) is Tagged) != (type(right) is Tagged):
            result = _special_method(call, plain(left), plain(right), left, right, name, call.function.__name__)
            if result is not NotImplemented:
                return result
    LOCAL.returned = None
    value = call.native_then_drop_stale()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a special method of the program
    keep_metas = _KEEPERS.get(id(type(value)))
    if keep_metas is None:
        return call.with_computed_metadata(value)
    if call.store.items.entries:
        keep_metas(call, value, [plain(argument) for argument in call.given])
    return value


@hidden
def _special_method(call: LeafCall, left: Any, right: Any, first: Any, second: Any, name: str, function: str) -> Any:
    """Call a special method of the program, which gets the other operand wrapped."""
    reflected = _REFLECTED.get(name, f"r{name}")
    own, other = lookup(type(left), f"__{name}__"), lookup(type(right), f"__{reflected}__")
    if function == f"i{name}":
        inplace = lookup(type(left), f"__i{name}__")
        own = inplace if type(inplace) is FunctionType else own
    subclass = type(left) is not type(right) and issubclass(type(right), type(left))
    if type(own) is FunctionType and not subclass and type(first) is not Tagged:
        return call.call_method(own, left, second)
    if type(other) is FunctionType and type(second) is not Tagged and type(own) is not FunctionType:
        return call.call_method(other, right, first)
    return NotImplemented


# ---- the metadata of the parts of sequences that are added or repeated, and of sets and dicts that are combined


@hidden
def _keep_metas_of_items(call: LeafCall, value: Any, arguments: list[Any]) -> None:
    if call.function not in (operator.add, operator.concat, operator.iadd):
        _keep_repeated_metas(call, value, arguments)
    elif all(is_a(argument, SEQUENCES) for argument in arguments):
        metas = [found for argument in arguments for found in call.store.changeable_metas(argument)]
        call.store.set_item_metas(value, metas)


@hidden
def _keep_metas_of_elements(call: LeafCall, value: Any, arguments: list[Any]) -> None:
    slots = [slot for argument in arguments for slot in call.store.slots_by_key(argument).values()]
    call.store.bind_elements(value, [Tagged(*slot) for slot in slots])


@hidden
def _keep_metas_of_values(call: LeafCall, value: Any, arguments: list[Any]) -> None:
    if call.function is not operator.or_:
        return
    pairs: list[Any] = [(key, Tagged(*slot)) for key, slot in call.store.slots_by_key(arguments[0]).items()]
    found_slots = call.store.slots_by_key(arguments[1])
    pairs += [(key, Tagged(*found_slots[key]) if key in found_slots else None) for key in arguments[1]]
    call.store.bind_pairs(value, pairs)


@hidden
def _keep_repeated_metas(call: LeafCall, value: Any, arguments: list[Any]) -> None:
    if call.function not in (operator.mul, operator.imul):
        return
    owner = next((argument for argument in arguments if is_a(argument, SEQUENCES)), None)
    times = next((argument for argument in arguments if not is_a(argument, SEQUENCES)), 1)
    if owner is value:
        call.store.items.drop(value)
    elif owner is not None:
        call.store.set_item_metas(value, list(call.store.changeable_metas(owner)) * operator.index(times))


_KEEPERS: Final[dict[int, Callable[[LeafCall, Any, list[Any]], None]]] = {
    id(list): _keep_metas_of_items,
    id(tuple): _keep_metas_of_items,
    id(deque): _keep_repeated_metas,
    id(set): _keep_metas_of_elements,
    id(frozenset): _keep_metas_of_elements,
    id(dict): _keep_metas_of_values,
}
"""What keeps the metadata of the parts of a result, by the identity of its type."""
