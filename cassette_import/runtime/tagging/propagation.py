"""How a call is carried out that no overload takes, where values may be tagged.

Overdubbed Python functions get their arguments as they are, structural primitives have rules of their own, and
everything else is a leaf: it gets plain arguments, and gives a plain result. Knows activations and wrappers; must not
know what the rules do.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import primitives
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import FRAME_READERS
from cassette_import.runtime.names import NAMES, PROVIDED
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.tagging import computed_values, presence
from cassette_import.runtime.tagging.fast_path import (
    ALWAYS,
    SIMPLE,
    anything,
    call_plainly,
    claimed,
    is_plain_while_untagged,
    rewrapped,
    steps_plainly,
)
from cassette_import.runtime.tagging.overdubbed_calls import NEVER_PYTHON, VERBS, enters
from cassette_import.runtime.tagging.shadow_store import SEQUENCES, Store, let_go_of_last, let_go_since
from cassette_import.runtime.tagging.wrappers import LOCAL, Tagged, metas_of, plain, wrapped

Rule = Callable[["Call"], Any]

RULES: Final[dict[int, tuple[Any, Rule]]] = {}
"""Structural primitives: functions by identity, with what is done instead of calling them plainly."""

TYPE_RULES: Final[dict[int, Rule]] = {}
"""The same for callables by the identity of their type: `operator.itemgetter` objects."""

CONSTRUCTED: Final[list[Rule]] = []
"""The rule for classes that are not overdubbed."""


class Call:
    """A call of a leaf that has a rule."""

    __slots__ = ("activation", "arguments", "callee", "function", "given", "keywords", "leading", "store")

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

    @property
    def owner(self) -> Any:
        """The first argument, whose parts the call is about."""
        return plain(self.arguments[0])

    @property
    @hidden
    def options(self) -> dict[str, Any]:
        """The keyword arguments, plain."""
        return _plain(self.keywords)

    @hidden
    def native(self) -> Any:
        """The call with plain arguments."""
        return self.callee(*map(plain, self.given), **_plain(self.keywords))

    @hidden
    def checked(self) -> Any:
        """The same; what it has changed of the arguments' parts is forgotten."""
        if id(self.function) in _UNCHANGING and self.arguments and type(self.owner) in _BUILTIN:
            return self.native()
        try:
            return self.native()
        finally:
            items = self.store.items
            if items.entries:
                for argument in self.arguments:
                    if id(plain(argument)) in items.entries:
                        self.store.verify(plain(argument))

    @hidden
    def computed(self, value: Any) -> Any:
        """A value that was computed of the arguments, with the metadata that the contexts say it has."""
        return computed_values.computed(self.activation, self.function, self.arguments, self.keywords, value)

    @hidden
    def enter(self, function: Any, *arguments: Any) -> Any:
        """A Python function that the leaf would call; where it runs plain, so are its arguments."""
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging or not enters(self.activation, function):
            return function(*map(plain, arguments))
        return reclaim(function, *arguments)

    @hidden
    def event(self, function: Any, *arguments: Any) -> Any:
        """A call that the leaf would make, as an event."""
        return self.activation.variant.runners[1].event(function, *arguments)  # type: ignore[union-attr]


_UNCHANGING: Final = frozenset(map(id, (len, isinstance, type, id, hash, callable)))
"""Functions that change no part of containers of the interpreter's own types."""
_BUILTIN: Final = frozenset({list, tuple, dict, set, frozenset, deque})


def rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Register the rule of some functions."""

    def register(made: Rule) -> Rule:
        for function in functions:
            RULES[id(function)] = function, made
        return made

    return register


def store_here() -> Store | None:
    """The store of what is active."""
    return store_of(ACTIVE.get())


def store_of(activation: Activation) -> Store | None:
    """The store of an activation."""
    for tag in reversed(activation.tags):
        if tag is not None:
            return tag.store  # type: ignore[no-any-return]
    return None


@hidden
def propagate(
    activation: Activation,
    callee: Any,
    function: Any,
    leading: tuple[Any, ...],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Any:
    """Carry out a call."""
    if not NAMES["@tagged"]:
        idle = ALWAYS.get(id(function), anything)
        if idle is anything or (idle is not None and idle(arguments, keywords)):
            value = callee(*arguments, **keywords)
            return claimed(function, value) if NAMES["@tagged"] else value
    elif not next(_turns) & _NOW_AND_THEN:
        presence.look()
    tagged = type(callee) is Tagged
    simple = type(callee) is BuiltinFunctionType and not keywords and (not leading or id(type(leading[0])) in SIMPLE)
    for argument in arguments:
        kind = type(argument)
        if kind is Tagged:
            tagged, simple = True, False
            break
        if id(kind) not in SIMPLE:
            simple = False
    if simple:
        return callee(*arguments)  # a function of C, of values without parts
    if keywords and not tagged:
        tagged = any(type(argument) is Tagged for argument in keywords.values())
    if type(callee) is Tagged:
        function, *more = split(callee)
        leading = tuple(more)
        callee = callee._tagged_value
        if leading and type(leading[0]) is Tagged and type(function) is FunctionType and type(callee) is MethodType:
            callee, leading, arguments = function, (), (*leading, *arguments)
    key = id(function)
    if key in VERBS:
        return callee(*arguments, **keywords)
    if key in _PRIMITIVES:
        store = store_of(activation)
        if not (tagged or store or key in ALWAYS):
            return callee(*arguments, **keywords)
    elif id(type(function)) not in NEVER_PYTHON and enters(activation, function):
        return reclaim(callee, *arguments, **keywords)
    if LOCAL.held:
        let_go_of_last()
    returned, observed = LOCAL.returned, LOCAL.observed
    try:
        LOCAL.observed = False
        store = store_of(activation)
        if store is None or not (tagged or store or key in ALWAYS):
            return callee(*arguments, **keywords) if not tagged else callee(*map(plain, arguments), **_plain(keywords))
        found = RULES.get(key)
        if found is not None:
            handler = found[1]
        elif is_a(function, type):
            handler = CONSTRUCTED[0]
        else:
            handler = TYPE_RULES.get(id(type(function)), leaf)
        return handler(Call(activation, store, callee, function, leading, arguments, keywords))
    finally:
        LOCAL.returned, LOCAL.observed = returned, observed


_PRIMITIVES: Final = frozenset(
    map(id, (primitives.number, primitives.load_global, primitives.build_list, primitives.build_tuple))
)
"""Syntax that runs no code of the program."""


_turns: Final = itertools.count(1)
_NOW_AND_THEN: Final = 1023


@hidden
def _plain(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in keywords.items()}


@hidden
def leaf(call: Call) -> Any:
    """A leaf without a rule: its result is plain, unless a context says what is known of it."""
    return call.computed(call.checked())


@hidden
def reclaim(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call an overdubbed function; what it returns is wrapped as it was inside."""
    returned, observed = LOCAL.returned, LOCAL.observed
    LOCAL.returned, LOCAL.observed = None, False
    number = len(LOCAL.held)
    try:
        result = callee(*arguments, **keywords)
        found = LOCAL.returned
        if len(LOCAL.held) > number:
            let_go_since(number)
        return found if found is not None and found._tagged_value is result else result
    finally:
        LOCAL.returned, LOCAL.observed = returned, observed


@hidden
def call_overload(handler: Any, context: Any, function: Any, arguments: Any, keywords: Any) -> Any:
    """Call an overload, which may be overdubbed by contexts further out."""
    return reclaim(handler, context, function, *arguments, **keywords)


