"""Rules for iterators: `iter`, `next`, lazy iterators, and the methods of generators and coroutines."""

from __future__ import annotations

import builtins
import functools
import gc
import itertools
import operator
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.driven_generators import DrivenGenerator
from cassette_import.runtime.tagging.bound_names import value_sent_by
from cassette_import.runtime.tagging.c_callers import (
    EventCallback,
    LastStepper,
    Stepper,
    TestedCallback,
    TestedStepper,
    bare_callback,
    callback_for_c,
    live_source,
    live_sources,
    source_for_c,
)
from cassette_import.runtime.tagging.computed_metadata import cursor_of_whole, is_computed_from
from cassette_import.runtime.tagging.fast_path import STEPPED_TYPES, are_iterated_by_c, steps_plainly
from cassette_import.runtime.tagging.held_metadata import HELD_VALUES, SEQUENCES
from cassette_import.runtime.tagging.iterator_metadata import (
    CURSORS_HELD,
    LAZY_TYPES,
    ORDERED_VIEWS,
    has_iterator_of_c,
    is_iterable,
    is_live,
    iterate_wrapped,
    keep_returned_value,
    may_have_tagged_items,
    next_item,
    start_iterator,
)
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.overdubbed_calls import is_of_overdubbed_file, runs_overdubbed
from cassette_import.runtime.tagging.plain_bodies import AWAITABLES, note_resumption
from cassette_import.runtime.tagging.rule_table import RULES, rule
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.watched_calls import Rest, RestOfCallback, RestOfTest, watch
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

# ---- rules for the methods of generators, coroutines and iterators: `__next__`, `send`, `throw`, `close`
#
# A generator gets plain values, as its caller may be written in C. The wrapper of a value that is sent waits for the
# `yield` that receives it.

_OF_ITERATORS: Final = [kind.__next__ for kind in (*LAZY_TYPES, *STEPPED_TYPES) if kind is not GeneratorType]
_RETURNING: Final = (GeneratorType.close,) if sys.version_info >= (3, 13) else ()
_OF_GENERATORS: Final = (GeneratorType.__next__, GeneratorType.throw, *_RETURNING)


@rule(*_OF_ITERATORS, while_untagged=True)
@rule(
    *_OF_GENERATORS, DrivenGenerator.__next__, DrivenGenerator.send, DrivenGenerator.throw, returns_method_result=True
)  # fmt: skip
@hidden
def resume_iterator(call: LeafCall) -> Any:
    if not call.arguments:
        return call.native()
    if is_computed_from(call.arguments[0]):
        start_iterator(call.store, call.arguments[0])
    is_next = len(call.arguments) == 1 and call.function not in _RETURNING
    return next_item(call.store, call.owner, None if is_next else call.native, call.arguments[1:])


@rule(GeneratorType.send, returns_method_result=True)
@hidden
def send(call: LeafCall) -> Any:
    """The wrapper of the value is left for the `yield` that receives the value."""
    given = call.arguments[-1] if len(call.arguments) == 2 else None
    if type(given) is not Tagged or type(call.owner) is not GeneratorType or not runs_overdubbed(call.owner):
        return resume_iterator(call)
    before, LOCAL.sent = LOCAL.sent, given
    try:
        return resume_iterator(call)
    finally:
        LOCAL.sent = before


# ---- coroutines and asynchronous generators, where the program itself resumes them


async def _coroutine() -> None: ...


async def _asynchronous_generator() -> AsyncGenerator[None, None]:
    yield


