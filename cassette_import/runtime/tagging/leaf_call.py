"""The call of a leaf, as a rule gets it: the arguments are wrapped where they have metadata."""

from __future__ import annotations

import operator
from _thread import get_ident
from collections import deque
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodWrapperType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.state import ACTIVE, Activation, call_as_hook
from cassette_import.runtime.tagging import computed_metadata
from cassette_import.runtime.tagging.callback_metadata import with_metadata_of_callback
from cassette_import.runtime.tagging.handover import call_overdubbed
from cassette_import.runtime.tagging.held_metadata import holds_metadata, items_in, size_of
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Tag
from cassette_import.runtime.tagging.thread_state import LEAVES, LOCAL
from cassette_import.runtime.tagging.wrappers import TEST, Tagged, bound, plain

_METHODS_IN_C: Final = frozenset(map(id, (BuiltinMethodType, MethodWrapperType)))
_PLAIN_CONTAINERS: Final = (tuple, list, dict)
_MOST_PARTS: Final = 100
"""How many parts of a leaf's result are searched for parts that are recognised."""

_UNCHANGING: Final = frozenset(map(id, (len, isinstance, type, id, hash, callable)))
"""Functions that change no part of containers of the interpreter's own types."""
_BUILTIN: Final = frozenset({list, tuple, dict, set, frozenset, deque})


