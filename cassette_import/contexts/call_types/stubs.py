"""Type stubs: the contents of a `.pyi` file for a module, with the types of the calls where its source has none.

A stub hides the module from type checkers, so all that the module defines is in it.
"""

from __future__ import annotations

import abc
import ast
import builtins
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.call_types.sites import (
    CLASSES,
    Annotations,
    Outcome,
    Site,
    TypeName,
    named_outcome,
    type_name,
)
from cassette_import.importing.installation import installed
from cassette_import.interpreter.namespaces import bases_of, class_namespace
from cassette_import.kits.events import is_rewritten

__all__ = ["CalledModule", "add_calls", "called_modules", "is_installed", "stub"]

# ---- the functions of modules that were called, with the types of what went in and out
#
# It can be pickled, and the calls of several processes added up.

_TYPE_OF_NONE: Final = type_name(type(None))
_NUMBERS: Final = {type_name(kind) for kind in (bool, int, float)}
"""A type checker takes each of them for the next."""
_MERGED: Final = {type_name(kind) for kind in (list, set, frozenset, dict, tuple)}
"""Containers whose elements of several calls are taken together."""
_UNKNOWN: Final[Any] = object()
"""The shape of a receiver, which is not among the recorded arguments."""
_UNIONS: Final = frozenset({"UnionType", "_UnionGenericAlias", "Union"})
"""The names of the types of ``int | str`` and `typing.Union[…]`, which depend on the version of Python."""
_TYPE_VARIABLES: Final = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_Shapes: TypeAlias = dict[Any, None]
"""Shapes with names of types, in the order in which they were found."""
_Place: TypeAlias = tuple[str, int, int]
"""The file, line and column of a call site."""


@dataclass
class CalledParameter:
    """A parameter, and what was given for it. `default` is the type of the default value; None if there is none."""

    name: str
    kind: Any
    default: TypeName | None
    shapes: _Shapes = field(default_factory=dict)
    given_at: dict[_Place, set[Any]] = field(default_factory=dict)
    """The shapes that each call site gave, in all threads and processes."""

    @property
    def is_mixed(self) -> bool:
        """Whether one call site gave values of several kinds: a type checker knows only what these have in common."""
        return any(map(_is_mixed, self.given_at.values()))


@dataclass
class CalledFunction:
    """A function, and what came of its calls. `line` is its first one; `raised` says whether a call raised."""

    line: int
    is_coroutine: bool
    parameters: list[CalledParameter]
    overrides: bool
    """Whether it is a method that a base class has too, which decides what types it has to accept."""
    results: _Shapes = field(default_factory=dict)
    raised: bool = False

    def signature(self) -> inspect.Signature:
        """The parameters without types."""
        empty = inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(one.name, one.kind, default=empty if one.default is None else ...)
                for one in self.parameters
            ]
        )


@dataclass
class CalledModule:
    """The functions of a module that were called by qualified name, and its source; None if there is none.

    `inherited` has the names of attributes that its classes have from bases.
    """

    source: str | None
    functions: dict[str, CalledFunction] = field(default_factory=dict)
    inherited: dict[str, frozenset[str]] = field(default_factory=dict)
    unions: frozenset[str] = frozenset()
    """The names of variables that are unions of types."""
    type_variables: frozenset[str] = frozenset()
    """The names of variables that stand for a type."""
    abstract: frozenset[str] = frozenset()
    """The names of classes that are abstract by what they inherit alone, which a stub has to say."""

    def tree(self) -> ast.Module:
        """The tree of the source; without one, that of the signatures of the functions."""
        if self.source is not None:
            return ast.parse(self.source)
        made = ast.Module([], [])
        for qualified, called in sorted(self.functions.items(), key=lambda item: item[1].line):
            *owners, name = qualified.split(".")
            body = made.body
            for owner in owners:
                known = [one for one in body if isinstance(one, ast.ClassDef) and one.name == owner]
                if not known:
                    body += ast.parse(f"class {owner}: ...").body
                body = (known or body[-1:])[0].body  # type: ignore[attr-defined]  # of a class
            body += ast.parse(f"{'async ' * called.is_coroutine}def {name}{called.signature()}: ...").body
        return made