def _awaiting_types() -> tuple[Any, ...]:
    """The types of what `__await__`, `__anext__` and the like return."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)  # no event loop is notified of this generator
    try:
        coroutine, generator = _coroutine(), _asynchronous_generator()
        found = coroutine.__await__(), generator.__anext__(), generator.aclose()
        for awaited in found:
            awaited.close()
        return tuple(map(type, found))
    finally:
        sys.set_asyncgen_hooks(*hooks)


_AWAITING: Final = _awaiting_types()
AWAITABLES.update(map(id, _AWAITING))
_CODES: Final = {CoroutineType: "cr_code", AsyncGeneratorType: "ag_code"}


@rule(
    *(getattr(kind, name) for kind in (CoroutineType, *_AWAITING) for name in ("send", "throw")),
    *(kind.__next__ for kind in _AWAITING),
    returns_method_result=True,
)
@hidden
def resume(call: LeafCall) -> Any:
    given = call.arguments[-1] if len(call.arguments) == 2 else None
    sent = given if type(given) is Tagged else value_sent_by(call.owner)
    note_resumption(call.owner, *call.arguments[1:], sent)
    before, LOCAL.sent = LOCAL.sent, sent
    LOCAL.returned = None
    try:
        return call.native()
    except StopIteration as stop:
        if _resumes_overdubbed(call.owner):
            keep_returned_value(call.store, stop)
        raise
    finally:
        LOCAL.sent = before


@hidden
def _resumes_overdubbed(awaited: Any) -> bool:
    """Whether a coroutine, or what belongs to one or to an asynchronous generator, runs an overdubbed body."""
    for owner in (awaited, *(gc.get_referents(awaited) if type(awaited) in _AWAITING else ())):
        if type(owner) in _CODES:
            return is_of_overdubbed_file(getattr(owner, _CODES[type(owner)]))
    return False


# ---- rules for iterators that keep items
#
# Such an iterator gets plain items, since code of the interpreter may advance it. A function that moves items without
# looking at them is called a second time, with the wrapped items: the second iterator is advanced with the first, and
# says which metadata its items have. If code of the interpreter has advanced the first one alone, the items differ, and
# the metadata is dropped.

_NOTHING: Final = object()


class Feed:
    """The items of a source, plain; they are recorded as they were."""

    __slots__ = ("_compare", "_iterator", "_store", "ended", "last", "recorded", "step")

    @hidden
    def __init__(
        self, store: Store, source: Any, recorded: bool = True, compare: Callable[..., None] | None = None
    ) -> None:
        self._store = store
        self._compare = compare
        self._iterator = start_iterator(store, source)
        self.recorded: deque[Any] | None = deque() if recorded else None
        self.last: Any = _NOTHING
        self.step = 0
        self.ended = False

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        try:
            self.last = next_item(self._store, self._iterator)
        except StopIteration:
            self.ended = True
            raise
        if self._compare is not None:
            self._compare(self.last)
        self.step += 1
        LOCAL.returned = None  # the cursor says which metadata the item of the outer iterator has
        if self.recorded is not None:
            self.recorded.append(self.last)
        return plain(self.last)

    def metas_of_last(self, value: Any) -> Metas | None:
        """The metadata of the item that was taken last, if it is this one."""
        return metas_of(self.last) if plain(self.last) is value else None


class _OutOfStepError(Exception):
    """The second iterator asks for an item that the first one has not taken."""


HELD_VALUES[id(Feed)] = lambda feed: (feed._iterator, feed.recorded)


@hidden
def _replay(feed: Feed) -> Iterator[Any]:
    """The recorded items, wrapped where they have metadata."""
    recorded: Any = feed.recorded
    while True:
        if recorded:
            yield recorded.popleft()
        elif feed.ended:
            return
        else:
            raise _OutOfStepError


class _Beside:
    """A cursor: the metadata of items according to the second iterator, which is advanced with the first."""

    __slots__ = ("_store", "beside")

    def __init__(self, store: Store, iterator: Iterator[Any]) -> None:
        self._store = store
        self.beside: Iterator[Any] | None = iterator

    @hidden
    def __call__(self, value: Any) -> Metas | None:
        if self.beside is None:
            return None
        try:
            found = next(self.beside)
        except (StopIteration, RuntimeError, _OutOfStepError):
            found = _NOTHING
        if type(value) is tuple and type(found) is tuple and len(value) == len(found):
            if all(plain(item) is part for item, part in zip(found, value, strict=True)):
                if any(type(item) is Tagged for item in found):
                    self._store.bind_items(value, found)
                return None
        elif plain(found) is value:
            return metas_of(found)
        self.beside = None
        return None


# ---- functions that do not look at the items

_TAKING_AT_ONCE: Final = (itertools.permutations, itertools.combinations, itertools.combinations_with_replacement)
_FIRST: Final = (*_TAKING_AT_ONCE, itertools.cycle, itertools.tee)
"""Functions whose first argument is the only iterable."""

_TAKING_LATER: Final = frozenset(map(id, (itertools.zip_longest, itertools.cycle, itertools.tee)))
"""Functions whose iterators take the items of the sources one by one."""


@hidden
def _have_settled_items(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether no item of the arguments can get metadata, as long as nothing is tagged."""
    return are_iterated_by_c(arguments, keywords) and not any(map(is_live, arguments))


