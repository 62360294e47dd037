"""Rules for special methods that the program calls by name: `list.__add__(a, b)`, `super().__iadd__(b)`,
`x.__pos__()`.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict, deque
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.rules.operators import keeper_for
from cassette_import.runtime.tagging.wrappers import plain

_OPERATORS: Final = {
    "__add__": operator.add, "__mul__": operator.mul, "__rmul__": operator.mul, "__imul__": operator.imul,
    "__or__": operator.or_, "__ror__": operator.or_, "__and__": operator.and_, "__rand__": operator.and_,
    "__sub__": operator.sub, "__rsub__": operator.sub, "__xor__": operator.xor, "__rxor__": operator.xor,
    "__ior__": operator.ior, "__iand__": operator.iand, "__isub__": operator.isub, "__ixor__": operator.ixor,
}  # fmt: skip
_CONTAINERS: Final = (list, tuple, deque, set, frozenset, dict, OrderedDict, defaultdict)
_EXTENDING: Final = {
    list.__iadd__: list.extend, deque.__iadd__: deque.extend, dict.__ior__: dict.update,
    OrderedDict.__ior__: OrderedDict.update,
}  # fmt: skip


@rule(
    *(
        kind.__dict__[name]
        for kind in _CONTAINERS
        for name in _OPERATORS
        if name in kind.__dict__ and kind.__dict__[name] not in _EXTENDING
    )
)
@hidden
def operate_by_method(call: LeafCall) -> Any:
    operands = [plain(argument) for argument in call.arguments]
    name = call.function.__name__
    if name.startswith("__r"):
        operands.reverse()
    keep = keeper_for(call, _OPERATORS[name], operands, call.function.__objclass__) if len(operands) == 2 else None
    value = call.native()
    if keep is not None and value is not NotImplemented:
        keep(value)
    return value


@rule(*_EXTENDING)
@hidden
def extend_by_method(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or call.keywords:
        return call.native()
    call.forward(_EXTENDING[call.function], call.owner, call.arguments[1])
    return call.owner


@rule(deque.__setitem__, OrderedDict.__setitem__)
@hidden
def store_by_method(call: LeafCall) -> Any:
    owner, key, value = call.arguments
    owner, key = plain(owner), plain(key)
    call.native()
    if type(owner) is deque:
        key = key + len(owner) if key < 0 else key
    call.store.store_part(call.store.items, owner, key, value)
    return None


@rule(
    int.conjugate, int.__pos__, int.__int__, int.__index__, int.__trunc__, int.__floor__, int.__ceil__,
    float.conjugate, float.__pos__, float.__float__, bytes.__bytes__,
)  # fmt: skip
@hidden
def return_receiver(call: LeafCall) -> Any:
    """A number that these methods return unchanged keeps its metadata."""
    value = call.native()
    return call.arguments[0] if value is call.owner else call.with_computed_metadata(value)
