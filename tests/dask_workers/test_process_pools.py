"""`PoolInitializer`: a context is active in the processes of a pool, however they are started."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from cassette_import.distributed import PoolInitializer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has one way to start processes")

SHOP = """
import enum

class Kind(enum.Enum):
    SMALL = 1
    LARGE = 2

def tax(price, kind=Kind.SMALL):
    return price * 2 if price < 4 else str(price)

def half(price):
    return float(price) / 2

def total(count):
    return [tax(n) for n in range(count)]
"""
SCRIPT = """
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
import pool_shop
from cassette_import.distributed import PoolInitializer

def results(method, kind, initializer):
    processes = multiprocessing.get_context(method)
    if kind == "executor":
        with ProcessPoolExecutor(2, mp_context=processes, initializer=initializer) as pool:
            return list(pool.map(pool_shop.total, [2, 6]))
    pool = processes.Pool(2, initializer=initializer)
    found = pool.map(pool_shop.total, [2, 6])
    pool.close()
    pool.join()
    return found

if __name__ == "__main__":
    method, kind, context, folder, suffix = sys.argv[1:]
    for run in range(1 if method != "fork" else 2):  # the second one does not meet the results of the first
        initializer = PoolInitializer("pool_shop", context, folder, suffix=suffix)
        print(results(method, kind, initializer))
    if suffix:
        initializer.write(f"{folder}/run{suffix}")
        with open(f"{folder}/run{suffix}") as file:
            print(file.read())
"""
PLAIN = [[0, 2], [0, 2, 4, 6, "4", "5"]]


@pytest.fixture
def run(tmp_path):
    """Runs a pool in a context; returns the results of its tasks and what was gathered."""
    (tmp_path / "pool_shop.py").write_text(SHOP)
    (tmp_path / "script.py").write_text(SCRIPT)

    def run(method, kind, context, suffix):
        command = [sys.executable, "script.py", method, kind, context, tmp_path, suffix]
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        *results, gathered = done.stdout.split("\n", 2 if method == "fork" else 1)
        assert len(set(results)) == 1
        return eval(results[0]), gathered

    return run


METHODS = pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
KINDS = pytest.mark.parametrize("kind", ["executor", "pool"])


@METHODS
@KINDS
def test_the_calls_of_all_processes_are_added_up(run, method, kind):
    """With `fork`, twice with the same folder."""
    results, gathered = run(method, kind, "callgraph", ".txt")
    assert results == PLAIN
    assert "8  pool_shop.total -> pool_shop.tax" in gathered


def test_stubs_have_the_types_of_all_processes(run):
    _, gathered = run("spawn", "executor", "call-types", ".pyi")
    assert "\ndef tax(price: int, kind=...) -> typing.Any: ...\n" in gathered


@METHODS
def test_functions_are_substituted_in_all_processes(run, method):
    results, _ = run(method, "pool", "substitute:pool_shop.tax=pool_shop.half", "")
    assert results == [[0.0, 0.5], [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]]


def test_faults_are_injected_in_all_processes(run):
    results, _ = run("spawn", "executor", "faults:target=pool_shop.tax,corrupt=pool_shop.half", "")
    assert results == [[0.0, 1.0], [0.0, 1.0, 2.0, 3.0, 2.0, 2.5]]


def test_pools_do_without_dask():
    command = "import sys, cassette_import.distributed; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], cwd=os.getcwd()).returncode == 0


def test_a_format_that_the_context_does_not_write_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\.json: unknown format; known are \.dot"):
        PoolInitializer((), "callgraph", tmp_path, suffix=".json")


def test_a_format_that_no_process_has_written_is_an_error(tmp_path):
    initializer = PoolInitializer((), "callgraph", tmp_path)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer) as pool:
        assert pool.submit(abs, -1).result() == 1
    with pytest.raises(ValueError, match=r"run\.dot: the processes left no such files; give suffix='\.dot'"):
        initializer.write(tmp_path / "run.dot")
