"""The tagged run: which parts of an input reach which comparison, and what they are compared with.

The context tags the leaves of the input with their places. It notes calls of functions in `COMPARISONS` and `LOOK_UPS`
that get a tagged value, also where C code computed it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.activation.context import Context
from cassette_import.activation.tagging import NO_METADATA, allmetadata, tag
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.fuzz.desired_values import COMPARISONS, LOOK_UPS, has_least_size, has_size
from cassette_import.contexts.fuzz.inputs import Path
from cassette_import.contexts.fuzz.origins import Origin, PartsOfResult, Span, merged, origin_of_result
from cassette_import.contexts.fuzz.running import run_to_end
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.tagged_containers import with_items_tagged
from cassette_import.kits.tagging import own_store, part_of_subject, plain
from cassette_import.rewriting.forms.binding_statements import Way
from cassette_import.specialization.passes import contextslot, nooverdub
from cassette_import.specialization.passes.reflection import Reflection

__all__ = ["Comparison", "may_match", "observed"]

# ---- the patterns of `match` statements as comparisons: what each part of the subject is compared with
#
# The interpreter compares without an event. So a pass hands the subject to the active context first, with what the
# patterns want of its parts.

_MATCH: Final = re.compile(r"^[ \t]*match\b(?![ \t]*[=.,)\]])", re.MULTILINE)

_UNKNOWN: Final = object()

_TYPES_BY_NAME: Final[dict[str, type]] = {one.__name__: one for one in (str, bytes, int, float, bool, list, dict)}
"""The types that an input and its parts may have, by their names."""


class _Wanted(NamedTuple):
    """What a pattern wants of a part of the subject.

    Attributes
    ----------
    way:
        How the subject leads to the part.
    how:
        `"equal"` to the value, have it as a `"key"`, be of the `"type"` with that name, have so many items (`"size"`),
        or so many and perhaps more (`"least size"`).
    value:
        The value.
    """

    way: Way
    how: str
    value: Any


def may_match(source: str) -> bool:
    """Whether a source text probably has a `match` statement.

    >>> may_match("match command:"), may_match("found = re.match(text)")
    (True, False)
    """
    return _MATCH.search(source) is not None


def _with_subjects_shown(context_type: type, reflection: Reflection) -> Any:
    """A pass: the context's method `show_subject` gets the subject of each `match` statement before the patterns do."""
    for node in ast.walk(reflection.tree):
        if isinstance(node, ast.Match):
            resolve = _resolver(reflection.function)
            wanted = tuple(one for case in node.cases for one in _wanted(case.pattern, (), resolve))
            if wanted:
                method = ast.Attribute(contextslot(), "show_subject", ast.Load())
                constant: Any = tuple(map(tuple, wanted))
                shown = ast.Call(method, [node.subject, nooverdub(ast.Constant(constant))], [])
                node.subject = ast.copy_location(shown, node.subject)
    return reflection.tree


Resolve = Callable[[ast.expr], Any]


def _resolver(function: Any) -> Resolve:
    """What an expression of names stands for outside of the function; `_UNKNOWN` if that is not known."""
    try:
        known = inspect.getclosurevars(function)
        names = {**vars(builtins), **function.__globals__, **known.nonlocals}
    except (TypeError, ValueError, AttributeError):
        names = vars(builtins)

    def resolve(expression: ast.expr) -> Any:
        if isinstance(expression, ast.Constant):
            return expression.value
        if isinstance(expression, ast.Name):
            return names.get(expression.id, _UNKNOWN)
        if isinstance(expression, ast.Attribute):
            owner = resolve(expression.value)
            return _UNKNOWN if owner is _UNKNOWN else inspect.getattr_static(owner, expression.attr, _UNKNOWN)
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
            number = resolve(expression.operand)
            return -number if type(number) in (int, float) else _UNKNOWN
        return _UNKNOWN

    return resolve


