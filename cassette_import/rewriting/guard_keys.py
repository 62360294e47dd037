"""The keys of guards: how the attribute of a variant's cell that holds the guard of a call site is spelled."""

from __future__ import annotations

import enum
import importlib.util
from typing import Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Record

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
