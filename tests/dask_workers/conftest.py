"""One cluster of two worker processes for the tests of a module, and programs that call a module of targets."""

import importlib
import itertools
import sys

import pytest

from cassette_import.contexts.parallel.context import local_processes

TARGETS = """
import decimal
import enum
import time

def load(number):
    return {"n": number}

def score(row, factor=10):
    return row["n"] * factor

def noisy(number):
    print("noisy", number)
    return number

def failing(number):
    if number == 3:
        raise ValueError(f"no {number}")
    return number

def chained(number):
    try:
        raise KeyError(number)
    except KeyError as error:
        raise ValueError("chained") from error

class Unsent(Exception):
    def __init__(self, number, text):
        super().__init__(text)

def unsent(number):
    raise Unsent(number, "unsent")

def changing(numbers):
    numbers.append(1)

def same(numbers):
    return numbers

MISSING = object()
SETTINGS = {"a": 1}

def missing(number):
    return MISSING

def settings(number):
    return [number, SETTINGS]

def function_of(number):
    return lambda: number

def slow(number, seconds=0.05):
    time.sleep(seconds)
    return number * number

def dying(number, process):
    import os
    if os.getpid() != process:
        os._exit(1)
    return number

def nested(number):
    return [score(load(n)) for n in range(number)]

def different(number, process):
    import os
    return number if os.getpid() == process else -number

def total(numbers):
    return sum(numbers)

class Size(enum.Enum):
    SMALL = 1
    LARGE = 2

def size_like(size, others=()):
    return [size, decimal.Decimal(1)]

def doubled(array):
    return array * 2
"""

_numbers = itertools.count()


@pytest.fixture(scope="module")
def client():
    Client = pytest.importorskip("distributed", reason="dask.distributed is not installed").Client
    with local_processes(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder on `sys.path`."""
    path = tmp_path_factory.mktemp("programs")
    sys.path.insert(0, str(path))
    yield path
    sys.path.remove(str(path))


@pytest.fixture(scope="session")
def work(folder):
    """The module of the targets."""
    (folder / "parallel_work.py").write_text(TARGETS)
    importlib.invalidate_caches()
    return importlib.import_module("parallel_work")


@pytest.fixture
def program(folder, work):
    """Makes a module of a source text, which has the name `work` for the targets."""

    def make(source):
        name = f"parallel_program_{next(_numbers)}"
        (folder / f"{name}.py").write_text(f"import parallel_work as work\n{source}")
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return make


@pytest.fixture
def made_here(monkeypatch):
    """Lets a context make calls in this process whose results are needed at once, after one task of the call site."""
    from cassette_import.contexts.parallel import tasks

    monkeypatch.setattr(tasks, "FIRST_TASKS", 1)

    def use(context):
        context._needed_at_once = tasks.NeededAtOnce(is_used=True)

    return use