def _wanted(pattern: ast.pattern | None, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    find = _WANTED_BY_PATTERN.get(type(pattern))  # type: ignore[arg-type]  # other kinds have None
    if find is not None:
        yield from find(pattern, way, resolve)


def _value(pattern: ast.MatchValue, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    value = resolve(pattern.value)
    if type(value) in (str, bytes, int, float):
        yield _Wanted(way, "equal", value)


def _singleton(pattern: ast.MatchSingleton, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    yield _Wanted(way, "equal", pattern.value)


def _as(pattern: ast.MatchAs, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    return _wanted(pattern.pattern, way, resolve)


def _or(pattern: ast.MatchOr, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    for part in pattern.patterns:
        yield from _wanted(part, way, resolve)


def _sequence(pattern: ast.MatchSequence, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    size = len(pattern.patterns)
    star = next((number for number, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)), size)
    yield _Wanted(way, "type", "list")
    yield _Wanted(way, "size", size) if star == size else _Wanted(way, "least size", size - 1)
    for number, part in enumerate(pattern.patterns):
        yield from _wanted(part, (*way, ("index", number if number < star else number - size)), resolve)


def _mapping(pattern: ast.MatchMapping, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    yield _Wanted(way, "type", "dict")
    for key, part in zip(map(resolve, pattern.keys), pattern.patterns, strict=True):
        if type(key) is str:
            yield _Wanted(way, "key", key)
            yield from _wanted(part, (*way, ("key", key)), resolve)


def _class(pattern: ast.MatchClass, way: Way, resolve: Resolve) -> Iterator[_Wanted]:
    cls = resolve(pattern.cls)
    if cls in _TYPES_BY_NAME.values():
        yield _Wanted(way, "type", cls.__name__)
    for number, part in enumerate(pattern.patterns):
        yield from _wanted(part, (*way, ("positional", number)), resolve)
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        yield from _wanted(part, (*way, ("name", name)), resolve)


_WANTED_BY_PATTERN: Final[dict[type[ast.pattern], Callable[[Any, Way, Resolve], Iterator[_Wanted]]]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchAs: _as,
    ast.MatchOr: _or,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}


# ---- the tagged run: which parts of an input reach which comparison, and what they are compared with

_MOST_VALUES: Final = 6_000
_MOST_COMPARISONS: Final = 3_000
_MOST_FOR_A_PLACE: Final = 40
"""Bounds of one run: it ends after so many tagged values; further comparisons of a place are not noted."""


class Comparison(NamedTuple):
    """A call that compares a part of the input.

    Attributes
    ----------
    site, function:
        Where, and by which function.
    arguments, origins:
        The plain arguments, and the parts of the input that they come from.
    paths:
        For each argument that is a list or dict of the input, where that is; otherwise None.
    value:
        The result; the exception if it raised one; `...` if it is not known.
    """

    site: CallSite
    function: Any
    arguments: tuple[Any, ...]
    origins: tuple[Origin, ...]
    paths: tuple[Path | None, ...]
    value: Any

    @property
    def holds(self) -> bool:
        """Whether the operands were what the comparison looks for."""
        return self.value is (self.function not in _NEGATED)


_NEGATED: Final = (operator.ne, operator.is_not)


_CONTAINERS: Final = (list, tuple, dict)
_MOST_PARTS: Final = 200
_SIMPLE: Final = (str, bytes, int, float, bool, type(None))
_SIZES: Final = {"size": has_size, "least size": has_least_size}


class _Enough(BaseException):
    """The run has told enough."""


class Observer(Context, tagging=True):
    """Notes the comparisons of a run."""

    lost: ClassVar[str] = "ignore"
    inherit: ClassVar[bool] = True
    parts_alike: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.comparisons: dict[Any, Comparison] = {}
        self.values = 0
        self.containers: dict[int, tuple[Any, Path]] = {}
        self._steps: dict[int, tuple[Any, int]] = {}
        self._for_place: dict[Any, int] = {}

    def input(self, value: Any, path: Path = ()) -> Any:
        """A value of the input with its leaves tagged."""
        if type(value) in (str, bytes):
            return tag(value, self, (Span(path, 0, len(value)),))
        if type(value) in (int, float):
            return tag(value, self, (Span(path, 0, 0),))
        made = with_items_tagged(self, value, _Numbered(self, path, value))
        if type(value) in (list, dict):
            self.containers[id(plain(made))] = made, path
        return made

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """Note a comparison; the origin of any other value is that of what it was computed from."""
        self.values += 1
        if self.values > _MOST_VALUES:
            raise _Enough
        given = (*arguments, *keywords.values())
        self.note(f, given, value)
        if value is None or isinstance(value, (bool, BaseException)):
            return NO_METADATA
        origins = self._origins(given)
        if f is next and origins and len(origins[0]) == 1:
            return self._step(value, arguments[0], origins[0][0])
        bare = tuple(map(plain, given))
        if type(value) in _CONTAINERS and value and self._bind_parts(value, PartsOfResult(bare, origins)):
            return NO_METADATA  # its parts have what there is to know
        return origin_of_result(f, value, bare, origins)

    def _bind_parts(self, value: Any, parts: PartsOfResult) -> bool:
        """Tag the parts of a container that a function has made; False if they are tagged, or are too many."""
        store = own_store(self, create=True)
        if len(value) > _MOST_PARTS or store.items.of(value) is not None:
            return False
        if type(value) is dict:
            store.bind_pairs(value, [(key, self._part(item, parts)) for key, item in value.items()])
        else:
            store.bind_items(value, [self._part(item, parts) for item in value])
        return True

    def _part(self, part: Any, parts: PartsOfResult) -> Any:
        if type(part) in (str, bytes, int, float):
            return tag(part, self, parts.origin(part))
        if type(part) in _CONTAINERS:
            self._bind_parts(part, parts)
        return part

    def note(self, f: Any, given: tuple[Any, ...], value: Any) -> None:
        """Note a call, if it is one of the functions that compare."""
        if not _compares(f) or len(self.comparisons) > _MOST_COMPARISONS:
            return
        origins = self._origins(given)
        bare = tuple(map(plain, given))
        paths = tuple(known[1] if (known := self.containers.get(id(one))) else None for one in bare)
        if not any(origins) and paths.count(None) == len(paths):
            return
        site = nearest_site()
        place = site, f
        self._for_place[place] = self._for_place.get(place, 0) + 1
        if self._for_place[place] <= _MOST_FOR_A_PLACE:
            key = site, f, origins, paths, tuple(map(_short, bare))
            self.comparisons.setdefault(key, Comparison(site, f, bare, origins, paths, value))

    def note_subject(self, subject: Any, wanted: Iterable[tuple[Any, str, Any]]) -> None:
        """Note what the patterns of a `match` statement compare parts of its subject with."""
        store = own_store(self, create=True)
        for way, how, value in wanted:
            part = part_of_subject(store, subject, None, way)
            bare = plain(part)
            if how == "equal":
                is_same = bare is value if type(value) is bool else bare == value  # as the statement compares
                holds = type(bare) in _SIMPLE and is_same
                self.note(operator.eq, (part, value), holds)
            elif how == "key":
                self.note(dict.get, (part, value), type(bare) is dict and value in bare)
            elif how == "type":
                self.note(isinstance, (part, _TYPES_BY_NAME[value]), isinstance(bare, _TYPES_BY_NAME[value]))
            elif type(bare) in (list, tuple):
                compared = _SIZES[how]
                self.note(compared, (part, value), compared(bare, value))

    def _origins(self, given: tuple[Any, ...]) -> tuple[Origin, ...]:
        return tuple(merged(span for origin in allmetadata(self, one) for span in origin) for one in given)

    def _step(self, value: Any, source: Any, span: Span) -> Origin:
        """The origin of an item of a text: iterations of one text are taken to come one after the other."""
        bare = plain(source)
        if type(bare) not in (str, bytes) or len(bare) != span.end - span.start:
            return (span,)
        known, place = self._steps.get(id(source), (source, -1))
        places = [*range(place + 1, len(bare)), *range(place + 1)] if known is source else range(len(bare))
        found = next((one for one in places if bare[one] == value), 0)
        self._steps[id(source)] = source, found
        return (Span(span.path, span.start + found, span.start + found + 1),)


class _Numbered:
    """Tags the items of a container one after the other, with their paths."""

    def __init__(self, observer: Observer, path: Path, container: Any) -> None:
        self._observer = observer
        self._path = path
        self._keys = (
            iter(container if type(container) is dict else range(len(container or ())))
            if type(container) in (list, dict)
            else iter(())
        )

    def __call__(self, item: Any) -> Any:
        return self._observer.input(item, (*self._path, next(self._keys)))


def _compares(f: Any) -> bool:
    try:
        return f in COMPARISONS or f in LOOK_UPS
    except TypeError:  # it cannot be hashed
        return False


def _short(value: Any) -> Any:
    """What tells arguments apart."""
    return (type(value), value) if type(value) in (str, bytes, int, float) else id(value)


# For the type checker: `register` returns a function of any type.
@Observer.prehook.register(operator.getitem, operator.contains, isinstance)  # type: ignore[untyped-decorator]
def _of_container(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
    """A container of the input that has no leaves yet: its look-ups compute nothing."""
    if id(plain(arguments[0])) in ctx.containers:
        ctx.note(f, arguments, ...)


@Observer.prehook.register(getattr, hasattr)  # type: ignore[untyped-decorator]  # `register` returns any function
def _of_name(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
    """A name that is made of the input, as of a method that a visitor looks up: there are few of them."""
    if plain(arguments[1]) is not arguments[1]:
        ctx.note(f, arguments[:2], ...)


# For the type checker: `register` returns a function of any type.
@Observer.prehook.register(*LOOK_UPS, LOOK_UPS[-1])  # type: ignore[untyped-decorator]
def _before(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
    ctx.note(f, (*arguments, *keywords.values()), ...)


class ObserverOfPatterns(Observer):
    """Notes what patterns of `match` statements compare too. The bodies that its pass makes are not cached on disk."""

    passes: Any = [_with_subjects_shown]

    def show_subject(self, subject: Any, wanted: Any) -> Any:
        """The subject of a `match` statement: the pass has put this call in its place."""
        return subject


# For the type checker: `register` returns a function of any type.
@ObserverOfPatterns.overdub.register(ObserverOfPatterns.show_subject)  # type: ignore[untyped-decorator]
def _of_match(ctx: Any, f: Any, *arguments: Any) -> Any:
    _, subject, wanted = arguments
    ctx.note_subject(subject, plain(wanted))
    return subject


def observed(
    f: Callable[[Any], Any], value: Any, call: Callable[[Callable[[Any], Any], Any], Any], matches: bool = False
) -> Observer:
    """The context that has noted the comparisons of a run.

    Parameters
    ----------
    f:
        The function under test.
    value:
        The input.
    call:
        Calls a function with an argument; what that raises is its business.
    matches:
        Whether patterns of `match` statements are noted.
    """
    observer = ObserverOfPatterns() if matches else Observer()
    call(lambda given: run_to_end(plain(overdub(observer, f, observer.input(given)))), value)
    return observer
