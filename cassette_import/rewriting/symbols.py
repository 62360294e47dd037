"""Symbols: the names of what rewritten code needs, and the one place that builds them and takes them apart.

All of them start with ``@``, so that no program can have such a name of its own. There are two kinds:

* symbols that the runtime provides for all contexts (`GET_ACTIVATION`, `primitive`, ...);
* symbols of one variant, which start with its prefix (`VariantNames`), those of its guards among them (`Guard`).

No namespace has these names. A symbol whose value never changes is a constant of the code. All others are attributes of
a *cell*, which is a constant: there is one cell for the flags, and one for each variant (`place_of`). The compiler gets
a placeholder for each constant (`placeholder`).

Variables of rewritten functions have names of the same form, see `temporaries`. Knows how names are spelled; must not
know what they hold.
"""

from __future__ import annotations

import functools
from typing import Final, Literal, get_args

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Record
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.guard_keys import ANYWHERE, KEYWORDS, Guard

MARK: Final = "@"
_PYTEST_VALUE: Final = "@py_assert"
_WILDCARD: Final = "@any"
_TAGGING: Final = "t"


@hidden
def is_symbol(name: str) -> bool:
    """Whether no program can have this name: it is one of cassette_import's, or of pytest's assertion rewriting."""
    return name[:1] == MARK


def is_pytest_value(name: str) -> bool:
    """Whether a name is that of a variable in which pytest's assertion rewriting keeps a part of an assertion."""
    return name.startswith(_PYTEST_VALUE)


# ---- names that the runtime provides: what is active (`runtime.state`, `specialization`)

IS_ANY_ACTIVE: Final = "@on"
"""Whether any context is active, in any thread."""
GET_ACTIVATION: Final = "@get"
"""Returns what is active in this thread and task."""
ONLY_ARGUMENT_FREE: Final = "@only_free"
"""True as long as no active context has hooks of calls that read arguments."""
PASS_FAILED: Final = "@pass_failed"
"""Raises the error of a pass."""

# ---- iteration (`runtime.syntax.iteration`)
LOOP: Final = "@loop"
LOOP_ASYNC: Final = "@loop.async"
LOOP_HERE: Final = "@loop.here"
"""The same in the body of a function that cannot be suspended, for contexts that may tag values and have no hooks."""
ITEM_HERE: Final = "@loop.item"
"""An item of such a loop, if metadata exists."""
SPLAT: Final = "@splat"
SPLAT_IN_CALL: Final = "@splat.later"
"""The only splat of a call with keywords, which the call itself unpacks."""
UNPACK: Final = "@unpack"
"""The value of an assignment that unpacks."""
DELEGATE: Final = "@delegate"
"""The iterable of `yield from`."""

# ---- bodies whose steps a context follows (`runtime.followed_code`)
FOLLOWED_BODY: Final = "@body"
"""Returns the run of a body that begins."""
FOLLOWED_EXPRESSION: Final = "@body.expression"
"""The same for a generator expression: an iterator with the run as its only item."""
FOLLOWED_CALL: Final = "@body.call"
"""The same for a function that may be entered without a call event."""
THREAD: Final = "@thread"
"""Returns the identifier of the running thread."""
FOLLOWED_MODULE: Final = "@body.module"
"""Reports that a module level begins."""
FOLLOWED_IMPORTS: Final = "@body.imports"
"""Returns the manager of a `with` block around an import."""

# ---- values kept outside the frame, where no temporaries are allowed (`runtime.syntax.operand_stack`)
KEEP: Final = "@keep"
KEEP_ALL: Final = "@keep.all"
"""Keeps the parts of a value that is unpacked."""
KEPT: Final = "@kept"
"""Removes the value that was kept last from the stack, and returns it."""
KEPT_BELOW: Final = "@kept.below"
"""The same for the value that was kept before the last one."""
PEEK: Final = "@peek"
"""Returns the value that was kept last."""
SINK: Final = "@sink"
"""Keeps what is stored to its items."""
AND: Final = "@and"
OR: Final = "@or"
CHAIN: Final = "@chain"
CHAIN_TESTED: Final = "@chain.tested"

# ---- operations whose arguments are in another order than their operands are evaluated (`runtime.syntax.operations`)
CONTAINS: Final = "@in"
SET_ITEM: Final = "@setitem"
SET_ATTRIBUTE: Final = "@setattr.late"

# ---- builtins and types that programs cannot replace
SLICE: Final = "@slice"
BASE_EXCEPTION: Final = "@BaseException"
TYPE: Final = "@type"
ID: Final = "@id"
GLOBALS: Final = "@globals"
LOCALS: Final = "@locals"
SPLIT: Final = "@split"
"""Splits a callee into its function and the arguments that it carries."""