@rule(itertools.product, *_TAKING_AT_ONCE)
@rule(itertools.cycle, itertools.tee, plain_if=_have_settled_items)
@hidden
def run_twice(call: LeafCall) -> Any:
    is_tee = call.function is itertools.tee
    count = 1 if call.function in _FIRST else len(call.given)
    sources = [*call.given[:count]]
    named = "iterable" in call.keywords and not sources
    if named:
        sources = [call.keywords["iterable"]]
    if not any(map(functools.partial(_may_give, call), sources)):
        return call.native()
    if any(not is_iterable(plain(source)) for source in sources):
        return call.native()
    feeds = [Feed(call.store, source) for source in sources]
    rest, keywords = call.given[count:], dict(call.keywords)
    keywords.pop("iterable", None)
    first = call.function(*feeds, *map(plain, rest), **{name: plain(value) for name, value in keywords.items()})
    second = call.function(*map(_replay, feeds), *map(plain, rest), **keywords)
    pairs = zip(first, second, strict=True) if is_tee else [(first, second)]
    for iterator, beside in pairs:
        call.store.iterators.make(iterator).extra = _Beside(call.store, beside)
    return first


@hidden
def _may_give(call: LeafCall, source: Any) -> bool:
    """Whether items of a source have metadata, or may have when the iterator takes them."""
    if may_have_tagged_items(call.store, source):
        return True
    return id(call.function) in _TAKING_LATER and is_live(plain(source)) and has_iterator_of_c(plain(source))


# ---- `zip_longest`


class _Source:
    """A source of `zip_longest`, which gives plain items.

    `lasts` has the last item of each source, and what fills gaps.
    """

    __slots__ = ("_iterator", "_number", "_store", "lasts")

    @hidden
    def __init__(self, store: Store, source: Any, number: int, lasts: list[Any]) -> None:
        self._store = store
        self._iterator = start_iterator(store, source)
        self._number = number
        self.lasts = lasts

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        self.lasts[self._number] = _NOTHING
        item = self.lasts[self._number] = next_item(self._store, self._iterator)
        LOCAL.returned = None
        return plain(item)


HELD_VALUES[id(_Source)] = lambda source: (source._iterator, source.lasts)


@rule(itertools.zip_longest, plain_if=_have_settled_items)
@hidden
def zip_to_longest(call: LeafCall) -> Any:
    """Nothing refers to the sources but the iterator itself, so they live as long as it takes items of them."""
    fill = call.keywords.get("fillvalue")
    if type(fill) is not Tagged and not any(map(functools.partial(_may_give, call), call.given)):
        return call.native()
    if any(not is_iterable(plain(source)) for source in call.given):
        return call.native()
    lasts = [_NOTHING] * len(call.given) + [fill]
    sources = [_Source(call.store, source, number, lasts) for number, source in enumerate(call.given)]
    return call.function(*sources, **call.plain_keywords)


@hidden
def _cursor_of_longest(store: Store, iterator: Any) -> Any:
    """The metadata of the parts of an item, which are the last items of the sources."""
    parts = [part for held in gc.get_referents(iterator) if type(held) is tuple for part in gc.get_referents(held)]
    lasts = next((part.lasts for part in parts if type(part) is _Source), None)
    if lasts is None:
        return None

    @hidden
    def metas(value: Any) -> None:
        found = [lasts[-1] if last is _NOTHING else last for last in lasts[:-1]]
        are_same = all(plain(item) is part for item, part in zip(found, value, strict=True))
        if are_same and any(type(item) is Tagged for item in found):
            store.bind_items(value, tuple(found))

    return metas


@hidden
def _cursor_of_total(store: Store, iterator: Any) -> Any:
    """The metadata of a total, which the callback of the iterator has computed."""
    total = next((held for held in gc.get_referents(iterator) if type(held) is _Total), None)
    return None if total is None else total.metas


CURSORS_HELD[id(itertools.zip_longest)] = _cursor_of_longest
CURSORS_HELD[id(itertools.accumulate)] = _cursor_of_total


@rule(itertools.repeat)
@hidden
def repeat(call: LeafCall) -> Any:
    made = call.native()
    value = call.given[0] if call.given else call.keywords.get("object")
    if type(value) is Tagged:
        bare, metas = plain(value), value._tagged_metas
        call.store.iterators.make(made).extra = lambda item: metas if item is bare else None
    return made


# ---- functions with a callback


class _Callback:
    """A callback that gets the item taken last wrapped, and remembers its result."""

    __slots__ = ("_call", "_feed", "_function", "last")

    def __init__(self, call: LeafCall, function: Any, feed: Feed) -> None:
        self._call = call
        self._function = function
        self._feed = feed
        self.last: Any = _NOTHING

    @hidden
    def __call__(self, item: Any) -> Any:
        given = self._feed.last if plain(self._feed.last) is item else item
        if type(self._function) is Callee:
            self.last = self._function(given)
        else:
            self.last = self._call.forward(self._function, given)
        self._call.compare(self.last)
        return plain(self.last)


