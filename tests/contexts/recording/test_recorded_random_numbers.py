"""NumPy's random numbers: those of generators without a seed are external, the others are deterministic."""

import json
from pathlib import Path

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay

numpy = pytest.importorskip("numpy")


def shuffled():
    values = numpy.arange(20)
    numpy.random.shuffle(values)
    return values.tolist()


def unseeded_state():
    return numpy.random.RandomState().randint(0, 1 << 30, 4).tolist()


def unseeded_generator():
    rng = numpy.random.default_rng()
    return rng.normal(size=3).tolist(), rng.integers(1 << 60), rng.permutation(9).tolist()


def unseeded_bit_generator():
    return numpy.random.Generator(numpy.random.PCG64()).random()


def unseeded_functions():
    return numpy.random.rand(), numpy.random.normal(2.0, 0.5, (2, 2)).tolist(), numpy.random.choice([1, 2, 3])


def seed_removed():
    numpy.random.seed(1)
    numpy.random.seed()
    return numpy.random.rand()


def seeded_functions():
    numpy.random.seed(3)
    return numpy.random.rand(3).tolist(), shuffled()


def seeded_generators():
    return (
        numpy.random.default_rng(5).random(),
        numpy.random.RandomState(seed=6).rand(),
        numpy.random.Generator(numpy.random.PCG64(7)).random(),
    )


@pytest.fixture(autouse=True)
def random_state():
    """The state of NumPy's functions after the test is that before it."""
    state = numpy.random.get_state()
    yield
    numpy.random.set_state(state)


@pytest.mark.parametrize(
    ("program", "is_recorded"),
    [
        (shuffled, True),
        (unseeded_state, True),
        (unseeded_generator, True),
        (unseeded_bit_generator, True),
        (unseeded_functions, True),
        (seed_removed, True),
        (seeded_functions, False),
        (seeded_generators, False),
    ],
)
def test_random_numbers_of_numpy_are_replayed(tmp_path, program, is_recorded):
    file = str(tmp_path / "it.cassette")
    with Record(file) as record:
        before = overdub(record, program)
    calls = [line for line in map(json.loads, Path(file).read_text().splitlines()) if "call" in line]
    assert bool(calls) == is_recorded
    with Replay(file) as replay:
        assert overdub(replay, program) == before
