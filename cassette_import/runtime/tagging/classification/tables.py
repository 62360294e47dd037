"""The tables of all modules."""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.builtin_names import BUILTINS, TYPES
from cassette_import.runtime.tagging.classification.classes import CONTEXTLIB, DATACLASSES, ENUM, JSON, STRING
from cassette_import.runtime.tagging.classification.containers import BISECT, COLLECTIONS, COPY, HEAPQ
from cassette_import.runtime.tagging.classification.iterators import FUNCTOOLS, ITERTOOLS
from cassette_import.runtime.tagging.classification.numbers import MATH, OPERATOR, STATISTICS
from cassette_import.runtime.tagging.classification.table import Table

TABLES: Final[dict[str, Table]] = {
    "builtins": BUILTINS,
    "operator": OPERATOR,
    "math": MATH,
    "itertools": ITERTOOLS,
    "functools": FUNCTOOLS,
    "collections": COLLECTIONS,
    "copy": COPY,
    "heapq": HEAPQ,
    "bisect": BISECT,
    "statistics": STATISTICS,
    "dataclasses": DATACLASSES,
    "contextlib": CONTEXTLIB,
    "enum": ENUM,
    "types": TYPES,
    "json": JSON,
    "string": STRING,
}
"""The tables by the name of the module that they are for."""
