"""Expressions as events: which primitive a node is, and what its operands are.

The parts of a node are rewritten before the node.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.primitives import BINARY, COMPARE, UNARY
from cassette_import.rewriting.syntax.operation import Expressions, Form, IndexSlot, Itself, Operation, Slot
from cassette_import.rewriting.trees.annotations import (
    CAPTURED,
    GLOBAL,
    KNOWN,
    LITERAL,
    OF_CLASS,
    PARTS_TESTED,
    PRIVATE,
    TESTED,
    has,
    is_number,
)
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import clone


def expression(node: ast.expr, form: Form, depth: int) -> ast.expr:
    """What replaces an expression."""
    handler = _HANDLERS.get(type(node))
    return node if handler is None or has(node, LITERAL) else handler(node, form, depth)


def _binary(node: ast.BinOp, form: Form, depth: int) -> ast.expr:
    name = BINARY[type(node.op).__name__]
    if not form.wanted(name):
        return node
    return form.operate(Operation(name, node, [Slot(node, "left"), Slot(node, "right")]), depth)


def _unary(node: ast.UnaryOp, form: Form, depth: int) -> ast.expr:
    if is_number(node):
        return _number(node, form, depth)
    name = UNARY[type(node.op).__name__]
    return form.operate(Operation(name, node, [Slot(node, "operand")]), depth) if form.wanted(name) else node


# ---- comparisons


def _compare(node: ast.Compare, form: Form, depth: int) -> ast.expr:
    names = [COMPARE[type(op).__name__] for op in node.ops]
    chain = len(names) > 1
    if not any(map(form.wanted, names)) and not (chain and has(node, TESTED) and form.wanted("operator.truth")):
        return node
    if not chain:
        return _comparison(node, form, depth, "")
    if not form.temporaries:
        return _bare_chain(node, form, depth)
    at = At(node)
    middles = [temporaries.middle(depth, number) for number in range(len(names) - 1)]
    parts: list[ast.expr] = []
    left = node.left
    for number, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        last = number == len(middles)
        made = right if last else At(right).let(middles[number], right)
        part = _comparison(at.put(ast.Compare(left, [op], [made])), form, depth, f"_{number}")
        parts.append(truth_of(part, form, depth, f"_{number}") if has(node, TESTED) else part)
        if not last:
            left = At(right).load(middles[number])
    value: ast.expr = at.put(ast.BoolOp(ast.And(), parts))
    if has(node, TESTED):
        value = at.either(value, at.constant(True), at.constant(False))  # in a tuple, it would be tested twice
    return _marked(node, at.pick([value, at.clear(middles)], 0))


def _marked(node: ast.Compare, value: ast.expr) -> ast.expr:
    setattr(value, PARTS_TESTED, has(node, TESTED))
    return value


def _bare_chain(node: ast.Compare, form: Form, depth: int) -> ast.expr:
    """Without temporaries, the operand in the middle is kept outside the frame (see `syntax.operand_stack`)."""
    at, tested = At(node), has(node, TESTED)
    parts: list[ast.expr] = []
    left = node.left
    for number, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        place = At(right)
        made = place.call(place.symbol(symbols.KEEP), [right]) if number < len(node.ops) - 1 else right
        parts.append(_comparison(at.put(ast.Compare(left, [op], [made])), form, depth, ""))
        left = held(place, form, "")
    value = truth_of(parts[-1], form, depth) if tested else parts[-1]
    for part in reversed(parts[:-1]):
        going_on = at.call(at.symbol(symbols.CHAIN_TESTED if tested else symbols.CHAIN), [part])
        value = at.either(going_on, value, held(at, form, ""))
    return _marked(node, value)


def held(at: At, form: Form, name: str) -> ast.expr:
    """The value that was kept last."""
    return at.load(name) if form.temporaries else at.call(at.symbol(symbols.KEPT), [])


def _comparison(node: ast.Compare, form: Form, depth: int, suffix: str) -> ast.expr:
    name, at, op = COMPARE[type(node.ops[0]).__name__], At(node), node.ops[0]
    if not form.wanted(name):
        return node
    slots = [Slot(node, "left"), Slot(node, "comparators", 0)]
    if name != "operator.contains":
        return form.operate(Operation(name, node, slots), depth, suffix)
    node.ops = [ast.In()]
    found = form.operate(Operation(name, node, slots, lambda read: read[::-1], late=symbols.CONTAINS), depth, suffix)
    return at.put(ast.UnaryOp(ast.Not(), found)) if isinstance(op, ast.NotIn) else found


# ---- parts of objects


def _subscript(node: ast.Subscript, form: Form, depth: int) -> ast.expr:
    if not isinstance(node.ctx, ast.Load) or not form.wanted("operator.getitem"):
        return node
    return form.operate(subscript_load(node), depth)


def subscript_load(node: ast.Subscript) -> Operation:
    return Operation("operator.getitem", node, [Slot(node, "value"), IndexSlot(node, "slice")])


def _attribute(node: ast.Attribute, form: Form, depth: int) -> ast.expr:
    if not isinstance(node.ctx, ast.Load) or not form.wanted("getattr") or is_own_callee(node):
        return node
    return form.operate(attribute_load(node), depth)


def attribute_load(node: ast.Attribute) -> Operation:
    at, name = At(node), attribute_name(node)
    return Operation("getattr", node, [Slot(node, "value")], lambda read: [read[0], at.constant(name)])


def attribute_name(node: ast.Attribute) -> str:
    """The name of an attribute in the namespace of objects; that of a private one has the class in it."""
    return str(getattr(node, PRIVATE, node.attr))


def is_own_callee(function: ast.expr) -> bool:
    """Whether a callee is reached from a name of cassette_import's, or of pytest's assertion rewriting."""
    if isinstance(function, ast.Name) and symbols.is_pytest_value(function.id):
        return False  # a part of an assertion, such as `time.time` in `assert time.time() > 0`
    while not isinstance(function, ast.Name) and isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and symbols.is_symbol(function.id)


def is_own_decorator(decorator: ast.expr) -> bool:
    """Whether a decorator is one of cassette_import's: the program has written none, so its call is no event."""
    begins_class = isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name)
    # For the type checker: `begins_class` says that it is a call of a name.
    return is_own_callee(decorator) or (begins_class and decorator.func.id == symbols.CLASS_BEGIN)  # type: ignore[attr-defined]


