"""Rules for displays: `[a, b]`, `(a, b)`, `{a, b}`, `{a: b}`."""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import primitives
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.lost_metadata import lose_key
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@rule(primitives.build_list)
@hidden
def build_list(call: LeafCall) -> Any:
    return call.store.bind_items(list(map(plain, call.given)), call.given)


@rule(primitives.build_tuple)
@hidden
def build_tuple(call: LeafCall) -> Any:
    return call.store.bind_items(tuple(map(plain, call.given)), call.given)


@rule(primitives.build_set)
@hidden
def build_set(call: LeafCall) -> Any:
    call.compare(*call.given)
    return call.store.bind_elements(set(map(plain, call.given)), call.given)


@rule(primitives.build_dict)
@hidden
def build_dict(call: LeafCall) -> Any:
    call.compare(*call.given[::2])
    pairs = list(zip(call.given[::2], call.given[1::2], strict=True))
    for key, _ in pairs:
        if type(key) is Tagged:
            lose_key(key._tagged_value, key._tagged_metas)
            call.store.recognised.note(key._tagged_value, key._tagged_metas)
    return call.store.bind_pairs({plain(key): plain(value) for key, value in pairs}, pairs)
