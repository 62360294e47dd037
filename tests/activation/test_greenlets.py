"""Greenlets inherit contexts as threads do, and what is measured for a thread is that of the greenlet which runs."""

import subprocess
import sys

import pytest

from cassette_import import Context, overdub
from cassette_import.contexts import CallGraph, Profile, Substitute
from cassette_import.contexts.profile.statistics import Statistics

greenlet = pytest.importorskip("greenlet")

PROGRAM = """
import greenlet

def price():
    greenlet.getcurrent().parent.switch()
    return 10

def step(n):
    return price() + n

def work(n):
    return step(n) + step(n)

def plain():
    return 10

def simple():
    return plain()

def raw():
    return simple() + greenlet.greenlet(simple).switch()

def interleaved():
    running = [greenlet.greenlet(work) for _ in range(3)]
    results = [one.switch(number) for number, one in enumerate(running)]
    while running:
        results = [one.switch() for one in running]
        running = [one for one in running if not one.dead]
    return results
"""
SPAWNED = """
import gevent

def work(n):
    gevent.sleep(0)
    return n

def main():
    spawned = [gevent.spawn(work, number) for number in range(3)]
    gevent.joinall(spawned)
    return [one.value for one in spawned]
"""


class Inherited(Context, inherit=True):
    seen = 0

    def prehook(self, f, *args, **kwargs):
        self.seen += 1


class NotInherited(Context):
    seen = 0

    def prehook(self, f, *args, **kwargs):
        self.seen += 1


def test_greenlet_runs_in_the_contexts_that_inherit(make_program):
    program = make_program(PROGRAM)
    assert overdub(Substitute({program.plain: lambda: 1}), program.raw) == 2
    seen = {}
    for kind in (Inherited, NotInherited):
        context = kind()
        assert overdub(context, program.raw) == 20
        seen[kind] = context.seen
    assert seen[Inherited] == seen[NotInherited] + 1  # the call of `plain` in the greenlet
    assert program.raw() == 20


@pytest.mark.parametrize("kind", [CallGraph, Profile])
def test_calls_of_interleaved_greenlets_are_counted_in_their_callers(kind, make_program):
    program = make_program(PROGRAM)
    context = kind()
    assert overdub(context, program.interleaved) == [20, 22, 24]
    if kind is CallGraph:
        calls = {(caller.name, callee.name): count for (caller, callee), count in context.graph().calls.items()}
        assert (calls["work", "step"], calls["step", "price"]) == (6, 6)
    else:
        functions = {label[2]: times for label, (times, _) in Statistics(context).functions().items()}
        assert (functions["step"].calls, functions["price"].calls) == (6, 6)
        assert functions["step"].primitive == 6


def test_spawned_function_of_gevent_is_an_event(make_program):
    pytest.importorskip("gevent")
    program = make_program(SPAWNED)
    assert overdub(Substitute({program.work: lambda n: -n}), program.main) == [0, -1, -2]
    context = NotInherited()
    assert overdub(context, program.main) == [0, 1, 2]


def test_taint_follows_threads_that_gevent_has_replaced(tmp_path):
    pytest.importorskip("gevent")
    (tmp_path / "program.py").write_text(
        "from gevent import monkey\nmonkey.patch_all()\nimport threading\n"
        "thread = threading.Thread(target=print, args=('ran',))\nthread.start()\nthread.join()\n"
    )
    words = [sys.executable, "-m", "cassette_import", "run", "-c", "taint", "program.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_no_library_is_imported():
    code = "import sys, cassette_import.contexts as c\nwith c.Noop(): pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"greenlet", "gevent", "eventlet"}.isdisjoint(done.stdout.split())
