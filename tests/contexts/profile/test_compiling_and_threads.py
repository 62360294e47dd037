"""The time in which one thread compiles is in no call of another one that waits for it."""

import gc
import threading
import time
import weakref

import pytest

from cassette_import import overdub
from cassette_import.contexts import Profile
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.specialization.registry import registry

BODY = "\n".join(f"    x{number} = [str(i * {number}).strip() for i in range(n) if i % 2]" for number in range(40))
PROGRAM = f"""
import threading
import time

{"".join(f"def compiled_{number}(n):{chr(10)}{BODY}{chr(10)}{chr(10)}" for number in range(10))}

def work():
    {"; ".join(f"compiled_{number}(0)" for number in range(10))}

def in_another_thread(wait):
    thread = threading.Thread(target=work)
    thread.start()
    wait(thread)
    thread.join()

def compute():
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        pass

def join(): in_another_thread(lambda thread: thread.join())
def sleep(): in_another_thread(lambda thread: time.sleep(0.1))
def reckon(): in_another_thread(lambda thread: compute())
"""


def measured(wait, make_program):
    """How long a function took that waits, and how long another thread compiled meanwhile."""
    program = make_program(PROGRAM)
    with Profile() as profile:
        getattr(program, wait)()
    functions = {label[2]: times for label, (times, _) in Statistics(profile).functions().items()}
    return functions["in_another_thread"].cumulative, sum(thread.specialising for thread in profile.threads())


def test_who_waits_for_a_thread_does_not_wait_for_compiling(make_program):
    took, compiling = measured("join", make_program)
    assert took < compiling / 2


@pytest.mark.parametrize("wait", ["sleep", "reckon"])
def test_sleeping_and_computing_go_on_while_another_thread_compiles(wait, make_program):
    assert measured(wait, make_program)[0] >= 0.08


def test_finding_the_functions_that_a_thread_may_call_is_no_time_of_its_start(make_program, monkeypatch):
    program = make_program("import threading\ndef main(): threading.Thread(target=abs, args=(1,)).start()\n")
    find = registry.instrumentation.add

    def slow(*arguments):
        time.sleep(0.2)
        find(*arguments)

    with Profile() as profile:
        monkeypatch.setattr(registry.instrumentation, "add", slow)
        registry.generation += 1  # as if another module were imported
        program.main()
    (thread,) = [thread for thread in profile.threads() if thread.specialised]
    assert thread.specialising > 0.2
    functions = {label[2]: times for label, (times, _) in Statistics(profile).functions().items()}
    assert functions["start"].cumulative < 0.15


has_tree = pytest.mark.parametrize("has_tree", [True, False])  # of calls, at that time

WAITING = "def call(wait): wait()\ndef main(wait): call(wait)\n"


def time_of_call(profile, make_program, wait):
    """The time of a call in which a thread waits, as the profile has it."""
    overdub(profile, make_program(WAITING).main, wait)
    functions = {label[2]: times for label, (times, _) in Statistics(profile).functions().items()}
    return functions["call"].cumulative


class Compiling:
    """Threads that make code for 0.2 seconds, all in the same time, as a profile is notified of it."""

    def __init__(self, profile, count, has_tree):
        self._profile = profile
        self._has_tree = has_tree
        self.all_begin = threading.Barrier(count)

    def compile(self):
        if self._has_tree:
            self._profile.tree_of_this_thread()
        self._profile.code_begins()
        began = time.perf_counter()
        self.all_begin.wait()
        time.sleep(0.2)
        self._profile.code_made(1, time.perf_counter() - began)

    def started(self, count):
        threads = [threading.Thread(target=self.compile) for _ in range(count)]
        for thread in threads:
            thread.start()
        return threads


@has_tree
def test_time_in_which_several_threads_compile_is_omitted_once(make_program, has_tree):
    profile = Profile()
    compiling = Compiling(profile, 3, has_tree)

    def wait():
        time.sleep(0.1)
        for thread in compiling.started(3):
            thread.join()

    assert 0.09 < time_of_call(profile, make_program, wait) < 0.25


@has_tree
def test_who_compiles_itself_omits_the_compiling_of_others_at_that_time_once(make_program, has_tree):
    profile = Profile()
    compiling = Compiling(profile, 2, has_tree)

    def wait():
        time.sleep(0.1)
        threads = compiling.started(1)
        compiling.compile()
        for thread in threads:
            thread.join()

    assert 0.09 < time_of_call(profile, make_program, wait) < 0.25


@has_tree
def test_compiling_within_compiling_is_omitted_once_from_those_who_wait(make_program, has_tree):
    profile = Profile()
    compiling = Compiling(profile, 1, has_tree)

    def compile_both():
        profile.code_begins()
        began = time.perf_counter()
        compiling.compile()
        time.sleep(0.1)
        profile.code_made(0, time.perf_counter() - began - 0.2)

    def wait():
        time.sleep(0.1)
        thread = threading.Thread(target=compile_both)
        thread.start()
        thread.join()

    assert 0.09 < time_of_call(profile, make_program, wait) < 0.25


def test_what_a_function_has_compiled_beside_another_thread_keeps_no_frame_of_its_callers(make_program):
    profile = Profile()
    program = make_program("def call(held): return run()\ndef run(): return 1\n")
    beside, over = threading.Event(), threading.Event()

    def other():
        profile.tree_of_this_thread()
        beside.set()
        over.wait()

    class Held:
        pass

    def main():
        held = Held()
        overdub(profile, program.call, held)
        return weakref.ref(held)

    thread = threading.Thread(target=other)
    thread.start()
    beside.wait()
    gc.disable()
    try:
        assert main()() is None
    finally:
        gc.enable()
        over.set()
        thread.join()