def called_modules(
    sites: Iterable[Site], types: Mapping[int, type], module: str | None = None
) -> dict[str, CalledModule]:
    """The overdubbed modules with the functions that were called there, or the given one only, by name."""
    sites = list(sites)
    callers = {site.module for site in sites if is_rewritten(site.code)}  # and not `threading`, which calls a target
    modules: dict[str, CalledModule] = {}
    signatures: dict[tuple[str, str], inspect.Signature] = {}
    for site in sites:
        function = site.python
        if function is None or "<" in function.__code__.co_qualname:
            continue
        name, qualified = function.__globals__.get("__name__"), function.__code__.co_qualname
        if not isinstance(name, str):
            continue
        if name != module if module else name not in callers and not is_installed(name):
            continue
        found = modules.get(name) or modules.setdefault(name, _module(name))
        if qualified not in found.functions:
            signature = signatures[name, qualified] = inspect.signature(function, follow_wrapped=False)
            _add_function(found, function, signature, sys.modules.get(name))
        place = (site.code.co_filename, *site.position)
        for outcome in list(site.outcomes):
            if outcome is not None:
                _add_outcome(
                    found.functions[qualified], signatures[name, qualified], named_outcome(outcome, types), site, place
                )
    return modules


def _is_mixed(shapes: set[Any]) -> bool:
    """Whether values of these shapes, which one call site gave, have no type that is a union of theirs."""
    kinds = {one[0] if isinstance(one, tuple) and one[0] in _MERGED else one for one in shapes} - {_TYPE_OF_NONE}
    return len(kinds) > 1 and not kinds <= _NUMBERS


def is_installed(module: str) -> bool:
    """Whether a module is overdubbed by its name, or by that of a package around it."""
    return any(module == name or module.startswith(name + ".") for name in installed())


def _module(name: str) -> CalledModule:
    """A module without calls."""
    module = sys.modules.get(name)
    variables: dict[str, Any] = {} if module is None else vars(module)
    own = {known: one for known, one in variables.items() if isinstance(one, type)}
    unions = frozenset(known for known, one in variables.items() if type(one).__name__ in _UNIONS)
    inherited = {known: _inherited(one) for known, one in own.items()}
    source = None if module is None else _source(module)
    type_variables = frozenset(known for known, one in variables.items() if type(one).__name__ in _TYPE_VARIABLES)
    abstract = frozenset(known for known, one in own.items() if _is_abstract_by_bases(one))
    return CalledModule(source, inherited=inherited, unions=unions, type_variables=type_variables, abstract=abstract)


def _source(module: ModuleType) -> str | None:
    """The source of a module. One that ran as a script has no `__file__` any more when it has ended."""
    try:
        source = inspect.getsource(module)
    except (OSError, TypeError):
        try:
            source = module.__loader__.get_source(module.__name__)  # type: ignore[union-attr]  # not every loader has it
        except (AttributeError, ImportError, OSError):
            return None
    try:
        ast.parse(source or "")
    except SyntaxError:
        return None
    return source


def _is_abstract_by_bases(kind: type) -> bool:
    space = class_namespace(kind)
    abstract = space.get("__abstractmethods__", frozenset())
    return issubclass(type(kind), abc.ABCMeta) and bool(abstract) and abstract.isdisjoint(space)


def _inherited(kind: type) -> frozenset[str]:
    """The names that base classes define or declare."""
    spaces = [class_namespace(base) for base in (bases_of(kind) or ())[1:] if base is not object]
    declared = [one for one in (space.get("__annotations__") for space in spaces) if isinstance(one, dict)]
    return frozenset(name for names in (*spaces, *declared) for name in names)


