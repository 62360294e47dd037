"""Rules for `pickle`: what it writes is computed of all values that an object leads to."""

from __future__ import annotations

import _pickle
import io
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.computed_metadata import add_to_contents
from cassette_import.runtime.tagging.held_metadata import wrapped_values_in
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import plain


@rule(_pickle.dumps)
@hidden
def dump_to_bytes(call: LeafCall) -> Any:
    _add_held_values(call)
    return without_rule(call)


@rule(_pickle.dump)
@hidden
def dump_to_file(call: LeafCall) -> Any:
    file = plain(call.arguments[1]) if len(call.arguments) > 1 else plain(call.keywords.get("file"))
    if not is_a(file, _BUFFERS):
        _add_held_values(call)
        return without_rule(call)
    call.native()
    _add_held_values(call)
    add_to_contents(call, file)
    return None


_BUFFERS: Final = (io.BytesIO, io.BufferedIOBase)


@hidden
def _add_held_values(call: LeafCall) -> None:
    """Let the values that the object leads to count as arguments."""
    call.arguments = (*call.arguments, *wrapped_values_in(call.arguments[:1], call.store))
