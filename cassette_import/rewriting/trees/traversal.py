"""Traversal of trees without recursion, so that deep expressions and deep callers do not matter."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

# ---- which part of a node is evaluated first


def first_evaluated(node: ast.stmt | ast.expr) -> ast.stmt | ast.expr:
    """What is evaluated first of a node, if that is on another line; otherwise the node."""
    if node.lineno == getattr(node, "end_lineno", None) and not getattr(node, "decorator_list", ()):
        return node
    first: ast.AST = node
    while (part := _first_part(first)) is not None:
        first = part
    return first if isinstance(first, ast.stmt | ast.expr) and first.lineno != node.lineno else node


_FIRST_PARTS: Final = (
    *("decorator_list", "items", "context_expr", "subject", "test", "iter", "exc", "func", "left", "values", "value"),
    *("operand", "keys", "elts"),
)
"""The fields whose first value is evaluated before anything else of a node that has one of them."""

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp) if sys.version_info >= (3, 12) else ()
"""Those that are no functions of their own."""
_KEYS_COME_LAST: Final = sys.version_info < (3, 14)
"""Whether a dict display with constant keys evaluates its values first."""
_EVALUATED_AT_ONCE: Final = (ast.Constant, ast.Name, ast.Lambda, ast.comprehension, ast.Try, ast.AugAssign, ast.Assert)


def _first_part(node: ast.AST) -> ast.AST | None:
    """The part of a node that is evaluated first; None if the node itself is."""
    if isinstance(node, _EVALUATED_AT_ONCE):
        return None
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and all(isinstance(item, ast.Constant) for item in node.elts):
        return None
    if isinstance(node, _COMPREHENSIONS):
        return node.generators[0].iter
    if isinstance(node, ast.Dict) and node.keys:
        are_constant = all(isinstance(key, ast.Constant) for key in node.keys)
        has_keys_last = _KEYS_COME_LAST and are_constant and len(node.keys) > 1
        return node.values[0] if has_keys_last else node.keys[0] or node.values[0]
    for field in _FIRST_PARTS:
        value = getattr(node, field, None)
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, ast.AST):
            return value
    return None


# ---- traversal of trees without recursion, so that deep expressions and deep callers do not matter

State = TypeVar("State")
AnyNode = TypeVar("AnyNode", bound=ast.AST)
Slot = tuple[Any, str, int | None]
"""The place of a node: its parent, the field, and the index if the field is a list."""


_NEVER_NODES = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "is_lazy", "kind", "level", "module", "op", "ops"}
    | {"rest", "simple", "str", "tag", "type_comment", "kwd_attrs"}
)
"""Fields that hold no nodes, or nodes that traversal leaves out (`Load`, `Add`)."""

_WITH_GAPS = frozenset((ast.Dict, ast.arguments))
"""Nodes with lists in which None stands for a part that is not there."""

_fields: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Constant: (), ast.Name: (), ast.Global: (), ast.Nonlocal: (), ast.Import: (), ast.ImportFrom: (),
    ast.MatchSingleton: (),
}  # fmt: skip


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes which traversal visits."""
    left_out = _NEVER_NODES if kind.__name__ == "TypeAlias" else {*_NEVER_NODES, "name"}
    fields = _fields[kind] = tuple(name for name in kind._fields if name not in left_out)
    return fields


def declare_leaves(*kinds: type[ast.AST]) -> None:
    """Declare kinds of nodes whose parts traversal does not visit; copies share them."""
    _LEAVES.extend(kinds)
    _fields.update(dict.fromkeys(kinds, ()))


Child = tuple[str, int | None, ast.AST]
"""The field, the index if the field is a list, and the node."""


def children(node: ast.AST, skip: Collection[str] = (), kept: str | None = None) -> list[Child]:
    """The child nodes of `node` in order, with field and index.

    Parameters
    ----------
    node:
        A node.
    skip:
        Fields that are left out.
    kept:
        If it is given, children without an attribute of this name are left out.
    """
    kind = node.__class__
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields_of(kind)
    holder = node.__dict__
    found: list[Child] = []
    for name in fields:
        value = holder.get(name)
        if value is None or (skip and name in skip):
            continue
        if value.__class__ is not list:
            if kept is None or kept in value.__dict__:
                found.append((name, None, value))
        elif value:
            for index, item in enumerate(value):
                if item is not None and (kept is None or kept in item.__dict__):
                    found.append((name, index, item))
    return found