def _add_function(module: CalledModule, function: FunctionType, signature: inspect.Signature, namespace: Any) -> None:
    qualified = function.__code__.co_qualname
    *classes, name = qualified.split(".")
    for owner in classes:
        found = _member(namespace, owner)
        namespace = found if isinstance(found, type) else None
    bases = namespace.__mro__[1:] if isinstance(namespace, type) else ()
    module.functions[qualified] = CalledFunction(
        line=function.__code__.co_firstlineno,
        is_coroutine=inspect.iscoroutinefunction(function),
        overrides=name not in ("__init__", "__new__") and any(name in vars(base) for base in bases),
        parameters=[
            CalledParameter(one.name, one.kind, None if one.default is one.empty else type_name(type(one.default)))
            for one in signature.parameters.values()
        ],
    )


def _member(namespace: Any, name: str) -> Any:
    return None if namespace is None else vars(namespace).get(name)


def _add_outcome(
    called: CalledFunction, signature: inspect.Signature, outcome: Outcome, site: Site, place: _Place
) -> None:
    """Add the calls of an outcome; the callee is the function, a class with this `__init__`, or has this `__call__`."""
    arguments, keywords, raised, result = outcome
    if site.takes_receiver:
        arguments = (_UNKNOWN, *arguments)
    try:
        bound = signature.bind(*arguments, **dict(keywords)).arguments
    except TypeError:  # the call raised this error, too
        return
    for parameter in called.parameters:
        if parameter.name not in bound:
            continue
        given = bound[parameter.name]
        several = given if parameter.kind is inspect.Parameter.VAR_POSITIONAL else (given,)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            several = given.values()
        shapes = dict.fromkeys(shape for shape in several if shape is not _UNKNOWN)
        parameter.shapes.update(shapes)
        parameter.given_at.setdefault(place, set()).update(shapes)
    if raised:
        called.raised = True
    elif not site.is_class:
        called.results[result] = None


def add_calls(modules: dict[str, CalledModule], others: Mapping[str, CalledModule]) -> None:
    """Add what was called in another process."""
    for name, other in others.items():
        module = modules.setdefault(name, replace(other, functions={}))
        for qualified, function in other.functions.items():
            known = module.functions.setdefault(qualified, function)
            given = {one.name: one for one in function.parameters}
            for parameter in known.parameters:
                if (also := given.get(parameter.name)) is not None:
                    parameter.shapes.update(also.shapes)
                    for place, shapes in also.given_at.items():
                        parameter.given_at.setdefault(place, set()).update(shapes)
            known.results.update(function.results)
            known.raised = known.raised or function.raised


# ---- type stubs: the contents of a `.pyi` file for a module, with the types of the calls where its source has none

_INDENT: Final = "    "
_INFORMATIVE: Final = {TypeName("builtins", kind.__name__) for kind in (bool, int, float, str, bytes)}
"""Types of default values from which the type of the parameter follows."""
_NONE: Final = TypeName(None, "None")
_MAIN: Final = "__main__"
_LONGEST: Final = 120
"""Longer values of variables are not in the stub."""
_DISPLAYS: Final[dict[type, str]] = {
    ast.List: "list[typing.Any]", ast.ListComp: "list[typing.Any]", ast.Set: "set[typing.Any]",
    ast.SetComp: "set[typing.Any]", ast.Dict: "dict[typing.Any, typing.Any]", ast.JoinedStr: "str",
    ast.DictComp: "dict[typing.Any, typing.Any]", ast.Tuple: "tuple[typing.Any, ...]",
}  # fmt: skip
_BUILTIN_RESULTS: Final = {"len": "int", "int": "int", "str": "str", "repr": "str", "float": "float", "bool": "bool"}
_SEVERAL: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_IGNORED: Final = re.compile(r"#\s*type:\s*ignore(\[[^]]*\])?")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def stub(name: str, module: CalledModule) -> str:
    """The stub of a module."""
    tree = module.tree()
    own = frozenset(_names_in(tree.body))
    annotations = Annotations(CLASSES, name, frozenset(_taken_by(tree)) - {"typing"}, own & vars(builtins).keys())
    writer = _Writer(module, annotations, _called_at_import(tree, is_recorded=name == _MAIN))
    text = writer.text()
    imports = annotations.import_statements()
    return "\n".join([*imports, *([""] if imports else []), text])


