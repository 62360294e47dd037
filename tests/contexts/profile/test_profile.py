"""`Profile`: calls and times per function and caller, in a table, for `pstats`, and for speedscope."""

import asyncio
import functools
import gc
import json
import os
import pstats
import sys
import threading
import time
import weakref

import pytest

from cassette_import import Events, overdub
from cassette_import.contexts import Profile
from cassette_import.contexts.profile import call_tree, compiling_time
from cassette_import.contexts.profile import context as profile_context
from cassette_import.contexts.profile import statistics as profile_statistics
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.specialization import body_compiler as body_compiler_module
from cassette_import.specialization import compilation_listeners
from cassette_import.specialization.body_compiler import body_compiler

PROGRAM = """
    import asyncio
    import threading
    import time


    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)


    def is_even(n):
        return n == 0 or is_odd(n - 1)


    def is_odd(n):
        return n != 0 and is_even(n - 1)


    def sleep(seconds):
        time.sleep(seconds)


    def nap():
        sleep(0.01)
        sleep(0.02)


    def fail():
        raise ValueError("mine")


    def survive():
        try:
            fail()
        except ValueError:
            return len([1, 2])


    def numbers(count):
        for number in range(count):
            yield abs(number)


    def interleaved():
        one, other = numbers(3), numbers(3)
        next(one), next(other), next(one)
        one.close()
        return list(other)


    def make(n):
        def closure():
            return n
        return closure


    def call_closures(count):
        return [make(n)() for n in range(count)]


    class Point:
        def __init__(self, x):
            self.x = x

        def double(self):
            return Point(self.x * 2)

        def __call__(self):
            return self.x


    def use_point():
        return Point(3).double()()


    def use_builtins():
        items = []
        items.append(1)
        dict.fromkeys(items)
        return max(items), dict(a=1), "-".join(map(str, items))


    def in_threads(count):
        threads = [threading.Thread(target=fib, args=(6,)) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


    async def step(n):
        await asyncio.sleep(0)
        return abs(n)


    async def several():
        return await asyncio.gather(*[step(n) for n in range(3)])
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.fixture
def profile():
    return Profile()


def stats(profile, tmp_path):
    """The entries that `pstats` reads: `{name: (primitive, calls, self time, cumulative time, callers by name)}`."""
    path = tmp_path / "out.prof"
    profile.formats[".prof"](str(path))
    return {
        label[2]: (*entry[:4], {caller[2]: figures for caller, figures in entry[4].items()})
        for label, entry in pstats.Stats(str(path)).stats.items()
    }


def test_it_intercepts_calls_only():
    assert Profile.events == Events.CALLS


def test_the_summary_without_calls_is_one_line(profile):
    assert profile.summary() == "profile: nothing was called"


def test_files_of_a_profile_without_calls_can_be_read(profile, tmp_path):
    assert stats(profile, tmp_path)["<nothing was called>"][:2] == (0, 0)
    assert speedscope(profile, tmp_path)["profiles"] == []


def test_recursive_calls_are_counted_as_in_pstats(program, profile, tmp_path):
    with profile:
        program.fib(10)
    with profile:
        program.is_even(9)
    found = stats(profile, tmp_path)
    # The program passes `fib` on, so it is a row although the block itself, which calls it, is not overdubbed.
    assert found["fib"][:2] == (1, 177)
    # the two call each other, so the outermost call of each is the primitive one
    assert found["is_odd"][:2] == (1, 5)
    assert found["is_even"][:2] == (1, 4)
    assert found["is_odd"][4]["is_even"][:2] == (4, 1)


def test_the_time_of_a_recursive_function_is_counted_once(program, profile, tmp_path):
    began = time.perf_counter()
    with profile:
        program.fib(12)
    took = time.perf_counter() - began
    _, _, own, cumulative, _ = stats(profile, tmp_path)["fib"]
    assert 0 < own <= cumulative <= took


def test_self_time_is_the_time_not_spent_in_calls(program, profile, tmp_path):
    with profile:
        program.nap()
    found = stats(profile, tmp_path)
    name = "<built-in method time.sleep>"
    assert found[name][2] == pytest.approx(found[name][3])
    assert found[name][3] >= 0.03
    assert found["sleep"][3] >= found[name][3]
    assert found["sleep"][2] < found["sleep"][3] - 0.029
    assert found[name][4]["sleep"][:2] == (2, 2)


def test_a_call_that_raises_is_counted_and_is_not_the_caller_of_later_calls(program, profile, tmp_path):
    with profile:
        program.survive()
    found = stats(profile, tmp_path)
    assert found["fail"][:2] == (1, 1)
    assert found["<built-in method builtins.len>"][4] == {}
    assert found["<class 'ValueError'>"][4].keys() == {"fail"}


def test_interleaved_generators_are_kept_apart(program, profile, tmp_path):
    with profile:
        assert program.interleaved() == [1, 2]
    found = stats(profile, tmp_path)
    assert found["<built-in method builtins.abs>"][1] == 5
    assert found["<built-in method builtins.abs>"][4].keys() == {"numbers"}
    assert found["numbers"][4].keys() == {
        "<built-in method builtins.next>",
        "<class 'list'>",
        *(["<method 'close' of 'generator' objects>"] if sys.version_info[:2] != (3, 13) else []),
    }


def test_closures_of_one_def_are_one_function_and_are_not_kept_alive(program, profile, tmp_path):
    with profile:
        program.call_closures(50)
    assert stats(profile, tmp_path)["closure"][:2] == (50, 50)
    closure = program.make(1)
    known = weakref.ref(closure)
    profile.prehook(closure)
    profile.posthook(1, closure)
    del closure
    gc.collect()
    assert known() is None


def test_a_class_is_shown_as_its_python_constructor_and_an_object_as_its_call(program, profile, tmp_path):
    with profile:
        assert program.use_point() == 6
    found = stats(profile, tmp_path)
    assert found["__init__"][1] == 2
    assert found["double"][4] == {}
    assert found["__init__"][4].keys() == {"double"}
    assert found["__call__"][1] == 1


def test_builtins_have_the_names_that_cprofile_gives_them(program, profile, tmp_path):
    with profile:
        program.use_builtins()
    assert stats(profile, tmp_path).keys() >= {
        "<method 'append' of 'list' objects>",
        "<built-in method builtins.max>",
        "<method 'join' of 'str' objects>",
        "<class 'dict'>",
        "<class 'map'>",
    }
    assert "~:0(<built-in method builtins.max>)" in profile.summary()


def test_functions_have_their_original_file_and_line(program, profile, tmp_path):
    profile_path = tmp_path / "out.prof"
    with profile:
        program.nap()
    profile.formats[".prof"](str(profile_path))
    line = program.sleep.__code__.co_firstlineno
    assert (program.__file__, line, "sleep") in pstats.Stats(str(profile_path)).stats


def test_threads_that_share_a_profile_do_not_disturb_each_other(program, profile, tmp_path):
    def work():
        with profile:
            program.fib(12)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stats(profile, tmp_path)["fib"][1] == 8 * 465
    document = speedscope(profile, tmp_path)
    assert 1 <= len(document["profiles"]) <= 8


def test_tasks_that_share_a_profile_do_not_disturb_each_other(program, profile, tmp_path):
    async def main():
        with profile:
            return await asyncio.gather(*[program.step(n) for n in range(3)])

    assert asyncio.run(main()) == [0, 1, 2]
    assert overdub(profile, program.survive) == 2
    assert stats(profile, tmp_path)["fail"][4] == {}


def test_statistics_are_the_same_when_paths_are_folded(program, tmp_path):
    def counts(profile):
        with profile:
            program.fib(8)
            program.is_even(7)
            program.survive()
        return {
            name: (entry[:2], {caller: figures[:2] for caller, figures in entry[4].items()})
            for name, entry in stats(profile, tmp_path).items()
        }

    exact = counts(Profile())
    for paths in (0, 1, 5, 9):
        assert counts(Profile(paths=paths)) == exact


def test_calls_in_progress_count_as_if_they_ended_now(profile, tmp_path):
    def outer():
        pass

    profile.prehook(outer)
    profile.prehook(len, [])
    profile.posthook(0, len, [])
    time.sleep(0.01)
    found = stats(profile, tmp_path)
    assert found["outer"][:2] == (1, 1)
    assert found["outer"][2] >= 0.01
    profile.posthook(None, outer)
    assert stats(profile, tmp_path)["outer"][:2] == (1, 1)


def test_a_missing_prehook_or_posthook_does_not_corrupt_the_tree(profile, tmp_path):
    def outer():
        pass

    def unpaired():
        pass

    profile.posthook(None, unpaired)  # its prehook is missing, in a thread without a tree
    profile.prehook(outer)
    profile.posthook(None, unpaired)  # its prehook is missing
    profile.prehook(outer)
    profile.prehook(unpaired)  # its posthook is missing
    profile.posthook(None, outer)
    profile.prehook(len, [])
    profile.posthook(0, len, [])
    profile.posthook(None, outer)
    profile.prehook(max, [])
    profile.posthook(0, max, [])
    found = stats(profile, tmp_path)
    assert found["<built-in method builtins.len>"][4].keys() == {"outer"}
    assert found["<built-in method builtins.max>"][4] == {}


def test_the_table_has_the_order_and_length_of_the_options(program):
    with Profile(sort="calls", limit=1) as profile:
        program.fib(5)
        program.is_even(1)
    lines = profile.summary().splitlines()
    assert lines[0].startswith("profile: ")
    assert "sorted by calls" in lines[0]
    assert "(fib)" in lines[3]
    assert "further row" in lines[4]
    assert len(lines) == 5


def test_an_unknown_order_is_an_error_that_names_the_known_ones():
    with pytest.raises(ValueError, match="own, cumulative, calls, not 'name'"):
        Profile(sort="name")


def test_the_table_in_a_file_is_complete(program, tmp_path):
    path = tmp_path / "out.txt"
    with Profile(limit=1) as profile:
        program.fib(5)
        program.survive()
    profile.formats[".txt"](str(path))
    assert {"(fib)", "(fail)"} <= set(path.read_text().replace(":", " ").replace("(", " (").split())


def speedscope(profile, tmp_path, suffix=".json"):
    path = tmp_path / f"out{suffix}"
    profile.formats[suffix](str(path))
    return json.loads(path.read_text())


@pytest.mark.parametrize("suffix", [".json", ".speedscope.json"])
def test_the_file_for_speedscope_follows_its_schema(suffix, program, profile, tmp_path):
    with profile:
        program.fib(6)
        program.survive()
    document = speedscope(profile, tmp_path, suffix)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert {"name": "fail", "file": program.__file__, "line": program.fail.__code__.co_firstlineno} in frames
    for shown in document["profiles"]:
        assert (shown["type"], shown["unit"], shown["name"]) == ("evented", "seconds", "MainThread")
        under_way = []
        at = shown["startValue"]
        for event in shown["events"]:
            assert event["at"] >= at
            at = event["at"]
            if event["type"] == "O":
                under_way.append(event["frame"])
                assert 0 <= event["frame"] < len(frames)
            else:
                assert (event["type"], event["frame"]) == ("C", under_way.pop())
        assert under_way == []
        assert at == shown["endValue"]


def test_speedscope_shows_the_same_total_time_as_the_table(program, profile, tmp_path):
    with profile:
        program.nap()
    total = sum(entry[2] for entry in stats(profile, tmp_path).values())
    assert speedscope(profile, tmp_path)["profiles"][0]["endValue"] == pytest.approx(total)


def test_a_recursion_deeper_than_the_recursion_limit_can_be_shown(profile, tmp_path):
    def deeper():
        pass

    for _ in range(5000):
        profile.prehook(deeper)
    for _ in range(5000):
        profile.posthook(None, deeper)
    assert stats(profile, tmp_path)["deeper"][:2] == (1, 5000)
    assert len(speedscope(profile, tmp_path)["profiles"][0]["events"]) == 10_000


def collapsed(profile, tmp_path, suffix=".folded"):
    """Microseconds by path."""
    path = tmp_path / f"out{suffix}"
    profile.formats[suffix](str(path))
    lines = [line.rpartition(" ") for line in path.read_text().splitlines()]
    return {stack: int(figure) for stack, _, figure in lines}


@pytest.mark.parametrize("suffix", [".folded", ".collapsed"])
def test_collapsed_stacks_have_a_line_for_each_path_with_its_self_time(suffix, program, tmp_path):
    with Profile(overhead=False) as profile:
        program.nap()
    found = {stack.rpartition(";")[2]: figure for stack, figure in collapsed(profile, tmp_path, suffix).items()}
    assert found["<built-in method time.sleep>"] >= 30_000
    stacks = list(collapsed(profile, tmp_path))
    assert stacks[0] == "<MainThread>"
    assert all(stack.startswith("<MainThread>;") for stack in stacks[1:])
    line = program.sleep.__code__.co_firstlineno
    assert any(stack.endswith(f"__init__.py:{line}(sleep);<built-in method time.sleep>") for stack in stacks)


def test_a_name_with_the_separator_of_collapsed_stacks_is_kept_on_one_line_in_one_piece(tmp_path):
    function = eval("lambda: 0")
    function.__code__ = function.__code__.replace(co_name="a;b c\nd")
    made = Profile(overhead=False)
    made.prehook(function)
    time.sleep(0.001)
    made.posthook(None, function)
    assert list(collapsed(made, tmp_path)) == ["<MainThread>;<string>:1(a,b c d)"]


def test_the_option_sites_counts_calls_per_call_site(program):
    with Profile(sites=True) as profile:
        program.nap()
        program.fib(5)
    lines = profile.summary().splitlines()
    sites = lines[lines.index("") + 1 :]
    sites = sites[sites.index("") + 2 :]
    first = program.fib.__code__.co_firstlineno
    assert sum(f"__init__.py:{first + 1}:" in line and " in fib: fib" in line for line in sites) == 2
    naps = [line.split() for line in sites if " in nap: sleep" in line]
    assert [(calls, float(seconds) > 0.009) for calls, seconds, *_ in naps] == [("1", True), ("1", True)]
    assert isinstance(profile, Profile)


def test_call_sites_agree_with_the_tree(program, tmp_path):
    with Profile(sites=True) as profile:
        program.fib(8)
        program.survive()
    sites = Statistics(profile).call_sites()
    calls = sum(figures.calls for site, figures in sites.items() if site.label[2] == "fib")
    assert calls == stats(profile, tmp_path)["fib"][1] - 1  # the block's own call has no call site
    assert [site.caller for site in sites if site.label[2] == "fail"] == ["survive"]


def test_the_time_of_a_block_outside_all_calls_is_that_of_the_thread(program, tmp_path):
    with Profile() as profile:
        program.nap()
        time.sleep(0.02)
    time.sleep(0.02)
    with profile:
        program.nap()
    found = stats(profile, tmp_path)["<MainThread>"]
    assert found[:2] == (1, 1)
    assert 0.02 <= found[2] < found[3] - 0.05


def test_a_block_in_a_block_is_counted_once(program, tmp_path):
    profile = Profile()
    began = time.perf_counter()
    with profile:
        with profile:
            program.nap()
        time.sleep(0.01)
    took = time.perf_counter() - began
    assert stats(profile, tmp_path)["<MainThread>"][3] <= took


@pytest.mark.skipif(
    not os.environ.get("CASSETTE_TEST_TIMINGS"),
    reason="compares times: set CASSETTE_TEST_TIMINGS=1 on a machine that is quiet",
)
def test_overhead_is_subtracted_by_default(program):
    with Profile() as profile, Profile(overhead=False) as raw:
        program.fib(12)
    statistics, uncorrected = Statistics(profile), Statistics(raw)
    assert statistics.overhead > 0
    assert uncorrected.overhead == 0
    assert "overhead subtracted" in profile.summary()
    assert "overhead subtracted" not in raw.summary()


def test_self_times_and_overhead_add_up_to_the_time_in_the_block(program):
    with Profile() as profile:
        began = time.perf_counter()
        for _ in range(20):
            program.fib(12)
            program.survive()
            program.call_closures(10)
        took = time.perf_counter() - began
    statistics = Statistics(profile)
    total = sum(figures.own for figures, _ in statistics.functions().values()) + statistics.overhead
    assert total == pytest.approx(took, rel=0.05)


def test_no_time_is_negative(program, tmp_path):
    with Profile(sites=True) as profile:
        program.fib(10)
        program.use_builtins()
    assert all(own >= 0 and cumulative >= 0 for _, _, own, cumulative, _ in stats(profile, tmp_path).values())
    assert all(figures.cumulative >= 0 for figures in Statistics(profile).call_sites().values())


def test_functions_called_in_turn_are_kept_apart(profile, tmp_path):
    def outer():
        pass

    functions = [len, max, min, len, len, abs, max]
    profile.prehook(outer)
    for function in functions * 10:
        profile.prehook(function)
        profile.posthook(None, function)
    profile.posthook(None, outer)
    found = stats(profile, tmp_path)
    names = ("len", "max", "min", "abs")
    assert [found[f"<built-in method builtins.{name}>"][1] for name in names] == [30, 20, 10, 10]


DECORATED = """
    from functools import wraps

    def decorated(function):
        @wraps(function)
        def wrapper():
            return function()
        return wrapper

    @decorated
    def first(): pass

    @decorated
    def second(): pass

    def calls(*functions):
        for function in functions:
            function()

    def closures():
        calls(first, local(), first, second, local())

    def local():
        @decorated
        def function(): pass
        return function

    def in_turn():
        calls(first, second, first, second)