# ---- displays and literals


def _display(name: str) -> Callable[[Any, Form, int], ast.expr]:
    def handler(node: Any, form: Form, depth: int) -> ast.expr:
        if not isinstance(getattr(node, "ctx", None), (ast.Load, type(None))) or not form.wanted(name):
            return node  # type: ignore[no-any-return]  # a display
        if any(isinstance(element, ast.Slice) for element in node.elts):
            return node  # type: ignore[no-any-return]  # a display  # an index: `a[b:c, d]`
        if any(isinstance(element, ast.Starred) for element in node.elts):
            return form.operate(_unpacked(name, node), depth)
        if node.elts and all(has(element, LITERAL) for element in node.elts):
            return form.operate(_constant(name, node), depth)
        slots = [Slot(node, "elts", number) for number in range(len(node.elts))]
        return form.operate(Operation(name, node, slots), depth)

    return handler


def _constant(name: str, node: Any) -> Operation:
    """A tuple of constants, which is one object however often it is evaluated."""
    return Operation(name, node, [], lambda _: [clone(part) for part in node.elts], late=symbols.CONSTANT, whole=True)


def _unpacked(name: str, node: ast.expr) -> Operation:
    """A display that is evaluated first, and then passed to hooks with its elements."""

    def arguments(read: Expressions) -> Expressions:
        return [At(node).put(ast.Starred(read[0], ast.Load()))]

    return Operation(name, node, [Itself(node)], arguments, lambda read: read[0], whole=True)


def _dict(node: ast.Dict, form: Form, depth: int) -> ast.expr:
    name = "primitives.build_dict"
    if not form.wanted(name):
        return node
    if any(key is None for key in node.keys):

        def pairs(read: Expressions) -> Expressions:
            at = At(node)
            return [at.put(ast.Starred(at.call(at.symbol(symbols.PAIRS), read), ast.Load()))]

        return form.operate(Operation(name, node, [Itself(node)], pairs, lambda read: read[0], whole=True), depth)
    slots = [Slot(node, field, number) for number in range(len(node.keys)) for field in ("keys", "values")]
    return form.operate(Operation(name, node, slots), depth)


def _string(node: ast.JoinedStr, form: Form, depth: int) -> ast.expr:
    if not form.wanted("primitives.build_string"):
        return node
    at = At(node)
    parts = [at.put(ast.JoinedStr([part])) if isinstance(part, ast.FormattedValue) else part for part in node.values]
    slots = [Itself(part) for part in parts]

    def native(read: Expressions) -> ast.expr:
        return at.call(at.symbol(symbols.primitive("primitives.build_string")), read)

    return form.operate(Operation("primitives.build_string", node, [*slots], native=native, whole=True), depth)


def _template(node: Any, form: Form, depth: int) -> ast.expr:
    name = "primitives.build_template"
    return form.operate(_unpacked(name, node), depth) if form.wanted(name) else node


def _number(node: ast.expr, form: Form, depth: int) -> ast.expr:
    if not is_number(node) or not form.wanted("primitives.number"):
        return node
    made = form.operate(Operation("primitives.number", node, [], lambda _: [node]), depth)
    setattr(made, KNOWN, True)
    return made


# ---- names of modules


