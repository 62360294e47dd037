"""Rules for buffers: what is written into `io.StringIO`, `io.BytesIO`, `bytearray`, `array.array`.

Knows the methods that write into a buffer and read it; must not know what a context computes for its contents.
"""

from __future__ import annotations

import array
import io
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.computed_metadata import CONTENTS
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import metas_of


@rule(
    io.StringIO.write, io.StringIO.writelines, io.BytesIO.write, io.BytesIO.writelines,
    bytearray.append, bytearray.extend, bytearray.insert, array.array.append, array.array.extend,
)  # fmt: skip
@hidden
def write(call: LeafCall) -> Any:
    """The metadata computed for the buffer is added to that of its contents."""
    owner, result = call.owner, call.native()
    found = metas_of(call.with_computed_metadata(owner))
    if found is not None:
        slots = call.store.attributes.make(owner).slots
        slots[CONTENTS] = owner, {**slots.get(CONTENTS, (owner, {}))[1], **found}
    return result
