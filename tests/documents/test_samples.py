"""Tests with many parameters run as samples, which a seed repeats."""

import pytest

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.parametrize("number", range(100))
def test_many(number):
    pass

@pytest.mark.parametrize("number", range(5))
def test_few(number):
    pass
"""

CONFTEST = """
from helpers import samples

def pytest_addoption(parser):
    samples.add_options(parser)

def pytest_report_header(config):
    return samples.header(config)

def pytest_collection_modifyitems(config, items):
    if not config.option.thorough:
        samples.without_the_rest(config, items)
"""


@pytest.fixture
def chosen(pytester):
    """Return a function that collects the suite and returns the names of its tests."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=SUITE)

    def collect(*arguments):
        result = pytester.runpytest_inprocess(
            "-q", "--collect-only", "-p", "no:cassette_import", "-p", "no:asyncio", *arguments
        )
        return [line.partition("::")[2] for line in result.outlines if "::" in line]

    return collect


def test_a_test_with_many_parameters_runs_as_a_sample_and_one_with_few_as_it_is(chosen):
    names = chosen("--sample-seed=1")
    assert len([name for name in names if name.startswith("test_many")]) == 12
    assert [name for name in names if name.startswith("test_few")] == [f"test_few[{number}]" for number in range(5)]


def test_a_seed_draws_the_same_sample_again_and_another_seed_another_one(chosen):
    assert chosen("--sample-seed=1") == chosen("--sample-seed=1") != chosen("--sample-seed=2")


def test_thorough_runs_all(chosen):
    assert len(chosen("--thorough")) == 105


def test_a_test_that_is_named_with_its_parameters_runs(chosen):
    assert chosen("--sample-seed=1", *[f"test_it.py::test_many[{number}]" for number in range(20)]) == [
        f"test_many[{number}]" for number in range(20)
    ]
