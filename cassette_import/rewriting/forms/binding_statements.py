"""Where values may be tagged: statements that bind a value to names of a function without an event.

The interpreter binds it plain. A call of the runtime before the statement, and one at the start of its block, restore
the wrapper.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from cassette_import.rewriting import symbols
from cassette_import.rewriting.trees.annotations import CLASS_NAME, NOOVERDUB, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import block_names

# ---- what the patterns of a `match` statement capture and test, and the ways from the subject to it
#
# A way is a tuple of steps: `("index", 0)` is the first item, `("rest", 1, 2)` the items but for one at the start and
# two at the end, `("key", "a")` the value of a key, `("others", "a")` the values of all other keys, `("name", "x")` an
# attribute, `("positional", 0)` the attribute that `__match_args__` names.

Way = tuple[tuple[Any, ...], ...]
Captures = dict[str, list[Way]]


def captures_of(pattern: ast.pattern) -> Captures:
    """The names that a pattern binds, each with the ways to its value: the alternatives of `|` have one each."""
    found: Captures = {}
    _add(pattern, (), found)
    found.pop(_TESTED, None)
    return found


_TESTED: Final = "a test"
"""In place of a name, for the parts that are tested."""

Test = tuple[Way, str, Any]
"""The way to a part, and how it is tested: whether it is `"equal"` to a constant, or to a `"value"` that has a name; by
its `"identity"` with a constant; by its `"type"`; by items of a mapping whose `"keys"` have names."""


def tests_in(pattern: ast.pattern) -> list[Test]:
    """All that a pattern tests. Python ends with the first test that fails."""
    found: Captures = {}
    _add(pattern, (), found)
    tests: list[Any] = found.get(_TESTED, [])
    return tests


def _add(pattern: ast.pattern | None, way: Way, found: Captures) -> None:
    add = _KINDS.get(type(pattern))  # type: ignore[arg-type]  # other kinds have None
    if add is not None:
        add(pattern, way, found)


def _test(way: Way, found: Captures, kind: str, constant: Any = None) -> None:
    tests: list[Any] = found.setdefault(_TESTED, [])
    tests.append((way, kind, constant))


def _bind(name: str | None, way: Way, found: Captures) -> None:
    if name is not None:
        found.setdefault(name, []).append(way)


def _value(pattern: ast.MatchValue, way: Way, found: Captures) -> None:
    if isinstance(pattern.value, ast.Attribute):
        _test(way, found, "value")
    else:
        _test(way, found, "equal", ast.literal_eval(pattern.value))


def _singleton(pattern: ast.MatchSingleton, way: Way, found: Captures) -> None:
    _test(way, found, "identity", pattern.value)


def _as(pattern: ast.MatchAs, way: Way, found: Captures) -> None:
    _bind(pattern.name, way, found)
    _add(pattern.pattern, way, found)


def _or(pattern: ast.MatchOr, way: Way, found: Captures) -> None:
    for part in pattern.patterns:
        _add(part, way, found)


def _sequence(pattern: ast.MatchSequence, way: Way, found: Captures) -> None:
    _test(way, found, "type")
    parts, size = pattern.patterns, len(pattern.patterns)
    star = next((number for number, part in enumerate(parts) if isinstance(part, ast.MatchStar)), size)
    for number, part in enumerate(parts):
        if isinstance(part, ast.MatchStar):
            _bind(part.name, (*way, ("rest", number, size - number - 1)), found)
        else:
            _add(part, (*way, ("index", number if number < star else number - size)), found)


def _mapping(pattern: ast.MatchMapping, way: Way, found: Captures) -> None:
    _test(way, found, "type")
    keys = [key.value if isinstance(key, ast.Constant) else None for key in pattern.keys]
    if None in keys:
        _test(way, found, "keys")
    for key, part in zip(keys, pattern.patterns, strict=True):
        if key is not None:
            _add(part, (*way, ("key", key)), found)
    _bind(pattern.rest, (*way, ("others",)), found)


def _class(pattern: ast.MatchClass, way: Way, found: Captures) -> None:
    _test(way, found, "type")
    for number, part in enumerate(pattern.patterns):
        _add(part, (*way, ("positional", number)), found)
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        _add(part, (*way, ("name", name)), found)


_KINDS: Final[dict[type[ast.pattern], Callable[[Any, Way, Captures], None]]] = {
    ast.MatchAs: _as,
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchOr: _or,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}


def is_irrefutable(case: ast.match_case) -> bool:
    """Whether a case matches every subject: Python allows it as the last one only."""
    pattern: ast.pattern = case.pattern
    while isinstance(pattern, ast.MatchOr):
        pattern = pattern.patterns[-1]
    while isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        pattern = pattern.pattern
    return case.guard is None and isinstance(pattern, ast.MatchAs)


# ---- where values may be tagged: statements that bind a value to names of a function without an event


class Names(NamedTuple):
    """What the names mean that are bound around a statement."""

    leaving: frozenset[str] | None
    """The names that belong to a module or class, and that statements bind which are no events; None for all names."""
    of_class: frozenset[str] = frozenset()
    """The names of a class body: assignments to them are no events either."""
    of_function: frozenset[str] = frozenset()
    """The names that a class body declares `nonlocal`: variables of a function around it."""
    may_be_prepared: bool = False
    """Whether a `__prepare__` method may have put names into the namespace of a class body."""
    is_catching: bool = False
    """Whether exceptions may be caught there: one may have been raised after a returned value was wrapped."""

    def is_variable(self, name: str) -> bool:
        """Whether a name is a variable of a function, which may hold a wrapper."""
        return name in self.of_function if self.leaving is None else name not in self.leaving


def _called(value: ast.expr, helper: str) -> ast.expr:
    at = At(value)
    return at.call(at.symbol(helper), [value])


def _waiting(at: At) -> ast.expr:
    """A target that keeps the value which the interpreter assigns, until `_kept` reads it."""
    target = at.put(ast.Subscript(at.symbol(symbols.SINK), at.constant(0), ast.Store()))
    setattr(target, NOOVERDUB, True)
    return target


def _kept(at: At, helper: str, *arguments: ast.expr) -> ast.expr:
    """The value that was kept last, as a helper returns it."""
    return at.call(at.symbol(helper), [at.call(at.symbol(symbols.KEPT), []), *arguments])


def _bound(target: ast.expr, names: Names, helper: str, *arguments: ast.expr) -> tuple[ast.expr, ast.stmt]:
    """The target of a block in place of another one, and the statement at its start, which binds the wrapped value."""
    at = At(target)
    if isinstance(target, ast.Name) and names.is_variable(target.id):
        value = at.call(at.symbol(helper), [at.load(target.id), *arguments])
        return target, at.put(ast.Assign([at.store(target.id)], value))
    return _waiting(at), at.put(ast.Assign([target], _kept(at, helper, *arguments)))


def with_block(node: ast.With | ast.AsyncWith, names: Names) -> ast.stmt:
    """The targets get the wrapped value that the manager has handed on; each manager has a block of its own then."""
    body = node.body
    for number in reversed(range(len(node.items))):
        item = node.items[number]
        if item.optional_vars is None:
            continue
        item.context_expr = _called(item.context_expr, symbols.ENTERING)
        rest = node.items[number + 1 :]
        if rest:
            body = [At(rest[0].context_expr).put(type(node)(rest, body))]
            del node.items[number + 1 :]
        item.optional_vars, first = _bound(item.optional_vars, names, symbols.CLAIMED)
        body = [first, *body]
    node.body = body
    return node


def async_loop(node: ast.AsyncFor, names: Names) -> ast.stmt:
    at = At(node.iter)
    place = at.constant((node.lineno, node.col_offset))
    node.iter = at.call(at.symbol(symbols.ASYNC_SOURCE), [node.iter, place])
    node.target, first = _bound(node.target, names, symbols.ASYNC_ITEM, place)
    node.body.insert(0, first)
    return node


def async_clause(node: ast.comprehension, names: Names) -> Any:
    """`async for` in a comprehension: a further clause binds the wrapped item."""
    if not node.is_async:
        return node
    at = At(node.iter)
    place = at.constant((node.iter.lineno, node.iter.col_offset, IN_COMPREHENSION))
    node.iter = at.call(at.symbol(symbols.ASYNC_SOURCE), [node.iter, place])
    item = at.put(ast.Tuple([_kept(at, symbols.ASYNC_ITEM, place)], ast.Load()))
    setattr(item, NOOVERDUB, True)
    clause = ast.comprehension(node.target, item, node.ifs, 0)
    return [ast.comprehension(_waiting(at), node.iter, [], 1), clause]


def import_statement(node: ast.ImportFrom, names: Names) -> ast.stmt:
    """Variables that `from … import` binds: a statement for each binds its value again, wrapped."""
    at = At(node)
    statements: list[ast.stmt] = [node]
    for alias in node.names:
        name = alias.asname or alias.name
        if name == "*" or node.module == "__future__" or not names.is_variable(name):
            continue
        module = [at.constant(node.module or ""), at.constant(node.level), at.call(at.symbol(symbols.GLOBALS), [])]
        value = at.call(at.symbol(symbols.IMPORTED), [at.load(name), at.constant(alias.name), *module])
        statements.append(at.put(ast.Assign([at.store(name)], value)))
    # One statement takes the place of one. The compiler leaves out the test.
    return at.put(ast.If(at.constant(True), statements, [])) if len(statements) > 1 else node


IN_COMPREHENSION: Final = "comprehension"
"""Marks the place of a loop in a comprehension, whose first iterable may be evaluated in another frame."""


def match_statement(node: ast.Match, names: Names) -> ast.stmt:
    """The names that patterns capture get their metadata before the guard and the block of the case run."""
    captures = [captures_of(case.pattern) for case in node.cases]
    tests = tuple(dict.fromkeys(test for case in node.cases for test in tests_in(case.pattern)))
    is_module_level = names.leaving is None and not (names.of_class or names.of_function)
    if is_module_level or not (tests or any(captures)):
        if not isinstance(node.subject, ast.Constant):
            node.subject = _called(node.subject, symbols.PLAIN)
        return node
    at = At(node.subject)
    node.subject = at.call(at.symbol(symbols.SUBJECT), [node.subject, at.constant(tests)])
    for case, ways in zip(node.cases, captures, strict=True):
        at = At(case.pattern)
        read = {
            name: _captured(at, name, found, names)
            for name, found in ways.items()
            if names.is_variable(name) or name in names.of_class
        }
        if case.guard is not None:
            case.guard = _without_subject(case.guard)
        if case.guard is not None and read:
            lets: list[ast.expr] = [at.let(name, value) for name, value in read.items()]
            case.guard = at.pick([*lets, case.guard], len(lets))
            read = {}
        stores = [at.put(ast.Assign([at.store(name)], value)) for name, value in read.items()]
        case.body = [*stores, _subject_is_done(at), *case.body]
    if not is_irrefutable(node.cases[-1]):
        at = At(node.cases[-1].pattern)
        node.cases.append(ast.match_case(at.put(ast.MatchAs()), None, [_subject_is_done(at)]))
    return node


def _captured(at: At, name: str, ways: list[Any], names: Names) -> ast.expr:
    """The value that a pattern has bound to a name, as it is bound again: wrapped, or noted for the class."""
    value = at.call(at.symbol(symbols.CAPTURED), [at.load(name), at.constant(tuple(ways))])
    return at.call(at.symbol(symbols.CLASS_VALUE), [value, at.constant(name)]) if name in names.of_class else value


def _without_subject(guard: ast.expr) -> ast.expr:
    """A guard that runs while the frame has no subject: it may raise an exception, or suspend the frame.

    The subject is on the stack of the frame meanwhile. While nothing is tagged, `False` is in its place.
    """
    at = At(guard)
    paused = at.call(at.symbol(symbols.SUBJECT_PAUSED), [])
    held = at.either(at.symbol(symbols.METADATA_EXISTS), paused, at.constant(False))
    return at.put(ast.BinOp(held, ast.BitOr(), at.either(guard, at.constant(True), at.constant(False))))


def _subject_is_done(at: At) -> ast.stmt:
    return at.put(ast.Expr(at.call(at.symbol(symbols.SUBJECT_DONE), [])))


# ---- where values may be tagged: the names of a class body
#
# The namespace of the class holds plain values. Helpers keep the metadata of what is assigned beside it until the class
# is made, and restore the wrapper where the body reads the name.


def names_of_class(node: ast.ClassDef) -> Names:
    """What names mean in the body of a class."""
    found = block_names(node.body)
    of_class = frozenset((found.assigned | found.captured) - found.declared)
    may_be_prepared = bool(node.bases or node.keywords)
    return Names(None, of_class=of_class, of_function=frozenset(found.elsewhere), may_be_prepared=may_be_prepared)


def is_read(node: ast.Name, names: Names) -> bool:
    """Whether a name in a class body is read by the interpreter from the namespace of the class, if it is there."""
    if not isinstance(node.ctx, ast.Load):
        return False
    return node.id in names.of_class or (
        names.may_be_prepared
        and node.id not in names.of_function
        and not (node.id in _BUILTINS or has(node, NOOVERDUB) or node.id.startswith("@"))
    )


_BUILTINS: Final = frozenset(vars(builtins))


def _bind_target(node: ast.For | ast.AugAssign, names: Names) -> None:
    _mark(node.target, names)


def _bind_targets(node: ast.Assign, names: Names) -> None:
    for target in node.targets:
        _mark(target, names)


def _bind_annotated(node: ast.AnnAssign, names: Names) -> None:
    if node.value is not None:
        _mark(node.target, names)


def _bind_managed(node: ast.With | ast.AsyncWith, names: Names) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            _mark(item.optional_vars, names)


def _mark(target: ast.expr, names: Names) -> None:
    """Mark the names of the class in a target: a store to one is not left to the interpreter."""
    for part in ast.walk(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in names.of_class:
            setattr(part, CLASS_NAME, True)


BINDING: Final[dict[type[ast.AST], Callable[[Any, Names], None]]] = {
    ast.For: _bind_target,
    ast.Assign: _bind_targets,
    ast.AnnAssign: _bind_annotated,
    ast.AugAssign: _bind_target,
    ast.With: _bind_managed,
    ast.AsyncWith: _bind_managed,
}
"""The statements that bind names of a class."""


def bound_by_expression(node: ast.NamedExpr) -> ast.expr:
    """An assignment expression for a name of a class."""
    name = node.target.id
    node.value = _call_with_name(symbols.CLASS_VALUE, node.value, name)
    return _call_with_name(symbols.CLASS_READ, node, name)


def read(node: ast.Name) -> ast.expr:
    """The load of a name of a class."""
    return _call_with_name(symbols.CLASS_READ, node, node.id)


def _call_with_name(helper: str, value: ast.expr, name: str) -> ast.expr:
    at = At(value)
    return at.call(at.symbol(helper), [value, at.constant(name)])


def with_decorator(node: ast.ClassDef) -> ast.ClassDef:
    """A class whose attributes get the metadata of what was bound to its names."""
    if any(hasattr(part, CLASS_NAME) or _is_store(part) for part in ast.walk(node)):
        begin = At(node).call(At(node).symbol(symbols.CLASS_BEGIN), [])
        setattr(begin, NOOVERDUB, True)
        node.decorator_list.append(begin)
    return node


def _is_store(part: ast.AST) -> bool:
    return isinstance(part, ast.Name) and part.id == symbols.CLASS_VALUE