@rule(itertools.groupby, while_untagged=True)
@hidden
def group(call: LeafCall) -> Any:
    """The item that was taken last is the next one of the current group."""
    source = call.given[0] if call.given else call.keywords.get("iterable")
    function = plain(call.given[1] if len(call.given) > 1 else call.keywords.get("key"))
    if not is_iterable(plain(source)) or len(call.given) > 2:
        return call.native()
    store = call.store
    feed = Feed(store, source, recorded=False, compare=call.compare if function is None else None)
    key = _Callback(call, function, feed) if function is not None else None
    made = itertools.groupby(feed, key)

    @hidden
    def metas_of_pair(pair: Any) -> None:
        found = key.last if key is not None else feed.last
        store.iterators.make(pair[1]).extra = feed.metas_of_last
        if type(found) is Tagged and plain(found) is pair[0]:
            store.bind_items(pair, (found, None))

    store.iterators.make(made).extra = metas_of_pair
    return made


class _Total:
    """The callback of `accumulate`: the total so far, and the item that was taken last, are wrapped."""

    __slots__ = ("_feed", "_function", "total")

    def __init__(self, function: Any, feed: Feed, initial: Any) -> None:
        self._function = EventCallback(function)
        self._feed = feed
        self.total = initial

    @hidden
    def __call__(self, total: Any, item: Any) -> Any:
        before = self.total if plain(self.total) is total else total
        given = self._feed.last if plain(self._feed.last) is item else item
        self.total = self._function.with_metadata(before, given)
        return plain(self.total)

    @hidden
    def metas(self, value: Any) -> Metas | None:
        """The metadata of a total; the first one is the first item, if there is no initial value."""
        if self.total is _NOTHING:
            self.total = self._feed.last
        return metas_of(self.total) if plain(self.total) is value else None


@rule(itertools.accumulate, while_untagged=True)
@hidden
def accumulate(call: LeafCall) -> Any:
    source = call.given[0] if call.given else call.keywords.get("iterable")
    given = call.given[1] if len(call.given) > 1 else call.keywords.get("func")
    if not is_iterable(plain(source)) or len(call.given) > 2:
        return call.native()
    initial = call.keywords.get("initial")
    function = plain(given)
    feed = Feed(call.store, source, recorded=False)
    function = function.args[0] if type(function) is Callee else operator.add if function is None else function
    total = _Total(function, feed, _NOTHING if plain(initial) is None else initial)
    return itertools.accumulate(feed, total, initial=plain(initial))


# ---- rules for functions that make lazy iterators: `map`, `filter`, `zip`, `enumerate` and those of `itertools`
#
# The iterator is the interpreter's own; it takes items from steppers, and calls callbacks as events.

_BATCHED = (itertools.batched,) if hasattr(itertools, "batched") else ()

# ---- sources


@rule(zip, enumerate, plain_if=are_iterated_by_c)
@rule(itertools.chain, itertools.islice, itertools.pairwise, *_BATCHED)
@hidden
def from_sources(call: LeafCall) -> Any:
    """All iterable arguments are sources."""
    given = [source_for_c(call, item) if _is_source(item) else plain(item) for item in call.given]
    keywords = {
        name: source_for_c(call, item) if name == "iterable" else plain(item) for name, item in call.keywords.items()
    }
    return call.callee(*given, **keywords)


watch(zip, source=Rest, counts=(1, None), sources=(0, None), keywords=True)
watch(enumerate, source=Rest, counts=(1, 2), keywords=True)


@rule(itertools.compress)
@hidden
def from_selectors(call: LeafCall) -> Any:
    """The second source is tested."""
    names = dict(zip(("data", "selectors"), call.given, strict=False))
    sources = {**names, **call.keywords}
    if len(sources) != 2 or not (is_iterable(plain(sources.get("data"))) and _is_source(sources.get("selectors"))):
        return call.native()
    return call.callee(source_for_c(call, sources["data"]), TestedStepper(call, sources["selectors"]))


def _is_source(item: Any) -> bool:
    return not is_a(item, (str, bytes, int)) and is_iterable(plain(item))


@rule(vars(itertools.chain)["from_iterable"])
@hidden
def from_source_of_sources(call: LeafCall) -> Any:
    return call.callee(map(functools.partial(source_for_c, call), iterate_wrapped(call, call.given[0])))


