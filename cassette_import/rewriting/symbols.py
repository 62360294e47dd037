"""Symbols: the names of what rewritten code needs from the runtime.

All of them start with ``@``, so that no program can have such a name of its own. `variant_names` has the symbols of one
variant, which start with its prefix. No namespace has these names: `variant_names` tells where their values are.

Variables of rewritten functions have names of the same form, see `temporaries`.
"""

from __future__ import annotations

from typing import Final, Literal

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events

MARK: Final = "@"
_PYTEST_VALUE: Final = "@py_assert"


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
ACTIVE_FAMILIES: Final = "@families"
"""Contains the family of the contexts that are active in this thread and task."""
ONLY_ARGUMENT_FREE: Final = "@only_free"
"""True as long as no active context has hooks of calls that read arguments."""
PASS_FAILED: Final = "@pass_failed"
"""Raises the error of a pass."""

# ---- iteration (`runtime.syntax.iteration`)
LOOP: Final = "@loop"
LOOP_HERE: Final = "@loop.here"
"""The same in the body of a function that cannot be suspended, for contexts that may tag values and have no hooks."""
ITEM_HERE: Final = "@loop.item"
"""An item of such a loop, if metadata exists."""
SPLAT: Final = "@splat"
SPLAT_IN_CALL: Final = "@splat.later"
"""The only splat of a call with keywords, which the call itself unpacks."""
UNPACK: Final = "@unpack"
"""The value of an assignment that unpacks."""

# ---- delegation (`runtime.syntax.delegation`)
LOOP_ASYNC: Final = "@loop.async"
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
OF_SUPER: Final = "@of.super"
"""What `super()` takes from the frame of its caller."""
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
RETURNED_BEFORE: Final = "@returned.before"
LEFT_AGAIN: Final = "@returned.again"
STACK_RETURNED: Final = "@returned.stack"
KEEP_RETURNED: Final = "@returned.keep"
LEFT_FROM_STACK: Final = "@returned.unstack"
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
"""An item of `async for`."""
SUBJECT: Final = "@subject"
"""The subject of a `match` statement that captures values."""
CAPTURED: Final = "@captured"
"""A value that a pattern has captured; the ways from the subject to it come with it."""
IMPORTED: Final = "@imported"
"""A value that `from … import` has bound to a name."""
SUBJECT_DONE: Final = "@subject.done"
SUBJECT_PAUSED: Final = "@subject.paused"
"""Takes away the subject of this frame while a guard runs. ``result | value`` gives it back if the guard is false."""
CLASS_BEGIN: Final = "@class.begin"
"""Returns the decorator of a class whose namespace may have metadata."""
CLASS_VALUE: Final = "@class.value"
"""A value that is bound to a name of a class."""
CLASS_READ: Final = "@class.read"
"""The value of a name of a class, in its body."""
SETTLED: Final = "@settled"
"""The same for an operation whose result is never tagged."""

WHOLE_TYPES_PREFIX: Final = "@whole."
WATCHED_PREFIX: Final = f"{ATTRIBUTES_WATCHED}."


When = Literal["pre", "post"]
"""Whether a hook is a prehook or a posthook."""


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
    return f"{WHOLE_TYPES_PREFIX}{name}"


def attribute_watched(name: str) -> str:
    """Whether a context watches attributes of this name."""
    return f"{WATCHED_PREFIX}{name}"


def kind(name: str) -> str:
    """A type of callees, one of `node_builder.KINDS`."""
    return f"@kind.{name}"


@hidden
def of_object(identity: int) -> str:
    """A name that belongs to one object, by its `id`."""
    return f"@{identity}"


# ---- names that no code loads

CONTEXT_SLOT: Final = "@contextslot"
"""A placeholder for the active context until the tree that a pass returned is taken over."""

SKELETON_SCOPE: Final = "@skeleton"
"""The function around a function that is compiled by itself."""