def parts(node: ast.AST) -> list[ast.AST]:
    """The child nodes of `node`, as in `children`, without field and index."""
    kind = node.__class__
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields_of(kind)
    holder = node.__dict__
    found: list[ast.AST] = []
    for name in fields:
        value = holder.get(name)
        if value is None:
            continue
        if value.__class__ is not list:
            found.append(value)
        elif kind in _WITH_GAPS:
            found += [item for item in value if item is not None]
        else:
            found += value
    return found


def clone(node: AnyNode, kept: str | None = None) -> AnyNode:
    """A deep copy, ten times as fast as `copy.deepcopy`.

    With `kept`, the copy shares the children of nodes that have no attribute of that name.
    """
    work: list[ast.AST] = []
    copy = _shallow(node, work)
    while work:
        above = work.pop()
        kind = above.__class__
        fields = _fields.get(kind)
        if fields is None:
            fields = _fields_of(kind)
        holder = above.__dict__
        if kept is not None and kept not in holder:
            fields, kind = (), ast.Compare  # only its lists are its own
        for name in fields:
            value = holder.get(name)
            if value.__class__ is list:
                holder[name] = [_shallow(item, work) if isinstance(item, ast.AST) else item for item in value]
            elif isinstance(value, ast.AST):
                holder[name] = _shallow(value, work)
        if kind in _WITH_FURTHER_LISTS:
            for name, value in holder.items():
                if value.__class__ is list:
                    holder[name] = value[:]
    return copy


_LEAVES = [ast.Name, ast.Constant]

_WITH_FURTHER_LISTS = (ast.Compare, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.MatchClass)
"""Nodes with lists of names, or of nodes that traversal leaves out."""


def _shallow(node: AnyNode, work: list[ast.AST]) -> AnyNode:
    """A copy of one node. It is added to `work` unless it is a leaf: its children have to be copied as well."""
    kind = node.__class__
    copy = kind.__new__(kind)
    copy.__dict__ = node.__dict__.copy()
    if kind not in _LEAVES:
        work.append(copy)
    return copy


class _Frame:
    """A node that is being rebuilt, and its place."""

    __slots__ = ("depth", "entered", "field", "index", "node", "parent", "spread", "state")

    def __init__(self, node: ast.AST, state: Any, parent: _Frame | None, field: str, index: int | None) -> None:
        self.node = node
        self.state = state
        self.parent = parent
        self.field = field
        self.index = index
        self.entered = False
        self.depth = 0
        self.spread = False  # whether several statements replace one


def rebuild(
    root: ast.AST,
    state: State,
    enter: Callable[[ast.AST, State], list[tuple[str, int | None, ast.AST, State]]],
    leave: Callable[[ast.AST, State, int], Any],
) -> Any:
    """Replace nodes bottom up, in place.

    Parameters
    ----------
    root, state:
        The node to begin with, and the state in which it is visited.
    enter:
        Returns the children of a node to visit, each with its state.
    leave:
        Called when the children of a node have been replaced, with the greatest depth of these (see `depth_of`). It
        returns what replaces the node: a node, or a list of nodes for a statement in a list of statements
        or a clause of a comprehension.
    """
    replacement: Any = None
    work = [_Frame(root, state, None, "", None)]
    while work:
        frame = work[-1]
        if not frame.entered:
            frame.entered = True
            inside = enter(frame.node, frame.state)
            if inside:
                inside.reverse()
                work += [_Frame(child, inner, frame, field, index) for field, index, child, inner in inside]
                continue
        work.pop()
        node, parent = frame.node, frame.parent
        if frame.spread:
            _flatten(node)
        replacement = leave(node, frame.state, frame.depth)
        if parent is None:
            return replacement
        if replacement is not node:
            if frame.index is None:
                setattr(parent.node, frame.field, replacement)
            else:
                getattr(parent.node, frame.field)[frame.index] = replacement
                parent.spread = parent.spread or replacement.__class__ is list
        depth = max(map(depth_of, replacement), default=0) if replacement.__class__ is list else depth_of(replacement)
        if depth > parent.depth:
            parent.depth = depth
    return replacement


def depth_of(node: Any) -> int:
    """How deeply events nest in an expression."""
    return getattr(node, DEPTH, 0)


DEPTH = "_depth"
"""The attribute of an expression that holds its depth if that is not 0."""


def _flatten(node: ast.AST) -> None:
    """Put the nodes that replace one statement, or of one clause of a comprehension, into its list."""
    for name in ("body", "orelse", "finalbody", "generators"):
        statements = getattr(node, name, None)
        if isinstance(statements, list) and any(isinstance(item, list) for item in statements):
            flat: list[ast.stmt] = []
            for item in statements:
                flat.extend(item) if isinstance(item, list) else flat.append(item)
            setattr(node, name, flat)
