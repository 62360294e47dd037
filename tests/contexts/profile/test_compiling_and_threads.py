"""The time in which one thread compiles is in no call of another one that waits for it."""

import pytest

from cassette_import.contexts import Profile
from cassette_import.contexts.profile.statistics import Statistics

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
