"""The classification of the standard library: what each callable does with the values that it is given.

Each callable is of one kind:

- `moves`: the result, or a part of an object, is a value that was given. A rule moves its metadata with it.
- `computes`: the result depends on the values. A rule or a context computes its metadata, or it is lost.
- `consumes`: the result does not depend on the values, or only as text that is written: `len`, `isinstance`, `print`.
- `creates`: the arguments are no values: types, names, functions.

The tables are data, one file for some modules of the standard library. Their names are looked up at the first
question.
"""

from __future__ import annotations

from cassette_import.runtime.tagging.classification.lookup import (
    COMPUTES,
    CONSUMES,
    CREATES,
    MOVES,
    UNCLASSIFIED,
    classification,
    is_output,
    way_of,
)
from cassette_import.runtime.tagging.classification.tables import TABLES

__all__ = [
    "COMPUTES", "CONSUMES", "CREATES", "MOVES", "TABLES", "UNCLASSIFIED", "classification", "is_output", "way_of",
]  # fmt: skip
