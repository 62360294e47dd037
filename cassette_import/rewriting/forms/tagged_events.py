"""Events of contexts that tag values: the plain operation as long as there is no metadata anywhere."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import BINARY, INPLACE
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.annotations import is_number
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames

_CLAIMING: Final = frozenset(
    {"getattr", "operator.getitem", *BINARY.values(), *INPLACE.values()}
    | {"operator.lt", "operator.le", "operator.eq", "operator.ne", "operator.gt", "operator.ge"}
    | {"operator.neg", "operator.pos", "operator.invert"}
)
"""Primitives that return what special methods of the program return."""

_SETTLED: Final = frozenset(
    {"operator.setitem", "operator.delitem", "setattr", "delattr", "operator.contains", "operator.not_"}
    | {"primitives.build_set", "primitives.build_dict"}
)
"""Primitives that may run code of the program, and return another value."""

_OF_WHOLE: Final = frozenset({"operator.iadd", "operator.ior"})
"""Primitives that take items from their right operand, which may run code of the program."""


def helper_after(name: str) -> str | None:
    """What is called after a primitive if the first value was tagged while it ran; None if nothing is."""
    return symbols.CLAIMED if name in _CLAIMING else symbols.SETTLED if name in _SETTLED else None


def after(at: At, value: ast.expr, helper: str | None, result: str, *arguments: ast.expr) -> ast.expr:
    """A value, passed to a helper if metadata exists by then; `result` is a temporary.

    It is ``helper(result) if (result := value) is @nothing or @tagged else result``. No value is ``@nothing``.
    """
    if helper is None:
        return value
    test = [at.same(at.let(result, value), at.symbol(symbols.NOTHING)), at.symbol(symbols.METADATA_EXISTS)]
    handed = at.call(at.symbol(helper), [*arguments, at.load(result)])
    return at.either(at.put(ast.BoolOp(ast.Or(), [*test])), handed, at.load(result))


def tested(at: At, prefix: str, event: Events, name: str, arguments: Sequence[ast.expr]) -> ast.expr:
    """The test whether metadata has to be propagated at an event, or an overload may take it."""
    tests: list[ast.expr] = [
        at.symbol(symbols.METADATA_EXISTS),
        at.symbol(VariantNames(prefix).is_overloaded_at(event)),
    ]
    if name == "getattr":
        attribute = arguments[1]
        watched = symbols.ATTRIBUTES_WATCHED
        if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
            watched = symbols.attribute_watched(attribute.value)
        tests.append(at.symbol(watched))
    if name in _OF_WHOLE:
        tests += tests_of_whole(at, name, arguments[1], False)
    return at.put(ast.BoolOp(ast.Or(), tests))


def tests_of_whole(at: At, name: str, operand: ast.expr, is_computed: bool) -> list[ast.expr]:
    """The test whether a primitive takes items from its right operand by code of the program.

    What has been computed is a float more often than an integer.
    """
    if name not in _OF_WHOLE or is_number(operand):
        return []
    kind = at.call(at.symbol(symbols.TYPE), [operand])
    numbers = ("float", "int") if is_computed else ("int", "float")
    usual = (*numbers, "str") if name == "operator.iadd" else ("int",)
    others: list[ast.expr] = [at.put(ast.Compare(kind, [ast.IsNot()], [at.kind(known)])) for known in usual]
    identity = at.call(at.symbol(symbols.ID), [kind])
    others.append(at.put(ast.Compare(identity, [ast.NotIn()], [at.symbol(symbols.whole_types(name))])))
    return [at.put(ast.BoolOp(ast.And(), others))]


def _is_not_in(at: At, value: ast.expr, container: str) -> ast.expr:
    return at.put(ast.Compare(value, [ast.NotIn()], [at.symbol(container)]))


def is_dispatched(at: At, shape: Shape, function: str) -> ast.expr:
    """The test whether a call of what the temporary `function` holds may be more than a plain call.

    As long as there is no metadata, Python functions, builtins and classes are called as they are, except for those
    with rules that apply always, and for targets.
    """
    names = VariantNames(shape.prefix)
    targets = shape.tags_beside_targets
    callee = at.load(function)
    behind = at.attribute(callee, "__func__")

    def is_known(tests: list[ast.expr], value: ast.expr, *sets: str | None) -> ast.expr:
        others = [_is_not_in(at, value, found) for found in sets if found is not None]
        tests = [*tests, *others]
        return at.put(ast.BoolOp(ast.And(), tests)) if len(tests) > 1 else tests[0]

    known = [
        is_known(
            [at.kind_is(function, at.kind("function"))],
            callee,
            names.target_functions(with_keywords=True) if targets else None,
        ),
        is_known(
            [
                at.kind_is(function, at.kind("method")),
                at.same(at.call(at.symbol(symbols.TYPE), [behind]), at.kind("function")),
            ],
            behind,
            names.target_functions(with_keywords=True) if targets else None,
        ),
        is_known(
            [at.kind_is(function, at.kind("builtin"))],
            at.call(at.symbol(symbols.NAME_OF), [callee]),
            symbols.RULED_NAMES,
            names.target_names if targets else None,
        ),
        is_known(
            [at.kind_is(function, at.symbol(symbols.TYPE))],
            at.call(at.symbol(symbols.ID), [callee]),
            symbols.RULED,
            names.target_classes if targets else None,
        ),
    ]
    other = at.put(ast.UnaryOp(ast.Not(), at.put(ast.BoolOp(ast.Or(), known))))
    return at.put(ast.BoolOp(ast.Or(), [tested(at, shape.prefix, Events.CALLS, "", ()), other]))


def dispatched(at: At, prefix: str, function: str, positional: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr:
    """A call of what the temporary `function` holds, at which metadata is propagated and overloads are looked up."""
    over = at.call(at.symbol(VariantNames(prefix).overload(Events.CALLS)), [at.load(function)])
    return at.call(over, positional, keywords)


def plain_call(at: At, function: str, result: str, positional: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr:
    """A call of what the temporary `function` holds, made while there is no metadata."""
    callee = at.load(function)
    return after(at, at.call(callee, positional, keywords), symbols.CLAIMED_OF, result, callee)


def call(
    at: At, shape: Shape, function: str, result: str, positional: list[ast.expr], keywords: list[ast.keyword]
) -> ast.expr:
    """A call of what the temporary `function` holds.

    A Python function is called with tagged arguments. For other callees, the runner of calls propagates metadata.

    On Python 3.12, tracers are notified of the line again if there is a jump after such a call.
    """
    over = dispatched(at, shape.prefix, function, positional, keywords)
    return at.either(is_dispatched(at, shape, function), over, plain_call(at, function, result, positional, keywords))


def unpacking(at: At, prefix: str, value: ast.expr, spec: object) -> ast.expr:
    """A value that is unpacked: as long as no value is tagged, the interpreter unpacks a tuple or list itself.

    To take the items of any other object may run code of the program.
    """
    name = temporaries.UNPACKED
    overloaded = VariantNames(prefix).is_overloaded_at(Events.ITERATION)
    known = at.put(ast.BoolOp(ast.Or(), [at.kind_is(name, at.kind(kind)) for kind in ("tuple", "list")]))
    other = at.put(ast.UnaryOp(ast.Not(), known))
    assigned = at.same(at.let(name, value), at.symbol(symbols.NOTHING))
    tests = [assigned, at.symbol(symbols.METADATA_EXISTS), at.symbol(overloaded), other]
    unpacked = at.call(at.symbol(symbols.UNPACK), [at.load(name), at.constant(spec)])
    chosen = at.either(at.put(ast.BoolOp(ast.Or(), tests)), unpacked, at.load(name))
    return at.pick([chosen, at.clear([name])], 0)


def left(node: ast.Call, result: str) -> ast.expr:
    """A call that `insert_unwrapping` added, skipped if there is no metadata.

    A returned value needs no temporary any longer.
    """
    if isinstance(node.func, ast.Name) and node.func.id == symbols.RETURNED:
        return after(At(node), node.args[0], symbols.RETURNED, result)
    return node
