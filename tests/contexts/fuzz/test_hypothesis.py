"""`fuzz` serves tests of Hypothesis: a strategy of the inputs that were kept, and the body of a test as target."""

import sys

import pytest

hypothesis = pytest.importorskip("hypothesis", reason="an extra for tests brings Hypothesis")

from programs import fuzzed  # noqa: E402

from cassette_import.contexts.fuzz import fuzz, inputs  # noqa: E402

TESTS = """
from hypothesis import given, strategies


@given(strategies.text())
def test_words(text):
    assert not text.startswith("launch "), text
"""


def examples(strategy):
    drawn = []

    @hypothesis.settings(database=None, max_examples=200)
    @hypothesis.given(strategy)
    def test(value):
        drawn.append(value)

    test()
    return drawn


def test_the_examples_of_the_strategy_are_the_inputs_that_a_search_keeps():
    drawn = examples(inputs(fuzzed.ordered, [""], executions=2000))
    assert any(fuzzed.re.fullmatch(r"[A-Z]{3}-\d{4}/x", text) for text in drawn)


def test_an_example_that_fails_shrinks_to_the_shortest_input_that_fails():
    @hypothesis.settings(database=None, report_multiple_bugs=False)
    @hypothesis.given(inputs(fuzzed.commanded, [""], executions=1000))
    def test(text):
        fuzzed.commanded(text)

    with pytest.raises((RuntimeError, KeyError)) as caught:
        test()
    assert "all-stop" in str(caught.value.__notes__)


def priced(text):
    if text[:4] != "EUR ":
        raise ValueError(text)
    return int(text[4:])


def test_examples_are_varied_so_that_a_test_fails_for_what_the_search_had_no_reason_to_keep():
    @hypothesis.settings(database=None, max_examples=200, derandomize=True)
    @hypothesis.given(inputs(priced, [""], executions=1000, allowed=ValueError))
    def test(text):
        try:
            priced(text)
        except ValueError:
            return
        raise AssertionError(text)

    with pytest.raises(AssertionError, match=r"^EUR .*\d"):
        test()


@pytest.mark.parametrize("seed", [b"ab", 3, 2.5, {"a": ["b", 1, None]}, []])
def test_inputs_of_each_type_are_varied(seed):
    drawn = examples(inputs(lambda value: value, [seed], executions=20))
    assert {type(value) for value in drawn} >= {type(seed)}
    assert len({repr(value) for value in drawn}) > (1 if seed != [] else 0)


def test_examples_are_copies_that_a_test_may_change():
    drawn = examples(inputs(lambda items: items, [["a"]], executions=20).map(lambda items: items.append(1) or items))
    assert all(items.count(1) == 1 for items in drawn if items[:1] == ["a"])


def test_the_body_of_a_given_test_can_be_fuzzed_and_the_test_that_is_written_calls_it(tmp_path, monkeypatch):
    (tmp_path / "test_of_words.py").write_text(TESTS)
    monkeypatch.syspath_prepend(tmp_path)
    from test_of_words import test_words as words

    (found,) = fuzz(words, [""], executions=600, output=tmp_path / "kept")
    del sys.modules["test_of_words"]
    assert found.input == "launch "
    (written,) = (tmp_path / "kept").glob("test_*.py")
    assert "from test_of_words import test_words as function\n" in written.read_text()
    assert "    function.hypothesis.inner_test(INPUT)  # AssertionError" in written.read_text()


def test_without_hypothesis_an_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ModuleNotFoundError, match=r"inputs\(\) needs Hypothesis: pip install hypothesis"):
        inputs(len, [""])
