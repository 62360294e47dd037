"""Fixtures of the contract's tests: a statement, run in every place where it may stand."""

import textwrap

import pytest
from helpers.event_places import PLACES, SETUP, UNPACK

from cassette_import import overdub


@pytest.fixture
def run_in_every_place(make_program):
    """Run a statement in every place, each in a new context; return `{place: context}`."""

    def run(statement, make_context):
        definitions = [
            textwrap.dedent(text).format(unpack=UNPACK, statement=statement) + f"main_{number} = main\n"
            for number, text in enumerate(PLACES.values())
        ]
        program = make_program("\n".join([textwrap.dedent(SETUP), *definitions]))
        contexts = {}
        for number, place in enumerate(PLACES):
            contexts[place] = make_context(program)
            overdub(contexts[place], getattr(program, f"main_{number}"), program.make())
        return contexts

    return run
