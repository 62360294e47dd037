"""Fixtures of the tests of verbs."""

import pytest
from helpers.called_program import PROGRAM


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)
