"""What contexts use of tagging: values with metadata, where they are stored, and what happens to them in calls."""

from __future__ import annotations

from cassette_import.runtime.tagging.classification import COMPUTES, UNCLASSIFIED, classification
from cassette_import.runtime.tagging.computed_metadata import CONTENTS, tag_with_parts
from cassette_import.runtime.tagging.fast_path import RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, holds_metadata
from cassette_import.runtime.tagging.iterator_metadata import CURSORS, items_outside, iterate_outside
from cassette_import.runtime.tagging.live_metadata import (
    WATCHES,
    hold_metadata,
    note_watching,
    refresh_sometimes,
    release_metadata,
    token_of_module,
)
from cassette_import.runtime.tagging.lost_metadata import leaf_name
from cassette_import.runtime.tagging.matched_parts import part_of_subject
from cassette_import.runtime.tagging.overdubbed_calls import WRAPPER_AWARE, calls_overdubbed
from cassette_import.runtime.tagging.parcels import leaving
from cassette_import.runtime.tagging.quick_rules import quick_item
from cassette_import.runtime.tagging.rules.construction import is_new_of_named_tuple
from cassette_import.runtime.tagging.tag_scopes import active_store, own_store, tag_of
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import COMPUTED_BY, Tagged, metas_of, plain, run, wrapped

__all__ = [
    "COMPUTED_BY",
    "COMPUTES",
    "CONTENTS",
    "CURSORS",
    "RULED_WHILE_TAGGED",
    "SEQUENCES",
    "UNCLASSIFIED",
    "WATCHES",
    "WRAPPER_AWARE",
    "Metas",
    "Tagged",
    "active_store",
    "calls_overdubbed",
    "classification",
    "hold_metadata",
    "holds_metadata",
    "is_new_of_named_tuple",
    "items_outside",
    "iterate_outside",
    "leaf_name",
    "leaving",
    "metas_of",
    "note_watching",
    "own_store",
    "part_of_subject",
    "plain",
    "quick_item",
    "refresh_sometimes",
    "release_metadata",
    "run",
    "tag_of",
    "tag_with_parts",
    "token_of_module",
    "wrapped",
]
