"""Untrusted text that a leaf passes to a function of the program is untrusted there, and so is what it returns."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import environment
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


AT_EXIT = {"atexit_run", "atexit_own"}
"""Programs that call all exit functions of their process, which should end then."""


def findings(name, source):
    here = programs.__name__
    taint = Taint(sources=[f"{here}.{source.__name__}"], sinks=[f"{here}.{sink}" for sink in SINKS])
    with install([here]):
        overdub(taint, programs.run, programs.PROGRAMS[name], source)
    return taint.findings


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", sorted({*programs.PROGRAMS} - AT_EXIT))
def test_an_untrusted_text_reaches_a_sink_through_a_leaf(name, source):
    assert findings(name, source)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", sorted(AT_EXIT))
def test_an_untrusted_text_reaches_a_sink_through_an_exit_function(name, source):
    code = f"""
import os
from contexts import test_taint_called_back as tests
assert tests.findings({name!r}, tests.programs.{source.__name__})
print("found", flush=True)
os._exit(0)
"""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), environment()["PYTHONPATH"]])
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment(PYTHONPATH=paths), capture_output=True, text=True)
    assert done.stdout == "found\n", done.stderr
