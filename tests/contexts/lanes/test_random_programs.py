"""Random programs give the same results and exceptions by lanes as in a loop.

None is refused: what they change, they have made. A hundred run by default; set CASSETTE_TEST_LANES to run
others.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from helpers.random_lane_programs import PRELUDE, alike, arguments, program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cassette_import import install
from cassette_import.contexts.lanes import vectorize

np = pytest.importorskip("numpy")

LANES = 24
PROGRAMS = int(os.environ.get("CASSETTE_TEST_LANES", "100"))


@contextlib.contextmanager
def loaded(text: str, folder: Path, number: int) -> Iterator[ModuleType]:
    """A module with this text."""
    name = f"random_program_{number}"
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]


def of_lane(value: Any, number: int) -> Any:
    """The part of a result that belongs to one lane."""
    if type(value) is np.ndarray:
        return value[number : number + 1].tolist()[0]
    if isinstance(value, (list, tuple)):
        return type(value)(of_lane(part, number) for part in value)
    if isinstance(value, dict):
        return {key: of_lane(part, number) for key, part in value.items()}
    return value


def outcome(f: Any, values: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    """The result of a call, or its exception."""
    try:
        return f(*values), None
    except Exception as error:
        return None, error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with install(["helpers.random_lane_prelude"]):
        yield tmp_path_factory.mktemp("random_programs")


@settings(
    max_examples=PROGRAMS,
    deadline=None,
    derandomize=PROGRAMS == 100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(number=st.integers(0, 10**9))
def test_a_random_program_has_the_results_and_exceptions_of_a_loop(folder, number):
    source = random.Random(number)
    text = PRELUDE + program(source)
    lanes = arguments(source, LANES)
    with loaded(text, folder, number) as module:
        columns = [
            np.array(column, float if place < 2 else np.int64) for place, column in enumerate(zip(*lanes, strict=True))
        ]
        results, failures = vectorize(module.f, errors="return", max_paths=None)(*columns)
        for lane, values in enumerate(lanes):
            expected, error = outcome(module.f, values)
            found = failures.get(lane)
            assert type(found) is type(error), (text, values)
            if error is None:
                assert alike(of_lane(results, lane), expected), (text, values)
            else:
                assert alike(found.args, error.args), (text, values)