@hidden
def without_tags(
    tags: tuple[Any, ...] | None, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments without what some tags know of them, for a call that contexts hand on; None for all tags.

    What only moves values keeps it.
    """
    if id(function) in RULES:
        return arguments, keywords

    def strip(value: Any) -> Any:
        if type(value) is not Tagged:
            return value
        metas = value._tagged_metas
        left = {} if tags is None else {tag: found for tag, found in metas.items() if tag not in tags}
        return value if len(left) == len(metas) else wrapped(value._tagged_value, left)

    return tuple(map(strip, arguments)), {name: strip(value) for name, value in keywords.items()}


# ---- what the rewriter puts where values leave the variables


def returned(value: Any) -> Any:
    """A value that is returned or yielded goes plain; whoever calls finds its wrapper, and none of another value."""
    if type(value) is Tagged:
        LOCAL.returned = value
        return value._tagged_value
    LOCAL.returned = None
    return value


def tidy(container: Any) -> Any:
    """A container that the interpreter has just made of wrapped values: they become plain, in place but for a tuple."""
    if not NAMES["@tagged"]:
        return container
    kind = type(container)
    if kind is dict:
        if not any(type(item) is Tagged for pair in container.items() for item in pair):
            return container
        pairs = list(container.items())
        container.clear()
        slots = {plain(key): (plain(item), item._tagged_metas) for key, item in pairs if type(item) is Tagged}
        container.update((plain(key), plain(item)) for key, item in pairs)
        _bind_keyed(container, slots)
        return container
    if not any(type(item) is Tagged for item in container):
        return container
    items = list(container)
    if kind is set:
        container.clear()
        container.update(map(plain, items))
        _bind_keyed(container, {plain(i): (plain(i), i._tagged_metas) for i in items if type(i) is Tagged})
        return container
    if kind is tuple:
        container = tuple(map(plain, items))
    else:
        container[:] = map(plain, items)
    store = store_here()
    return store.bind(container, items) if store is not None else container


def _bind_keyed(container: Any, slots: Any) -> None:
    store = store_here()
    if store is not None:
        store.set_keyed(container, slots)


def formatted(value: Any, conversion: int = -1, specification: str = "") -> Any:
    """A value in an f-string: its text, with the metadata that the contexts say it has."""
    if not NAMES["@tagged"] and conversion == -1 and not specification:
        text = value if type(value) is str else format(value)
        return rewrapped(text) if NAMES["@tagged"] else text
    LOCAL.returned = None
    text = plain(value)
    if conversion in _CONVERSIONS:
        text = _CONVERSIONS[conversion](text)
    if type(text) is not str or specification:
        text = format(text, specification)
    found = LOCAL.returned
    if found is not None and found._tagged_value is text:
        return found  # a `__str__` or `__format__` of the program
    return computed_values.computed_here(format, (value, specification), text) if ACTIVE.get().tags else text


def handed(function: Any, value: Any) -> Any:
    """An argument of a function whose call may be no event: hooks that are registered for it see what they would."""
    if type(value) is not Tagged or id(function) not in FRAME_READERS:
        return value
    activation = ACTIVE.get()
    if activation.variant is not None:
        for level, hook in activation.variant.runners[int(Events.CALLS)].prehooks:
            hook(activation.contexts[level], function, value)
    return value._tagged_value


_CONVERSIONS: Final[dict[int, Callable[[Any], str]]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def mapping(value: Any) -> Any:
    """What `**` is given: a dict whose values are wrapped where they have metadata."""
    if not NAMES["@tagged"]:
        return value
    value = plain(value)
    store = store_here()
    if store is None or type(value) is not dict or not store.items.entries:
        return value
    slots = store.keyed(value)
    if not slots:
        return value
    return {key: Tagged(*slots[key]) if key in slots else item for key, item in value.items()}


for _function in (returned, tidy, mapping, plain, formatted, handed):
    hidden(_function)
PROVIDED.add(
    {
        "@returned": returned,
        "@formatted": formatted,
        "@handed": handed,
        "@tidy": tidy,
        "@mapping": mapping,
        "@plain": plain,
    }
)
__all__ = [
    "RULES",
    "SEQUENCES",
    "VERBS",
    "Call",
    "call_overload",
    "call_plainly",
    "is_plain_while_untagged",
    "metas_of",
    "propagate",
    "reclaim",
    "rewrapped",
    "rule",
    "steps_plainly",
]  # fmt: skip
