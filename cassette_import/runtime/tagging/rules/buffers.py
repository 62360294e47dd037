"""Rules for buffers: what is written into `io.StringIO`, `io.BytesIO`, `bytearray`, `array.array`, and by `print`."""

from __future__ import annotations

import _csv
import array
import contextvars
import gc
import io
import sys
from types import BuiltinMethodType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.computed_metadata import add_to_contents
from cassette_import.runtime.tagging.container_contents import attributes_of
from cassette_import.runtime.tagging.fast_path import are_formatted_by_c
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.wrappers import plain


@rule(
    io.StringIO.write, io.StringIO.writelines, io.BytesIO.write, io.BytesIO.writelines,
    bytearray.append, bytearray.extend, bytearray.insert, array.array.append, array.array.extend, array.array.insert,
    array.array.fromlist, contextvars.ContextVar.set, io.TextIOWrapper.write,
)  # fmt: skip
@hidden
def write(call: LeafCall) -> Any:
    """The metadata computed for the buffer is added to that of its contents."""
    owner, result = call.owner, call.native()
    add_to_contents(call, owner)
    if is_a(owner, io.TextIOWrapper) and not owner.closed and isinstance(owner.buffer, _BUFFERS):
        add_to_contents(call, owner.buffer)
    return result


@rule(print, plain_if=are_formatted_by_c)
@hidden
def write_text(call: LeafCall) -> Any:
    file = plain(call.keywords.get("file"))
    file = sys.stdout if file is None else file
    call.native()
    if isinstance(file, _BUFFERS):
        add_to_contents(call, file)


_BUFFERS: Final = (io.StringIO, io.BytesIO, io.TextIOWrapper)


# ---- the text of the exception that is being handled


@rule_of_code("traceback", "format_exc", "print_exc")
@hidden
def describe_exception(call: LeafCall) -> Any:
    call.arguments = (*call.arguments, sys.exception())
    value, file = call.native(), plain(call.keywords.get("file"))
    if isinstance(file, _BUFFERS):
        add_to_contents(call, file)
    return call.with_computed_metadata(value) if isinstance(value, str) else value


# ---- CSV: a writer belongs to a buffer

_WRITER: Final = type(_csv.writer(io.StringIO()))


def _file_of(writer: Any) -> Any:
    """The buffer that a writer has the method `write` of; None if it writes into something else."""
    own = writer if type(writer) is _WRITER else attributes_of(writer).get("writer")
    writes = gc.get_referents(own) if type(own) is _WRITER else ()
    owners = (one.__self__ for one in writes if type(one) is BuiltinMethodType)
    return next((owner for owner in owners if isinstance(owner, _BUFFERS)), None)


@rule(_WRITER.writerow, _WRITER.writerows, plain_if=are_formatted_by_c)
@hidden
def write_row(call: LeafCall) -> Any:
    result, file = call.native(), _file_of(call.owner)
    if file is not None:
        add_to_contents(call, file)
    return result


@rule_of_code("csv", "DictWriter.writerow", "DictWriter.writerows")
@hidden
def write_dict(call: LeafCall) -> Any:
    if _file_of(call.owner) is None:
        call.with_computed_metadata(None)  # the buffer is not known, so the loss is reported
    return write_row(call)
