"""Rules for conversions: `int`, `float`, `complex`, `bool`, `str`, `bytes`, `repr`, `format`."""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.callback_metadata import with_metadata_of_callback
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.metadata_types import converted
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain, wrapped


@rule(str, repr, format, ascii, returns_method_result=True)
@rule(int, float, complex, bytes, bytearray, bool)
@hidden
def convert(call: LeafCall) -> Any:
    """A conversion that returns the same object keeps its metadata. Int to float keeps it too, but converts it."""
    LOCAL.returned = None
    value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a special method of the program
    if len(call.given) != 1 or type(call.given[0]) is not Tagged:
        value = call.with_computed_metadata(value)
        if found is None or type(value) is Tagged:
            return value
        LOCAL.returned = found  # a special method of the program has made a part of the text
        return with_metadata_of_callback(call.activation, call.function, call.arguments, call.keywords, value)
    metas, before = call.given[0]._tagged_metas, plain(call.given[0])
    if value is before:
        return wrapped(value, metas)
    if is_a(before, (int, float)) and type(value) in (float, complex):
        return wrapped(value, converted(metas, type(value)))
    return call.with_computed_metadata(value)


@rule_of_code("typing", "cast")
@hidden
def cast(call: LeafCall) -> Any:
    """The value itself."""
    return call.given[1] if len(call.given) == 2 else call.keywords["val"] if "val" in call.keywords else call.native()
