"""Rules for conversions to numbers and to text, `str.format`, `re.sub`, and for buffers that are written into."""

from __future__ import annotations

import _csv
import _string  # type: ignore[import-not-found]  # typeshed has none
import array
import contextvars
import gc
import io
import itertools
import re
import sys
from collections.abc import Iterator
from types import BuiltinMethodType, MemberDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.c_callers import bare_callback
from cassette_import.runtime.tagging.callback_metadata import with_metadata_of_callback
from cassette_import.runtime.tagging.computed_metadata import add_to_contents, with_computed_metadata
from cassette_import.runtime.tagging.fast_path import are_formatted_by_c
from cassette_import.runtime.tagging.held_metadata import attributes_of
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.tags import converted
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain, wrapped

# ---- rules for buffers: what is written into `io.StringIO`, `io.BytesIO`, `bytearray`, `array.array`, and by `print`


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


# ---- rules for `re.sub` with a function: its call is an event, and the text is computed from its results too


class _Replacing:
    """A function that returns replacements: it gets matches with metadata, and its results are kept."""

    __slots__ = ("_call", "_function", "results")

    def __init__(self, call: LeafCall, function: Any) -> None:
        self._call = call
        self._function = function
        self.results: list[Any] = []

    @hidden
    def __call__(self, match: Any) -> Any:
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self._function(match)
        result = self._call.event(self._function, self._call.with_computed_metadata(match))
        self.results.append(result)
        return plain(result)


@hidden
def _by_text(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether text replaces the matches: a function would be one of the first two arguments."""
    return not any(map(callable, (*arguments[:2], keywords.get("repl"))))


@rule(re.sub, re.subn, re.Pattern.sub, re.Pattern.subn, plain_if=_by_text)
@hidden
def substitute(call: LeafCall) -> Any:
    number = 1 - len(call.leading) if call.function in (re.Pattern.sub, re.Pattern.subn) else 1
    in_keywords = "repl" in call.keywords
    function = bare_callback(
        call.keywords["repl"] if in_keywords else call.given[number] if len(call.given) > number else ""
    )
    if not callable(function):
        return without_rule(call)
    replacing = _Replacing(call, function)
    given, keywords = [plain(argument) for argument in call.given], call.plain_keywords
    if in_keywords:
        keywords["repl"] = replacing
    else:
        given[number] = replacing
    value = call.callee(*given, **keywords)
    arguments = (*call.arguments, *replacing.results)
    return with_computed_metadata(call.activation, call.function, arguments, call.keywords, value)


# ---- rules for `str.format`: its text is computed also of the attributes and items that its fields name
#


@rule(str.format, str.format_map, while_tagged=True)
@hidden
def format_fields(call: LeafCall) -> Any:
    if call.store.attributes.entries:
        call.arguments = (*call.arguments, *_parts_with_metadata(call))
    return without_rule(call)


@hidden
def _parts_with_metadata(call: LeafCall) -> Iterator[Tagged]:
    """The values with metadata among the attributes and items that the fields name."""
    text, *given = call.arguments
    named = call.keywords
    if call.function is str.format_map and given and is_a(plain(given[0]), dict):
        named = plain(given[0])
    try:
        fields = [field for _, field, *_ in _string.formatter_parser(plain(text)) if field is not None]
    except (TypeError, ValueError):
        return  # the call raises the same
    next_number = itertools.count()
    for field in fields:
        first, steps = _string.formatter_field_name_split(field)
        first = next(next_number) if first == "" else first
        if isinstance(first, int):
            value = given[first] if first < len(given) else None
        else:
            value = dict.get(named, first)
        is_part = False
        for is_attribute, name in steps:
            value = _attribute(call, plain(value), name) if is_attribute else _item(plain(value), name)
            is_part = True
        if is_part and type(value) is Tagged:
            yield value


@hidden
def _attribute(call: LeafCall, owner: Any, name: str) -> Any:
    """An attribute that an object stores, with its metadata; no code of the program runs."""
    descriptor = lookup(type(owner), name)
    if type(descriptor) is MemberDescriptorType:
        value = getattr(owner, name, None)
    else:
        value = attributes_of(owner).get(name)
    return call.store.load_part(call.store.attributes, owner, name, value)


def _item(owner: Any, key: Any) -> Any:
    if is_a(owner, dict):
        return dict.get(owner, key)
    is_index = is_a(owner, (list, tuple)) and isinstance(key, int) and key < len(owner)
    return owner[key] if is_index and type(owner) in (list, tuple) else None


# ---- rules for conversions: `int`, `float`, `complex`, `bool`, `str`, `bytes`, `repr`, `format`


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
