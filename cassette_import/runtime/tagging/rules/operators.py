"""Rules for operators, and for special methods called by name: arithmetic, comparisons, containers of containers.

A container keeps the metadata of its parts; any other value is computed. `+=` with a list on the left
and `|=` with a dict on the left are in `containers`.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import FunctionType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import bases_of, is_a
from cassette_import.runtime.tagging.callback_metadata import with_metadata_of_callback
from cassette_import.runtime.tagging.compared_items import Compared, compared
from cassette_import.runtime.tagging.held_metadata import CONTAINERS, SEQUENCES, size_of
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- rules for operators: arithmetic, comparisons, and those that make containers of containers

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
DECISIONS: Final = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)
_REFLECTED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


@rule(
    *(function for function in _NAMES if function not in (operator.iadd, operator.ior)),
    operator.neg, operator.pos, operator.invert, abs, round, returns_method_result=True,
)  # fmt: skip
@rule(operator.concat)
@hidden
def operate(call: LeafCall) -> Any:
    if not call.leading and len(call.given) == 2:
        call.operands = call.given
        if call.function in DECISIONS and call.is_decided(*call.given):
            items = _compared_operands(call)
            if items:
                return call.function(*items)
            if not _runs_overdubbed_method(call):
                _note_unseen(call)
    keep_metas = _keeper(call) if call.store.items.entries else None
    LOCAL.returned = None
    value = call.native_then_drop_stale()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a special method of the program
    if keep_metas is not None:
        keep_metas(value)
        return value
    if type(value) in CONTAINERS or _runs_overdubbed_method(call):
        return value
    value = call.with_computed_metadata(value)
    if found is None or type(value) is Tagged:
        return value
    LOCAL.returned = found  # a special method of the program has made a part of the value
    return with_metadata_of_callback(call.activation, call.function, call.arguments, call.keywords, value)


@rule(divmod)
@hidden
def divide(call: LeafCall) -> Any:
    """The parts of what a special method of the program returns have the metadata that they need."""
    return call.native_then_drop_stale() if _runs_overdubbed_method(call) else without_rule(call)


@hidden
def _runs_overdubbed_method(call: LeafCall) -> bool:
    """Whether an operator runs an overdubbed special method, whose result has the metadata that it needs."""
    name = _NAMES.get(call.function) or call.function.__name__
    names = (f"__{name}__", f"__{_REFLECTED.get(name, 'r' + name)}__")
    methods = [lookup(type(plain(one)), names[place > 0]) for place, one in enumerate(call.given)]
    return any(type(method) is FunctionType and calls_overdubbed(call.activation, method) for method in methods)


@hidden
def _note_unseen(call: LeafCall) -> None:
    """Code that is not overdubbed compares objects which hold metadata: `__eq__` of another package, for example."""
    names = (f"__{_NAMES[call.function]}__", f"__{_REFLECTED[_NAMES[call.function]]}__")
    if any(type(lookup(type(plain(one)), name)) is FunctionType for one in call.given for name in names):
        call.compare(*call.given)


@hidden
def _compared_operands(call: LeafCall) -> list[Any]:
    """Two containers of the interpreter's own, in the form in which their items are compared; else nothing."""
    operands = list(map(plain, call.given))
    kind = container_whose_method_runs(call.function, operands)
    if kind not in _COMPARED or not all(is_a(operand, kind) for operand in operands):
        return []
    if is_a(operands[0], dict):
        return [kind(_compared_pairs(call, operand)) for operand in operands]
    return [kind(compared(call, call.store.wrapped_items(operand))) for operand in operands]


@hidden
def _compared_pairs(call: LeafCall, owner: Any) -> list[tuple[Any, Compared]]:
    slots = call.store.slots_by_key(owner)
    pairs = [(key, Tagged(*slots[key]) if key in slots else value) for key, value in dict.items(owner)]
    return [(key, Compared(call, value)) for key, value in pairs]


_COMPARED: Final = (list, tuple, deque, dict, OrderedDict)


# ---- the metadata of the parts of sequences that are added or repeated, and of sets and dicts that are combined

