"""A profile of functions that take long agrees with `cProfile`, in seconds.

Both use the clock of processor time, so that other programs on the machine matter less. Functions that take little time
are compared with samples of the plain program, in `test_agreement_with_samples`.
"""

import cProfile
import os
import pstats
import time

import pytest

from cassette_import.contexts import Profile
from cassette_import.contexts.profile import call_paths, context
from cassette_import.contexts.profile import statistics as profile_statistics
from cassette_import.contexts.profile.statistics import Statistics

pytestmark = pytest.mark.skipif(
    not os.environ.get("CASSETTE_TEST_TIMINGS"),
    reason="compares times: set CASSETTE_TEST_TIMINGS=1 on a machine that is quiet",
)

LONG = """
    def spin(count):
        total = 0
        while count:
            total = (total * 31 + count) % 1000003
            count -= 1
        return total

    def f0(): return spin(6000)
    def f1():
        count = 30000
        while count: count -= 1
    def f2():
        count = 24000
        while count: count -= 1
    def f3():
        count = 15000
        while count: count -= 1
        f4()
    def f4():
        count = 20000
        while count: count -= 1
    def f5(): return sorted(range(8000), reverse=True)
    def f6(): return sum(range(20000))

    def main():
        for _ in range(50):
            f0(), f1(), f2(), f3(), f4(), f5(), f6()

    def run():
        main()
"""


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The processor's time instead of the wall's."""
    for module in (context, call_paths, profile_statistics):
        monkeypatch.setattr(module, "perf_counter", time.process_time)
    profile_statistics.forget_measurements()
    yield
    profile_statistics.forget_measurements()


def of_cprofile(function, *arguments):
    """Calls, self time and cumulative time by function."""
    measured = cProfile.Profile(time.process_time)
    measured.runcall(function, *arguments)
    return {
        label: (calls, own, cumulative)
        for label, (_, calls, own, cumulative, _) in pstats.Stats(measured).stats.items()
    }


def of_profile(function, *arguments):
    """The same with `Profile`, and the statistics."""
    with Profile() as measured:
        function(*arguments)
    statistics = Statistics(measured)
    figures = {label: entry for label, (entry, _) in statistics.functions().items()}
    return {label: (entry.calls, entry.own, entry.cumulative) for label, entry in figures.items()}, statistics


def least(rounds):
    """For each function that is in all rounds, the least of each figure: what was disturbed least."""
    labels = set.intersection(*[set(one) for one in rounds])
    return {label: tuple(map(min, zip(*[one[label] for one in rounds], strict=True))) for label in labels}


def test_the_times_of_functions_that_take_long_are_those_of_cprofile(make_program):
    program = make_program(LONG)
    of_profile(program.run)
    long = ("spin", "f1", "f2", "f4", "<built-in method builtins.sorted>", "<built-in method builtins.sum>")
    rounds = []
    for _ in range(25):  # a disturbance makes a round longer
        rounds.append((of_profile(program.run)[0], of_cprofile(program.run)))
        ours, theirs = (least(figures) for figures in zip(*rounds, strict=True))
        top = [label for label in ours.keys() & theirs.keys() if label[2] in long]
        if all(ours[label] == pytest.approx(theirs[label], rel=0.1) for label in top):
            break
    assert len(top) == len(long)
    for label in top:
        assert ours[label] == pytest.approx(theirs[label], rel=0.1), label


def test_self_times_and_overhead_add_up_to_the_elapsed_time(make_program):
    program = make_program(LONG)
    of_profile(program.run)
    with Profile() as measured:
        began = time.process_time()
        program.run()
        program.main()
        took = time.process_time() - began
    statistics = Statistics(measured)
    assert sum(entry.own for entry, _ in statistics.functions().values()) + statistics.overhead == pytest.approx(
        took, rel=0.05
    )