# ---- statements, displays and names (`runtime.syntax.blocks`)
DEBUGGER: Final = "@debugger"
MANAGED: Final = "@managed"
MANAGED_ASYNC: Final = "@managed.async"
IMPORT_FROM: Final = "@import.from"
PAIRS: Final = "@pairs"
CONSTANT: Final = "@constant"
CLASS_NAME: Final = "@class.name"

# ---- tagging (`runtime.tagging`)
METADATA_EXISTS: Final = "@tagged"
"""Whether any value may be tagged."""
ATTRIBUTES_WATCHED: Final = "@watched"
"""Whether a context watches attributes."""
NOTHING: Final = "@nothing"
"""An object that no program has."""
RETURNED: Final = "@returned"
RECEIVED: Final = "@received"
FORMATTED: Final = "@formatted"
SPECIFIED: Final = "@specified"
"""A value in a format specification of an f-string."""
HANDED: Final = "@handed"
"""An argument of a builtin that reads the frame."""
SCOPE: Final = "@scope"
SNAPSHOT: Final = "@snapshot"
TIDY: Final = "@tidy"
"""A container that the interpreter built, without wrappers in it."""
ENTERED: Final = "@entered"
"""The parameters of a function, of which a leaf that has called it passed plain values."""
ENTERED_WITH: Final = "@entered.with"
ENTERED_REST: Final = "@entered.rest"
RESUMED: Final = "@resumed"
"""The same for a generator or coroutine, which starts after the call."""
MESSAGE: Final = "@message"
"""The message of an `assert` statement."""
MAPPING: Final = "@mapping"
PLAIN: Final = "@plain"
"""A value without its wrapper."""
PLAIN_BOUND: Final = "@plain.bound"
"""A bound or step of a slice, or an index beside slices, without its wrapper."""
PLAIN_ITEMS: Final = "@plain.items"
READ_PLAIN: Final = "@plain.variable"
"""A variable of a closure, which runs where its context is not active."""
READ_WHERE_ACTIVE: Final = "@plain.elsewhere"
"""A value without its wrapper, unless a context that tags values is active."""
ANNOTATED: Final = "@annotated"
ANNOTATIONS: Final = "@annotations"
NAME_OF: Final = "@name.of"
"""Returns the name of a builtin. An attribute `__name__` in code would look like the global name of a module."""
RULED_NAMES: Final = "@ruled.names"
"""The names of the builtins whose calls always follow rules."""
RULED: Final = "@ruled"
"""The identities of the callables whose calls always follow rules."""
SIMPLE: Final = "@simple"
"""The identities of the types of numbers and texts."""
CLAIMED: Final = "@claimed"
"""The result of a special method that ran while the first value was tagged."""
CLAIMED_OF: Final = "@claimed.of"
"""The same for a call."""
EPOCH: Final = "@epoch"
"""An object that is another one each time that all metadata is gone."""
BEGIN_EPOCH: Final = "@epoch.begin"
"""Discards the wrapper that was left last, and returns the epoch."""
ENTERING: Final = "@entering"
"""The manager of a `with` block whose value is bound to a name."""
MANAGER: Final = "@manager"
"""The plain manager of a `with` block."""
DEFAULTS: Final = "@defaults"
"""A function whose defaults may have metadata."""
WAITING: Final = "@waiting"
"""What `await` or `yield from` is about to run."""
FINISHED: Final = "@finished"
"""The value of an `await` or `yield from`."""
ASYNC_SOURCE: Final = "@async.source"
"""What `async for` takes items from; the position of the loop comes with it."""
ASYNC_ITEM: Final = "@async.item"
SUBJECT: Final = "@subject"
"""The subject of a `match` statement that captures values."""
CAPTURED: Final = "@captured"
"""A value that a pattern has captured; the ways from the subject to it come with it."""
IMPORTED: Final = "@imported"
"""A value that `from … import` has bound to a name."""
SUBJECT_DONE: Final = "@subject.done"
CLASS_BEGIN: Final = "@class.begin"
"""Returns the decorator of a class whose namespace may have metadata."""
CLASS_VALUE: Final = "@class.value"
"""A value that is bound to a name of a class."""
CLASS_READ: Final = "@class.read"
"""The value of a name of a class, in its body."""
SETTLED: Final = "@settled"
"""The same for an operation whose result is never tagged."""

_WHOLE: Final = "@whole."
_WATCHED: Final = f"{ATTRIBUTES_WATCHED}."


def primitive(name: str) -> str:
    """The function of the table of primitives: ``@operator.add``."""
    return f"@{name}"


