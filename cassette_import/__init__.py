"""Cassette for Python: run programs that know nothing of it in a context that gives their calls another meaning.

Names are imported from their modules when they are asked for: pytest imports this package wherever it is installed,
and then nobody may want any of it.

PYTEST_DONT_REWRITE: pytest's assertion rewriting has nothing to do here, and would warn that it comes too late.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cassette_import import primitives
    from cassette_import.call_sites import CallSite, callsite
    from cassette_import.context import Context, current, disablehooks, similarcontext
    from cassette_import.errors import (
        AmbiguousOverload,
        CassetteError,
        CassetteWarning,
        NotOverdubbable,
        OverdubRecursionError,
        PassError,
    )
    from cassette_import.escape_report import Escape, escapes
    from cassette_import.events import Events
    from cassette_import.installation import Installation, install, installed, uninstall
    from cassette_import.leaves import HIGHER_ORDER
    from cassette_import.notebook import load_ipython_extension, unload_ipython_extension
    from cassette_import.passes import contextslot, insert_statements, nooverdub, replace_match, resolves_to
    from cassette_import.reflection import Reflection, reflect
    from cassette_import.tagging.api import (
        NO_METADATA,
        NO_METAMETA,
        Meta,
        Tag,
        Tagged,
        allmetadata,
        enabletagging,
        hasmetadata,
        hasmetameta,
        istagged,
        metadata,
        metadatatype,
        metameta,
        tag,
        untag,
    )
    from cassette_import.verbs import canrecurse, fallback, overdub, recurse

__version__ = "0.1.0"

__all__ = [
    "HIGHER_ORDER",
    "NO_METADATA",
    "NO_METAMETA",
    "AmbiguousOverload",
    "CallSite",
    "CassetteError",
    "CassetteWarning",
    "Context",
    "Escape",
    "Events",
    "Installation",
    "Meta",
    "NotOverdubbable",
    "OverdubRecursionError",
    "PassError",
    "Reflection",
    "Tag",
    "Tagged",
    "allmetadata",
    "callsite",
    "canrecurse",
    "contextslot",
    "current",
    "disablehooks",
    "enabletagging",
    "escapes",
    "fallback",
    "hasmetadata",
    "hasmetameta",
    "insert_statements",
    "install",
    "installed",
    "istagged",
    "load_ipython_extension",
    "metadata",
    "metadatatype",
    "metameta",
    "nooverdub",
    "overdub",
    "primitives",
    "recurse",
    "reflect",
    "replace_match",
    "resolves_to",
    "similarcontext",
    "tag",
    "uninstall",
    "unload_ipython_extension",
    "untag",
]

_HOMES = {
    "call_sites": "CallSite callsite",
    "context": "Context current disablehooks similarcontext",
    "errors": "AmbiguousOverload CassetteError CassetteWarning NotOverdubbable OverdubRecursionError PassError",
    "escape_report": "Escape escapes",
    "events": "Events",
    "installation": "Installation install installed uninstall",
    "leaves": "HIGHER_ORDER",
    "notebook": "load_ipython_extension unload_ipython_extension",
    "passes": "contextslot insert_statements nooverdub replace_match resolves_to",
    "reflection": "Reflection reflect",
    "tagging.api": "NO_METADATA NO_METAMETA Meta Tag Tagged allmetadata enabletagging hasmetadata hasmetameta istagged "
    "metadata metadatatype metameta tag untag",
    "verbs": "canrecurse fallback overdub recurse",
}

_MODULES = ("primitives",)

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        for home, names in _HOMES.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
