"""The names of one variant: the one place that builds its symbols and takes them apart.

They start with the prefix of the variant; those of its guards are among them (`Guard`).
"""

from __future__ import annotations

import enum
import functools
import importlib.util
from typing import Final, get_args

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Record
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import (
    ATTRIBUTES_WATCHED,
    EPOCH,
    IS_ANY_ACTIVE,
    MARK,
    METADATA_EXISTS,
    ONLY_ARGUMENT_FREE,
    RULED,
    RULED_NAMES,
    WATCHED_PREFIX,
    WHOLE_TYPES_PREFIX,
    When,
)

# ---- the keys of guards: how the attribute of a variant's cell that holds the guard of a call site is spelled

KEYWORDS: Final = "k"
ANYWHERE: Final = "a"


class GuardKind(enum.Enum):
    """What a guard holds, as its name spells it."""

    CALLEE = "g"  # a callee that is a name of its own
    OF_MODULE = "m"  # an attribute of a module: `os.path.join`
    CLASS = "c"  # a class that is the receiver of a method
    TYPES = "t"  # types of receivers of a method
    TYPES_OF_SUPER = "u"  # types of instances whose method is looked up by `super()`
    INSTANCES = "i"  # the same types, as a container of their instances
    INSTANCES_OF_SUPER = "j"


_GUARD_KINDS: Final = {kind.value: kind for kind in GuardKind}


class Guard(Record):
    """A guard of a call site."""

    kind: GuardKind
    keywords: bool
    """Whether the call has keyword arguments or splats."""
    anywhere: bool
    """Whether its code may run while another variant is active."""
    file_digest: str
    """A digest of the name of the file. In one file, the same text usually means the same callee."""
    path: tuple[str, ...]
    """The names by which the callee is reached (``os``, ``path``, ``join``).

    For a method it is the line and the column of the call, and the name of the method.
    """

    @property
    def key(self) -> str:
        """The attribute of its variant's cell that holds the guard: what rewritten code passes to `learn`."""
        flags = f"{KEYWORDS if self.keywords else ''}{ANYWHERE if self.anywhere else ''}"
        return f"{self.kind.value}{flags}.{self.file_digest}.{'.'.join(self.path)}"

    @classmethod
    def parse(cls, key: str) -> Guard | None:
        """The guard that has a key; None if no guard has it."""
        letters, _, rest = key.partition(".")
        kind, flags = _GUARD_KINDS.get(letters[:1]), letters[1:]
        if kind is None or not rest or flags not in GUARD_FLAGS:
            return None
        digest, _, path = rest.partition(".")
        return cls(kind, KEYWORDS in flags, ANYWHERE in flags, digest, tuple(path.split(".")))


@hidden
def parts_of_guard(key: str) -> tuple[str, bool, bool, tuple[str, ...]]:
    """The letter of the kind, the flags `keywords` and `anywhere`, and the path of the guard that has a key.

    `Guard.parse` for the first miss of a guard, of which there are thousands in a process: it runs in the middle of a
    call of the program, so it calls nothing that a tracer would notice, such as the hash of a `GuardKind`.
    """
    letters, _, path = key.split(".", 2)
    flags = letters[1:]
    return letters[0], KEYWORDS in flags, ANYWHERE in flags, tuple(path.split("."))


GUARD_FLAGS: Final = ("", KEYWORDS, ANYWHERE, KEYWORDS + ANYWHERE)
"""What follows the letter of the kind in the first part of a key."""


def file_digest(filename: str) -> str:
    """A digest of the name of a file, for the names of its guards."""
    return importlib.util.source_hash(filename.encode(errors="surrogatepass")).hex()[:6]


# ---- the names of one variant: the one place that builds its symbols and takes them apart

WILDCARD_PREFIX: Final = "@any"
TAGGING_SUFFIX: Final = "t"
_FAILED: Final = "failed"
_SPLIT: Final = "split"
_DOTS_OF_HOOK: Final = 2


def variant_prefix(number: int) -> str:
    """The prefix of all names of a variant: ``@7``."""
    return f"@{number}"


def wildcard_prefix(events: Events, tagging: bool) -> str:
    """The prefix of the wildcard variant for these kinds of events, with or without tags."""
    return f"{WILDCARD_PREFIX}{int(events)}{TAGGING_SUFFIX if tagging else ''}"


def is_wildcard(prefix: str) -> bool:
    """Whether a prefix is that of a wildcard variant, which no activation has."""
    return prefix.startswith(WILDCARD_PREFIX)


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
    def begun(self) -> str:
        """What a frame holds until it carries out an event: None if it is set from outside when events have to be."""
        return f"{self.prefix}.begun"

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

    def no_targets(self, with_keywords: bool, anywhere: bool) -> str:
        """A container of callees of local names that need no call of `learn` to know that they are no targets."""
        return f"{self.prefix}.others{KEYWORDS if with_keywords else ''}{ANYWHERE if anywhere else ''}"

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


# ---- where rewritten code finds the value of a symbol, and what stands for it until code goes live
#
# A symbol whose value never changes is a constant of the code. All others are attributes of a *cell*, which is a
# constant: there is one cell for the flags, one for the names of attributes, and one for each variant. The compiler
# gets a placeholder for each constant.

FLAGS: Final = "@flags"
"""The cell of the flags: what is true of the whole process at the moment."""

_IN_FLAGS: Final = frozenset({IS_ANY_ACTIVE, ONLY_ARGUMENT_FREE, METADATA_EXISTS, EPOCH, RULED, RULED_NAMES})

WATCHES: Final = "@watches"
"""The cell of the names of attributes: which of them contexts watch."""


@functools.lru_cache(4096)
def place_of(symbol: str) -> tuple[str, str] | None:
    """The cell that a symbol is in, and the name of its attribute; None if the value is a constant of the code."""
    if symbol in _IN_FLAGS or symbol.startswith(WHOLE_TYPES_PREFIX):
        return FLAGS, symbol
    if symbol == ATTRIBUTES_WATCHED or symbol.startswith(WATCHED_PREFIX):
        return WATCHES, symbol
    prefix, _, attribute = symbol.partition(".")
    number = prefix[1:].removeprefix(WILDCARD_PREFIX[1:]).removesuffix(TAGGING_SUFFIX)
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
