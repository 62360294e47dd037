"""The guarded form: call sites of contexts that intercept chosen functions only.

Most callees are not intercepted, and a guard shows this without a call. A guard is a global of the variant that holds a
callee, or types of receivers, which are known not to be intercepted. It is learned at run time (`dispatch.guards`), and
cleared when a hook or overload is registered. ``len(x)`` becomes::

    (@7.learn(len, "g.….len") if len is not @7.g.….len else len)(x)

and ``self.run(x)``, which stays a fast method call of the interpreter, becomes::

    @7.learn(self.run, "i.….run", self)(x) if self not in @7.i.….run else self.run(x)

The usual case comes last, so that no jump follows it. Where containers are not in C, the test is ``@type(self) not in
@7.t.….run``.
"""

from __future__ import annotations

import ast

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.syntax.expressions import attribute_name
from cassette_import.rewriting.trees.annotations import GLOBAL, RECEIVER, has
from cassette_import.rewriting.trees.node_builder import At, is_plain_super
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, clone
from cassette_import.rewriting.trees.traversal import parts
from cassette_import.rewriting.variant_names import Guard, GuardKind, VariantNames

_IS_NOT, _NOT_IN = ast.IsNot(), ast.NotIn()
_MOST_NODES = 40
"""Arguments with more nodes than these are only once in a body."""


class GuardedForm:
    """Builds guarded callees for one variant.

    Parameters
    ----------
    prefix:
        The prefix of the variant's names.
    file:
        A digest of the name of the file. In one file, the same text usually means the same callee.
    objects:
        The names that the module assigns: they hardly ever hold modules.
    anywhere:
        Whether the code may run while another variant is active. Its guards hold as long as there is no other variant.
    temporaries:
        Whether assignment expressions are allowed there. Without them, a callee that is read once has no guard.
    asks_containers:
        Whether containers of instances are in C: they take less time than sets of types.
    """

    def __init__(
        self,
        prefix: str,
        file: str,
        objects: frozenset[str] = frozenset(),
        anywhere: bool = False,
        temporaries: bool = True,
        asks_containers: bool = False,
    ) -> None:
        self._names = VariantNames(prefix)
        self._anywhere = anywhere
        self._file = file
        self._objects = objects
        self._temporaries = temporaries
        self._asks_containers = asks_containers

    def call(self, node: ast.Call) -> ast.expr:
        """A call whose callee is guarded."""
        function = node.func
        keywords = bool(node.keywords) or any(isinstance(argument, ast.Starred) for argument in node.args)
        if isinstance(function, ast.Name):
            node.func = self._name(function, keywords)
        elif not isinstance(function, ast.Attribute) or not self._may_read(function):
            node.func = self._picked(function, keywords)
        elif is_of_module(function, self._objects):
            node.func = (self._kept if self._temporaries else self._compared)(function, keywords)
        else:
            return self._method(node, function, keywords)
        return node

    def _may_read(self, function: ast.Attribute) -> bool:
        """Whether an attribute can be read under a guard without temporaries, or temporaries are allowed."""
        of_name = isinstance(function.value, ast.Name) or _receiver_of_super(function.value) is not None
        return self._temporaries or of_name or is_of_module(function, self._objects)

    def _picked(self, callee: ast.expr, keywords: bool) -> ast.expr:
        at = At(callee)
        picker = symbols.pick_anywhere(Events.CALLS) if self._anywhere else self._names.pick_callee(keywords)
        return at.call(at.symbol(picker), [callee])

    def _learned(self, at: At, callee: ast.expr, guard: Guard, *more: ast.expr) -> ast.expr:
        return at.call(at.symbol(self._names.learn), [callee, at.constant(guard.key), *more])

    def _guard(self, kind: GuardKind, keywords: bool, *path: str) -> Guard:
        return Guard(kind, keywords, self._anywhere, self._file, path)

    def _held(self, at: At, guard: Guard) -> ast.expr:
        return at.symbol(self._names.guard(guard))

    def _name(self, name: ast.Name, keywords: bool) -> ast.expr:
        """A name can be read twice. A local name may hold many Python functions in turn, none of which is a target."""
        at, guard = At(name), self._guard(GuardKind.CALLEE, keywords, name.id)
        unknown: ast.expr = at.compare(at.load(name.id), _IS_NOT, self._held(at, guard))
        if not has(name, GLOBAL):
            unknown = at.put(ast.BoolOp(ast.And(), [self._may_be_target(at, name.id, keywords), unknown]))
        return at.either(unknown, self._learned(at, at.load(name.id), guard), name)

    def _may_be_target(self, at: At, name: str, keywords: bool) -> ast.expr:
        """The test whether it is no Python function, or a target."""
        if self._asks_containers:
            return at.compare(at.load(name), _NOT_IN, at.symbol(self._names.no_targets(keywords, self._anywhere)))
        targets = at.symbol(self._names.target_functions(keywords))
        other = at.put(ast.Compare(at.load(name), [ast.NotIn()], [targets]))
        is_function = at.kind_is(name, at.symbol(self._names.function_type(self._anywhere)))
        return at.put(ast.UnaryOp(ast.Not(), at.put(ast.BoolOp(ast.And(), [is_function, other]))))

    def _has_other_kind(self, at: At, value: ast.expr, guard: Guard) -> ast.expr:
        read = value if self._asks_containers else at.call(at.symbol(symbols.TYPE), [value])
        return at.compare(read, _NOT_IN, self._held(at, guard))

    def _kind_of_receiver(self, of_super: bool) -> GuardKind:
        if self._asks_containers:
            return GuardKind.INSTANCES_OF_SUPER if of_super else GuardKind.INSTANCES
        return GuardKind.TYPES_OF_SUPER if of_super else GuardKind.TYPES

    def _kept(self, function: ast.Attribute, keywords: bool) -> ast.expr:
        """A function of a module, read once. Its temporary is not cleared: the guard holds the same function."""
        at, path = At(function), path_of(function)
        guard = self._guard(GuardKind.OF_MODULE, keywords, *path)
        unknown = at.compare(at.let(temporaries.GUARDED_CALLEE, function), _IS_NOT, self._held(at, guard))
        more = at.load(path[0]), at.let(temporaries.GUARDED_CALLEE, at.constant(None))
        read = at.load(temporaries.GUARDED_CALLEE)
        return at.either(unknown, self._learned(at, read, guard, *more), read)

    def _compared(self, function: ast.Attribute, keywords: bool) -> ast.expr:
        """The same without a temporary: `learn` itself compares the function with what the guard holds."""
        at, path = At(function), path_of(function)
        return self._learned(at, function, self._guard(GuardKind.OF_MODULE, keywords, *path), at.load(path[0]))

    def _method(self, node: ast.Call, function: ast.Attribute, keywords: bool) -> ast.expr:
        """A method, called as it is written if the guard holds the type of the receiver, or the class itself."""
        at, receiver = At(function), function.value
        of_super = _receiver_of_super(receiver)
        of_class = isinstance(receiver, ast.Name) and is_class(receiver)
        stays = of_super or isinstance(receiver, ast.Name)
        name = of_super or (receiver.id if isinstance(receiver, ast.Name) else temporaries.GUARDED_RECEIVER)
        kind = GuardKind.CLASS if of_class else self._kind_of_receiver(bool(of_super))
        guard = self._guard(kind, keywords, str(node.lineno), str(node.col_offset), attribute_name(function))
        read: ast.expr = At(receiver).load(name) if stays else At(receiver).let(name, receiver)
        if of_class:
            unknown: ast.expr = at.compare(read, _IS_NOT, self._held(at, guard))
        else:
            unknown = self._has_other_kind(at, read, guard)
        if not stays:
            function.value = At(receiver).load(name)
        forget = [] if stays else [at.let(name, at.constant(None))]
        if is_small(node):
            plain: ast.expr = clone(node)
            assert isinstance(plain, ast.Call)
            node.func = self._learned(at, function, guard, at.load(name), *forget)
            return At(node).either(unknown, node, _forgetting(plain, at, forget))
        # The arguments are there once, and so a bound method is made before them.
        if forget and not _forgets_first(node, at, forget):
            function.value = receiver
            node.func = self._picked(function, keywords)
        else:
            again: ast.expr = clone(function)
            node.func = at.either(unknown, self._learned(at, again, guard, at.load(name)), function)
        return node