class _Writer:
    """Writes the statements of a module, or of a class in it."""

    def __init__(self, module: CalledModule, annotations: Annotations, untraced: Iterable[str]) -> None:
        self._module = module
        self._annotations = annotations
        self._lines = (module.source or "").split("\n")
        self._tree = module.tree()
        self._results = dict(_results_of(self._tree))
        self._untraced = frozenset(untraced)
        self._hidden: list[set[str]] = []
        self._attributes_above: list[set[str]] = []

    def text(self) -> str:
        """The whole module."""
        body = self.scope([*self._tree.body, *_submodules(self._tree)], "", "")
        return "\n".join(body).strip("\n").replace("\n\n\n", "\n\n")

    def scope(self, body: Iterable[ast.stmt], prefix: str, indent: str, attributes: Iterable[str] = ()) -> list[str]:
        """The lines of the statements of a scope, each name once, after those of further attributes."""
        lines = [f"{indent}{line}" for line in attributes]
        defined: set[str] = set()
        for node in _with_accessors_together([*_flat(body)]):
            if isinstance(node, _Function):
                if node.name in defined and not _is_one_of_several(node):
                    continue
                if node.name in defined and not node.decorator_list:
                    continue  # what overloads are of
                defined.add(node.name)
                lines += [f"{indent}{line}" for line in self._function(node, prefix)]
            elif isinstance(node, ast.ClassDef):
                if node.name not in defined:
                    defined.add(node.name)
                    lines += ["", *self._class(node, prefix, indent), ""]
            else:
                lines += [f"{indent}{line}" for line in self._statement(node, defined, prefix)]
        return lines

    # ---- functions

    def _function(self, node: Any, prefix: str) -> Iterator[str]:
        yield from (f"@{ast.unparse(decorator)}" for decorator in node.decorator_list)
        called = self._traced(node, prefix)
        known = {} if called is None else {one.name: one for one in called.parameters}
        receiver = bool(prefix) and not any(_last_name(one) == "staticmethod" for one in node.decorator_list)
        parameters = [
            self._parameter(*each, known, is_receiver=receiver and number == 0)
            for number, each in enumerate(_parameters(node.args))
        ]
        is_awaited = isinstance(node, ast.AsyncFunctionDef) and not _yields(node)  # calls make generators at once
        keyword = "async def" if is_awaited else "def"
        text = f"{keyword} {node.name}{_generic(node)}{inspect.Signature(parameters)}{self._result(node, called)}: ..."
        yield text + self._ignored(node.lineno, node.body[0].lineno)

    def _traced(self, node: Any, prefix: str) -> CalledFunction | None:
        """The calls of a function, if they say all that it has to accept.

        They do not for what also is another attribute, and for what the module calls while it is imported. A function
        with annotations says itself what it accepts.
        """
        called = self._module.functions.get(prefix + node.name)
        is_annotated = node.returns is not None or any(one.annotation for one, _, _ in _parameters(node.args))
        if called is None or called.overrides or is_annotated:
            return None
        return called if self._untraced.isdisjoint(f"{prefix}{node.name}".split(".")) else None

    def _parameter(
        self,
        argument: ast.arg,
        kind: Any,
        has_default: bool,
        known: dict[str, CalledParameter],
        *,
        is_receiver: bool,
    ) -> inspect.Parameter:
        annotation: Any = inspect.Parameter.empty
        called = known.get(argument.arg)
        if argument.annotation is not None:
            annotation = _Verbatim(self._written(argument.annotation))
        elif called is not None and not is_receiver:
            text = self._given(called)
            annotation = inspect.Parameter.empty if text is None else _Verbatim(text)
        default = _Verbatim("...") if has_default else inspect.Parameter.empty
        return inspect.Parameter(argument.arg, kind, default=default, annotation=annotation)

    def _given(self, parameter: CalledParameter) -> str | None:
        """The annotation of a parameter by what calls gave; None if that says nothing."""
        default = parameter.default
        if parameter.is_mixed:
            return self._any()
        if not parameter.shapes:
            return self._annotations.type(default) if default is not None and default in _INFORMATIVE else None
        annotation = self._annotations.union(parameter.shapes)
        if default is not None and default in {_NONE, *_INFORMATIVE}:
            name = self._annotations.type(default)
            annotation = annotation if {name, "typing.Any"} & set(annotation.split(" | ")) else f"{annotation} | {name}"
        return None if annotation == "None" else self._in_scope(annotation)

    def _written(self, annotation: ast.expr) -> str:
        """An annotation of the source. Attributes are in the scope of a class only in the stub."""
        text = ast.unparse(annotation)
        return self._in_scope(text, self._attributes_above) if any(self._attributes_above) else text

    def _in_scope(self, annotation: str, names: Iterable[set[str]] = ()) -> str:
        """An annotation whose builtins are not taken for names of the enclosing classes."""
        hidden = set().union(*(names or self._hidden)) & vars(builtins).keys()
        if not hidden:
            return annotation
        self._annotations.imports.add("builtins")
        return re.sub(rf"(?<![\w.])({'|'.join(sorted(hidden))})\b", r"builtins.\1", annotation)

    def _result(self, node: Any, called: CalledFunction | None) -> str:
        if node.returns is not None:
            return f" -> {self._written(node.returns)}"
        if node.name == "__init__":
            return " -> None"
        if called is None:
            return ""
        if called.is_coroutine:  # the awaited result is unknown
            return f" -> {self._any()}"
        if called.results:
            union = self._annotations.union(called.results)
            is_any = " | " in _outermost(union) or (union == "None" and _returns_values(node))
            return f" -> {self._any() if is_any else self._in_scope(union)}"
        if called.raised:
            self._annotations.imports.add("typing")
            return " -> typing.NoReturn"
        return ""

    # ---- classes

    def _class(self, node: ast.ClassDef, prefix: str, indent: str) -> Iterator[str]:
        yield from (f"{indent}@{ast.unparse(decorator)}" for decorator in node.decorator_list)
        bases = ", ".join(map(ast.unparse, [*node.bases, *node.keywords]))
        if f"{prefix}{node.name}" in self._module.abstract and "metaclass" not in [one.arg for one in node.keywords]:
            self._annotations.imports.add("abc")
            bases = f"{bases}, metaclass={self._annotations.alias('abc')}.ABCMeta"
        ignored = self._ignored(node.lineno, node.body[0].lineno)
        yield f"{indent}class {node.name}{_generic(node)}{f'({bases})' if bases else ''}:{ignored}"
        inner = f"{prefix}{node.name}."
        attributes = self._attributes(node, inner)
        names = set(_names_in(node.body))
        self._hidden.append(names.union(attributes))
        self._attributes_above.append(set(attributes))
        body = self.scope(node.body, inner, indent + _INDENT, [f"{name}: {text}" for name, text in attributes.items()])
        self._hidden.pop()
        self._attributes_above.pop()
        yield from body if any(body) else [f"{indent}{_INDENT}..."]

    def _attributes(self, node: ast.ClassDef, prefix: str) -> dict[str, str]:
        """The types of attributes that methods set, as far as the class does not define them."""
        defined = set(_names_in(node.body))
        defined |= self._module.inherited.get(prefix[:-1], frozenset())
        found: dict[str, str] = {}
        for method in _flat(node.body):
            if isinstance(method, _Function) and method.args.args:
                for name, annotation in self._set_by(method, node):
                    if name not in defined:
                        found[name] = annotation if found.get(name, annotation) == annotation else self._any()
        return found

    def _set_by(self, method: Any, owner: ast.ClassDef) -> Iterator[tuple[str, str]]:
        """The attributes of the first parameter that a method sets, with their types."""
        given = {
            one.arg: one.annotation
            for one, kind, _ in _parameters(method.args)
            if kind not in _SEVERAL and one.annotation is not None and self._is_for_attributes(one.annotation, owner)
        }
        for node in ast.walk(method):
            if isinstance(node, ast.AnnAssign) and _is_attribute(node.target, method):
                yield node.target.attr, ast.unparse(node.annotation)  # type: ignore[union-attr]  # an attribute
                continue
            value = getattr(node, "value", None) if isinstance(node, ast.Assign) else None
            for target in _targets(node):
                if _is_attribute(target, method):
                    yield target.attr, self._type_of(value if len(_targets(node)) == 1 else None, given)

    def _is_for_attributes(self, annotation: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether a parameter's annotation may declare an attribute of a class.

        Type variables may be of the method. A function that is declared may be no other one in a subclass, as opposed
        to one that a type checker infers.
        """
        names, bound = _words(annotation), set().union(*map(_words, owner.bases))
        return "Callable" not in names and self._module.type_variables.isdisjoint(names - bound)

    # ---- variables

    def _statement(self, node: Any, defined: set[str], prefix: str) -> Iterator[str]:
        names = [name for name in _names_of(node) if name not in defined or name == "*"]
        defined.update(names)
        first = getattr(node, "lineno", 0)
        ignored = self._ignored(first, (node.end_lineno or first) + 1) if first else ""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (line + ignored for line in _exported(node, names))
        elif isinstance(node, ast.AnnAssign) and names:
            yield _declared(node, bool(prefix)) + ignored
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Assign) and names):
            text = ast.unparse(node)
            if isinstance(node, ast.AugAssign):
                if text.startswith("__all__"):
                    yield text
            elif names == ["__all__"] or (
                self._is_readable(node.value, text, names, prefix) and _are_names(_targets(node))
            ):
                yield from [text + ignored] if names != ["__slots__"] else ()
            else:
                value = node.value if len(names) == len(node.targets) == 1 else None
                declared_above = self._module.inherited.get(prefix[:-1], frozenset())
                yield from (f"{name}: {self._type_of(value)}" for name in names if name not in declared_above)
        elif hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias):
            yield ast.unparse(node)
        elif isinstance(node, (ast.For, ast.While, ast.With)):
            yield from (f"{name}: {self._any()}" for name in names)

    def _type_of(self, value: Any, given: Mapping[str, ast.expr | None] | None = None) -> str:
        """The type of a value by its form; `given` has the annotations of parameters."""
        found = self._simple_type(value, given or {})
        if found is None and type(value) in _DISPLAYS:
            self._annotations.imports.add("typing")
            name, opening, rest = _DISPLAYS[type(value)].partition("[")
            return f"{self._annotations.builtin(name)}{opening}{rest}"
        return found or self._any()

    def _simple_type(self, value: Any, given: Mapping[str, ast.expr | None]) -> str | None:
        """The type of an expression, if it follows from what is written in it."""
        builtin = self._annotations.builtin

        def common(parts: Iterable[Any]) -> str | None:
            kinds = {self._simple_type(part, given) for part in parts}
            return kinds.pop() if len(kinds) == 1 else None

        match value:
            case ast.Constant() if value.value is not None and value.value is not ...:
                return builtin(type(value.value).__name__)
            case ast.Name() if given.get(value.id) is not None:
                return ast.unparse(given[value.id])  # type: ignore[arg-type]  # it is not None
            case ast.Call(func=ast.Name(id=name)):
                known = _BUILTIN_RESULTS.get(name)
                return self._results.get(name) or (known and builtin(known))
            case ast.IfExp():
                return common((value.body, value.orelse))
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return builtin("bool")
            case ast.JoinedStr():
                return builtin("str")
            case ast.List() | ast.Set() if (kind := common(value.elts)) is not None:
                return f"{builtin(type(value).__name__.lower())}[{kind}]"
            case ast.Dict() if (key := common(value.keys)) and (kind := common(value.values)):
                return f"{builtin('dict')}[{key}, {kind}]"
        return None

    def _is_readable(self, value: Any, text: str, names: list[str], prefix: str) -> bool:
        """Whether a type checker finds the type of a variable in its value."""
        if not prefix and isinstance(value, ast.Call) and self._simple_type(value, {}) is not None:
            return False  # the class of an object is found sooner where modules import one another
        if isinstance(value, ast.Constant):
            return value.value is not None and len(text) <= _LONGEST
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):  # in a stub, it is a type
            return self._module.unions.issuperset(names)
        if type(value) in _DISPLAYS:
            is_empty = not any(getattr(value, part, None) for part in ("elts", "keys", "key", "elt", "values"))
            return len(text) <= _LONGEST and not is_empty
        return ast.unparse(value) not in ("list()", "dict()", "set()") and "__slots__" not in text

    def _any(self) -> str:
        self._annotations.imports.add("typing")
        return "typing.Any"

    def _ignored(self, first: int, end: int) -> str:
        """The comment by which a type checker ignores an error in some lines."""
        found = _IGNORED.search("\n".join(self._lines[first - 1 : max(end - 1, first)]))
        return f"  {found[0]}" if found else ""


def _are_names(targets: Iterable[Any]) -> bool:
    return all(isinstance(one, ast.Name) for one in targets)


def _outermost(annotation: str) -> str:
    """An annotation without what is in brackets."""
    while "[" in annotation:
        annotation = re.sub(r"\[[^][]*\]", "", annotation)
    return annotation


def _words(expression: ast.expr) -> set[str]:
    return set(re.findall(r"\w+", ast.unparse(expression)))


def _returns_values(function: Any) -> bool:
    """Whether a function may return something else than None."""
    returned = (one.value for one in ast.walk(function) if isinstance(one, ast.Return))
    return any(value is not None and ast.unparse(value) != "None" for value in returned)


class _Verbatim:
    """Text that `inspect` prints as it is, as an annotation or default value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


# ---- source


def _flat(body: Iterable[ast.stmt]) -> Iterator[Any]:
    """The statements of a scope, with those in conditions and handlers."""
    for node in body:
        if isinstance(node, ast.If):
            test = ast.unparse(node.test)
            if re.match(r"sys\.(version_info|platform)\b", test) and isinstance(node.test, ast.Compare):
                yield from _flat(node.body if eval(test, {"sys": sys}) else node.orelse)
                continue
            if "__name__" not in test:
                yield from _flat(node.body)
            if not test.endswith("TYPE_CHECKING"):
                yield from _flat(node.orelse)
        elif isinstance(node, ast.Try):
            yield from _flat([*node.body, *node.orelse, *(one for handler in node.handlers for one in handler.body)])
            yield from _flat(node.finalbody)
        else:
            yield node


def _taken_by(tree: ast.Module) -> Iterator[str]:
    """The names that a module and its classes give to other things than modules."""
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.Module, ast.ClassDef)):
            for node in _flat(scope.body):
                if not isinstance(node, ast.Import):
                    yield from _names_of(node)


