"""Losses in `eval` and `exec`: the code that they run is not overdubbed, and computes with plain variables."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.trees.code_matching import all_names
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.computed_metadata import metadata_in
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.lost_metadata import lose
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@hidden
def note_argument(function: Any, value: Any) -> None:
    """An argument of `eval` or `exec`: the code, or a namespace."""
    if is_a(plain(value), dict):
        store = store_of(ACTIVE.get())
        if store is not None and store:
            slots = store.slots_by_key(plain(value))
            note_variables(
                function, {key: Tagged(*slots[key]) if key in slots else one for key, one in plain(value).items()}
            )
        return
    if is_a(plain(value), (str, bytes, CodeType)):
        LOCAL.evaluated = plain(value)
    _lose(function, value)


@hidden
def note_variables(function: Any, variables: Mapping[str, Any]) -> None:
    """The variables that the code may read: values with metadata, or objects that hold such values."""
    if LOCAL.evaluated is None:
        return
    for name in set(_names_in(LOCAL.evaluated)):
        if name in variables:
            _lose(function, variables[name])


@hidden
def _lose(function: Any, value: Any) -> None:
    activation = ACTIVE.get()
    for level, tag in enumerate(activation.tags):
        if tag is None or tag.lost == "ignore":
            continue
        is_of_text = tag.text is not None and next(metadata_in((value,), tag.text), None) is not None
        if is_of_text or next(metadata_in((value,), tag), None) is not None or holds_metadata((value,), tag):
            lose(activation.contexts[level], function)


@hidden
def _names_in(code: Any) -> Iterator[str]:
    """The names of global variables that code reads, or may read."""
    if not is_a(code, CodeType):
        try:
            code = builtins.compile(code, "<evaluated>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, TypeError):
            return
    yield from all_names(code)
