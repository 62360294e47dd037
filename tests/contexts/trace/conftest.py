"""The tests of `trace` run both ways: with the hooks in C, and with those in Python."""

import pytest
from helpers.accelerator import ways


@pytest.fixture(params=["in C", "in Python"])
def hooks(request, monkeypatch):
    """Which hooks the contexts of a test have that are made in it."""
    with ways(request.param, monkeypatch):
        yield request.param