def is_of_module(function: ast.Attribute, objects: frozenset[str]) -> bool:
    """Whether a callee is reached from the global name of a module, by attributes only: `os.path.join`.

    `objects` are the names that the module assigns.
    """
    value = function.value
    if isinstance(value, ast.Name) and is_class(value):
        return False
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and has(value, GLOBAL) and value.id not in objects


def path_of(function: ast.expr) -> tuple[str, ...]:
    """The names by which a callee is reached from a name: `os.path.join` is ``("os", "path", "join")``."""
    if isinstance(function, ast.Attribute):
        return *path_of(function.value), function.attr
    assert isinstance(function, ast.Name)
    return (function.id,)


def _receiver_of_super(receiver: ast.expr) -> str | None:
    """The name of the instance, if a receiver is `super()` or `super(A, self)`.

    If `super` is something else, the guard never holds.
    """
    if not isinstance(receiver, ast.Call):
        return None
    if is_plain_super(receiver):
        return getattr(receiver, RECEIVER, None)
    called = receiver.func.orelse if isinstance(receiver.func, ast.IfExp) else receiver.func
    if isinstance(called, ast.Name) and called.id == "super" and len(receiver.args) == 2:
        instance = receiver.args[1]
        return instance.id if isinstance(instance, ast.Name) else None
    return None


def is_class(name: ast.Name) -> bool:
    """Whether a name looks like that of a class (PEP 8). If it holds something else, the guard never holds."""
    if name.id == "cls":
        return True
    return has(name, GLOBAL) and name.id.lstrip("_")[:1].isupper() and not name.id.isupper()


def _forgetting(node: ast.Call, at: At, forget: list[ast.NamedExpr]) -> ast.expr:
    """A call that clears a temporary when its callee has been evaluated, or else at its end."""
    if not forget or _forgets_first(node, at, forget):
        return node
    return at.pick([node, forget[0]], 0)


def _forgets_first(node: ast.Call, at: At, forget: list[ast.NamedExpr]) -> bool:
    """Clear a temporary before the first argument of a call is evaluated, if that is possible."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        return False
    first = node.args[0]  # `first if (@o := None) is None else None`: no tuple is made
    node.args[0] = At(first).either(at.same(forget[0], at.constant(None)), first, at.constant(None))
    return True


def is_small(node: ast.Call, whole: bool = False) -> bool:
    """Whether the arguments, or the whole call, may be duplicated: they have few nodes and no nested functions.

    Where the callee is duplicated too, the whole call counts: in ``a().b().c()`` each call is part of the next one.
    """
    work: list[ast.AST] = [*node.args, *(keyword.value for keyword in node.keywords)]
    if whole:
        work.append(node.func)
    count = 0
    while work:
        part = work.pop()
        count += 1
        if count > _MOST_NODES or isinstance(part, _NOT_TWICE):
            return False
        work += parts(part)
    return True


_NOT_TWICE = (ast.Lambda, *COMPREHENSIONS, ast.Yield, ast.YieldFrom, ast.Await)
