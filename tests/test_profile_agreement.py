"""What a profile says of real programs is what `cProfile` says, as far as both see the same calls.

Both are given the clock of the processor's time, so that other programs on the machine matter less. `cProfile` does not
take its own cost off, which puts functions that do next to nothing, often, further up in its list than in ours. So the
lists are compared by weight: how much of the time in its ten costliest functions is in those that are in our ten. In
programs whose functions take long enough that cost is small, and those are compared in seconds.
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
from cassette_import.contexts import Profile, profile, profile_figures, profile_overhead, profile_workloads
from cassette_import.contexts.profile_figures import Reading

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

    def f0(): return spin(800)
    def f1():
        count = 9000
        while count: count -= 1
    def f2():
        count = 7000
        while count: count -= 1
    def f3():
        count = 5000
        while count: count -= 1
        f4()
    def f4():
        count = 3500
        while count: count -= 1
    def f5(): return sorted(range(8000), reverse=True)
    def f6(): return sum(range(20000))

    def main():
        for _ in range(100):
            f0(), f1(), f2(), f3(), f4(), f5(), f6()

    def run():
        main()
"""


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The processor's time instead of the wall's."""
    for module in (profile, profile_figures, profile_workloads):
        monkeypatch.setattr(module, "perf_counter", time.process_time)
    monkeypatch.setattr(profile_overhead, "_KNOWN", {})


@pytest.fixture
def driver(make_program):
    """A function that calls another one, and is overdubbed itself: it is no event, but what it calls is."""
    return make_program("def call(function, *arguments):\n    function(*arguments)\n").call


def of_cprofile(function, *arguments):
    """Calls, own and cumulative seconds of each function."""
    measured = cProfile.Profile(time.process_time)
    measured.runcall(function, *arguments)
    return {label: entry[1:4] for label, entry in pstats.Stats(measured).stats.items()}


def of_ours(function, *arguments):
    """The same, and what was left out."""
    with Profile() as measured:
        function(*arguments)
    reading = Reading(measured)
    figures = {label: entry for label, (entry, _) in reading.functions().items()}
    return {label: (entry.calls, entry.own, entry.cumulative) for label, entry in figures.items()}, reading


def least(rounds):
    """For each function that is in all rounds, the least of each figure: what was disturbed least."""
    labels = set.intersection(*[set(one) for one in rounds])
    return {label: tuple(map(min, *[one[label] for one in rounds])) for label in labels}


def costliest(figures, among, by, count=10):
    return set(sorted(among, key=lambda label: -figures[label][by])[:count])


def check(driver, function, *arguments):
    """The ten costliest functions are the same, of those that both have seen, but for some that matter little."""
    of_ours(driver, function, *arguments)  # everything is compiled then
    ours = least([of_ours(driver, function, *arguments)[0] for _ in range(3)])
    theirs = least([of_cprofile(driver, function, *arguments) for _ in range(3)])
    both = ours.keys() & theirs.keys()
    # What the interpreter calls without a call in the source (`with`, operators, C), it sees alone.
    assert all(ours[label][0] <= theirs[label][0] for label in both)
    for by in (1, 2):
        wanted, found = costliest(theirs, both, by), costliest(ours, both, by)
        assert len(wanted) > 3
        weight = sum(theirs[label][by] for label in wanted & found) / sum(theirs[label][by] for label in wanted)
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
    of_ours(program.run)
    rounds = [(of_ours(program.run)[0], of_cprofile(program.run)) for _ in range(5)]
    ours, theirs = (least(figures) for figures in zip(*rounds, strict=True))
    long = ("spin", "f1", "f2", "f4", "<built-in method builtins.sorted>", "<built-in method builtins.sum>")
    top = [label for label in ours.keys() & theirs.keys() if label[2] in long]
    assert len(top) == len(long)
    for label in top:
        assert ours[label] == pytest.approx(theirs[label], rel=0.1), label


def test_own_times_and_what_was_left_out_add_up_to_the_time_that_passed(make_program):
    program = make_program(LONG)
    of_ours(program.run)
    with Profile() as measured:
        began = time.process_time()
        program.run()
        program.main()
        took = time.process_time() - began
    reading = Reading(measured)
    assert sum(entry.own for entry, _ in reading.functions().values()) + reading.left_out == pytest.approx(
        took, rel=0.05
    )


def test_most_of_the_cost_of_measuring_is_left_out(workload, driver):
    of_ours(driver, workload.main)
    _, reading = of_ours(driver, workload.main)
    shown = sum(entry.own for entry, _ in reading.functions().values())
    began = time.process_time()
    workload.main()
    plain = time.process_time() - began
    measured = shown + reading.left_out
    assert abs(shown - plain) < 0.4 * (measured - plain)