def pick_anywhere(kind: Events) -> str:
    """Returns the callee of an event, or a proxy of it, for whichever context is active."""
    return f"@pick.{int(kind)}"


def argument_free_hooks_anywhere(when: When, kind: Events) -> str:
    """Calls the argument-free hooks of whichever context is active."""
    return f"@free{when}.{int(kind)}"


def whole_types(name: str) -> str:
    """The types of right operands with which a primitive (``operator.iadd``) runs no code of the program."""
    return f"{_WHOLE}{name}"


def attribute_watched(name: str) -> str:
    """Whether a context watches attributes of this name."""
    return f"{_WATCHED}{name}"


def kind(name: str) -> str:
    """A type of callees, one of `node_builder.KINDS`."""
    return f"@kind.{name}"


@hidden
def of_object(identity: int) -> str:
    """A name that belongs to one object, by its `id`."""
    return f"@{identity}"


# ---- names of one variant

When = Literal["pre", "post"]
"""Whether a hook is a prehook or a posthook."""


def variant_prefix(number: int) -> str:
    """The prefix of all names of a variant: ``@7``."""
    return f"@{number}"


def wildcard_prefix(events: Events, tagging: bool) -> str:
    """The prefix of the wildcard variant for these kinds of events, with or without tags."""
    return f"{_WILDCARD}{int(events)}{_TAGGING if tagging else ''}"


def is_wildcard(prefix: str) -> bool:
    """Whether a prefix is that of a wildcard variant, which no activation has."""
    return prefix.startswith(_WILDCARD)


class SplittingHook(Record):
    """What the name of a splitting hook says."""

    name: str
    """The name of the hook."""
    when: When
    arity: int | None
    """How many arguments call sites pass; None if that is not said."""


class VariantNames(Record):
    """Builds and parses the names of one variant. The prefix itself is the name of its family."""

    prefix: str

    def of(self, attribute: str) -> str:
        """The symbol of an attribute of the variant's cell."""
        return f"{self.prefix}.{attribute}"

    @property
    def current(self) -> str:
        """The variant itself. Another variant of the same family may replace it while a body is suspended."""
        return f"{self.prefix}.current"

    @property
    def failed(self) -> str:
        """Calls the errorhooks of an event that has raised."""
        return f"{self.prefix}.{_FAILED}"

    @property
    def learn(self) -> str:
        """Looks up a callee whose guard does not hold, and lets the guard learn it."""
        return f"{self.prefix}.learn"

    @property
    def is_dispatched(self) -> str:
        """Whether events have to be carried out: metadata exists, or an overload may take one."""
        return f"{self.prefix}.full"

    @property
    def plain(self) -> str:
        """Looks up a callee whose rules may apply although nothing is tagged; its guard learns that they do not."""
        return f"{self.prefix}.plain"

    @property
    def claim(self) -> str:
        """The result of a call under a guard that ran while the first value was tagged."""
        return f"{self.prefix}.claim"

    @property
    def is_overloaded(self) -> str:
        """Whether an overload may take a call."""
        return f"{self.prefix}.overloaded"

    @property
    def target_names(self) -> str:
        """The names of the builtins that are targets."""
        return f"{self.prefix}.names"

    @property
    def target_classes(self) -> str:
        """The identities of the classes that are targets, or that may get one as a callback."""
        return f"{self.prefix}.classes"

    def target_functions(self, with_keywords: bool) -> str:
        """The functions that are targets, or that may get one as a callback."""
        return f"{self.prefix}.functions{KEYWORDS if with_keywords else ''}"

    def function_type(self, anywhere: bool) -> str:
        """The type whose instances need no call of `learn` to know that they are no targets."""
        return f"{self.prefix}.function{ANYWHERE if anywhere else ''}"

    def hook(self, when: When, level: int, kind: Events) -> str:
        """The prehook or posthook of the context at a level of the stack: ``@7.pre0.1``."""
        return f"{self.prefix}.{when}{level}.{int(kind)}"

    def argument_free_hook(self, when: When, level: int, kind: Events) -> str:
        """The same hook for an event whose hooks are all argument-free: it returns the value that it gets."""
        return f"{self.prefix}.free{when}{level}.{int(kind)}"

    def hook_with_arity(self, name: str) -> tuple[str, int] | None:
        """Parse a name that `with_arity` built: the name of the hook, and the number of its arguments."""
        hook, _, count = name.rpartition(".")
        if not count.isdigit() or hook.count(".") != _DOTS_OF_HOOK:
            return None
        return (hook, int(count)) if hook.startswith((f"{self.prefix}.pre", f"{self.prefix}.post")) else None

    def splitting_hook(self, name: str) -> SplittingHook | None:
        """Parse a name that `splitting` built, perhaps with an arity; None if it is another name."""
        hook, _, last = name.rpartition(f".{_SPLIT}")
        for when in get_args(When):
            if hook.startswith(f"{self.prefix}.{when}"):
                return SplittingHook(hook, when, int(last[1:]) if last else None)
        return None

    @property
    def enter(self) -> str:
        """The prehook of calls that is in C."""
        return f"{self.prefix}.enter"

    @property
    def leave(self) -> str:
        """The posthook of calls that is in C."""
        return f"{self.prefix}.leave"

    def event(self, kind: Events) -> str:
        """Runs a whole event."""
        return f"{self.prefix}.event.{int(kind)}"

    def overload(self, kind: Events) -> str:
        """Returns the overload of a function, or the function."""
        return f"{self.prefix}.over.{int(kind)}"

    def is_overloaded_at(self, kind: Events) -> str:
        """Whether an overload may take an event of a kind, where values may be tagged."""
        return f"{self.prefix}.overloaded.{int(kind)}"

    def pick(self, kind: Events) -> str:
        """Returns the callee of an event, or a proxy of it."""
        return f"{self.prefix}.pick.{int(kind)}"

    def pick_callee(self, with_keywords: bool) -> str:
        """The same for a call, which may have keyword arguments or splats."""
        return f"{self.prefix}.pick{KEYWORDS if with_keywords else ''}.{int(Events.CALLS)}"

    def guard(self, guard: Guard) -> str:
        """The name of a guard."""
        return f"{self.prefix}.{guard.key}"


