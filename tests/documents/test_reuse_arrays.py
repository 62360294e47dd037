"""The example that reuses the memory of arrays: no program may see that an array took the place of another one."""

import importlib.util
import random
import sys
import threading
import weakref
from pathlib import Path

import pytest

from cassette_import import overdub

np = pytest.importorskip("numpy", minversion="2", reason="the example needs NumPy 2")

pytestmark = pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # of NumPy 2.5

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "reuse_arrays.py"
COUNT = 100
NAMES = ["a", "b", "c", "d"]
STATEMENTS = [
    "{0} = {1} + {2}",
    "{0} = {1} - {2} * {3}",
    "{0} = ({1} + {2}) * ({3} - {1})",
    "{0} = -{1}",
    "{0} = 2 * {1} + 0.5",
    "{0} = np.sin({1})",
    "{0} = np.maximum({1}, {2})",
    "{0} = np.where({1} < {2}, {1}, {3})",
    "{0} = {1} @ {2}",
    "{0} = ({1} + {2}).T",
    "{0} = ({1} * {2})[::-1]",
    "{0} = np.add({1}, {2}, out={3})",
    "{0} = {1}.copy()",
    "{0} += {1}",
    "{0}[1:5] = {1}[2:6]",
    "{0}[3, :] = 0.25",
    "kept.append({1} + {2})",
    "kept.append({1} - 1)",
    "kept.append(({1} * {2})[2:, :3])",
    "kept.append(memoryview({1} * 3.0))",
    "kept.append(iter({1} + 1))",
    "if kept: kept.pop(0)",
    "kept.append((lambda held: lambda: held)({1} * {2}))",
    "kept.append(({1} + 1).flat)",
    "({1} + {2}).shape = (-1,)",
    "({1} * {2}).flags.writeable = False",
    "{0} = ({1} + {2}).astype('f4') + {3}",
    "{0} = generated({1}, {2})",
]


def _one(statements, number, functions):
    chosen = random.Random(number)
    lines = [f"def program_{number}(a, b, c, d):", "    kept = []"]
    for _ in range(functions):
        names = [chosen.choice(NAMES) for _ in range(4)]
        lines.append("    " + chosen.choice(statements).format(*names))
    return "\n".join([*lines, "    return a, b, c, d, kept", ""])


def _frozen(value):
    """The contents of a result as bytes, with types, shapes and layouts."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.strides, value.flags.owndata, value.tobytes()
    if isinstance(value, memoryview):
        return value.tobytes()
    if isinstance(value, (tuple, list)):
        return [_frozen(one) for one in value]
    return _frozen(value()) if callable(value) else [np.asarray(one).tobytes() for one in value]


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("reuse_arrays", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Functions that make arrays, keep some of them in various ways, and change others in place."""
    generated = "def generated(x, y):\n    return sum((x * n + y for n in range(3)), y - x)\n"
    path = tmp_path_factory.mktemp("reuse") / "reuse_programs.py"
    source = ["import numpy as np", generated, *(_one(STATEMENTS, number, 25) for number in range(COUNT))]
    path.write_text("\n".join(source), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("reuse_programs", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["reuse_programs"] = module
    spec.loader.exec_module(module)
    yield [found for name, found in vars(module).items() if name.startswith("program_")]
    del sys.modules["reuse_programs"]


def _arrays():
    return [np.random.default_rng(seed).random((8, 8)) for seed in range(4)]


def _outcome(call):
    try:
        return _frozen(call())
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # of shapes, and flags of another array
        return str(error)


def _differing(ctx, programs):
    with np.errstate(all="ignore"):
        return [
            program.__name__
            for program in programs
            if _outcome(lambda program=program: program(*_arrays()))
            != _outcome(lambda program=program: overdub(ctx, program, *_arrays()))
        ]


def test_random_programs_have_the_results_of_plain_python(example, programs):
    ctx = example.Reuse(smallest=1)
    assert _differing(ctx, programs * 2) == []
    assert ctx.reused > ctx.made > 0


def test_the_random_programs_find_arrays_that_are_taken_too_early(example, programs):
    class Careless(example.Reuse):
        def free(self, pool, index):
            return index == 0 and weakref.getweakrefcount(pool[index]) == 0

    assert len(_differing(Careless(smallest=1), programs[:20])) > 10


def test_an_array_dies_where_the_program_asks(example):
    def dies():
        array = np.ones(100) + 1
        reference = weakref.ref(array)
        del array
        return reference() is None

    ctx = example.Reuse(smallest=1)
    assert all(overdub(ctx, dies) for _ in range(3))


def test_threads_do_not_take_arrays_of_one_another(example):
    def sums(start):
        return [float((np.full(1000, start + n) * 2.0 + 1.0).sum()) for n in range(200)]

    ctx = example.Reuse(smallest=1)
    found = {}
    threads = [
        threading.Thread(target=lambda start=start: found.update({start: overdub(ctx, sums, start)}))
        for start in (0.0, 1000.0, 2000.0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {start: sums(start) for start in (0.0, 1000.0, 2000.0)}
