"""`Profile(sites=True)`: the times of call sites and those of functions say the same."""

from __future__ import annotations

import threading

import pytest

from cassette_import import overdub
from cassette_import.contexts.profile import Profile
from cassette_import.contexts.profile.statistics import Statistics


def leaf(n):
    return sum(range(n))


def recursive(n):
    return leaf(20) if n < 2 else recursive(n - 1) + recursive(n - 2)


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def items(n):
    for number in range(n):
        yield leaf(number)


def recursion():
    return recursive(14)


def mutual_recursion():
    return [is_even(n) for n in range(60)]


def generators():
    return [leaf(3) + item for item in items(200)]


def threads():
    started = [threading.Thread(target=recursive, args=(8,)) for _ in range(3)]
    for one in started:
        one.start()
    for one in started:
        one.join()


def callbacks():
    return [sorted(range(5), key=leaf) for _ in range(100)]


def deep_recursion():
    def down(n):
        return leaf(5) if n == 0 else down(n - 1)

    return [down(n % 50) for n in range(100)]


PROGRAMS = [recursion, mutual_recursion, generators, threads, callbacks, deep_recursion]


def profiled(program, **options):
    profile = Profile(sites=True, **options)
    overdub(profile, program)
    statistics = Statistics(profile)
    return statistics.call_sites(), statistics.functions()


@pytest.mark.parametrize("overhead", [True, False])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_no_call_site_has_more_time_than_its_function(program, overhead):
    sites, functions = profiled(program, overhead=overhead)
    for site, found in sites.items():
        if site.label in functions:
            assert 0 <= found.cumulative <= functions[site.label][0].cumulative * (1 + 1e-6) + 1e-9, site


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_only_call_site_of_a_function_has_its_calls_and_time(program):
    sites, functions = profiled(program)
    for label, (found, _) in functions.items():
        own = [site for key, site in sites.items() if key.label == label]
        if len(own) == 1 and own[0].calls == found.calls == found.primitive:
            assert own[0].cumulative == pytest.approx(found.cumulative, rel=1e-6, abs=1e-9)


def test_the_call_sites_of_a_function_share_its_time():
    sites, functions = profiled(generators)
    (label,) = [label for label in functions if label[2] == "leaf"]
    own = [site for key, site in sites.items() if key.label == label]
    assert sum(site.calls for site in own) == 400
    assert sum(site.cumulative for site in own) == pytest.approx(functions[label][0].cumulative, rel=1e-6)


def test_recursive_calls_are_part_of_the_outermost_one():
    sites, functions = profiled(recursion)
    ((whole, outer),) = [(key, site) for key, site in sites.items() if key.caller == "recursion"]
    within = [site for key, site in sites.items() if key.caller == "recursive" and key.label == whole.label]
    assert outer.cumulative == pytest.approx(functions[whole.label][0].cumulative, rel=1e-6)
    assert len(within) == 2
    assert sum(site.calls for site in within) == functions[whole.label][0].calls - 1
    assert all(site.cumulative <= outer.cumulative for site in within)


def test_a_call_that_raises_ends_the_outermost_call_of_its_site():
    def fails(n):
        if n:
            fails(n - 1)
        raise ValueError

    def program():
        for n in (3, 2):
            try:
                fails(n)
            except ValueError:
                pass

    sites, functions = profiled(program)
    ((label, outer),) = [(key.label, site) for key, site in sites.items() if key.caller.endswith("program")]
    assert outer.calls == 2
    assert outer.cumulative == pytest.approx(functions[label][0].cumulative, rel=1e-6)