_FAILED: Final = "failed"
_SPLIT: Final = "split"
_DOTS_OF_HOOK: Final = 2


def with_arity(hook: str, count: int) -> str:
    """A hook for call sites that pass it so many arguments: ``@7.pre0.1.2``."""
    return f"{hook}.{count}"


def without_arguments(hook: str) -> str:
    """A hook for call sites that pass it no arguments of the event."""
    return f"{hook}.alone"


def splitting(hook: str) -> str:
    """A hook for call sites that pass it the callee. It gets the function of it, and the arguments that it carries."""
    return f"{hook}.{_SPLIT}"


def is_failed(attribute: str) -> bool:
    """Whether an attribute of a variant's cell is its `VariantNames.failed`."""
    return attribute == _FAILED


# ---- where rewritten code finds the value of a symbol

FLAGS: Final = "@flags"
"""The cell of the flags: what is true of the whole process at the moment."""

_IN_FLAGS: Final = frozenset({IS_ANY_ACTIVE, ONLY_ARGUMENT_FREE, METADATA_EXISTS, EPOCH, RULED, RULED_NAMES})

WATCHES: Final = "@watches"
"""The cell of the names of attributes: which of them contexts watch."""


@functools.lru_cache(4096)
def place_of(symbol: str) -> tuple[str, str] | None:
    """The cell that a symbol is in, and the name of its attribute; None if the value is a constant of the code."""
    if symbol in _IN_FLAGS or symbol.startswith(_WHOLE):
        return FLAGS, symbol
    if symbol == ATTRIBUTES_WATCHED or symbol.startswith(_WATCHED):
        return WATCHES, symbol
    prefix, _, attribute = symbol.partition(".")
    number = prefix[1:].removeprefix(_WILDCARD[1:]).removesuffix(_TAGGING)
    is_of_variant = attribute and prefix[:1] == MARK and number.isdecimal()
    return (cell_of(prefix), attribute) if is_of_variant else None


def cell_of(prefix: str) -> str:
    """The symbol of the cell of a variant."""
    return f"{prefix}."


Placeholder = tuple[frozenset[str]]


@functools.cache
def placeholder(symbol: str) -> Placeholder:
    """What code has for a constant that cannot be serialised, before it goes live.

    The compiler makes no tuple with a set in it from the source of a program; a pass that returns one is refused.
    """
    return (frozenset((symbol,)),)


def is_placeholder(const: object) -> bool:
    """Whether a constant stands for a symbol."""
    return type(const) is tuple and symbol_in(const) is not None


@hidden
def symbol_in(const: tuple[object, ...]) -> str | None:
    """The symbol that a tuple is the placeholder of; None if it is none."""
    if len(const) == 1 and type(const[0]) is frozenset and len(const[0]) == 1:
        symbol: object = next(iter(const[0]))
        if type(symbol) is str and symbol[:1] == MARK:
            return symbol
    return None


# ---- names that no code loads

CONTEXT_SLOT: Final = "@contextslot"
"""A placeholder for the active context until the tree that a pass returned is taken over."""

SKELETON_SCOPE: Final = "@skeleton"
"""The function around a function that is compiled by itself."""
