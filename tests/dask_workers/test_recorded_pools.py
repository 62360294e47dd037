"""Each task of a process pool has a recording of its own, and is replayed from it by any process."""

import os
import subprocess
import sys

import pytest

from cassette_import.contexts import Record
from cassette_import.distributed import PoolInitializer
from cassette_import.distributed.pool_initializer import call_around_tasks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has one way to start processes")

SHOP = """
import os
import random

def price(number):
    return number, random.random(), os.getpid()

def sum_of(one, other):
    return one + other, random.random()
"""
SCRIPT = """
import functools
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
import pool_records
from cassette_import.contexts import Record, Replay
from cassette_import.distributed import PoolInitializer

def results(method, kind, initializer, count):
    processes = multiprocessing.get_context(method)
    if kind == "executor":
        with ProcessPoolExecutor(count, mp_context=processes, initializer=initializer) as pool:
            return [
                *pool.map(pool_records.price, range(3)),
                *pool.map(pool_records.price, range(5), chunksize=2),
                pool.submit(functools.partial(pool_records.sum_of, 1), other=2).result(),
            ]
    pool = processes.Pool(count, initializer=initializer)
    found = pool.map(pool_records.price, range(5), chunksize=2)
    found += pool.starmap(pool_records.sum_of, [(1, 2), (3, 4)])
    found += pool.imap_unordered(pool_records.price, range(1))
    found.append(pool.apply(pool_records.sum_of, (1,), {"other": 2}))
    pool.close()
    pool.join()
    return found

if __name__ == "__main__":
    method, kind, folder = sys.argv[1:]
    recorded = PoolInitializer("pool_records", Record, folder, each_task=True)
    first = results(method, kind, recorded, 2)
    print(recorded.summary(), file=sys.stderr)
    assert first == results(method, kind, PoolInitializer("pool_records", Replay, folder, each_task=True), 3)
    assert first != results(method, kind, PoolInitializer("pool_records", Record, folder, each_task=True), 2)
"""


@pytest.fixture
def run(tmp_path):
    """Runs a script beside the module of the functions; returns what it did, and the folder of the recordings."""
    (tmp_path / "pool_records.py").write_text(SHOP)
    (tmp_path / "recordings").mkdir()

    def run(source, *arguments):
        (tmp_path / "script.py").write_text(source)
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, "script.py", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60), (
            tmp_path / "recordings"
        )

    return run


EXECUTOR = [f"price-{n}.0" for n in (0, 1, 2, 3, 4, 5)] + ["price-3.1", "price-4.1", "sum_of-6"]
POOL = ["price-0.0.0", "price-0.0.1", "price-0.1.0", "price-0.1.1", "price-0.2.0"]


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
@pytest.mark.parametrize(("kind", "names"), [("executor", EXECUTOR), ("pool", POOL)])
def test_each_task_of_a_pool_has_a_recording_that_is_replayed(run, method, kind, names):
    done, recordings = run(SCRIPT, method, kind, "recordings")
    assert done.returncode == 0, done.stderr
    assert "each with a file in" in done.stderr
    found = {path.stem for path in recordings.glob("*.cassette")}
    assert {name for name in found if name.startswith("price")} >= {name for name in names if name.startswith("price")}
    assert len(found) == 9


MISMATCH = """
from concurrent.futures import ProcessPoolExecutor
import pool_records
from cassette_import.contexts import Record, Replay
from cassette_import.distributed import PoolInitializer

if __name__ == "__main__":
    for context, function in ((Record, pool_records.price), (Replay, pool_records.sum_of)):
        initializer = PoolInitializer("pool_records", context, "recordings", each_task=True)
        with ProcessPoolExecutor(1, initializer=initializer) as pool:
            pool.submit(function, *[1] * function.__code__.co_argcount).result()
"""


def test_a_task_without_a_recording_fails(run):
    done, _ = run(MISMATCH)
    assert "sum_of-0.cassette: No such file" in done.stderr


def test_options_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(TypeError, match="give what makes the context of a file, such as Record, not 'record'"):
        PoolInitializer("shop", "record", tmp_path, each_task=True)
    with pytest.raises(ValueError, match="give no suffix"):
        PoolInitializer("shop", Record, tmp_path, each_task=True, suffix=".cassette")
    with pytest.raises(ValueError, match="each task has a file of its own"):
        PoolInitializer("shop", Record, tmp_path, each_task=True).write(tmp_path / "all.cassette")


def test_tasks_are_those_of_a_pool():
    with pytest.raises(RuntimeError, match="give the initializer to ProcessPoolExecutor"):
        call_around_tasks(print)
