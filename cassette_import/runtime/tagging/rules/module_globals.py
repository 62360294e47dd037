"""Rules for the global names of modules."""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import primitives
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import Tagged


@rule(primitives.load_global)
@hidden
def load_global(call: LeafCall) -> Any:
    value = call.native()
    namespace, name = call.arguments
    if call.store.items.entries:
        value = call.store.load_part(call.store.items, namespace, name, value)
    return value if type(value) is Tagged else call.store.recognised.wrapped(value)


@rule(primitives.store_global)
@hidden
def store_global(call: LeafCall) -> None:
    call.native()
    namespace, name, value = call.arguments
    call.store.store_part(call.store.items, namespace, name, value)


@rule(primitives.delete_global)
@hidden
def delete_global(call: LeafCall) -> None:
    call.native()
    call.store.store_part(call.store.items, call.arguments[0], call.arguments[1], None)
