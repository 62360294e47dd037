"""Rules for buffers: what is written into `io.StringIO`, `io.BytesIO`, `bytearray`, `array.array`, and by `print`.

Knows the methods that write into a buffer and read it; must not know what a context computes for its contents.
"""

from __future__ import annotations

import _csv
import array
import contextvars
import io
import sys
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.computed_metadata import add_to_contents
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import plain


@rule(
    io.StringIO.write, io.StringIO.writelines, io.BytesIO.write, io.BytesIO.writelines,
    bytearray.append, bytearray.extend, bytearray.insert, array.array.append, array.array.extend, array.array.insert,
    array.array.fromlist, contextvars.ContextVar.set,
)  # fmt: skip
@hidden
def write(call: LeafCall) -> Any:
    """The metadata computed for the buffer is added to that of its contents."""
    owner, result = call.owner, call.native()
    add_to_contents(call, owner)
    return result


@rule(print)
@hidden
def write_text(call: LeafCall) -> Any:
    file = plain(call.keywords.get("file"))
    file = sys.stdout if file is None else file
    call.native()
    if isinstance(file, _BUFFERS):
        add_to_contents(call, file)


_BUFFERS: Final = (io.StringIO, io.BytesIO)

# ---- CSV: a writer belongs to a buffer

_FILE: Final = "the file"
_WRITER: Final = type(_csv.writer(io.StringIO()))


@rule(_csv.writer, while_untagged=True)
@hidden
def make_writer(call: LeafCall) -> Any:
    made, file = call.native(), plain(call.given[0]) if call.given else None
    if isinstance(file, _BUFFERS):
        call.store.attributes.make(made).slots[_FILE] = file, {}
    return made


@rule(_WRITER.writerow, _WRITER.writerows)
@hidden
def write_row(call: LeafCall) -> Any:
    result, entry = call.native(), call.store.attributes.of(call.owner)
    if entry is not None and _FILE in entry.slots:
        add_to_contents(call, entry.slots[_FILE][0])
    return result
