"""Processes that share results of `memoize` are killed at any moment: each result is computed once, none is lost.

``CASSETTE_TEST_KILLS=3000 pytest tests/contexts/test_memoize_killed_processes.py`` kills more of them.
"""

import os
import random
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no such locks")

KILLS = int(os.environ.get("CASSETTE_TEST_KILLS", "40"))
WORK = """
import os
import time

LOG = os.open("log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(*what):
    os.write(LOG, (" ".join(map(str, what)) + "\\n").encode())

def token(key):
    note("begin", key, os.getpid())
    time.sleep(0.004)
    made = os.urandom(8).hex()
    note("end", key, os.getpid())
    return [made] * 50

def call(key):
    made, = set(token(key))
    note("got", key, made)
"""
DRIVER = """
import contextlib, fcntl, os, random, signal, sys, time, traceback
import killed_work
from cassette_import import overdub
from cassette_import.contexts import Memoize
from cassette_import.contexts.memoize.stores import Folder  # what a process needs is imported before it is forked
import diskcache

kind, seed, kills = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
KEYS = 4 * kills

class Files:
    def __getitem__(self, name):
        with open("store/" + name, "rb") as file:
            return file.read()
    def __setitem__(self, name, value):
        with open(f"store/{name}-{os.getpid()}", "wb") as file:
            file.write(value)
        os.rename(file.name, "store/" + name)

@contextlib.contextmanager
def locked(name):
    with open("store/lock-" + name, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

def memoize():
    if kind == "folder":
        return Memoize(killed_work.token, folder="kept")
    return Memoize(killed_work.token, store=Files(), locks=locked)

def work(keys):
    context = memoize()
    for key in keys:
        overdub(context, killed_work.call, key)

def start(number):
    child = os.fork()
    if not child:
        draw = random.Random(seed * 100000 + number)
        try:
            work([(4 * number + draw.randrange(20)) % KEYS for _ in range(1000)])
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return child

os.makedirs("store", exist_ok=True)
work([-1])  # what is compiled then, the forked processes have
draw = random.Random(seed)
children = [start(number) for number in range(3)]
for number in range(kills):
    time.sleep(draw.random() * 0.08)
    victim = children.pop(draw.randrange(3))
    os.kill(victim, signal.SIGKILL)
    _, status = os.waitpid(victim, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    children.append(start(number + 3))
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
work(range(KEYS))
"""

INSTALLED = """
import runpy, sys
import cassette_import
cassette_import.install(["killed_work"])
sys.argv = sys.argv[1:]
sys.path.insert(0, "")
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("kind", ["folder", "store"])
def test_each_result_is_computed_once_and_never_lost_whoever_is_killed(tmp_path, kind):
    pytest.importorskip("diskcache", reason="diskcache is not installed")
    (tmp_path / "killed_work.py").write_text(WORK)
    (tmp_path / "driver.py").write_text(DRIVER)
    seed = random.randrange(10**6)
    print("seed", seed)
    command = [sys.executable, "-c", INSTALLED, "driver.py", kind, str(seed), str(KILLS)]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    computing, results, computed = {}, {}, {"begun": 0, "ended": 0}
    for line in (tmp_path / "log").read_text().splitlines():
        what, key, who = line.split()
        if what == "begin":
            computing[key] = who
            computed["begun"] += 1
        elif what == "end":
            assert computing.pop(key) == who, f"{key} was computed twice at a time"
            computed["ended"] += 1
            assert key not in results, f"{key} was computed again"
        else:
            assert results.setdefault(key, who) == who, f"{key} has two results"
    assert len(results) == 4 * KILLS + 1
    print(len(results), "results; computations:", computed)
