"""Calls whose results are needed at once are made in the process of the program, after some that were tasks."""

import os
import subprocess
import sys
import threading

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from helpers.observed_calls import observed

from cassette_import import overdub
from cassette_import.contexts.parallel import Parallel
from cassette_import.contexts.parallel import tasks as needed_at_once
from cassette_import.contexts.parallel.tasks import FIRST_TASKS, NeededAtOnce

NAMES = ("load", "score", "noisy", "failing", "slow")


@pytest.fixture
def context(work, client, made_here):
    context = Parallel([getattr(work, name) for name in NAMES], client=client)
    made_here(context)
    return context


@pytest.fixture
def tasks(context, program):
    """Checks that a program does the same in the context; returns the numbers of tasks, where there are some."""

    def check(source):
        module = program(source)
        assert observed(overdub, context, module.main) == observed(module.main)
        figures = {name.rpartition(".")[2]: one["tasks"] for name, one in context.statistics().items()}
        return {name: count for name, count in figures.items() if count}

    return check


def test_calls_whose_results_are_needed_at_once_are_made_here(tasks):
    assert tasks("def main():\n    for n in range(5):\n        print(work.noisy(n))") == {"noisy": 1}


def test_a_call_that_needs_the_one_before_it_runs_beside_nothing(tasks):
    loop = """
def main():
    for n in range(5):
        row = work.load(n)
        value = work.score(row)
        print(value)
"""
    assert tasks(loop) == {"load": 1, "score": 1}


def test_calls_that_run_beside_others_stay_tasks(tasks):
    loop = """
def main():
    for n in range(3):
        one = work.load(n)
        other = work.noisy(n)
        print(one, other)
    return [work.score({"n": n}) for n in range(4)]
"""
    assert tasks(loop) == {"load": 3, "noisy": 3, "score": 4}


def test_an_exception_of_a_call_that_is_made_here_has_the_traceback_of_the_program(tasks):
    loop = """
def main():
    rows = []
    for n in range(5):
        row = work.failing(n)
        rows.append(len(str(row)))
        print(row)
"""
    assert tasks(loop) == {"failing": 1}


def test_a_call_beside_the_task_of_another_thread_is_a_task(context, work, program):
    module = program("def main(n):\n    for n in range(3):\n        print(work.slow(n, 0.2))")
    threads = [threading.Thread(target=overdub, args=(context, module.main, 0)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert context.statistics()["parallel_work.slow"]["tasks"] >= 4


@pytest.mark.parametrize("options", [{}, {"check": True}])
def test_every_call_is_a_task_with_workers_of_the_user_and_if_calls_are_checked(work, client, program, options):
    context = Parallel({work.noisy}, client=client, **options)
    overdub(context, program("def main():\n    for n in range(20):\n        print(work.noisy(n))").main)
    assert context.statistics() == {"parallel_work.noisy": {"tasks": 20, "here": {}}}


def test_a_script_with_a_loop_that_waits_makes_the_calls_after_the_first_ones_itself(folder, work, tmp_path):
    script = "import parallel_work as work\nfor n in range(20):\n    print(work.score(work.load(n)))\n"
    (tmp_path / "script.py").write_text(script)
    command = ["-m", "cassette_import", "run", "-c", "parallel:targets=parallel_work:load,workers=1", "script.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.getcwd()])}
    options = {"capture_output": True, "text": True, "env": environment, "cwd": tmp_path}
    done = subprocess.run([sys.executable, *command], **options)
    assert done.stdout == "".join(f"{n}\n" for n in range(0, 200, 10)), done.stderr
    assert f"parallel_work.load: {FIRST_TASKS} tasks\n" in done.stderr
    assert f"{20 - FIRST_TASKS} in this process: its result is needed at once (" in done.stderr


PLACE = (0, 0)


@pytest.fixture
def sites(monkeypatch):
    """Call sites whose calls take a second each."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(needed_at_once, "perf_counter", lambda: next(seconds))
    return NeededAtOnce(is_used=True)


def _call(sites, at_once=True):
    """A call of one second; returns whether it was a task."""
    if sites.begins_here(PLACE):
        sites.ended_here(PLACE, needed_at_once.perf_counter())
        return False
    sites.submitted(0)
    sites.waited_for(PLACE, needed_at_once.perf_counter(), at_once=at_once)
    return True


def test_after_as_much_time_as_all_calls_took_one_is_a_task_again(sites):
    tasks = [number for number in range(1, 101) if _call(sites)]
    assert tasks == [*range(1, FIRST_TASKS + 1), 17, 35, 71]


def test_a_task_that_runs_beside_others_makes_the_next_calls_tasks(sites):
    was_task = [_call(sites) for _ in range(16)] + [_call(sites, at_once=False) for _ in range(20)]
    assert was_task == [True] * 8 + [False] * 8 + [True] * 20


def test_while_a_task_of_another_thread_runs_no_call_is_made_here(sites):
    for _ in range(FIRST_TASKS):
        _call(sites)
    assert not sites.submitted(0)
    assert not sites.begins_here(PLACE)
    assert sites.submitted(0)
    sites.given_up(2)
    assert sites.begins_here(PLACE)