"""


@pytest.mark.parametrize("function", ["in_turn", "closures"])
def test_functions_with_the_same_label_that_are_called_in_turn_are_not_nested(function, make_program, tmp_path):
    program = make_program(DECORATED)
    with Profile() as profile:
        getattr(program, function)()
    primitive, calls, *_ = stats(profile, tmp_path)["wrapper"]
    assert primitive == calls == (4 if function == "in_turn" else 5)


def with_costs(monkeypatch, **costs):
    """Have events cost so much."""
    by_kind = {kind.replace("_", " "): profile_statistics.Cost(*cost) for kind, cost in costs.items()}
    # No function of this module: blocks of it are overdubbed.
    measured = functools.partial(dict, by_kind)
    monkeypatch.setattr(Profile, "event_costs", staticmethod(measured))
    monkeypatch.setattr(type(Profile()), "event_costs", staticmethod(measured))


def timed_loop(monkeypatch, calls=1000, loop=0.003, step=0.002):
    """A function that calls another one, each of which takes so long for a call; by a clock that is set by hand."""
    now = 0.0
    for module in (profile_context, profile_statistics):
        monkeypatch.setattr(module, "perf_counter", lambda: now)
    profile = Profile()
    namespace = {}
    exec("def caller(): pass\ndef called(): pass", namespace)
    caller, called = namespace["caller"], namespace["called"]
    profile.prehook(caller)
    for _ in range(calls):
        now += loop
        profile.prehook(called)
        now += step
        profile.posthook(None, called)
    profile.posthook(None, caller)
    return profile


def self_times(profile):
    statistics = Statistics(profile)
    return {label[2]: entry.own for label, (entry, _) in statistics.functions().items()}, statistics


def test_what_events_cost_is_subtracted_from_the_call_and_its_caller(monkeypatch):
    with_costs(monkeypatch, function=(0.0005, 0.001))
    found, statistics = self_times(timed_loop(monkeypatch))
    assert found["called"] == pytest.approx(1000 * (0.002 - 0.0005))
    assert found["caller"] == pytest.approx(1000 * (0.003 - 0.001) - 0.0005)
    assert statistics.overhead == pytest.approx(1000 * 0.0015 + 0.0005, rel=1e-3)  # making nodes is part of it


@pytest.mark.parametrize("cost", [0.0, 0.001, 0.0025, 1.0, 1e6])
def test_a_loop_that_calls_a_small_function_keeps_a_share_of_its_time(cost, monkeypatch):
    with_costs(monkeypatch, function=(cost, cost), calling=(cost, 0.0))
    found, _ = self_times(timed_loop(monkeypatch))
    for name, measured in (("caller", 3.0), ("called", 2.0)):
        assert profile_statistics.LEAST_SHARE * measured * 0.999 <= found[name] <= measured * 1.001


@pytest.mark.parametrize("cost", [0.0, 0.001, 1.0])
def test_self_times_and_the_overhead_add_up_to_the_measured_time(cost, monkeypatch):
    with_costs(monkeypatch, function=(cost, cost))
    found, statistics = self_times(timed_loop(monkeypatch))
    assert sum(found.values()) + statistics.overhead == pytest.approx(5.0)


def test_too_high_a_cost_of_one_function_does_not_lower_the_costs_of_others(monkeypatch):
    with_costs(monkeypatch, function=(0.0015, 100.0))
    assert self_times(timed_loop(monkeypatch))[0]["called"] == pytest.approx(1000 * (0.002 - 0.0015))


def test_what_the_call_itself_takes_belongs_to_the_caller(monkeypatch):
    """The cost of making an object is in the measured time of `__init__`, and not in that of the plain function."""
    with_costs(monkeypatch, function=(0.001, -0.001))
    found, statistics = self_times(timed_loop(monkeypatch))
    assert found["caller"] == pytest.approx(1000 * (0.003 + 0.001) - 0.001)
    assert found["called"] == pytest.approx(1000 * (0.002 - 0.001))
    assert statistics.overhead == pytest.approx(0.0, abs=0.005)


measured_hooks = pytest.mark.parametrize("hooks", ["in Python"], indirect=True)
"""Hooks in C do not measure themselves, unless they take long."""


def timed_by_hand(profile, monkeypatch, calls, hook, body):
    """Call `len`; reading the clock in a hook takes `hook` seconds, and the callee takes `body` seconds."""
    now = 0.0

    def clock():
        nonlocal now
        now += hook
        return now

    monkeypatch.setattr(profile_context, "perf_counter", clock)
    monkeypatch.setattr(profile_statistics, "perf_counter", lambda: now)
    for _ in range(calls):
        profile.prehook(len)
        now += body
        profile.posthook(0, len)
    return Statistics(profile)


@measured_hooks
def test_the_time_inside_the_hooks_is_subtracted(monkeypatch):
    with_costs(monkeypatch)
    statistics = timed_by_hand(Profile(), monkeypatch, 10, hook=1.0, body=0.25)
    shown = sum(entry.own for entry, _ in statistics.functions().values())
    assert shown == pytest.approx(10 * (0.25 + 1.0))  # the call ends when the posthook has read the clock
    assert statistics.overhead >= 20.0


@measured_hooks
def test_the_time_inside_the_hooks_is_included_without_the_option_overhead(monkeypatch):
    statistics = timed_by_hand(Profile(overhead=False), monkeypatch, 10, hook=1.0, body=0.25)
    assert sum(entry.own for entry, _ in statistics.functions().values()) >= 10 * (0.25 + 2.0)
    assert statistics.overhead == 0.0


def test_estimating_costs_does_not_count_as_calls_of_the_profile(program):
    with Profile() as profile:
        program.fib(3)
        profile_statistics.forget_measurements()
        profile.event_costs()
        assert {label[2] for label in Statistics(profile).totals()} == {"<MainThread>", "fib"}


def test_a_clock_that_stands_still_gives_no_costs(monkeypatch):
    profile_statistics.forget_measurements()
    monkeypatch.setattr(profile_statistics, "perf_counter", lambda: 1.0)
    assert {tuple(cost) for cost in Profile().event_costs().values()} == {(0.0, 0.0)}
    profile_statistics.forget_measurements()


@pytest.mark.parametrize("sites", [False, True])
def test_every_kind_of_callee_has_a_cost(sites):
    class Plain:
        pass

    class Initialised:
        def __init__(self):
            pass

    def packing(*arguments):
        pass

    def generator():
        yield

    callees = [len, [].append, list.append, dict, Plain, Initialised, packing, generator, with_costs, self_times]
    callees += [Profile.summary]
    kinds = {call_tree.kind_of(callee) for callee in callees} | {call_tree.BODY, call_tree.CALLBACK}
    costs = Profile(sites=sites).event_costs()
    assert (
        kinds | {profile_statistics.ANNOUNCED, profile_statistics.CALLING, profile_statistics.INDIRECT} == costs.keys()
    )
    assert all(sum(costs[kind]) > 0.0 for kind in kinds)


def test_events_that_look_up_the_context_are_counted(make_program):
    program = make_program(
        "def main():\n    step(1)\n    return sum(step(x) for x in range(10))\ndef step(x): return x\n"
    )
    with Profile() as profile:
        program.main()
    (tree,) = Statistics(profile).trees
    counted = {}
    for node in tree.nodes:
        counted[node.label[2]] = counted.get(node.label[2], 0) + node.indirect
    assert counted["step"] == 10


def test_the_time_of_compiling_is_subtracted(make_program, monkeypatch):
    with_costs(monkeypatch)
    program = make_program(
        "def main():\n    return first(), second()\ndef first(): return 1\ndef second(): return abs(2)\n"
    )
    make = body_compiler._body_of
    now = [0.0]

    def slow(unit, variants):
        now[0] += 100.0
        return make(unit, variants)

    for module in (profile_context, compiling_time, profile_statistics, body_compiler_module, compilation_listeners):
        # No function of this module, which is overdubbed in the block.
        monkeypatch.setattr(module, "perf_counter", functools.partial(now.__getitem__, 0))
    monkeypatch.setattr(body_compiler, "_body_of", slow)
    with Profile() as profile:
        program.main()
    statistics = Statistics(profile)
    assert sum(entry.cumulative for entry, _ in statistics.functions().values()) == 0.0
    assert statistics.overhead == 300.0


def test_a_clock_that_the_program_freezes_does_not_stop_the_profile(program, monkeypatch):
    """freezegun replaces the functions of `time` in every module that has them by name."""
    profile, real = Profile(), time.perf_counter
    for name, module in list(sys.modules.items()):
        if name.startswith("cassette_import"):
            for attribute, value in list(vars(module).items()):
                if value is real:
                    monkeypatch.setattr(module, attribute, lambda: 0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    overdub(profile, program.nap)
    monkeypatch.undo()
    (thread,) = profile.threads()
    assert sum(node.total for node in set(thread.root.children.values())) > 0.02
