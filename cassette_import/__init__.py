"""Cassette for Python: an import hook rewrites chosen packages, so that every call site consults the active context.

A context is an object that observes or replaces calls, operators and other events, in code that is otherwise unmodified
and unaware of it; to run code in a context is to overdub it.

>>> import math
>>> from cassette_import import Context, overdub
>>> class SinToCos(Context): ...
>>> @SinToCos.overdub.register(math.sin)
... def _(ctx, f, x: float):
...     return math.cos(x)
>>> def height(angle):
...     return 10 * math.sin(angle)
>>> overdub(SinToCos(), height, 0.0)
10.0

`install` chooses packages, and ``with SinToCos():`` runs a block in a context.

Each name is imported from its module when it is first used, because pytest imports this package in every run. The
packages of `cassette_import` do not import names from here, but from the modules that define them.

PYTEST_DONT_REWRITE: there are no assertions here, and pytest would warn that it cannot rewrite an imported module.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cassette_import.activation.changed_copies import disablehooks, similarcontext
    from cassette_import.activation.context import Context, current
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

# Which module defines which public names.
_DEFINED_IN = {
    "activation.changed_copies": "disablehooks similarcontext",
    "activation.context": "Context current",
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

_PUBLIC_MODULES = {"primitives": "rewriting.primitives"}


def load_ipython_extension(shell: Any) -> None:
    """Register the magic commands `%overdub` and `%%overdub`: IPython calls this for ``%load_ext cassette_import``."""
    from cassette_import.frontends.notebook.magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magic commands: IPython calls this for ``%unload_ext cassette_import``."""
    from cassette_import.frontends.notebook.magics import unload

    unload(shell)


def _imported(name: str) -> Any:
    from importlib import import_module

    return import_module(f"{__name__}.{name}")


if not TYPE_CHECKING:  # with `__getattr__`, type checkers would accept any name

    def __getattr__(name):
        if name in _PUBLIC_MODULES:
            return _imported(_PUBLIC_MODULES[name])
        for module, names in _DEFINED_IN.items():
            if name in names.split():
                value = globals()[name] = getattr(_imported(module), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
