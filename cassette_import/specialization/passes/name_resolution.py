"""`resolves_to`: the value of an expression in a function's tree, if it is certain without running the function."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.namespaces import module_namespace
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, names_bound_by
from cassette_import.rewriting.trees.traversal import children

SCOPE: Final = "_scope"
"""The attribute of a name in the tree of a reflection that holds the `FunctionScope` of its function."""

_LONGEST_CHAIN: Final = 100
_UNKNOWN: Final = object()

_Bindings: TypeAlias = list[tuple[str, ast.expr | None]]


def resolves_to(node: ast.AST, target: Any) -> bool:
    """Whether an expression certainly is `target`, or certainly has it as its value.

    Parameters
    ----------
    node:
        An expression in the tree of a `Reflection`.
    target:
        A node, or any other object, such as `print` or `math.sin`. The expression is a node if it is that node itself,
        or is written the same, or is a name whose only definition in the function is such a node. It is another object
        if it is a constant, a name of the function's module, a builtin, a name of an enclosing function, or an
        attribute of a module or class, and if its value at present is that object.

    Returns
    -------
    True or False. It is False as well for what is only known when the program runs: names that are bound more than
    once, parameters, attributes of other objects.

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
    found = _value_of(node)
    return found is target or (isinstance(node, ast.Constant) and type(found) is type(target) and found == target)


def _origin(node: ast.AST) -> ast.AST:
    """The expression at the end of a chain of definitions."""
    for _ in range(_LONGEST_CHAIN):
        defined = _defined_as(node)
        if defined is None:
            break
        node = defined
    return node


def _defined_as(node: ast.AST) -> ast.expr | None:
    """The expression that defines an expression's value, if there is one."""
    if isinstance(node, ast.NamedExpr):
        return node.value
    scope = getattr(node, SCOPE, None)
    return scope.definition(node.id) if isinstance(node, ast.Name) and scope is not None else None


class FunctionScope:
    """Resolves the names of a function: by its own definitions, and in its cells, its globals and the builtins."""

    def __init__(self, function: FunctionType, tree: Function) -> None:
        self._function = function
        self._tree = tree

    def __deepcopy__(self, memo: object) -> FunctionScope:
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

    def value_of(self, name: str) -> Any:
        """The present value of a name that the function does not bind; `_UNKNOWN` if it does, or if there is none."""
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
            except ValueError:  # the cell is empty
                return _UNKNOWN
        names = self._function.__globals__
        if name in names:
            return names[name]
        builtins = names.get("__builtins__", {})
        return (builtins if isinstance(builtins, dict) else vars(builtins)).get(name, _UNKNOWN)


def attach_scope(function: FunctionType, tree: Function) -> None:
    """Annotate the names in a function's tree with their scope."""
    scope = FunctionScope(function, tree)
    for node in _own_nodes(tree):
        if isinstance(node, ast.Name):
            setattr(node, SCOPE, scope)


def _parameters(tree: Function) -> set[str]:
    return {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}


def _own_nodes(tree: Function) -> list[ast.AST]:
    """The nodes of a function's body, without those in the bodies of nested functions and classes."""
    nodes: list[ast.AST] = list(tree.body) if isinstance(tree.body, list) else [tree.body]
    for node in nodes:  # it grows while we walk through it
        skip = ("body",) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else ()
        nodes.extend(child for _, _, child in children(node, skip))
    return nodes


def _bindings(node: ast.AST) -> _Bindings:
    """The names that a node binds, each with the expression that it is bound to, or None if there is no such one."""
    bindings_of = _BINDINGS_OF_TARGETS.get(node.__class__)
    return [(name, None) for name in names_bound_by(node)] if bindings_of is None else bindings_of(node)


def _names_in(node: ast.AST | None) -> _Bindings:
    """The names that a target binds: in `xs[i]` there are none."""
    return [
        (part.id, None)
        for part in (ast.walk(node) if node is not None else ())
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]


def _bindings_of_assignment(node: ast.Assign) -> _Bindings:
    names: _Bindings = [(target.id, node.value) for target in node.targets if isinstance(target, ast.Name)]
    others = (target for target in node.targets if not isinstance(target, ast.Name))
    return names + [binding for target in others for binding in _names_in(target)]


def _binding_of_value(node: ast.AnnAssign | ast.NamedExpr) -> _Bindings:
    return [(node.target.id, node.value)] if isinstance(node.target, ast.Name) and node.value is not None else []


def _binding_of_update(node: ast.AugAssign) -> _Bindings:
    return [(node.target.id, None)] if isinstance(node.target, ast.Name) else []


def _bindings_of_loop(node: ast.For | ast.AsyncFor | ast.comprehension) -> _Bindings:
    return _names_in(node.target)


def _bindings_of_manager(node: ast.withitem) -> _Bindings:
    return _names_in(node.optional_vars)


def _bindings_of_deletion(node: ast.Delete) -> _Bindings:
    return [(part.id, None) for part in node.targets if isinstance(part, ast.Name)]


_BINDINGS_OF_TARGETS: Final[dict[type[ast.AST], Callable[[Any], _Bindings]]] = {
    ast.Assign: _bindings_of_assignment,
    ast.AnnAssign: _binding_of_value,
    ast.NamedExpr: _binding_of_value,
    ast.AugAssign: _binding_of_update,
    ast.For: _bindings_of_loop,
    ast.AsyncFor: _bindings_of_loop,
    ast.comprehension: _bindings_of_loop,
    ast.withitem: _bindings_of_manager,
    ast.Delete: _bindings_of_deletion,
}
"""Nodes whose targets are nodes of their own. `scopes.names_bound_by` has the others."""


def _value_of(node: ast.AST) -> Any:
    """The value of an expression, if it can be looked up without running code of the program; else `_UNKNOWN`."""
    node = _origin(node)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        scope = getattr(node, SCOPE, None)
        return _UNKNOWN if scope is None else scope.value_of(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value)
        if isinstance(owner, ModuleType):
            return module_namespace(owner).get(node.attr, _UNKNOWN)
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
