"""Rules for `types.MappingProxyType`: a proxy shows the metadata of the mapping behind it."""

from __future__ import annotations

import gc
from types import MappingProxyType
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule


@rule(MappingProxyType.get, MappingProxyType.values, MappingProxyType.items, MappingProxyType.copy)
@hidden
def call_method_of_mapping(call: LeafCall) -> Any:
    source = gc.get_referents(call.owner)[0]  # a proxy refers to nothing else
    return call.forward(getattr(source, call.function.__name__), *call.arguments[1:], **call.keywords)
