"""Assignments and deletions as events: stores to an index, an attribute or a name of the module, and what is unpacked.

Where no temporaries are allowed, values are kept outside the frame (see `syntax.operand_stack` of the runtime).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.primitives import INPLACE
from cassette_import.rewriting.syntax.expressions import (
    attribute_load,
    attribute_name,
    global_name,
    held,
    name_load,
    namespace,
    subscript_load,
)
from cassette_import.rewriting.syntax.operation import Expressions, Form, IndexSlot, Itself, Operation, Slot
from cassette_import.rewriting.trees.annotations import CLASS_NAME, GLOBAL, NOOVERDUB, PRIVATE, has
from cassette_import.rewriting.trees.node_builder import At, index_value

Spec = tuple[Any, ...] | None
"""How a target unpacks: the number of its parts, the index of the starred one or None, and the specs of its parts.

The specs end before the starred part, unless that part or a later one unpacks. None for a target that does not unpack.
"""


# ---- unpacking


def iterates(form: Form) -> bool:
    """Whether steps of an iteration are events."""
    return form.wanted("iter") or form.wanted("next")


def spec_of(target: ast.expr) -> Spec:
    """How a target unpacks."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    star = next((number for number, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
    inner = tuple(spec_of(part.value if isinstance(part, ast.Starred) else part) for part in target.elts)
    return len(inner), star, inner if star is None or any(inner[star:]) else inner[:star]


def unpacking(value: ast.expr, target: ast.expr, form: Form, deep: bool = True) -> ast.expr:
    """A value that is about to be unpacked by a target."""
    spec = spec_of(target)
    if spec is None or not iterates(form):
        return value
    at = At(target)  # where a traceback shows that there is no iterator
    if not deep:
        return at.call(at.symbol(symbols.UNPACK), [value, at.constant((*spec[:2], ()))])
    return form.unpacking(at, value, spec)


# ---- stores