def _names_in(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that a scope defines."""
    for node in _flat(body):
        yield from _names_of(node)


def _yields(function: Any) -> bool:
    """Whether a function is a generator."""
    work = list(function.body)
    while work:
        node = work.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_SCOPES, ast.Lambda)):
            work += ast.iter_child_nodes(node)
    return False


def _with_accessors_together(body: list[Any]) -> list[Any]:
    """The statements of a scope, with the accessors of each property behind it, where a type checker expects them."""
    arranged: list[Any] = []
    for node in body:
        place = len(arranged)
        if isinstance(node, _Function) and node.decorator_list and _is_one_of_several(node):
            same = [number for number, one in enumerate(arranged) if getattr(one, "name", None) == node.name]
            place = same[-1] + 1 if same else place
        arranged.insert(place, node)
    return arranged


def _results_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The types of what calls of a module's classes and functions return, as far as they are written there."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not _generic(node) and not any(map(_is_subscript, node.bases)):
            yield node.name, node.name
        elif isinstance(node, ast.FunctionDef) and node.returns is not None and not node.decorator_list:
            yield node.name, ast.unparse(node.returns)


def _is_subscript(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript)


def _submodules(tree: ast.Module) -> Iterator[ast.Import]:
    """The imports in functions of modules in packages, which annotations may name if the package is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and node not in tree.body:
            yield from (ast.Import([one]) for one in node.names if "." in one.name and one.asname is None)


def _called_at_import(tree: ast.AST, *, is_recorded: bool) -> Iterator[str]:
    """The names that a module uses while it is imported: those that it calls, and those that it assigns to others.

    Of a program's main module, those that it calls are recorded.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assign):
            calls = [one.func for one in ast.walk(node.value) if isinstance(one, ast.Call)] if is_recorded else []
            yield from (one.id for one in ast.walk(node.value) if isinstance(one, ast.Name) and one not in calls)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", ())
            yield from (one.id for each in decorators for one in ast.walk(each) if isinstance(one, ast.Name))
            continue
        elif isinstance(node, ast.Call) and not is_recorded:
            yield from (one.id for one in ast.walk(node.func) if isinstance(one, ast.Name))
        elif isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) and not is_recorded:
            continue
        yield from _called_at_import(node, is_recorded=is_recorded)


def _targets(node: Any) -> list[Any]:
    """The targets of an assignment, a loop or a `with` statement, one by one."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For, ast.NamedExpr)):
        targets = [node.target]
    elif isinstance(node, ast.With):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    else:
        return []
    found = []
    for target in targets:
        found += target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return found


def _names_of(node: Any) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.For, ast.While, ast.With)):
        inner = [name for one in _flat(node.body) for name in _names_of(one)]
        return [*(one.id for one in _targets(node) if isinstance(one, ast.Name)), *inner]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return list(map(_bound_by, node.names))
    return [one.id for one in _targets(node) if isinstance(one, ast.Name)]


