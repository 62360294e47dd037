"""The variables of a function: which names statements bind, which they read, and which are read later."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

__all__ = ["SCOPES", "Liveness", "bound_names", "captured_names", "declared_names", "own_nodes"]

SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(nodes: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function itself: of nested functions and classes the decorators and defaults, not the bodies."""
    work: list[ast.AST] = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while work:
        node = work.pop()
        yield node
        if isinstance(node, ast.ClassDef):
            work += [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            work += getattr(node, "decorator_list", [])
            work += [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]
        else:
            work += ast.iter_child_nodes(node)


def _comprehension_targets(node: ast.AST) -> set[str]:
    return {
        name.id
        for generator in getattr(node, "generators", ())
        for name in ast.walk(generator.target)
        if isinstance(name, ast.Name)
    }


def bound_names(nodes: ast.AST | Iterable[ast.AST]) -> set[str]:
    """The names that statements bind in the function."""
    found: set[str] = set()
    targets: set[int] = set()
    for node in own_nodes(nodes):
        if isinstance(node, _COMPREHENSIONS):
            targets |= {id(name) for generator in node.generators for name in ast.walk(generator.target)}
    for node in own_nodes(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in targets:
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name is not None:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            found.add(node.rest)
    return found


def _loaded_names(nodes: ast.AST | Iterable[ast.AST] | None) -> set[str]:
    """The names that expressions and statements read, those that nested functions read included."""
    if nodes is None:
        return set()
    work = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    found: set[str] = set()
    for one in work:
        for node in ast.walk(one):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def captured_names(body: Iterable[ast.AST]) -> set[str]:
    """The names that nested functions and classes use, and those that generator expressions read later."""
    found: set[str] = set()
    nodes = list(own_nodes(body))
    at_once = {id(node.args[0]) for node in nodes if isinstance(node, ast.Call) and _takes_items_at_once(node)}
    for node in nodes:
        if isinstance(node, SCOPES) or (isinstance(node, ast.GeneratorExp) and id(node) not in at_once):
            found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return found


_TAKING: Final = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple", "join", "fsum", "prod"}
)


def _takes_items_at_once(call: ast.Call) -> bool:
    """Whether a call has taken all items of its argument when it returns: that of `tuple`, for example."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name in _TAKING and bool(call.args)


def declared_names(body: Iterable[ast.AST], kinds: Any = (ast.Global, ast.Nonlocal)) -> set[str]:
    """The names that are declared `global` or `nonlocal`."""
    return {name for node in own_nodes(body) if isinstance(node, kinds) for name in node.names}


_Live = frozenset[str]


class _Jumps(NamedTuple):
    """What is live at the targets of `break` and `continue`."""

    breaks: _Live = frozenset()
    continues: _Live = frozenset()


class Liveness:
    """Which variables may be read after each branch and loop of a function.

    Results are by the identity of the statement: `after` it, and at the `head` of a loop or of the second side of a
    branch.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self.after: dict[int, _Live] = {}
        self.head: dict[int, _Live] = {}
        self._always = frozenset(captured_names(body))
        self._block(body, self._always, _Jumps())

    def _block(self, body: list[ast.stmt], live: _Live, jumps: _Jumps) -> _Live:
        """What is live before a block, after which `live` is."""
        for statement in reversed(body):
            live = self._statement(statement, live, jumps) | self._always
        return live

    def _statement(self, node: ast.stmt, live: _Live, jumps: _Jumps) -> _Live:
        _add(self.after, node, live)
        rule = _RULES.get(type(node))
        return (live - _certainly_bound(node)) | _loaded_names(node) if rule is None else rule(self, node, live, jumps)

    def _if(self, node: ast.If, live: _Live, jumps: _Jumps) -> _Live:
        second = self._block(node.orelse, live, jumps)
        _add(self.head, node, second)
        return self._block(node.body, live, jumps) | second | _loaded_names(node.test)

    def _loop(self, node: Any, live: _Live, jumps: _Jumps) -> _Live:
        ended = self._block(node.orelse, live, jumps)
        test = frozenset(_loaded_names(node.test if isinstance(node, ast.While) else node.target))
        head = live | ended | test
        for _ in range(3):
            head |= self._block(node.body, head, _Jumps(live, head))
        _add(self.head, node, head)
        return head if isinstance(node, ast.While) else head | _loaded_names(node.iter)

    def _end(self, node: ast.stmt, live: _Live, jumps: _Jumps) -> _Live:
        return self._always | _loaded_names(node)

    def _break(self, node: ast.stmt, live: _Live, jumps: _Jumps) -> _Live:
        return jumps.breaks

    def _continue(self, node: ast.stmt, live: _Live, jumps: _Jumps) -> _Live:
        return jumps.continues

    def _try(self, node: Any, live: _Live, jumps: _Jumps) -> _Live:
        """Any statement in a block may be the last one that runs, so all names that are read anywhere are live."""
        always, everything = self._always, frozenset(_loaded_names(node)) | live
        self._always = always | everything
        inside = _Jumps(jumps.breaks | everything, jumps.continues | everything)
        try:
            for block in (node.body, node.orelse, node.finalbody, *(handler.body for handler in node.handlers)):
                self._block(block, everything, inside)
        finally:
            self._always = always
        return everything

    def _with(self, node: Any, live: _Live, jumps: _Jumps) -> _Live:
        """The statement may catch an exception of any statement in it: what is live after it is live there."""
        always = self._always
        self._always = always | live
        try:
            return self._block(node.body, live, jumps) | _of_items(node)
        finally:
            self._always = always

    def _match(self, node: ast.Match, live: _Live, jumps: _Jumps) -> _Live:
        found = live | _loaded_names(node.subject)
        for case in node.cases:
            found |= self._block(case.body, live, jumps) | _loaded_names([case.pattern]) | _loaded_names(case.guard)
        return found


_RULES: Final[dict[type[ast.stmt], Callable[..., _Live]]] = {
    ast.If: Liveness._if,
    **dict.fromkeys((ast.While, ast.For, ast.AsyncFor), Liveness._loop),
    **dict.fromkeys((ast.Return, ast.Raise), Liveness._end),
    ast.Break: Liveness._break,
    ast.Continue: Liveness._continue,
    **dict.fromkeys((ast.Try, ast.TryStar), Liveness._try),
    **dict.fromkeys((ast.With, ast.AsyncWith), Liveness._with),
    ast.Match: Liveness._match,
}
"""What is live before a statement that is more than a list of reads and one store."""


def _add(found: dict[int, _Live], node: ast.stmt, live: _Live) -> None:
    """Add to what was found for a statement: a loop is gone through several times."""
    found[id(node)] = found.get(id(node), frozenset()) | live


def _of_items(node: Any) -> set[str]:
    return _loaded_names([item.context_expr for item in node.items])


def _certainly_bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Assign):
        return {
            name.id
            for target in node.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()
