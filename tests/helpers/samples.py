"""Random samples of the tests that are a product of the same thing with many parameters; `--thorough` runs all."""

import collections
import datetime
import random

import pytest

SMALLEST = 8
SHARE = 25
"""A sample has eight cases and every twenty-fifth of the others."""


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("samples", "samples of tests with many parameters")
    group.addoption("--thorough", action="store_true", help="run all cases of tests with many parameters, no samples")
    group.addoption(
        "--sample-seed",
        metavar="TEXT",
        # A day's runs agree, so that what one machine has found can be repeated on another; the days differ.
        default=datetime.datetime.now(datetime.UTC).date().isoformat(),
        help="another seed draws other samples (default: the date)",
    )


def header(config: pytest.Config) -> str | None:
    """The line of the report that says how to repeat this run."""
    if config.option.thorough:
        return None
    return f"samples of tests with many parameters: --sample-seed={config.option.sample_seed} (all: --thorough)"


def without_the_rest(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep a sample of each test with many parameters, in the order of `items`.

    A test that the command line names with its parameters runs in any case.
    """
    named = {argument.rpartition("::")[2] for argument in config.args if argument.endswith("]")}
    cases = collections.defaultdict(list)
    for item in items:
        if item.name.endswith("]") and item.name not in named:
            cases[item.nodeid.partition("[")[0]].append(item)
    dropped = set()
    for test, same in cases.items():
        size = SMALLEST + len(same) // SHARE
        if len(same) > size:
            # The draw depends on the test alone, so all workers draw the same, and so does a run of one file.
            kept = set(random.Random(f"{config.option.sample_seed} {test}").sample(range(len(same)), size))
            dropped.update(item for number, item in enumerate(same) if number not in kept)
    if dropped:
        config.hook.pytest_deselected(items=[item for item in items if item in dropped])
        items[:] = [item for item in items if item not in dropped]
