"""Quick entries: `with ctx:` in C, if the accelerator of dispatch is there."""

from __future__ import annotations

import sys

from cassette_import.activation.activations import ReadyActivation
from cassette_import.activation.inheritance import WAITING
from cassette_import.activation.type_defaults import TypeDefaults
from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.rewriting.symbols import IS_ANY_ACTIVE
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.state import IN_USE
from cassette_import.runtime.variant import Family
from cassette_import.specialization.registry import registry


def enter_in_c(context_type: type) -> None:
    """Have the instances of a context type entered and left in C, where that is possible: usually they are ready."""
    if DISPATCH.reason:
        return
    types = ReadyActivation, TypeDefaults, Family
    in_use = IN_USE.entered, IN_USE.held, WAITING
    prepared = POST_IMPORT, vars(sys), registry
    for name, is_entry in (("__enter__", True), ("__exit__", False)):
        method = vars(context_type)[name]
        setattr(context_type, name, DISPATCH.EntryMethod(method, is_entry, types, in_use, prepared, IS_ANY_ACTIVE))
