"""The ready-made contexts, one module or package each; each is imported when its name is first used.

>>> from cassette_import.contexts import Profile
>>> 'profile' in READY_MADE
True
"""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cassette_import.contexts.allocations import Allocations
    from cassette_import.contexts.call_types import CallTypes
    from cassette_import.contexts.callgraph import CallGraph
    from cassette_import.contexts.faults import Faults
    from cassette_import.contexts.flops import Flops
    from cassette_import.contexts.intervals import Intervals
    from cassette_import.contexts.memoize import Memoize
    from cassette_import.contexts.nonan import NoNaN
    from cassette_import.contexts.noop import Noop
    from cassette_import.contexts.parallel import Parallel
    from cassette_import.contexts.precision import Precision
    from cassette_import.contexts.profile import Profile
    from cassette_import.contexts.provenance import Provenance
    from cassette_import.contexts.record import Record
    from cassette_import.contexts.replay import Replay
    from cassette_import.contexts.substitute import Substitute
    from cassette_import.contexts.taint import Taint
    from cassette_import.contexts.trace import Trace

    __all__ = [
        "READY_MADE",
        "Allocations",
        "CallGraph",
        "CallTypes",
        "Faults",
        "Flops",
        "Intervals",
        "Memoize",
        "NoNaN",
        "Noop",
        "Parallel",
        "Precision",
        "Profile",
        "Provenance",
        "Record",
        "Replay",
        "Substitute",
        "Taint",
        "Trace",
    ]

READY_MADE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "allocations": f"{__name__}.allocations:Allocations",
        "call-types": f"{__name__}.call_types:CallTypes",
        "callgraph": f"{__name__}.callgraph:CallGraph",
        "faults": f"{__name__}.faults:Faults",
        "flops": f"{__name__}.flops:Flops",
        "intervals": f"{__name__}.intervals:Intervals",
        "memoize": f"{__name__}.memoize:Memoize",
        "nonan": f"{__name__}.nonan:NoNaN",
        "noop": f"{__name__}.noop:Noop",
        "parallel": f"{__name__}.parallel:Parallel",
        "precision": f"{__name__}.precision:Precision",
        "profile": f"{__name__}.profile:Profile",
        "provenance": f"{__name__}.provenance:Provenance",
        "record": f"{__name__}.record:Record",
        "replay": f"{__name__}.replay:Replay",
        "substitute": f"{__name__}.substitute:Substitute",
        "taint": f"{__name__}.taint:Taint",
        "trace": f"{__name__}.trace:Trace",
    }
)
"""The module and class of each ready-made context, by its name on the command line."""

_MODULES: Final = {target.partition(":")[2]: target.partition(":")[0] for target in READY_MADE.values()}


_NEEDED: Final = {"Intervals": "flint", "Precision": "mpmath"}
"""The packages that are not installed with this one, by the context that needs them."""


def _public_names() -> list[str]:
    """What ``from cassette_import.contexts import *`` imports: not the contexts whose packages are not installed."""
    from cassette_import.interpreter.installed_packages import is_installed

    missing = {name for name, package in _NEEDED.items() if not is_installed(package)}
    return ["READY_MADE", *sorted(_MODULES.keys() - missing)]


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _public_names()
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "READY_MADE", *_MODULES})
