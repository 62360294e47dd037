"""The classification of `itertools` and `functools`."""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

ITERTOOLS: Final = Table(
    moves={
        "items become items of the result": (
            "batched chain combinations combinations_with_replacement compress cycle dropwhile filterfalse groupby"
            " islice pairwise permutations product takewhile tee zip_longest chain: from_iterable"
        ),
        "the argument becomes items of the result": "repeat",
        "items become arguments of the callback": "accumulate starmap",
    },
    computes="count",
)

FUNCTOOLS: Final = Table(
    moves={
        "items become arguments of the callback": "reduce",
        "arguments become parts of the object": "partial",
        "arguments become arguments of the callee": "partial: __call__",
    },
    computes="partialmethod",
    creates=(
        "cache Placeholder cmp_to_key lru_cache singledispatch total_ordering update_wrapper wraps cached_property"
        " singledispatchmethod singledispatchmethod: register partialmethod: _make_unbound_method"
        " cached_property: __set_name__"
    ),
)