# ---- a callback, and sources of its arguments


@rule(filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, while_untagged=True)
@hidden
def from_test(call: LeafCall) -> Any:
    """The results of the callback are tested; the items themselves if there is none."""
    if len(call.given) != 2:
        return call.native()
    function, source = bare_callback(call.given[0]), call.given[1]
    if not callable(function) and function is not None:
        return call.native()
    if not may_have_tagged_items(call.store, source):
        iterator = live_source(plain(source))
        test = None if function is None else TestedCallback(call, function, None, live_sources(call.store, [iterator]))
        return call.callee(test, iterator)
    stepper = LastStepper(call.store, start_iterator(call.store, source))
    return call.callee(TestedCallback(call, function, stepper), stepper)


watch(
    filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse,
    source=Rest, callback=RestOfTest, counts=(2, 2), sources=(1, 2),
)  # fmt: skip


@rule(map, while_untagged=True)
@hidden
def from_callback(call: LeafCall) -> Any:
    if len(call.given) < 2:
        return call.native()
    function, *given = call.given
    sources = [live_source(source_for_c(call, source)) for source in given]
    return call.callee(callback_for_c(function, live_sources(call.store, sources)), *sources, **call.plain_keywords)


watch(map, source=Rest, callback=RestOfCallback, counts=(2, None), sources=(1, None))


class _ArgumentsStepper(Stepper):
    """A stepper whose items are the arguments of calls."""

    __slots__ = ()

    @hidden
    def __next__(self) -> Any:
        item = Stepper.__next__(self)
        if LOCAL.wants_wrapped and type(plain(item)) in SEQUENCES:
            return tuple(self._store.wrapped_items(plain(item)))
        return item


@rule(itertools.starmap, while_untagged=True)
@hidden
def from_callback_of_tuples(call: LeafCall) -> Any:
    function, source = call.given
    return call.callee(callback_for_c(function), _ArgumentsStepper(call.store, start_iterator(call.store, source)))


# ---- rules for `iter`, `next` and `reversed`


@hidden
def _reads_where_it_stands(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether an iterator says where it stands: that of an `OrderedDict`, or one that calls a function, does not."""
    return len(arguments) == 1 and id(type(arguments[0])) not in ORDERED_VIEWS


@rule(builtins.iter, while_tagged=True, plain_if=_reads_where_it_stands)
@hidden
def begin(call: LeafCall) -> Any:
    if len(call.arguments) == 2 and not call.keywords and (call.is_watched or _has_rule(call.arguments[0])):
        return iter(_ComparedCallback(call, call.arguments[0]), plain(call.arguments[1]))
    if len(call.arguments) != 1 or call.keywords:
        return call.native()
    return start_iterator(call.store, call.arguments[0])


@hidden
def _has_rule(callback: Any) -> bool:
    return id(split(callback)[0]) in RULES


class _ComparedCallback:
    """A callback whose results the interpreter compares with a sentinel."""

    __slots__ = ("_call", "_function")

    def __init__(self, call: LeafCall, function: Any) -> None:
        self._call = call
        self._function = plain(function)

    @hidden
    def __call__(self) -> Any:
        result = self._call.forward(self._function)
        if plain(self._call.arguments[1]) is not None:
            self._call.compare(result)
        LOCAL.returned = result if type(result) is Tagged else None
        return plain(result)


@rule(list.__iter__, tuple.__iter__, deque.__iter__, set.__iter__, frozenset.__iter__)
@hidden
def begin_by_method(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or call.keywords:
        return call.native()
    return start_iterator(call.store, call.arguments[0], call.function)


@hidden
def _steps_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return bool(arguments) and steps_plainly(arguments[0])


@rule(next, plain_if=_steps_plainly, returns_method_result=True)
@hidden
def advance(call: LeafCall) -> Any:
    if not 1 <= len(call.arguments) <= 2 or call.keywords:
        return call.native()
    try:
        iterator = call.arguments[0]
        if type(iterator) is Tagged:
            iterator = start_iterator(call.store, iterator) if is_computed_from(iterator) else plain(iterator)
        return next_item(call.store, iterator)
    except StopIteration:
        if len(call.arguments) == 2:
            return call.arguments[1]
        raise


@rule(reversed, list.__reversed__, deque.__reversed__)
@hidden
def backward(call: LeafCall) -> Any:
    iterator = call.native()
    if is_computed_from(call.arguments[0]):
        call.store.iterators.make(iterator).extra = cursor_of_whole(call.arguments[0], -1)
    return iterator
