"""Iteration as events: `iter` and `next` where the interpreter iterates without a call in the program.

A loop goes through an iterator that this module makes, and each step of which is an event. The interpreter's own
instructions advance it, so unpacking, splats, comprehensions and `else` clauses need no other treatment.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import partial
from operator import is_
from typing import Any, Final, Literal

from cassette_import.interpreter.callables import bare, lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE

Spec = tuple[int, int | None, tuple[Any, ...]]
"""How an iterable is unpacked, see `rewriting.syntax.assignments.Spec`."""

_ITERATION: Final = int(Events.ITERATION)
_BEFORE: Final = ("pre", int(Events.ITERATION))
_AFTER: Final = ("post", int(Events.ITERATION))
_intercept: Final = intercept_if_active(Events.ITERATION)
_LOOPS_ARE_IN_C: Final = not DISPATCH.reason
_ERROR_HAS_SIZE: Final = sys.version_info >= (3, 14)  # too many values to unpack (expected 2, got 3)


def is_iterable(value: Any) -> bool:
    kind = type(bare(value))
    return lookup(kind, "__iter__") is not None or lookup(kind, "__getitem__") is not None


@hidden
def _begin(iterable: Any, spec: Spec | None = None) -> Any:
    """What `for` iterates over. The items are unpacked as `spec` says, if there is one."""
    if not is_iterable(iterable):
        return bare(iterable)  # the interpreter raises the error
    return _iterator_of_events(_intercept(iter)(iterable), spec)


_WITHOUT_CURSOR: Final = frozenset(map(id, (list, tuple, range)))
"""Types, by identity: where an iterator stands says which metadata its items have."""


@hidden
def _begin_here(iterable: Any) -> Any:
    """The same where only tags make a step an event, in a body that no other context can resume.

    If nothing is tagged when the loop begins, and its steps run only code of the interpreter, they need no events: no
    cursor goes along with its iterator. What is left for later steps is `item_here`. Iterators over lists, tuples and
    ranges never have a cursor.
    """
    activation = ACTIVE.get()
    variant = activation.variant
    if (
        variant is not None
        and variant.tagging
        and (not FLAGS[METADATA_EXISTS] or id(type(iterable)) in _WITHOUT_CURSOR)
    ):
        runner = variant.runners[_ITERATION]
        if runner.only_moves_metadata:
            found = runner.propagation.plain_iterator(iterable)
            if found is not None:
                return found
    return loop(iterable)


@hidden
def item_here(item: Any, iterator: Any) -> Any:
    """An item of such a loop: it may have got metadata since the loop began."""
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return item
    return variant.runners[_ITERATION].propagation.item_of_plain_iterator(item, iterator)


class _End:
    """What a step returns at the end. It equals only itself, and the comparison calls no method of the other object.

    Each loop has its own: a loop over all objects of the program would otherwise stop at the first one.
    """

    __slots__ = ()
    __eq__ = staticmethod(partial(is_, object()))
    __hash__ = object.__hash__


@hidden
def _iterator_of_events(iterator: Any, spec: Spec | None) -> Any:
    """An iterator each step of which is an event.

    It ends without an exception wherever it can, because tracers are notified of exceptions.
    """
    end = _End()
    variant = ACTIVE.get().variant
    if variant is not None and variant.tagging and variant.runners[_ITERATION].propagation.steps_plainly(iterator):
        steps = loop.steps(iterator, spec) if _LOOPS_ARE_IN_C else None
        if steps is not None:
            return steps
        if spec is None:
            return iter(partial(_step, end, iterator, is_stepped=True), end)
    if spec is not None:
        return iter(partial(_step_unpacking, end, iterator, spec), end)
    if variant is not None:
        hooks = variant.argument_free_hooks
        if _BEFORE in hooks or _AFTER in hooks:
            before, after = hooks.get(_BEFORE, ()), hooks.get(_AFTER, ())
            return iter(partial(_step_argument_free, end, variant, before, after, iterator), end)
    return iter(partial(_step, end, iterator), end)


@hidden
def _step(end: _End, iterator: Any, is_stepped: bool = False) -> Any:
    """A step, whose hooks may read the iterator and the item.

    With `is_stepped`, tags do not change the steps of this iterator as long as no value is tagged.
    """
    activation = ACTIVE.get()
    variant = activation.variant
    if variant is None:
        return next(iterator, end)
    runner = variant.runners[_ITERATION]
    only_propagates = runner.only_propagates and not FLAGS[METADATA_EXISTS]
    if runner.may_fail and not (only_propagates and (is_stepped or runner.propagation.steps_plainly(iterator))):
        try:
            return runner.intercept(next)(iterator)
        except StopIteration:
            return end
    contexts = activation.contexts
    for level, hook in runner.prehooks:
        hook(contexts[level], next, iterator)
    value = next(iterator, end)
    if runner.propagation is not None and FLAGS[METADATA_EXISTS]:
        value = value if value is end else runner.propagation.claimed_item(value, iterator)
    if value is not end:
        for level, hook in runner.posthooks:
            hook(contexts[level], value, next, iterator)
    return value


@hidden
def _step_argument_free(end: _End, variant: Any, before: Any, after: Any, iterator: Any) -> Any:
    """A step whose hooks read nothing but their context: they take no arguments, and need not be suspended."""
    activation = ACTIVE.get()
    if activation.variant is not variant:
        return _step(end, iterator)
    for level, hook in before:
        hook(activation.contexts[level], None)
    value = next(iterator, end)
    if value is not end:
        for level, hook in after:
            hook(activation.contexts[level], None)
    return value


@hidden
def _step_unpacking(end: _End, iterator: Any, spec: Spec) -> Any:
    """A step whose item is unpacked.

    With one spec for each item it would be `_step_inner`: to take the spec from an iterator costs a call per step.
    """
    value = _step(end, iterator)
    return value if value is end else unpack(value, spec)


@hidden
def _splat(iterable: Any) -> Any:
    """What `*` iterates over: a tuple itself, if its items stay the same objects."""
    given = bare(iterable)
    if type(given) is not tuple:
        return loop(iterable)
    items = [*loop(iterable)]
    same = len(items) == len(given) and all(map(is_, items, given))
    return given if same else items


class _LateSplat:
    """What a call iterates over after it has evaluated its keywords."""

    __slots__ = ("_iterable",)

    @hidden
    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable

    @hidden
    def __iter__(self) -> Any:
        return loop(self._iterable)


@hidden
def _splat_later(iterable: Any) -> Any:
    """What `*` iterates over, where it is the only one of a call with keywords."""
    kind = type(bare(iterable))
    if kind is tuple or not any("__iter__" in vars(base) for base in kind.__mro__):
        return splat(iterable)
    return _LateSplat(iterable)


class _Unpacked:
    """A value to be unpacked: the interpreter takes its iterator when the turn of the value comes."""

    __slots__ = ("_spec", "_value")

    @hidden
    def __init__(self, value: Any, spec: Spec) -> None:
        self._value = value
        self._spec = spec

    @hidden
    def __iter__(self) -> Any:
        inner, star = self._spec[2], self._spec[1]
        iterator = _intercept(iter)(self._value)
        if not any(inner):
            return _iterator_of_events(iterator, None)
        if star is not None and len(inner) > star:
            return iter(_with_specs([*_iterator_of_events(iterator, None)], self._spec))
        end = _End()
        return iter(partial(_step_inner, end, iterator, iter(inner)), end)


@hidden
def _step_inner(end: _End, iterator: Any, specs: Any) -> Any:
    """A step of an unpacked value: its item may be unpacked in turn."""
    value = _step(end, iterator)
    spec = next(specs, None)
    return value if spec is None or value is end else unpack(value, spec)


@hidden
def _with_specs(items: list[Any], spec: Spec) -> list[Any]:
    """The items of a value that is unpacked, each as its target unpacks it.

    The interpreter takes all items before it assigns the first one, and makes the list for a starred target itself.
    """
    count, star, inner = spec
    if star is None:
        specs: Any = inner
    elif len(items) < count - 1:
        return items  # not enough values to unpack
    else:
        first, last = star, len(items) - (count - 1 - star)
        rest, of_rest = items[first:last], inner[star] if len(inner) > star else None
        items = [*items[:first], *(rest if of_rest is None else _with_specs(rest, of_rest)), *items[last:]]
        specs = (*inner[:star], *[None] * len(rest), *inner[star + 1 :])
    return [
        item if of_item is None else unpack(item, of_item)
        for item, of_item in itertools.zip_longest(items, specs[: len(items)])
    ]


@hidden
def _unpack(value: Any, spec: Spec) -> Any:
    """What an assignment to several targets unpacks, with an event for each step."""
    is_plain_sequence = type(value) in (list, tuple)
    if is_plain_sequence and _unpacks_plainly(value, spec):
        if not FLAGS[METADATA_EXISTS]:
            return value
        if spec[1] is None and not any(spec[2]):
            return ACTIVE.get().variant.runners[_ITERATION].propagation.items_to_unpack(value)  # type: ignore[union-attr]
    if not is_plain_sequence and not is_iterable(value):
        return bare(value)  # cannot unpack non-iterable … object
    if _ERROR_HAS_SIZE and spec[1] is None and type(bare(value)) in (list, tuple, dict) and len(value) > spec[0]:
        return bare(value)
    return _Unpacked(value, spec)


@hidden
def _unpacks_plainly(value: Any, spec: Spec) -> bool:
    """Whether no step need be an event, as there are no hooks; as long as there is metadata, items may have some."""
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return False
    runner = variant.runners[_ITERATION]
    return runner.only_moves_metadata and _is_nested(value, spec)


@hidden
def _is_nested(value: Any, spec: Spec) -> bool:
    """Whether a value consists of lists and tuples, as deep as it is unpacked."""
    if spec[1] is not None and len(spec[2]) > spec[1]:
        return False  # the places of the parts depend on the length
    for part, inner in zip(value, spec[2], strict=False):
        if inner is not None and not (type(part) in (list, tuple) and _is_nested(part, inner)):
            return False
    return True


@hidden
def kinds_of(variant: Any) -> Any:
    """The kinds of containers and iterators whose steps need no events as long as nothing is tagged.

    None if the steps of a variant are events in any case.
    """
    runner = variant.runners[_ITERATION]
    if not (variant.tagging and runner.only_moves_metadata):
        return None
    return *runner.propagation.KINDS_OF_FAST_PATH, OVERDUBBED.files


@hidden
def _later_steps(iterator: Any) -> tuple[_End, Callable[[], Any]]:
    """What does the steps of such an iterator where they are events."""
    end = _End()
    return end, partial(_step, end, iterator, is_stepped=True)


@hidden
def _claimed(value: Any, iterator: Any) -> Any:
    """An item during whose step the first value was tagged."""
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return value
    return variant.runners[_ITERATION].propagation.claimed_item(value, iterator)


unpack: Final[Callable[[Any, Spec], Any]] = DISPATCH.Unpacking(_unpack, kinds_of) if _LOOPS_ARE_IN_C else _unpack


Mode = Literal["events", "here", "splat", "late splat", "delegate"]


def in_c(function: Callable[..., Any], mode: Mode, *more: Any) -> Any:
    """A function that does the usual in C, if the accelerator is there."""
    return DISPATCH.Loop(function, kinds_of, mode, *more) if _LOOPS_ARE_IN_C else function


_STEPS: Final = _later_steps, unpack, _claimed
loop: Final = in_c(_begin, "events", *_STEPS)
loop_here: Final = in_c(_begin_here, "here", *_STEPS)
splat: Final = in_c(_splat, "splat", *_STEPS)
splat_later: Final = in_c(_splat_later, "late splat")


BINDINGS: Final[dict[str, Any]] = {
    symbols.LOOP: loop,
    symbols.LOOP_HERE: loop_here,
    symbols.ITEM_HERE: item_here,
    symbols.SPLAT: splat,
    symbols.SPLAT_IN_CALL: splat_later,
    symbols.UNPACK: unpack,
}
"""The values of the symbols of this module, see `runtime.bindings`."""