def is_event(target: ast.expr, form: Form) -> bool:
    """Whether storing to a target, or to a part of it, is an event."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(is_event(part, form) for part in target.elts)
    if isinstance(target, ast.Starred):
        return form.tags or is_event(target.value, form)
    if has(target, CLASS_NAME) or has(target, NOOVERDUB):
        return has(target, CLASS_NAME)
    if isinstance(target, ast.Subscript):
        return form.wanted("operator.setitem")
    if isinstance(target, ast.Attribute):
        return form.wanted("setattr")
    return has(target, GLOBAL) and form.wanted("primitives.store_global")


def place(target: ast.expr, value: ast.expr, form: Form, depth: int) -> list[ast.stmt]:
    """The statements for ``target = value``."""
    at = At(target)
    if not is_event(target, form):
        return [at.put(ast.Assign([target], unpacking(value, target, form)))]
    if not isinstance(target, (ast.Tuple, ast.List)):
        return _store(target, value, form, depth)
    if form.temporaries:
        made, stores = into_temporaries(target, form, depth)
        return [at.put(ast.Assign([made], unpacking(value, made, form))), *stores]
    spec = spec_of(target)
    assert spec is not None
    kept = at.call(
        at.symbol(symbols.KEEP_ALL), [unpacking(value, target, form, deep=False), *map(at.constant, spec[:2])]
    )
    statements: list[ast.stmt] = [at.put(ast.Expr(kept))]
    for part in target.elts:
        value = held(At(part), form, "")
        inner, value = (part.value, _rest(value, form)) if isinstance(part, ast.Starred) else (part, value)
        statements += place(inner, value, form, depth)
    return statements


def _rest(value: ast.expr, form: Form) -> ast.expr:
    """The list that the interpreter has made for a starred target: its items are plain, as those of any container."""
    return At(value).call(At(value).symbol(symbols.TIDY), [value]) if form.tags else value


def _store(target: ast.expr, value: ast.expr, form: Form, depth: int) -> list[ast.stmt]:
    at = At(target)
    if has(target, CLASS_NAME):
        name: str = target.id  # type: ignore[attr-defined]  # its kind is known
        return [at.put(ast.Assign([target], at.call(at.symbol(symbols.CLASS_VALUE), [value, at.constant(name)])))]
    plain = at.put(ast.Assign([target], value))
    operation, last = _STORES[type(target)](target, value, plain, at)
    between = form.argument_free_statement(operation.name, last, plain)
    return between if between is not None else [at.put(ast.Expr(form.operate(operation, depth)))]


def _store_item(target: ast.Subscript, value: ast.expr, plain: ast.Assign, at: At) -> tuple[Operation, Slot]:
    """The operation of a store, and the slot of the operand that is evaluated last."""
    name = "operator.setitem"

    def arguments(read: Expressions) -> Expressions:
        return [read[1], read[2], read[0]]

    operands = [Itself(value), Slot(target, "value"), IndexSlot(target, "slice")]
    native = _call_of_primitive(at, name, arguments)
    return Operation(name, target, operands, arguments, native, symbols.SET_ITEM), Slot(target, "slice")


def _store_attribute(target: ast.Attribute, value: ast.expr, plain: ast.Assign, at: At) -> tuple[Operation, Slot]:
    attribute = at.constant(attribute_name(target))

    def arguments(read: Expressions) -> Expressions:
        return [read[1], attribute, read[0]]

    operands = [Itself(value), Slot(target, "value")]
    native = _call_of_primitive(at, "setattr", arguments)
    late = symbols.SET_ATTRIBUTE
    operation = Operation("setattr", target, operands, arguments, native, late, constants=[attribute])
    return operation, Slot(target, "value")


def _store_global(target: ast.Name, value: ast.expr, plain: ast.Assign, at: At) -> tuple[Operation, Slot]:
    name, variable = "primitives.store_global", global_name(target)

    def arguments(read: Expressions) -> Expressions:
        return [namespace(at), at.constant(variable), read[0]]

    native = _call_of_primitive(at, name, arguments)
    return Operation(name, target, [Itself(value)], arguments, native), Slot(plain, "value")


_STORES: dict[type[ast.expr], Callable[[Any, ast.expr, ast.Assign, At], tuple[Operation, Slot]]] = {
    ast.Subscript: _store_item,
    ast.Attribute: _store_attribute,
    ast.Name: _store_global,
}


def _call_of_primitive(
    at: At, name: str, arguments: Callable[[Expressions], Expressions]
) -> Callable[[Expressions], ast.expr]:
    """Makes the call of a primitive that does what a statement does."""
    return lambda read: at.call(at.symbol(symbols.primitive(name)), arguments(read))


def into_temporaries(target: ast.expr, form: Form, depth: int) -> tuple[ast.expr, list[ast.stmt]]:
    """A target that unpacks into temporaries from the first event on, and the statements that store them in order."""
    stores: list[ast.stmt] = []
    names: list[str] = []

    def visit(part: ast.expr) -> ast.expr:
        if isinstance(part, (ast.Tuple, ast.List)) and not names:  # after an event, it is unpacked when it is stored
            part.elts = [visit(element) for element in part.elts]
            return part
        if isinstance(part, ast.Starred) and not form.tags:
            part.value = visit(part.value)
            return part
        if not (names or is_event(part, form)):
            return part
        at, name = At(part), temporaries.unpacked(depth, len(names))
        names.append(name)
        if isinstance(part, ast.Starred):
            stores.extend(place(part.value, _rest(at.load(name), form), form, depth + 1))
            return at.put(ast.Starred(at.store(name), ast.Store()))
        stores.extend(place(part, at.load(name), form, depth + 1))
        return at.store(name)

    made = visit(target)
    at = At(target)
    return made, [*stores, at.put(ast.Expr(at.clear(names)))]


def bound_by_block(target: ast.expr, form: Form, depth: int) -> tuple[ast.expr, list[ast.stmt]]:
    """For the target of a `for` or `with`: the target in its place, and the statements that the block begins with."""
    if form.temporaries:
        return into_temporaries(target, form, depth)
    at = At(target)
    waiting = at.put(ast.Subscript(at.symbol(symbols.SINK), at.constant(0), ast.Store()))
    return waiting, place(target, held(at, form, ""), form, depth)


# ---- statements


def assign(node: ast.Assign, form: Form, depth: int) -> Any:
    if not any(is_event(target, form) for target in node.targets):
        if len(node.targets) == 1:
            node.value = unpacking(node.value, node.targets[0], form)
            return node
        if not (iterates(form) and any(spec_of(target) for target in node.targets)):
            return node
    if len(node.targets) == 1:
        return place(node.targets[0], node.value, form, depth)
    at = At(node)
    statements: list[ast.stmt] = []
    last = len(node.targets) - 1
    if form.temporaries:
        statements.append(at.put(ast.Assign([at.store(temporaries.VALUE)], node.value)))
    else:
        statements.append(at.put(ast.Expr(at.call(at.symbol(symbols.KEEP), [node.value]))))
    for number, target in enumerate(node.targets):
        if form.temporaries:
            value: ast.expr = at.load(temporaries.VALUE)
        else:
            value = at.call(at.symbol(symbols.KEPT if number == last else symbols.PEEK), [])
        statements += place(target, value, form, depth)
    if form.temporaries:
        statements.append(at.put(ast.Assign([at.store(temporaries.VALUE)], at.constant(None))))
    return statements


def annotated(node: ast.AnnAssign, form: Form, depth: int) -> Any:
    """`xs[0]: int = 9`: a statement of its own evaluates the annotation, if it is evaluated, after the store."""
    if node.value is None or not is_event(node.target, form):
        return node
    if isinstance(node.target, ast.Name):
        stores = place(node.target, node.value, form, depth)
        declared = At(node).put(
            ast.AnnAssign(At(node.target).store(node.target.id), node.annotation, None, node.simple)
        )
        return [*stores, declared]
    stores = place(node.target, node.value, form, depth)
    at = At(node)
    nothing = at.put(ast.Subscript(at.constant(None), at.constant(0), ast.Store()))
    return [*stores, at.put(ast.AnnAssign(nothing, node.annotation, None, 0))]


def augmented(node: ast.AugAssign, form: Form, depth: int) -> Any:
    """`target op= value` as load, operation and store; the parts of the target are evaluated once."""
    name, target = INPLACE[type(node.op).__name__], node.target
    loads = {ast.Subscript: "operator.getitem", ast.Attribute: "getattr", ast.Name: "primitives.load_global"}
    apart = is_event(target, form) or form.wanted(loads[type(target)])
    if isinstance(target, ast.Name):
        apart = has(target, CLASS_NAME) or (apart and has(target, GLOBAL))
    if not apart and not form.wanted(name):
        return node
    if not apart:
        between = form.argument_free_statement(name, Slot(node, "value"), node)
        if between is not None:
            return between
    at = At(node)
    before, current, kept = _parts(target, form, depth)
    operation: ast.expr = at.call(at.symbol(symbols.primitive(name)), [current, node.value])
    if form.wanted(name):
        slots = [Slot(operation, "args", 0), Slot(operation, "args", 1)]
        operation = form.operate(Operation(name, operation, slots), depth + 1, "i")
    statements = [*before, *place(kept, operation, form, depth + 2)]
    if before:
        statements.append(at.put(ast.Expr(at.clear([temporaries.OWNER, temporaries.INDEX][: len(before)]))))
    return statements


def _parts(target: ast.expr, form: Form, depth: int) -> tuple[list[ast.stmt], ast.expr, ast.expr]:
    """For a target that is read, then written: the statements before, the read, and the target to write to."""
    at = At(target)
    if isinstance(target, ast.Name):
        read = at.load(target.id)
        if has(target, CLASS_NAME):
            return [], at.call(at.symbol(symbols.CLASS_READ), [read, at.constant(target.id)]), target
        if has(target, GLOBAL) and form.wanted("primitives.load_global"):
            return [], form.operate(name_load(read), depth), target
        return [], read, target
    before: list[ast.stmt] = []

    def twice(value: ast.expr, name: str, again: str) -> tuple[ast.expr, ast.expr]:
        if form.temporaries:
            before.append(at.put(ast.Assign([at.store(name)], value)))
            return at.load(name), at.load(name)
        return at.call(at.symbol(symbols.KEEP), [value]), at.call(at.symbol(again), [])

    if isinstance(target, ast.Attribute):
        first, second = twice(target.value, temporaries.OWNER, symbols.KEPT)
        load: Any = at.put(ast.Attribute(first, target.attr, ast.Load()))
        store: Any = at.put(ast.Attribute(second, target.attr, ast.Store()))
        if hasattr(target, PRIVATE):
            setattr(load, PRIVATE, attribute_name(target))
            setattr(store, PRIVATE, attribute_name(target))
        return before, form.operate(attribute_load(load), depth) if form.wanted("getattr") else load, store
    assert isinstance(target, ast.Subscript)
    first, second = twice(target.value, temporaries.OWNER, symbols.KEPT_BELOW)
    index, again = twice(index_value(target.slice), temporaries.INDEX, symbols.KEPT)
    load = at.put(ast.Subscript(first, index, ast.Load()))
    store = at.put(ast.Subscript(second, again, ast.Store()))
    return before, form.operate(subscript_load(load), depth) if form.wanted("operator.getitem") else load, store


def delete(node: ast.Delete, form: Form, depth: int) -> Any:
    targets = _flat(node.targets)
    if not any(_deletes(target, form) for target in targets):
        return node
    statements: list[ast.stmt] = []
    for target in targets:
        statements += (
            _delete_one(target, form, depth) if _deletes(target, form) else [At(node).put(ast.Delete([target]))]
        )
    return statements


def _flat(targets: list[ast.expr]) -> list[ast.expr]:
    found: list[ast.expr] = []
    for target in targets:
        found += _flat(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return found


def _deletes(target: ast.expr, form: Form) -> bool:
    if isinstance(target, ast.Subscript):
        return form.wanted("operator.delitem")
    if isinstance(target, ast.Attribute):
        return form.wanted("delattr")
    return has(target, GLOBAL) and form.wanted("primitives.delete_global")


def _delete_one(target: ast.expr, form: Form, depth: int) -> list[ast.stmt]:
    at = At(target)
    operation, last = _DELETIONS[type(target)](target, at)
    if last is not None:
        between = form.argument_free_statement(operation.name, last, at.put(ast.Delete([target])))
        if between is not None:
            return between
    return [at.put(ast.Expr(form.operate(operation, depth)))]


def _delete_item(target: ast.Subscript, at: At) -> tuple[Operation, Slot | None]:
    """The operation of a deletion, and the slot of the operand that is evaluated last, if there is any."""
    name = "operator.delitem"
    operands = [Slot(target, "value"), IndexSlot(target, "slice")]
    return Operation(name, target, operands, list, _call_of_primitive(at, name, list)), Slot(target, "slice")


def _delete_attribute(target: ast.Attribute, at: At) -> tuple[Operation, Slot | None]:
    attribute = at.constant(attribute_name(target))

    def arguments(read: Expressions) -> Expressions:
        return [read[0], attribute]

    native = _call_of_primitive(at, "delattr", arguments)
    return Operation("delattr", target, [Slot(target, "value")], arguments, native), Slot(target, "value")


def _delete_global(target: ast.Name, at: At) -> tuple[Operation, Slot | None]:
    name, variable = "primitives.delete_global", at.constant(global_name(target))

    def arguments(read: Expressions) -> Expressions:
        return [namespace(at), variable]

    native = _call_of_primitive(at, name, arguments)
    return Operation(name, native([]), [], arguments, native), None


_DELETIONS: dict[type[ast.expr], Callable[[Any, At], tuple[Operation, Slot | None]]] = {
    ast.Subscript: _delete_item,
    ast.Attribute: _delete_attribute,
    ast.Name: _delete_global,
}