class LeafCall:
    """A call of a leaf.

    `callee` is what the program calls, with the arguments `given` and `keywords`; `function` is the function behind it,
    a method for example, whose first arguments are `leading`. `arguments` are the leading and the given ones. Special
    methods get the `operands` of an operator in this order or in the other one. `passed` are the values with metadata
    that the program has returned to the leaf, one for each origin, and the containers of such values.
    """

    __slots__ = (
        "activation", "arguments", "callee", "function", "given", "keywords", "leading", "operands", "passed", "store",
    )  # fmt: skip

    def __init__(
        self,
        activation: Activation,
        store: Store,
        callee: Any,
        function: Any,
        leading: tuple[Any, ...],
        given: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> None:
        self.activation = activation
        self.store = store
        self.callee = callee
        self.function = function
        self.leading = leading
        self.given = given
        self.arguments = (*leading, *given)
        self.keywords = keywords
        self.operands: tuple[Any, ...] | None = None
        self.passed: dict[int, Any] = {}

    @property
    def owner(self) -> Any:
        """The first argument: the object whose parts the call reads or changes."""
        return plain(self.arguments[0])

    @property
    @hidden
    def plain_keywords(self) -> dict[str, Any]:
        """The keyword arguments without wrappers."""
        return without_wrappers(self.keywords)

    @hidden
    def native(self) -> Any:
        """Make the call with plain arguments."""
        thread = get_ident()
        outer = LEAVES.get(thread)
        LEAVES[thread] = self
        try:
            if not self.keywords:
                return self.callee(*map(plain, self.given))
            return self.callee(*map(plain, self.given), **without_wrappers(self.keywords))
        finally:
            if outer is None:
                LEAVES.pop(thread, None)
            else:
                LEAVES[thread] = outer

    @hidden
    def run(self) -> Any:
        """Make the call with the arguments as they are: of a function that only moves them."""
        thread = get_ident()
        outer = LEAVES.get(thread)
        LEAVES[thread] = self
        try:
            return self.callee(*self.given, **self.keywords)
        finally:
            if outer is None:
                LEAVES.pop(thread, None)
            else:
                LEAVES[thread] = outer

    @hidden
    def native_then_drop_stale(self) -> Any:
        """Make the call with plain arguments, and drop the metadata of parts that it has replaced in its arguments."""
        if id(self.function) in _UNCHANGING and self.arguments and type(self.owner) in _BUILTIN:
            return self.native()
        try:
            return self.native()
        finally:
            items = self.store.items
            if items.entries:
                for argument in self.arguments:
                    if id(plain(argument)) in items.entries:
                        self.store.drop_stale(plain(argument))

    @hidden
    def with_computed_metadata(self, value: Any) -> Any:
        """A value that was computed of the arguments, with the metadata that the contexts compute for it."""
        arguments = self.arguments
        if self.passed and id(type(value)) in computed_metadata.COMPUTED_TYPES:
            arguments = (*arguments, *self.passed.values())
        return computed_metadata.with_computed_metadata(self.activation, self.function, arguments, self.keywords, value)

    @hidden
    def has_metadata_in(self, container: Any) -> bool:
        """Whether a container has parts with metadata."""
        tags = [tag for tag in self.activation.tags if tag is not None] if self.store else []
        return any(next(computed_metadata.metadata_in((container,), tag), None) is not None for tag in tags)

    @hidden
    def notify_of_error(self, error: Exception) -> None:
        """Notify the contexts that have metadata of the arguments of an exception that the leaf has raised."""
        computed_metadata.notify_of_error(self.activation, self.function, self.arguments, self.keywords, error)

    @hidden
    def call_method(self, function: Any, *arguments: Any) -> Any:
        """Call a Python function that the leaf would call; it gets wrapped arguments if it is overdubbed."""
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return function(*map(plain, arguments))
        if calls_overdubbed(self.activation, function):
            return call_overdubbed(function, *arguments)
        self.store.note(arguments)
        value = LeafCall(self.activation, self.store, function, function, (), arguments, {}).native()
        if value is NotImplemented:
            return value
        return computed_metadata.with_computed_metadata(self.activation, function, arguments, {}, value)

    @property
    @hidden
    def is_watched(self) -> bool:
        """Whether a context has a method `compared`, which is called for items of items, too."""
        return any(tag is not None and tag.compared is not None for tag in self.activation.tags)

    @hidden
    def compare(self, *items: Any) -> None:
        """The leaf compares these items, or hashes them."""
        note_comparison(self.activation, self.function, *items)

    @hidden
    def is_decided(self, *items: Any) -> bool:
        """Whether a context decides how these items compare with each other."""
        return any(
            tag is not None
            and tag.compared is not None
            and (
                next(computed_metadata.metadata_in(items, tag), None) is not None
                or holds_metadata(tuple(map(plain, items)), tag)
            )
            for tag in self.activation.tags
        )

    @hidden
    def decided(self, compare: Any, one: Any, other: Any) -> Any:
        """Whether two items compare so: an event if a context decides it, otherwise what the plain items say."""
        if not self.is_decided(one, other):
            return compare(plain(one), plain(other))
        found = self.event(compare, one, other)
        return found if type(found) is bool else plain(self.event(operator.truth, found))

    @hidden
    def test(self, value: Any) -> Any:
        """The leaf tests the truth of a value, or the sign of a number: the value that it gets in its place."""
        return tested(self.activation, self.function, value) if type(value) is Tagged else value

    @hidden
    def forward(self, callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make a call that the leaf would make. It is no event; the metadata of the arguments is propagated."""
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return plain(callee)(*map(plain, arguments), **without_wrappers(keywords))
        function, *leading = split(callee)
        return PROPAGATE[0](self.activation, callee, function, tuple(leading), arguments, keywords)

    @hidden
    def call_back(self, callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function that the program has given to the leaf: an event if hooks or overloads are for it."""
        variant = ACTIVE.get().variant
        if variant is not None and variant.tagging and id(split(callee)[0]) in variant.runners[1].plan.targets:
            return variant.runners[1].event(callee, *arguments, **keywords)
        return self.forward(callee, *arguments, **keywords)

    @hidden
    def event(self, function: Any, *arguments: Any) -> Any:
        """Make a call that the leaf would make, as an event."""
        return self.activation.variant.runners[1].event(function, *arguments)  # type: ignore[union-attr]


class PassingCall(LeafCall):
    """The call of a leaf that calls one function of the program, with its own arguments as they are.

    `parameters` are the values that this function is entered with, in order, until it has taken them.
    """

    __slots__ = ("has_entered", "parameters")

    def __init__(self, call: LeafCall, parameters: list[Any]) -> None:
        LeafCall.__init__(
            self, call.activation, call.store, call.callee, call.function, call.leading, call.given, call.keywords
        )
        self.parameters = parameters
        self.has_entered = False

    @hidden
    def passed_on(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The parameters of the function that is entered, wrapped where the leaf was given a wrapper for them."""
        self.has_entered = True
        return tuple([self._taken(value) for value in values])

    @hidden
    def _taken(self, value: Any) -> Any:
        for index, given in enumerate(self.parameters):
            if plain(given) is value:
                del self.parameters[index]
                return given
        return value


@hidden
def note_comparison(activation: Activation, function: Any, *items: Any) -> None:
    """A function compares items: a context type that has tagged one may raise an error by its method `compared`.

    The same holds for items of containers, and for attributes that a method compares which is not overdubbed.
    """
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag.compared is not None and _compares_metadata(activation, tag, items):
            call_as_hook(activation, level, tag.compared, activation.contexts[level], function)


@hidden
def note_pattern(activation: Activation, part: Any, kind: str, constant: Any) -> None:
    """A pattern tests a part of its subject: a context type that has tagged it decides by its method `matched`.

    For a type without this method, comparisons with numbers and with named values are comparisons. The kind `"bound"`
    is that of a number which the interpreter needs without its wrapper, such as a bound of a slice.
    """
    is_comparison = kind == "value" or (kind == "equal" and not isinstance(constant, (str, bytes)))
    for level, tag in enumerate(activation.tags):
        if tag is None or not (tag.matched or (is_comparison and tag.compared)):
            continue
        if not _compares_metadata(activation, tag, (part,)):
            continue
        context = activation.contexts[level]
        if tag.matched is not None:
            call_as_hook(activation, level, tag.matched, context, part, kind, constant)
        elif tag.compared is not None:
            call_as_hook(activation, level, tag.compared, context, operator.eq)


@hidden
def _compares_metadata(activation: Activation, tag: Tag, items: tuple[Any, ...]) -> bool:
    if next(computed_metadata.metadata_in(items, tag), None) is not None:
        return True
    sees_methods = tag.matched is None  # such a context would have to see the truth of what they return
    compared = [item for item in items if _is_compared_unseen(activation, item, sees_methods)]
    return bool(compared) and holds_metadata(compared, tag)


@hidden
def _is_compared_unseen(activation: Activation, item: Any, sees_methods: bool) -> bool:
    """Whether a Python function compares an object with others; one that is not overdubbed, as that of a dataclass."""
    methods = [lookup(type(item), name) for name in ("__lt__", "__eq__")]
    return any(
        type(method) is FunctionType and not (sees_methods and calls_overdubbed(activation, method))
        for method in methods
    )


@hidden
def tested(activation: Activation, function: Any, value: Any) -> Any:
    """A function tests the truth of a tagged value: a context type may decide it by its method `tested`."""
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag.tested is not None and tag in value._tagged_metas:
            return call_as_hook(activation, level, tag.tested, activation.contexts[level], function, value)
    return value._tagged_value


@hidden
def _tested_by_interpreter(value: Any) -> Any:
    """The interpreter tests the truth of a wrapped value."""
    return tested(ACTIVE.get(), operator.truth, value)


TEST.append(_tested_by_interpreter)

_SUSPENDED: Final = frozenset(map(id, computed_metadata.SUSPENDED))
"""Types of generators and coroutines, by identity."""

RuleFunction = Callable[[LeafCall], Any]

PROPAGATE: Final[list[Callable[..., Any]]] = []
"""`propagation.propagate`, which imports this module, and adds itself."""


@hidden
def without_wrappers(keywords: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments without wrappers."""
    return {name: plain(value) for name, value in keywords.items()}


@hidden
def without_rule(call: LeafCall) -> Any:
    """The rule function of a leaf without a rule: its result is plain, unless a context computes metadata for it."""
    for argument in call.given:
        if id(type(argument)) in _SUSPENDED:
            computed_metadata.lose_suspended(call.activation, call.function, call.given)
            break
    LOCAL.returned = None
    try:
        value = call.native_then_drop_stale()
    except Exception as error:
        call.notify_of_error(error)
        raise
    return result_without_rule(call, value)


@hidden
def result_without_rule(call: LeafCall, value: Any) -> Any:
    """The result of such a leaf, which has run."""
    if id(type(value)) in _METHODS_IN_C:
        for argument in call.arguments:
            if type(argument) is Tagged and argument._tagged_value is value.__self__:
                return bound(value, argument)
    found = LOCAL.returned
    if found is not None:  # what a callback has returned may be stored
        call.store.recognised.note(found._tagged_value, found._tagged_metas)
    if value is None:
        computed_metadata.add_to_buffers(call)
    if found is None or found._tagged_value is not value:
        value = call.with_computed_metadata(value)
        if type(value) is Tagged:
            return value
    LOCAL.returned = found
    value = with_metadata_of_callback(call.activation, call.function, call.arguments, call.keywords, value)
    return value if type(value) is Tagged else _recognised(call.store, value)


@hidden
def _recognised(store: Store, value: Any) -> Any:
    """What a leaf has returned, wrapped if it is recognised; so are the parts of what it returned, and their parts."""
    if not store.recognised.slots:
        return value
    if is_a(value, _PLAIN_CONTAINERS):
        store.recognise_parts(value)
        if size_of(value) <= _MOST_PARTS:
            for part in items_in(value):
                if is_a(part, _PLAIN_CONTAINERS):
                    store.recognise_parts(part)
        return value
    return store.recognised.wrapped(value)
