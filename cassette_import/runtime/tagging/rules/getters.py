"""Rules for `operator.itemgetter` and `operator.attrgetter` objects: each load is an event."""

from __future__ import annotations

import operator
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule_of_type
from cassette_import.runtime.tagging.wrappers import plain


@rule_of_type(operator.itemgetter)
@hidden
def load_items(call: LeafCall) -> Any:
    _, keys = call.callee.__reduce__()
    found = [call.event(operator.getitem, call.given[0], key) for key in keys]
    return found[0] if len(found) == 1 else call.store.bind_items(tuple(map(plain, found)), found)


@rule_of_type(operator.attrgetter)
@hidden
def load_attributes(call: LeafCall) -> Any:
    _, names = call.callee.__reduce__()
    found = []
    for name in names:
        value = call.given[0]
        for part in name.split("."):
            value = call.event(getattr, value, part)
        found.append(value)
    return found[0] if len(found) == 1 else call.store.bind_items(tuple(map(plain, found)), found)