def _is_attribute(target: Any, method: Any) -> bool:
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == method.args.args[0].arg
    )


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _is_one_of_several(node: Any) -> bool:
    """Whether a function is an overload, or a setter of a property."""
    return any(_last_name(one) in ("overload", "setter", "deleter", "getter") for one in node.decorator_list)


def _generic(node: Any) -> str:
    parameters = getattr(node, "type_params", ())
    return f"[{', '.join(map(ast.unparse, parameters))}]" if parameters else ""


def _parameters(arguments: ast.arguments) -> Iterator[tuple[ast.arg, Any, bool]]:
    """The parameters of a function in order: each with its kind, and whether it has a default value."""
    kinds = inspect.Parameter
    positional = [*arguments.posonlyargs, *arguments.args]
    for number, one in enumerate(positional):
        kind = kinds.POSITIONAL_ONLY if number < len(arguments.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        yield one, kind, number >= len(positional) - len(arguments.defaults)
    if arguments.vararg is not None:
        yield arguments.vararg, kinds.VAR_POSITIONAL, False
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield one, kinds.KEYWORD_ONLY, default is not None
    if arguments.kwarg is not None:
        yield arguments.kwarg, kinds.VAR_KEYWORD, False


def _exported(node: Any, wanted: list[str]) -> Iterator[str]:
    """An import of some names that other modules may use.

    Those of a stub they may use only if they are imported `as` themselves, or are variables.
    """
    chosen = [one for one in node.names if _bound_by(one) in wanted or "." in one.name]
    if not chosen or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
        return
    names, renamed = [], []
    for one in chosen:
        if one.asname in (None, one.name):
            names.append(one if "." in one.name or one.name == "*" else ast.alias(one.name, one.name))
        elif one.asname.startswith("_"):
            names.append(one)
        else:
            names.append(ast.alias(one.name, f"_imported_{one.asname}"))
            renamed.append(one.asname)
    again: Any = ast.Import(names) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, names, node.level)
    yield ast.unparse(again)
    yield from (f"{name} = _imported_{name}" for name in renamed)


def _bound_by(imported: ast.alias) -> str:
    return (imported.asname or imported.name).partition(".")[0]


def _declared(node: ast.AnnAssign, in_class: bool) -> str:
    """A variable with an annotation; with its value where type checkers read that."""
    annotation = ast.unparse(node.annotation)
    text = f"{ast.unparse(node.target)}: {annotation}"
    if node.value is None:
        return text
    is_made = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) not in vars(builtins)
    if is_made or annotation.rpartition(".")[2].strip("'") in ("Final", "TypeAlias"):
        return f"{text} = {ast.unparse(node.value)}"
    return f"{text} = ..." if in_class else text
