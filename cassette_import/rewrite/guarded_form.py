"""Call sites of contexts that intercept chosen functions only: most callees are none of them, and a guard says so.

A guard is a global of the variant that holds a callee, or a type of receivers, which is known not to be intercepted.
It is learned at run time (`guards.py`), and forgotten when something is registered. ``len(x)`` becomes::

    (len if len is @7.g.len else @7.learn(len, "g.len"))(x)

and ``xs.append(x)``, which keeps the interpreter's fast call of methods of builtin types::

    (xs.append(x) if @type(xs) is @7.t.append else @7.learn(xs.append, "t.append")(x))

Knows trees; must not know what is learned.
"""

from __future__ import annotations

import ast

from cassette_import.rewrite.marks import GLOBAL, has
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.scopes import clone
from cassette_import.rewrite.walk import children

_MOST_NODES = 12
"""Arguments of more nodes do not stand twice in a body."""


class GuardedForm:
    """Builds guarded callees for one variant."""

    def __init__(self, prefix: str, file: str) -> None:
        self._prefix = prefix
        self._file = file  # the same text is the same callee in one file, mostly

    def call(self, node: ast.Call) -> ast.expr:
        """A call whose callee is guarded."""
        function = node.func
        keywords = "k" if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args) else ""
        if isinstance(function, ast.Name):
            node.func = self._name(function, keywords)
        elif isinstance(function, ast.Attribute):
            if _is_of_module(function):
                node.func = self._kept(function, keywords)
            elif not _is_instance(function.value) and _is_small(node):
                return self._method(node, function, keywords)
            else:
                node.func = self._picked(function, keywords)
        else:
            node.func = self._picked(function, keywords)
        return node

    def _picked(self, callee: ast.expr, keywords: str) -> ast.expr:
        at = At(callee)
        return at.call(at.load(f"{self._prefix}.pick{keywords}.1"), [callee])

    def _learned(self, at: At, callee: ast.expr, guard: str, *more: ast.expr) -> ast.expr:
        return at.call(at.load(f"{self._prefix}.learn"), [callee, at.constant(guard), *more])

    def _guard(self, kind: str, text: str) -> str:
        return f"{kind}.{self._file}.{text}"

    def _name(self, name: ast.Name, keywords: str) -> ast.expr:
        """A name can be read twice."""
        at, guard = At(name), self._guard("g" + keywords, name.id)
        known = at.same(at.load(name.id), at.load(f"{self._prefix}.{guard}"))
        return at.either(known, name, self._learned(at, at.load(name.id), guard))

    def _kept(self, function: ast.Attribute, keywords: str) -> ast.expr:
        """A function of a module: read once. What is kept longer than it was is what the guard holds anyway."""
        at, guard = At(function), self._guard("g" + keywords, ast.unparse(function))
        known = at.same(at.let("@g", function), at.load(f"{self._prefix}.{guard}"))
        forget = at.let("@g", at.constant(None))
        return at.either(known, at.load("@g"), self._learned(at, at.load("@g"), guard, forget))

    def _method(self, node: ast.Call, function: ast.Attribute, keywords: str) -> ast.expr:
        """A method, called as it is written if it is one of a builtin type."""
        at, receiver = At(function), function.value
        name = receiver.id if isinstance(receiver, ast.Name) else "@o"
        guard = self._guard("t" + keywords, f"{name}.{function.attr}")
        read: ast.expr = at.load(name) if isinstance(receiver, ast.Name) else At(receiver).let(name, receiver)
        known = at.same(at.call(at.load("@type"), [read]), at.load(f"{self._prefix}.{guard}"))
        if not isinstance(receiver, ast.Name):
            function.value = At(receiver).load(name)
        plain: ast.expr = clone(node)  # type: ignore[assignment]
        assert isinstance(plain, ast.Call)
        forget = [] if isinstance(receiver, ast.Name) else [at.let(name, at.constant(None))]
        node.func = self._learned(at, function, guard, *forget)
        return At(node).either(known, _forgetting(plain, at, forget), node)


def _forgetting(node: ast.Call, at: At, forget: list[ast.NamedExpr]) -> ast.expr:
    """A call that lets go of a temporary when its callee has been evaluated, or else at its end."""
    if not forget:
        return node
    if not node.args or isinstance(node.args[0], ast.Starred):
        return at.pick([node, forget[0]], 0)
    first = node.args[0]  # `first if (@o := None) is None else None`: no tuple is made
    node.args[0] = At(first).either(at.same(forget[0], at.constant(None)), first, at.constant(None))
    return node


def _is_instance(receiver: ast.expr) -> bool:
    """Whether a receiver is hardly ever of a builtin type."""
    return isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")


def _is_of_module(function: ast.Attribute) -> bool:
    """Whether a callee is reached from a global name by attributes only: `os.path.join`."""
    value = function.value
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and has(value, GLOBAL)


def _is_small(node: ast.Call) -> bool:
    """Whether the arguments may stand twice: a few plain nodes without events or functions of their own."""
    work: list[ast.AST] = [*node.args, *(keyword.value for keyword in node.keywords)]
    count = 0
    while work:
        part = work.pop()
        count += 1
        if count > _MOST_NODES or not isinstance(part, _PLAIN):
            return False
        work += [child for _, _, child in children(part)]
    return True


_PLAIN = (ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Subscript, ast.Compare)
