"""Cassette for Python: run programs that know nothing of it in a context that gives their calls another meaning.

Names are imported from their modules when they are asked for: pytest imports this package wherever it is installed,
and then nobody may want any of it.

PYTEST_DONT_REWRITE: pytest's assertion rewriting has nothing to do here, and would warn that it comes too late.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cassette_import.activation.context import Context, current, disablehooks, similarcontext
    from cassette_import.activation.escape_report import Escape, escapes
    from cassette_import.activation.tagging import (
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
    from cassette_import.activation.verbs import canrecurse, fallback, overdub, recurse
    from cassette_import.errors import (
        AmbiguousOverload,
        CassetteError,
        CassetteWarning,
        NotOverdubbable,
        OverdubRecursionError,
        PassError,
    )
    from cassette_import.importing.installation import Installation, install, installed, uninstall
    from cassette_import.rewriting import primitives
    from cassette_import.rewriting.events import Events
    from cassette_import.runtime.dispatch.call_sites import CallSite, callsite
    from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
    from cassette_import.specialization.passes import (
        contextslot,
        insert_statements,
        nooverdub,
        replace_match,
        resolves_to,
    )
    from cassette_import.specialization.passes.reflection import Reflection, reflect

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
    "activation.context": "Context current disablehooks similarcontext",
    "activation.escape_report": "Escape escapes",
    "activation.tagging": "NO_METADATA NO_METAMETA Meta Tag Tagged allmetadata enabletagging hasmetadata hasmetameta "
    "istagged metadata metadatatype metameta tag untag",
    "activation.verbs": "canrecurse fallback overdub recurse",
    "errors": "AmbiguousOverload CassetteError CassetteWarning NotOverdubbable OverdubRecursionError PassError",
    "importing.installation": "Installation install installed uninstall",
    "rewriting.events": "Events",
    "runtime.dispatch.call_sites": "CallSite callsite",
    "runtime.dispatch.higher_order": "HIGHER_ORDER",
    "specialization.passes": "contextslot insert_statements nooverdub replace_match resolves_to",
    "specialization.passes.reflection": "Reflection reflect",
}

_MODULES = {"primitives": "rewriting.primitives"}


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext cassette_import``: add the magic commands of the extra `notebook`."""
    _imported("frontends.notebook.magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext cassette_import``."""
    _imported("frontends.notebook.magics").unload(shell)


def _imported(name: str) -> Any:
    from importlib import import_module

    return import_module(f"{__name__}.{name}")


if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name):
        if name in _MODULES:
            return _imported(_MODULES[name])
        for home, names in _HOMES.items():
            if name in names.split():
                value = globals()[name] = getattr(_imported(home), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
