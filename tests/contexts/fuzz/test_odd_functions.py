"""`fuzz` of generators, coroutines and decorated functions, with exceptions that cannot be shown, and huge numbers."""

import functools
import os
import re
import sys

import pytest
from helpers.command_line import CHECKOUT, cassette
from helpers.pytest_runs import run_pytest

from cassette_import.contexts.fuzz import fuzz
from cassette_import.contexts.fuzz.inputs import decoded, encoded, suffix_of

LATER = """
import asyncio


def words(text):
    for word in text.split():
        yield word
        if word == "stop":
            raise RuntimeError("found")


def given_words(text):
    return words(text)


async def sent(text):
    await asyncio.sleep(0)
    if text[:4] == "send":
        raise RuntimeError("found")


async def lines(text):
    for line in text.splitlines():
        yield line
        if line == "stop":
            raise RuntimeError("found")


def forever(text):
    while text[:1] == "a":
        yield text


def printing(text):
    print("printed", text)
    if text == "loud":
        raise RuntimeError("found")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "later.py").write_text(LATER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield __import__("later")
    del sys.modules["later"]


@pytest.mark.parametrize("name", ["words", "given_words", "sent", "lines"])
def test_what_a_function_returns_to_be_run_later_is_run_and_so_is_it_in_the_test(name, module, tmp_path):
    (found,) = fuzz(getattr(module, name), [""], executions=1500, output="kept")
    assert found.input in ("stop", "send")
    (test,) = (tmp_path / "kept").glob("test_*.py")
    failed = run_pytest("-q", str(test), folder=tmp_path, PYTHONPATH=f"{CHECKOUT}:.")
    assert "1 failed" in failed.stdout
    assert "RuntimeError: found" in failed.stdout


def test_a_generator_without_an_end_is_no_finding(module):
    assert fuzz(module.forever, ["a"], executions=50) == []


def two(one, other): ...


@pytest.mark.parametrize("f", [two, lambda: None, lambda one, *, named: None])
def test_a_function_that_cannot_be_called_with_one_argument_is_refused(f):
    with pytest.raises(TypeError, match=r"with one argument: .*; give a function of one input"):
        fuzz(f, [""], executions=10)


def test_a_function_with_a_cache_or_another_decorator_is_fuzzed():
    @functools.lru_cache(maxsize=None)
    def cached(text):
        if text == "found":
            raise RuntimeError("found")

    (found,) = fuzz(cached, [""], executions=600)
    assert found.input == "found"


def test_exceptions_of_classes_that_are_made_anew_are_one_finding():
    def checked(text):
        class Bad(Exception): ...

        if text[:1] == "b":
            raise Bad

    assert len(fuzz(checked, ["b"], executions=300)) == 1


def test_an_exception_that_cannot_be_shown_is_a_finding(tmp_path):
    class Mute(Exception):
        def __str__(self):
            raise ValueError("no text")

    def fails(text):
        if text[:1] == "b":
            raise Mute

    (found,) = fuzz(fails, ["b"], executions=100, output=tmp_path)
    assert str(found).startswith("Mute")


class Mute:
    """An object that can be compared, but not be shown or ordered."""

    def __eq__(self, other):
        return self if isinstance(other, Mute) else False

    def __hash__(self):
        return 1

    def __bool__(self):
        raise ValueError("ambiguous")

    def __repr__(self):
        raise ValueError("no text")


MUTE = Mute()


@pytest.mark.parametrize("seed", ["ab", 3, {"a": "b"}])
def test_operands_that_cannot_be_shown_are_left_alone(seed):
    def compared(value):
        value = value["a"] if isinstance(value, dict) else value
        return value == MUTE, value in {MUTE, "x", "y"}, value in [MUTE], {MUTE: 1}.get(value)

    assert fuzz(compared, [seed], executions=300, allowed=(TypeError, KeyError)) == []


def test_a_function_may_change_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def moves(text):
        os.chdir("/")

    fuzz(moves, [""], executions=20, output="kept")
    assert list((tmp_path / "kept" / "corpus").iterdir())


HUGE = 10**5000


def test_numbers_with_more_digits_than_the_interpreter_writes_are_inputs(tmp_path):
    def compared(number):
        if number == HUGE:
            raise RuntimeError("found")

    (found,) = fuzz(compared, [0], executions=300, output=tmp_path)
    assert found.input == HUGE
    assert decoded(encoded([HUGE]), suffix_of([HUGE])) == [HUGE]
    assert "RuntimeError" in str(found)


def test_numbers_with_too_many_digits_are_written_into_texts_as_far_as_possible():
    def compared(text):
        return int(text or "0") == HUGE

    assert fuzz(compared, [""], executions=300, allowed=ValueError) == []


def test_what_the_function_prints_is_not_shown_by_the_command(module, tmp_path):
    outcome = cassette("fuzz", "later:printing", "--executions", "600", folder=tmp_path)
    assert "printed" not in outcome.stdout + outcome.stderr
    assert "RuntimeError: found" in outcome.stdout
    assert re.search(r"600 executions.*1 finding", outcome.stderr)
