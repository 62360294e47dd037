"""The unaware programs, installed for one test."""

import pytest

from cassette_import import install

from . import programs as unaware


@pytest.fixture
def programs():
    """The module of unaware programs. It is imported already when it is installed."""
    with install([unaware.__name__]):
        yield unaware
