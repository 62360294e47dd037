"""Fixtures of the tests of passes."""

import pytest
from helpers.passes import PROGRAM


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)