Keeper = Callable[[Any], None]
"""What is called with the result of an operator, and keeps the metadata of its parts."""


@hidden
def _keeper(call: LeafCall) -> Keeper | None:
    """The keeper for the method that an operator calls; None if that is no method of a container."""
    operands = [plain(argument) for argument in call.arguments]
    kind = container_whose_method_runs(call.function, operands)
    return keeper_for(call, call.function, operands, kind) if kind is not None else None


@hidden
def keeper_for(call: LeafCall, function: Any, operands: list[Any], kind: type) -> Keeper | None:
    """The keeper for the method of a container that an operator calls."""
    if function in DECISIONS:
        return None
    make = next((_KEEPERS[base] for base in bases_of(kind) or () if base in _KEEPERS), None)
    return make(call.store, function, operands) if make is not None else None


@hidden
def container_whose_method_runs(function: Any, operands: list[Any]) -> Any:
    """The container of the interpreter's own whose method an operator calls.

    None if a method of the program, or of another type, may be called.
    """
    if len(operands) != 2:
        return None
    name = "add" if function is operator.concat else _NAMES.get(function)
    if name is None:
        return None
    left, right = operands
    in_place = lookup(type(left), f"__i{name}__") if function.__name__ == f"i{name}" else None
    methods = [in_place]
    if in_place is None:
        methods = [lookup(type(left), f"__{name}__"), lookup(type(right), f"__{_REFLECTED.get(name, f'r{name}')}__")]
    kinds = []
    for method in methods:
        if method is not None:
            if type(method) is not WrapperDescriptorType:
                return None
            kinds.append(method.__objclass__)
    return next((kind for kind in kinds if issubclass(kind, CONTAINERS)), None)


@hidden
def _keep_metas_of_items(store: Store, function: Any, operands: list[Any]) -> Keeper | None:
    """The operator is applied to the metadata of the items, too."""
    times = [operand for operand in operands if not is_a(operand, SEQUENCES)]
    parts = [store.changeable_metas(item) if is_a(item, SEQUENCES) else item for item in operands]
    is_counted = all(type(number) in (int, bool) for number in times)

    @hidden
    def keep(value: Any) -> None:
        if is_counted:
            metas = function(*parts)
        elif is_a(value, SEQUENCES):  # the number of repetitions has a method `__index__`, which may be the program's
            (items,) = [part for part, operand in zip(parts, operands, strict=True) if is_a(operand, SEQUENCES)]
            metas = items * (size_of(value) // len(items)) if items else items
        if is_a(value, SEQUENCES) and size_of(value) == len(metas):
            store.set_item_metas(value, metas)

    return keep


@hidden
def _keep_metas_of_elements(store: Store, function: Any, operands: list[Any]) -> Keeper:
    slots = [slot for operand in operands for slot in list(store.slots_by_key(operand).values())]

    @hidden
    def keep(value: Any) -> None:
        if is_a(value, (set, frozenset)):
            store.bind_elements(value, [Tagged(*slot) for slot in slots])

    return keep


@hidden
def _keep_metas_of_values(store: Store, function: Any, operands: list[Any]) -> Keeper | None:
    if function is not operator.or_ or not all(is_a(operand, dict) for operand in operands):
        return None
    pairs: list[Any] = [(key, Tagged(*slot)) for key, slot in store.slots_by_key(operands[0]).items()]
    slots = store.slots_by_key(operands[1])
    pairs += [(key, Tagged(*slots[key]) if key in slots else None) for key in dict.keys(operands[1])]

    @hidden
    def keep(value: Any) -> None:
        if is_a(value, dict):
            store.bind_pairs(value, pairs)

    return keep


_KEEPERS: Final[dict[type, Callable[[Store, Any, list[Any]], Keeper | None]]] = {
    list: _keep_metas_of_items,
    tuple: _keep_metas_of_items,
    deque: _keep_metas_of_items,
    set: _keep_metas_of_elements,
    frozenset: _keep_metas_of_elements,
    dict: _keep_metas_of_values,
}
"""What makes the keeper for the methods of a container."""


# ---- rules for special methods that the program calls by name

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
