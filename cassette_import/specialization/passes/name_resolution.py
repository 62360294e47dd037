"""`resolves_to`: what an expression in a function's tree means, as far as that can be told without running it.

Knows trees, modules and classes; must not know contexts, or when passes run.
"""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.namespaces import of_module
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import children

HOME: Final = "_home"
"""The attribute by which a name in the tree of a reflection finds what is known of its function: a `Home`."""

_LONGEST_CHAIN: Final = 100
_UNKNOWN: Final = object()


def resolves_to(node: ast.AST, target: Any) -> bool:
    """Whether an expression certainly is, or means, `target`.

    Parameters
    ----------
    node:
        An expression in the tree of a `Reflection`.
    target:
        A node: the expression is that node, or one that is written the same, or a name whose only definition in the
        function is. Or any other object, such as `print` or `math.sin`: the expression is a constant, a name of the
        function's module, a builtin, a name of an enclosing function, or an attribute of a module or class, and means
        this object now.

    Returns
    -------
    False if it is something else, or if that cannot be told without running the program: names that are bound more
    than once, parameters, attributes of other objects.

    >>> import colorsys, cassette_import
    >>> tree = cassette_import.reflect(colorsys.hls_to_rgb).tree
    >>> called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    >>> [resolves_to(function, colorsys._v) for function in called]
    [True, True, True]
    """
    for _ in range(_LONGEST_CHAIN):
        if node is target or (isinstance(target, ast.AST) and _same(node, target)):
            return True
        defined = _defined_as(node)
        if defined is None:
            break
        node = defined
    if isinstance(target, ast.AST):
        return False
    found = _meaning(node)
    return found is target or (isinstance(node, ast.Constant) and type(found) is type(target) and found == target)


def _origin(node: ast.AST) -> ast.AST:
    for _ in range(_LONGEST_CHAIN):
        defined = _defined_as(node)
        if defined is None:
            break
        node = defined
    return node


def _defined_as(node: ast.AST) -> ast.expr | None:
    """The expression whose value an expression has as well, if there is one."""
    if isinstance(node, ast.NamedExpr):
        return node.value
    home = getattr(node, HOME, None)
    return home.definition(node.id) if isinstance(node, ast.Name) and home is not None else None


class Home:
    """What a name needs to be resolved: the function's own definitions, and what other names mean to it."""

    def __init__(self, function: FunctionType, tree: Function) -> None:
        self._function = function
        self._tree = tree

    def __deepcopy__(self, memo: object) -> Home:
        return self

    def definition(self, name: str) -> ast.expr | None:
        """The expression that a local name is bound to, if it is bound once, by a plain assignment."""
        found: ast.expr | None = None
        for node in _own_nodes(self._tree):
            for target, value in _bindings(node):
                if target == name:
                    if found is not None or value is None:
                        return None
                    found = value
        return found

    def meaning(self, name: str) -> Any:
        """What a name that is not the function's own means now; `_UNKNOWN` if it is its own, or means nothing."""
        declared = {
            one for node in _own_nodes(self._tree) if isinstance(node, (ast.Global, ast.Nonlocal)) for one in node.names
        }
        own = {target for node in _own_nodes(self._tree) for target, _ in _bindings(node)} - declared
        if name in own or name in _parameters(self._tree):
            return _UNKNOWN
        code = self._function.__code__
        if name in code.co_freevars and self._function.__closure__:
            try:
                return self._function.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:  # nothing yet
                return _UNKNOWN
        names = self._function.__globals__
        if name in names:
            return names[name]
        builtins = names.get("__builtins__", {})
        return (builtins if isinstance(builtins, dict) else vars(builtins)).get(name, _UNKNOWN)


def settle(function: FunctionType, tree: Function) -> None:
    """Let the names in the function's tree find their home."""
    home = Home(function, tree)
    for node in _own_nodes(tree):
        if isinstance(node, ast.Name):
            setattr(node, HOME, home)


def _parameters(tree: Function) -> set[str]:
    return {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}


def _own_nodes(tree: Function) -> list[ast.AST]:
    """The nodes of a function's body but for those in other functions' and classes' bodies."""
    nodes: list[ast.AST] = list(tree.body) if isinstance(tree.body, list) else [tree.body]
    for node in nodes:  # it grows while we walk through it
        skip = ("body",) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else ()
        nodes.extend(child for _, _, child in children(node, skip))
    return nodes


def _bindings(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    """The names that a node binds, with the expressions that they are bound to, where there is one."""
    if isinstance(node, ast.Assign):
        return [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)] + [
            (part.id, None)
            for target in node.targets
            if not isinstance(target, ast.Name)
            for part in ast.walk(target)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        return [(node.target.id, node.value)] if isinstance(node.target, ast.Name) and node.value is not None else []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [(node.name, None)]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name.partition(".")[0], None) for alias in node.names]
    names: list[str | None] = []
    if isinstance(node, ast.AugAssign):
        names = [part.id for part in [node.target] if isinstance(part, ast.Name)]
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        names = [part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        names = [part.id for part in ast.walk(node.optional_vars) if isinstance(part, ast.Name)]
    elif isinstance(node, ast.Delete):
        names = [part.id for part in node.targets if isinstance(part, ast.Name)]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        names = [node.name]
    elif isinstance(node, ast.MatchMapping):
        names = [node.rest]
    return [(name, None) for name in names if name is not None]


def _meaning(node: ast.AST) -> Any:
    """The object that an expression means; only what can be looked up without running code of the program."""
    node = _origin(node)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        home = getattr(node, HOME, None)
        return _UNKNOWN if home is None else home.meaning(node.id)
    if isinstance(node, ast.Attribute):
        owner = _meaning(node.value)
        if isinstance(owner, ModuleType):
            return of_module(owner).get(node.attr, _UNKNOWN)
        if isinstance(owner, type):
            found = lookup(owner, node.attr)
            return found.__func__ if isinstance(found, staticmethod) else _UNKNOWN if found is None else found
    return _UNKNOWN


def _same(node: ast.AST, other: ast.AST) -> bool:
    """Whether two references or constants are written the same."""
    while isinstance(node, ast.Attribute) and isinstance(other, ast.Attribute) and node.attr == other.attr:
        node, other = node.value, other.value
    if isinstance(node, ast.Name) and isinstance(other, ast.Name):
        return node.id == other.id
    if isinstance(node, ast.Constant) and isinstance(other, ast.Constant):
        return type(node.value) is type(other.value) and node.value == other.value
    return False
