"""Lanes: whether something else refers to an iterator is seen by the references to it."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from cassette_import.contexts.lanes.calls import shared_iterators


def _found(*given):
    return shared_iterators(given)


def test_an_iterator_is_shared_if_something_else_refers_to_it():
    kept = iter([1, 2])
    for around in (enumerate, lambda one: zip([1], one, strict=True), lambda one: (part for part in one), iter):
        found, other = _found(around(kept)), _found(around(iter([1, 2])))  # an `assert` keeps what is within it
        assert (found, other) == ([kept], [])
    assert _found([1, 2]) == _found(range(3)) == []
