"""The tagged run: which parts of an input reach which comparison, and what they are compared with.

The context tags the leaves of the input with their places. It notes calls of functions in `COMPARISONS` and `LOOK_UPS`
that get a tagged value, also where C code computed it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.activation.context import Context
from cassette_import.activation.tagging import NO_METADATA, allmetadata, tag
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.common.tagged_containers import with_items_tagged
from cassette_import.contexts.fuzz.desired_values import COMPARISONS, LOOK_UPS, has_least_size, has_size
from cassette_import.contexts.fuzz.inputs import Path
from cassette_import.contexts.fuzz.later_results import run_to_end
from cassette_import.contexts.fuzz.match_patterns import TYPES_BY_NAME, with_subjects_shown
from cassette_import.contexts.fuzz.origins import Origin, PartsOfResult, Span, merged, origin_of_result
from cassette_import.runtime.dispatch.call_sites import CallSite, nearest_site
from cassette_import.runtime.tagging.matched_parts import part_of_subject
from cassette_import.runtime.tagging.tag_scopes import own_store
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Comparison", "Observer", "observed"]

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
                self.note(isinstance, (part, TYPES_BY_NAME[value]), isinstance(bare, TYPES_BY_NAME[value]))
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

    passes: Any = [with_subjects_shown]

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
