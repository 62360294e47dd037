"""The tests of `trace` run both ways: with the hooks in C, and with those in Python."""

import math

import pytest
from helpers.accelerator import ways

from cassette_import.contexts.trace import bounded_repr


@pytest.fixture(params=["in C", "in Python"])
def hooks(request, monkeypatch):
    """Which hooks the contexts of a test have that are made in it."""
    with ways(request.param, monkeypatch):
        yield request.param


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Lets no `repr` be a slow one, as any may be on a busy machine."""
    monkeypatch.setattr(bounded_repr, "_PATIENCE", math.inf)
