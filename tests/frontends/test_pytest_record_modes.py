"""The record modes and options of recordings in pytest: `--cassette-record`, `--record-mode`, marker and ini file."""

import pytest

pytest_plugins = ["pytester"]
ASKS = """
import random
import time

import pytest


@pytest.mark.cassette_record({marker})
def test_it():
    assert time.time() > 0
    {more}
"""


def cassettes_in(pytester):
    return {path.name: path.read_bytes() for path in pytester.path.rglob("*.cassette*")}


def test_new_episodes_adds_new_calls_to_a_recording(pytester):
    pytester.makepyfile(ASKS.format(marker="", more=""))
    pytester.runpytest_subprocess("--cassette-record=new_episodes").assert_outcomes(passed=1)
    [first] = cassettes_in(pytester).values()
    pytester.makepyfile(ASKS.format(marker="", more="assert random.random() < 1"))
    pytester.runpytest_subprocess("--cassette-record=once").assert_outcomes(failed=1)
    assert list(cassettes_in(pytester).values()) == [first]
    pytester.runpytest_subprocess("--cassette-record=new_episodes").assert_outcomes(passed=1)
    [second] = cassettes_in(pytester).values()
    assert second.startswith(first)
    pytester.runpytest_subprocess("--cassette-record=none").assert_outcomes(passed=1)


def test_new_episodes_of_a_failed_test_are_not_kept(pytester):
    pytester.makepyfile(ASKS.format(marker="", more=""))
    pytester.runpytest_subprocess("--cassette-record=once").assert_outcomes(passed=1)
    before = cassettes_in(pytester)
    pytester.makepyfile(ASKS.format(marker="", more="assert random.random() > 1"))
    pytester.runpytest_subprocess("--cassette-record=new_episodes").assert_outcomes(failed=1)
    assert cassettes_in(pytester) == before


@pytest.mark.parametrize(
    ("mode", "outcome"), [("none", {"failed": 1}), ("once", {"passed": 1}), ("all", {"passed": 1})]
)
def test_record_mode_is_that_of_marked_tests(pytester, mode, outcome):
    source = ASKS.format(marker="", more="") + "\n\ndef test_unmarked():\n    assert time.time() > 0\n"
    pytester.makepyfile(source)
    result = pytester.runpytest_subprocess(f"--record-mode={mode}")
    result.assert_outcomes(**{**outcome, "passed": outcome.get("passed", 0) + 1})
    assert len(cassettes_in(pytester)) == outcome.get("passed", 0)


@pytest.mark.parametrize("place", ["marker", "ini"])
def test_matching_is_an_option_of_the_marker_and_of_the_ini_file(pytester, place):
    marker = "order='any'" if place == "marker" else ""
    if place == "ini":
        pytester.makeini("[pytest]\ncassette_record_options =\n    order = any\n    match_on = method uri\n")
    pytester.makepyfile(ASKS.format(marker=marker, more="random.random(), time.time_ns()"))
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    pytester.makepyfile(ASKS.format(marker=marker, more="time.time_ns(), random.random()"))
    pytester.runpytest_subprocess("--cassette-record=none").assert_outcomes(passed=1)


def test_a_wrong_option_in_the_ini_file_is_one_line(pytester):
    pytester.makeini("[pytest]\ncassette_record_options =\n    match_on\n")
    pytester.makepyfile(ASKS.format(marker="", more=""))
    outcome = pytester.runpytest_subprocess("--cassette-record=once")
    outcome.stderr.fnmatch_lines(["*cassette_record_options: 'match_on' is not of the form NAME = VALUE*"])
