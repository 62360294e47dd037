"""`Memoize` with a store that processes share: a result is computed once, also if who computes it is killed."""

import gc
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from cassette_import import overdub
from cassette_import.contexts import Memoize
from cassette_import.contexts.memoize import LockError

WORK = """
import os, sys, time

def slow(log, seconds):
    with open(log, "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(float(os.environ.get("SECONDS", seconds)))
    return [seconds]

def nested(log, depth):
    return [depth, *(nested(log, depth - 1) if depth else [])]

def failing(log):
    slow(log, 0.2)
    raise ValueError("no result")
"""
RUN = """
import sys
import memoized_work
from cassette_import import overdub
from cassette_import.contexts import Memoize
memoize = Memoize(memoized_work.slow, folder=sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
print(overdub(memoize, memoized_work.slow, sys.argv[2], 0.4), flush=True)
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    (tmp_path / "memoized_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "memoized_work", raising=False)
    import memoized_work

    yield memoized_work
    sys.modules.pop("memoized_work", None)


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("diskcache", reason="diskcache is not installed")
    return str(tmp_path / "kept")


@pytest.fixture
def process(work, folder, tmp_path):
    """Starts a process that computes a result when it is told to."""
    started = []

    def start(**environment):
        path = os.pathsep.join([str(tmp_path), os.getcwd()])
        made = subprocess.Popen(
            [sys.executable, "-c", RUN, folder, str(tmp_path / "log")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )
        started.append(made)
        assert made.stdout.readline() == "ready\n"
        return made

    yield start
    for made in started:
        made.kill()
        made.communicate()


def _begin(*processes):
    for one in processes:
        one.stdin.write("\n")
        one.stdin.flush()


def _computed(tmp_path):
    log = tmp_path / "log"
    return log.read_text().split() if log.exists() else []


def test_processes_that_need_one_result_compute_it_once(process, tmp_path):
    processes = [process() for _ in range(3)]
    _begin(*processes)
    assert [one.stdout.readline() for one in processes] == ["[0.4]\n"] * 3
    assert len(_computed(tmp_path)) == 1


def test_a_result_is_computed_again_if_the_process_that_computes_it_is_killed(process, tmp_path):
    pytest.importorskip("fcntl", reason="Windows has no such locks")
    killed, waiting = process(SECONDS="1000"), process()
    _begin(killed)
    while not _computed(tmp_path):
        assert killed.poll() is None
    _begin(waiting)
    assert _computed(tmp_path) == [str(killed.pid)]
    killed.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    assert waiting.stdout.readline() == "[0.4]\n"
    assert _computed(tmp_path) == [str(killed.pid), str(waiting.pid)]


@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")  # diskcache has a connection for each thread
def test_threads_that_need_one_result_compute_it_once(work, folder, tmp_path):
    memoize = Memoize(work.slow, folder=folder)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(overdub(memoize, work.slow, str(tmp_path / "log"), 0.3)))
        for _ in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert results == [[0.3]] * 4
    assert len(_computed(tmp_path)) == 1
    (figures,) = memoize.statistics().values()
    assert (figures["hits"], figures["misses"]) == (3, 1)
    threads.clear()
    del one
    gc.collect()  # the connections of the threads, while the filter is there


def test_a_recursive_function_waits_for_nothing(work, folder, tmp_path):
    assert overdub(Memoize(work.nested, folder=folder), work.nested, "", 9) == list(range(9, -1, -1))
    assert os.listdir(os.path.join(folder, "computing")) == []


def test_a_call_that_raises_holds_up_nobody(work, folder, tmp_path):
    memoize = Memoize(work.failing, folder=folder)
    for _ in range(2):
        with pytest.raises(ValueError, match="no result"):
            overdub(memoize, work.failing, str(tmp_path / "log"))
    assert len(_computed(tmp_path)) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_does_not_hold_the_lock(work, folder, tmp_path):
    from cassette_import.contexts.memoize.stores import FileLocks

    locks = FileLocks(folder)
    held = locks.hold("one")
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        held.release()
        os.close(writable)
        os.read(readable, 1)  # lives until the parent is done
        os._exit(0)
    taken = []
    other = threading.Thread(target=lambda: taken.append(locks.hold("one")))
    other.start()
    other.join(0.2)
    assert taken == []
    held.release()
    other.join()
    assert taken[0] is not None
    taken[0].release()
    os.close(writable)
    os.waitpid(child, 0)
    os.close(readable)


class Client:
    """What a client of Redis has of a mapping."""

    def __init__(self):
        self.values = {}

    def __getitem__(self, name):
        return self.values[name]

    def __setitem__(self, name, value):
        assert type(name) is str
        assert type(value) is bytes
        self.values[name] = value


def test_any_mapping_is_a_store(work, tmp_path):
    store, log = Client(), str(tmp_path / "log")
    for _ in range(2):
        assert overdub(Memoize(work.slow, store=store), work.slow, log, 0.0) == [0.0]
    assert len(_computed(tmp_path)) == 1
    assert len(store.values) == 1


def test_a_store_that_fails_is_a_store_without_results(work, tmp_path):
    class Lost(Client):
        def __getitem__(self, name):
            raise ConnectionError

        __setitem__ = None

    assert overdub(Memoize(work.slow, store=Lost()), work.slow, str(tmp_path / "log"), 0.0) == [0.0]


def test_the_locks_of_a_store_are_held_while_a_result_is_computed(work, tmp_path):
    events, store = [], {}

    @contextmanager
    def lock(name):
        events.append(("begin", name in store))
        yield
        events.append(("end", name in store))

    memoize = Memoize(work.slow, store=store, locks=lock)
    for _ in range(2):
        overdub(memoize, work.slow, str(tmp_path / "log"), 0.0)
    assert events == [("begin", False), ("end", True)]


class Lock:
    """A lock of a client that has lost its connection at one of two moments."""

    def __init__(self, lost):
        self.lost = lost

    def __enter__(self):
        if self.lost == "before":
            raise ConnectionError("no server")

    def __exit__(self, *exception):
        if self.lost == "after":
            raise OSError("the lock has ended")


def test_a_lock_that_cannot_be_taken_is_an_error_of_the_context(work, tmp_path):
    memoize = Memoize(work.slow, store={}, locks=lambda name: Lock("before"))
    with pytest.raises(LockError, match="a lock of memoize cannot be taken: ConnectionError: no server; check"):
        overdub(memoize, work.slow, str(tmp_path / "log"), 0.0)
    assert _computed(tmp_path) == []


def test_what_makes_no_lock_is_an_error_of_the_context(work, tmp_path):
    with pytest.raises(LockError, match="KeyError"):
        overdub(Memoize(work.slow, store={}, locks={}.__getitem__), work.slow, str(tmp_path / "log"), 0.0)


def test_a_lock_that_cannot_be_released_is_counted_and_the_result_is_there(work, tmp_path):
    memoize = Memoize(work.slow, store={}, locks=lambda name: Lock("after"))
    assert overdub(memoize, work.slow, str(tmp_path / "log"), 0.0) == [0.0]
    assert memoize.summary().endswith("1 lock could not be released: OSError: the lock has ended")


def test_the_exception_of_a_call_is_not_replaced_by_that_of_a_lock(work, tmp_path):
    memoize = Memoize(work.failing, store={}, locks=lambda name: Lock("after"))
    with pytest.raises(ValueError, match="no result"):
        overdub(memoize, work.failing, str(tmp_path / "log"))


def test_clearing_a_store_deletes_what_memoize_stored(work, tmp_path):
    store = {"mine": b"kept"}
    memoize = Memoize(work.slow, store=store)
    overdub(memoize, work.slow, str(tmp_path / "log"), 0.0)
    assert len(store) == 2
    memoize.clear()
    assert store == {"mine": b"kept"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": {}, "limit": 3}, "store says where results are"),
        ({"locks": threading.Lock}, "locks are those of a store"),
        ({"store": 3}, "store is a mapping of texts to bytes, not int"),
    ],
)
def test_options_that_contradict_each_other_are_refused(work, options, message):
    with pytest.raises(ValueError, match=message):
        Memoize(work.slow, **options)
