"""Untrusted text that a leaf passes to a function of the program is untrusted there, and so is what it returns."""

import sys

import pytest
from programs import untrusted_texts_called_back as programs

from cassette_import import install, overdub
from cassette_import.contexts import Taint

SINKS = ("query", "query_second", "query_and_return")
SOURCES = [
    programs.ask,
    pytest.param(
        programs.ask_for_a_word,
        marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="a constant may be the same object"),
    ),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_an_untrusted_text_reaches_a_sink_through_a_leaf(name, source):
    here = programs.__name__
    taint = Taint(sources=[f"{here}.{source.__name__}"], sinks=[f"{here}.{sink}" for sink in SINKS])
    with install([here]):
        overdub(taint, programs.run, programs.PROGRAMS[name], source)
    assert taint.findings