def _name(node: ast.Name, form: Form, depth: int) -> ast.expr:
    if not isinstance(node.ctx, ast.Load) or not form.wanted("primitives.load_global"):
        return node
    if has(node, OF_CLASS):
        at = At(node)
        return at.call(at.symbol(symbols.CLASS_NAME), [at.constant(global_name(node))])
    return form.operate(name_load(node), depth) if has(node, GLOBAL) else node


def name_load(node: ast.Name) -> Operation:
    at = At(node)
    return Operation("primitives.load_global", node, [], lambda _: [namespace(at), at.constant(global_name(node))])


def global_name(node: ast.Name) -> str:
    """A name in the namespace of the module; a private one has the class in it."""
    return str(getattr(node, PRIVATE, node.id))


def namespace(at: At) -> ast.expr:
    """The namespace of the module."""
    return at.call(at.symbol(symbols.GLOBALS), [])


# ---- truth


def truth_of(node: ast.expr, form: Form, depth: int, suffix: str = "", at: At | None = None) -> ast.expr:
    """The truth of an expression as a `bool`. `at` is the position of the test, if it is not that of the expression."""
    if not form.wanted("operator.truth") or isinstance(node, ast.Constant) or has(node, KNOWN) or _is_debug(node):
        return node  # the compiler knows it
    if has(node, PARTS_TESTED) or (has(node, TESTED) and isinstance(node, (ast.BoolOp, ast.IfExp))):
        return node  # its parts have been tested
    here = at or At(node)
    operand = Itself(node)

    def native(read: Expressions) -> ast.expr:
        return here.call(here.symbol(symbols.primitive("operator.truth")), read)

    def settled(condition: ast.expr) -> ast.expr:
        return here.either(condition, here.constant(True), here.constant(False))

    operation = Operation("operator.truth", node, [operand], native=native, settled=settled, at=at)
    return form.operate(operation, depth, suffix + "t")


def _is_debug(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__debug__"


def _conditional(node: ast.IfExp, form: Form, depth: int) -> ast.expr:
    node.test = truth_of(node.test, form, depth)
    if has(node, TESTED):
        node.body = truth_of(node.body, form, depth, "b")
        node.orelse = truth_of(node.orelse, form, depth, "o")
    return node


def _connected(node: ast.BoolOp, form: Form, depth: int) -> ast.expr:
    if not form.wanted("operator.truth") or has(node, CAPTURED):
        return node
    if has(node, TESTED):
        node.values = [truth_of(value, form, depth, f"_{number}") for number, value in enumerate(node.values)]
        return node
    at, is_and, name = At(node), isinstance(node.op, ast.And), temporaries.deciding(depth)
    value = node.values[-1]
    for operand in reversed(node.values[:-1]):
        kept = held(at, form, name)
        condition = _decided(operand, is_and, name, form, depth, at)
        value = at.either(condition, value, kept) if is_and else at.either(condition, kept, value)
    return at.pick([value, at.clear([name])], 0) if form.temporaries else value


def _decided(node: ast.expr, is_and: bool, name: str, form: Form, depth: int, at: At) -> ast.expr:
    """The truth of an operand; if it decides over the whole, its value is kept. Each part is tested once.

    The interpreter tests it at the position of the whole, which is `at`.
    """
    if isinstance(node, ast.BoolOp) and has(node, CAPTURED):
        here = At(node)
        if isinstance(node.op, ast.And) is is_and:
            node.values = [_decided(value, is_and, name, form, depth, here) for value in node.values]
        else:
            node.values = [
                *(_tested(value, form, depth, here) for value in node.values[:-1]),
                _decided(node.values[-1], is_and, name, form, depth, here),
            ]
        return node
    if form.temporaries:
        return truth_of(at.let(name, node), form, depth)
    return at.call(at.symbol(symbols.AND if is_and else symbols.OR), [node])


def _tested(node: ast.expr, form: Form, depth: int, at: At) -> ast.expr:
    """The truth of an operand whose value is not needed."""
    if isinstance(node, ast.BoolOp) and has(node, CAPTURED):
        node.values = [_tested(value, form, depth, At(node)) for value in node.values]
        return node
    return truth_of(node, form, depth, at=at)


_HANDLERS: dict[type[ast.AST], Callable[[Any, Form, int], ast.expr]] = {
    ast.Call: lambda node, form, depth: form.call(node, depth),
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.Subscript: _subscript,
    ast.Attribute: _attribute,
    ast.List: _display("primitives.build_list"),
    ast.Tuple: _display("primitives.build_tuple"),
    ast.Set: _display("primitives.build_set"),
    ast.Dict: _dict,
    ast.JoinedStr: _string,
    ast.Constant: _number,
    ast.Name: _name,
    ast.IfExp: _conditional,
    ast.BoolOp: _connected,
}
if hasattr(ast, "TemplateStr"):  # 3.14
    _HANDLERS[ast.TemplateStr] = _template
