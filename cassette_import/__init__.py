"""Cassette for Python: run programs that know nothing of it in a context that gives their calls another meaning.

PYTEST_DONT_REWRITE: pytest's assertion rewriting has nothing to do here, and would warn that it comes too late.
"""

from cassette_import import primitives
from cassette_import.context import (
    Context,
    canrecurse,
    current,
    disablehooks,
    fallback,
    overdub,
    recurse,
    reflect,
    similarcontext,
)
from cassette_import.errors import (
    AmbiguousOverload,
    CassetteError,
    CassetteWarning,
    NotOverdubbable,
    OverdubRecursionError,
    PassError,
)
from cassette_import.events import Events
from cassette_import.installation import Installation, install, installed, uninstall
from cassette_import.leaves import HIGHER_ORDER
from cassette_import.passes import contextslot, nooverdub
from cassette_import.reflection import Reflection

__version__ = "0.1.0"

__all__ = [
    "HIGHER_ORDER",
    "AmbiguousOverload",
    "CassetteError",
    "CassetteWarning",
    "Context",
    "Events",
    "Installation",
    "NotOverdubbable",
    "OverdubRecursionError",
    "PassError",
    "Reflection",
    "canrecurse",
    "contextslot",
    "current",
    "disablehooks",
    "fallback",
    "install",
    "installed",
    "nooverdub",
    "overdub",
    "primitives",
    "recurse",
    "reflect",
    "similarcontext",
    "uninstall",
]
