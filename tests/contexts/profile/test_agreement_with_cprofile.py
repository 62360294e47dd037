"""A profile of a real program agrees with `cProfile`, for the calls that both see.

Both use the clock of processor time, so that other programs on the machine matter less. `cProfile` does not subtract
its overhead; the tests do that for it. The remaining times are estimates on both sides, so the tests compare weights:
the share of the time of its ten costliest functions that belongs to the ten costliest ones of `Profile`. In programs
with long-running functions the overhead is small, and the tests compare seconds.
"""

import cProfile
import importlib
import importlib.util
import os
import pstats
import sys
import time
from pathlib import Path

import pytest

import cassette_import
from cassette_import.contexts import Profile
from cassette_import.contexts.profile import (
    context,
    known_costs,
    overhead_subtraction,
    overhead_workloads,
    profiled_body,
)
from cassette_import.contexts.profile.statistics import Statistics

pytestmark = pytest.mark.skipif(
    not os.environ.get("CASSETTE_TEST_TIMINGS"),
    reason="compares times: set CASSETTE_TEST_TIMINGS=1 on a machine that is quiet",
)

OWN = ("benchmarks.workloads.office", "benchmarks.workloads.records", "benchmarks.workloads.shapes")
OWN += ("benchmarks.workloads.tokens", "benchmarks.workloads.matrices")
DRIVEN = {"richards": 1, "richards_super": 1, "deltablue": 2, "go": 1, "nqueens": 1}
"""pyperformance's workloads, by their driver, and how many loops of each."""

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
    for module in (context, profiled_body, overhead_subtraction, overhead_workloads):
        monkeypatch.setattr(module, "perf_counter", time.process_time)
    monkeypatch.setattr(known_costs, "_KNOWN", {})


@pytest.fixture
def driver(make_program):
    """A function that calls another one, and is overdubbed itself: it is no event, but what it calls is."""
    return make_program("def call(function, *arguments):\n    function(*arguments)\n").call


def of_cprofile(function, *arguments, cost=(0.0, 0.0)):
    """Calls, self time and cumulative time by function; a call adds `cost` to its self time and to its caller's."""
    measured = cProfile.Profile(time.process_time)
    measured.runcall(function, *arguments)
    stats = pstats.Stats(measured).stats
    made = dict.fromkeys(stats, 0)
    for entry in stats.values():
        for caller, by_caller in entry[4].items():
            made[caller] += by_caller[0]
    return {
        label: (calls, max(0.0, own - calls * cost[0] - made[label] * cost[1]), cumulative)
        for label, (_, calls, own, cumulative, _) in stats.items()
    }


def cost_of_cprofile(count=20_000):
    """What `cProfile` adds to the self time of a call and of its caller, calibrated as `Profile` is."""
    numbers = overhead_workloads.order(count)
    workload, empty = overhead_workloads.calls_of_functions, overhead_workloads.no_calls
    plain, loop = (min(one(numbers) for _ in range(5)) for one in (workload, empty))
    rounds = [of_cprofile(workload, numbers) for _ in range(5)]
    called = min(sum(own for calls, own, _ in one.values() if calls > 1) for one in rounds)
    whole = min(max(cumulative for _, _, cumulative in one.values()) for one in rounds)
    inside = max(0.0, called - (plain - loop))
    return inside / count, max(0.0, whole - plain - inside) / count


def of_profile(function, *arguments):
    """The same with `Profile`, and the statistics."""
    with Profile() as measured:
        function(*arguments)
    statistics = Statistics(measured)
    figures = {label: entry for label, (entry, _) in statistics.functions().items()}
    return {label: (entry.calls, entry.self_time, entry.cumulative) for label, entry in figures.items()}, statistics


def least(rounds):
    """For each function that is in all rounds, the least of each figure: what was disturbed least."""
    labels = set.intersection(*[set(one) for one in rounds])
    return {label: tuple(map(min, zip(*[one[label] for one in rounds], strict=True))) for label in labels}


def costliest(figures, among, count=10):
    """Those with the most self time."""
    return set(sorted(among, key=lambda label: -figures[label][1])[:count])


def check(driver, function, *arguments):
    """Of the functions that both profilers have, the ten costliest are the same, except for some with little time."""
    of_profile(driver, function, *arguments)  # compiles everything
    ours = least([of_profile(driver, function, *arguments)[0] for _ in range(3)])
    cost = cost_of_cprofile()
    theirs = least([of_cprofile(driver, function, *arguments, cost=cost) for _ in range(3)])
    both = ours.keys() & theirs.keys()
    # Only `cProfile` has calls that are not written as calls: `with`, operators, callbacks of C.
    assert all(ours[label][0] <= theirs[label][0] for label in both)
    wanted, found = costliest(theirs, both), costliest(ours, both)
    assert len(wanted) > 3
    weight = sum(theirs[label][1] for label in wanted & found) / sum(theirs[label][1] for label in wanted)
    assert weight > 0.75, sorted(label[2] for label in wanted - found)


@pytest.fixture(params=OWN)
def workload(request):
    module = importlib.import_module(request.param)
    installation = cassette_import.install([request.param])
    yield module
    installation.uninstall()


def test_the_costliest_functions_are_those_of_cprofile(workload, driver):
    check(driver, workload.main)


@pytest.mark.parametrize("name", DRIVEN)
def test_the_costliest_functions_of_pyperformances_workloads_are_those_of_cprofile(name, driver):
    path = os.environ.get("CASSETTE_WORKLOADS")
    if not path or not Path(path).exists():
        pytest.skip("CASSETTE_WORKLOADS does not say where the driver of pyperformance's workloads is")
    specification = importlib.util.spec_from_file_location("workloads", path)
    workloads = importlib.util.module_from_spec(specification)
    sys.modules["workloads"] = workloads
    specification.loader.exec_module(workloads)
    made = workloads.load(name)
    packages = [f"ppw.{name}.run_benchmark", *workloads.ALL[name][2]]
    with cassette_import.install(packages):
        check(driver, made.main, DRIVEN[name])


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
    assert sum(entry.self_time for entry, _ in statistics.functions().values()) + statistics.overhead == pytest.approx(
        took, rel=0.05
    )


def test_most_of_the_overhead_is_subtracted(workload, driver):
    of_profile(driver, workload.main)
    shown, measured, plain = [], [], []
    for _ in range(5):
        figures, statistics = of_profile(driver, workload.main)
        shown.append(sum(own for _, own, _ in figures.values()))
        measured.append(shown[-1] + statistics.overhead)
        began = time.process_time()
        workload.main()
        plain.append(time.process_time() - began)
    assert abs(min(shown) - min(plain)) < 0.5 * (min(measured) - min(plain))
