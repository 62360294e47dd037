"""`Faults`: calls that raise, take longer, or return another result."""

import asyncio
import json
import random
import re
import signal
import threading

import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import Faults, Substitute

PROGRAM = """
    import asyncio
    import math

    def fetch(number):
        return {"number": number}

    async def fetch_later(number):
        await asyncio.sleep(0)
        return number

    class Client:
        def get(self, number):
            return number

    class Other(Client):
        pass

    def attempts(count):
        results = []
        for number in range(1, count + 1):
            try:
                results.append(fetch(number)["number"])
            except (OSError, KeyError) as error:
                results.append(type(error).__name__)
        return results

    async def all_later(count):
        return await asyncio.gather(*[fetch_later(number) for number in range(count)], return_exceptions=True)

    def later(count):
        return asyncio.run(all_later(count))

    def floors():
        return [math.floor(1.5) for _ in range(3)]

    def clients():
        return Client().get(1), Other().get(2)
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.py").write_text("def fetch():\n    return [1, 2]\n")
    (tmp_path / "app.py").write_text(
        "from net import fetch\n"
        "for _ in range(4):\n"
        "    try:\n"
        "        print(fetch())\n"
        "    except OSError as error:\n"
        "        print(type(error).__name__, error)\n"
    )
    return tmp_path


# ---- which calls


@pytest.mark.parametrize(
    ("chosen", "failing"),
    [({}, {1, 2, 3, 4, 5, 6}), ({"nth": 2}, {2}), ({"nth": (1, 4)}, {1, 4}), ({"every": 3}, {3, 6})],
)
def test_the_chosen_calls_fail(program, chosen, failing):
    results = overdub(Faults(program.fetch, raises=OSError, **chosen), program.attempts, 6)
    assert results == ["OSError" if number in failing else number for number in range(1, 7)]


def test_random_choices_are_the_same_for_the_same_seed(program):
    def run(seed, probability=0.5):
        return overdub(Faults(program.fetch, raises=OSError, probability=probability, seed=seed), program.attempts, 40)

    assert run(1) == run(1) != run(2)
    assert 5 < run(1).count("OSError") < 35
    assert run(1, 0) == list(range(1, 41))
    assert run(1, 1) == ["OSError"] * 40


def test_random_choices_do_not_affect_the_random_numbers_of_the_program(program):
    random.seed(3)
    expected = random.random()
    random.seed(3)
    overdub(Faults(program.fetch, raises=OSError, probability=0.5), program.attempts, 10)
    assert random.random() == expected


def test_each_target_is_counted_separately(program):
    faults = Faults(program.fetch, program.Client.get, raises=OSError, nth=2)
    overdub(faults, program.attempts, 2)
    with pytest.raises(OSError, match=r"call 2 of .*Client\.get"):
        overdub(faults, program.clients)
    assert [figures["calls"] for figures in faults.found().values()] == [2, 2]


def test_calls_are_counted_over_all_threads(program):
    faults = Faults(program.fetch, raises=OSError, every=2)
    results = []

    def work():
        with faults:
            results.extend(program.attempts(200))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("OSError") == 800
    (found,) = faults.found().values()
    assert (found["calls"], found["faults"], found["first"]) == (1600, 800, list(range(2, 22, 2)))


# ---- faults


def test_an_exception_is_marked_as_injected(program):
    name = program.fetch.__module__
    with pytest.raises(TimeoutError, match=rf"^injected by faults: call 1 of {name}\.fetch$") as caught:
        overdub(Faults(program.fetch, raises="TimeoutError"), lambda: program.fetch(1) or program.attempts(1))
    assert "cassette_import" not in caught.traceback[-1].path.parts


def test_an_instance_is_raised_as_it_is(program):
    error = UnicodeDecodeError("utf-8", b"x", 0, 1, "mine")
    with pytest.raises(UnicodeDecodeError, match="mine"):
        overdub(Faults(program.Client.get, raises=error), program.clients)


def test_a_call_that_is_to_raise_does_not_happen(program):
    calls = []
    with Substitute({program.fetch: calls.append}):
        overdub(Faults(program.fetch, raises=OSError), program.attempts, 3)
    assert calls == []


def test_a_delay_comes_before_the_call(program, monkeypatch):
    from cassette_import.contexts.faults import context as module

    slept = []
    monkeypatch.setattr(module, "sleep", slept.append)
    assert overdub(Faults(program.fetch, delay=0.25, nth=2), program.attempts, 3) == [1, 2, 3]
    assert slept == [0.25]


def test_a_result_is_corrupted_by_a_function(program):
    assert overdub(Faults("math.floor", corrupt=lambda result: result * 100, nth=2), program.floors) == [1, 100, 1]


def test_a_result_is_corrupted_at_random(program):
    results = overdub(Faults(program.fetch, corrupt=True), program.attempts, 3)
    assert results == ["KeyError"] * 3


@pytest.mark.parametrize(
    "value",
    [
        *(True, False, 7, 0, -3, 1 << 70, 1.5, 0.0, -0.0, 5e-324, 1e308, float("inf"), float("-inf"), 1j, 0j),
        *("text", "\ud800", b"text", bytearray(b"text"), [1, 2], [1, 1], (1, 2), {1: 2}, {1}, frozenset({1})),
        *("", b"", bytearray(), [], (), {}, set(), frozenset(), {float("nan")}, {float("nan"): 1}, [None], {None}),
    ],
    ids=repr,
)
def test_a_random_corruption_is_another_value_of_the_same_type(value):
    from cassette_import.contexts.faults.context import corrupted

    for seed in range(20):
        wrong = corrupted(value, random.Random(seed))
        assert type(wrong) is type(value)
        assert wrong != value


def test_each_corruption_of_an_empty_list_is_a_new_list():
    from cassette_import.contexts.faults.context import corrupted

    assert corrupted([], random.Random(1)) is not corrupted([], random.Random(1))


def test_keys_whose_repr_raises_are_corrupted():
    from cassette_import.contexts.faults.context import corrupted

    class Hostile:
        def __repr__(self):
            raise RuntimeError

    assert corrupted({Hostile(): 1}, random.Random(1)) == {}


def test_values_of_other_types_are_corrupted_into_none():
    from cassette_import.contexts.faults.context import corrupted

    assert [corrupted(value, random.Random(1)) for value in (None, object())] == [None] * 2


def test_an_injected_exception_has_the_cause_and_the_notes_of_the_given_one(program):
    given = OSError("down")
    given.__cause__ = KeyError("cause")
    given.add_note("a note")
    with pytest.raises(OSError, match="down") as caught:
        overdub(Faults(program.fetch, raises=given), lambda: program.fetch(1))
    assert caught.value is not given
    assert (caught.value.__cause__, caught.value.__notes__) == (given.__cause__, ["a note"])


def test_coroutines_fail_when_they_are_awaited_and_the_others_continue(program):
    results = overdub(Faults(program.fetch_later, raises=OSError, nth=2), program.later, 3)
    assert [str(result) for result in results] == ["0", str(results[1]), "2"]
    assert isinstance(results[1], OSError)
    assert overdub(Faults(program.fetch_later, corrupt=lambda value: -value, delay=0.001), program.later, 3) == [
        0,
        -1,
        -2,
    ]


def test_a_coroutine_with_a_fault_is_a_coroutine(program):
    made = overdub(Faults(program.fetch_later, raises=OSError), program.fetch_later, 1)
    assert asyncio.iscoroutine(made)
    assert made.__name__ == "fetch_later"
    made.close()


def test_calls_without_a_fault_reach_the_outer_contexts(program):
    with Substitute({program.fetch: lambda number: {"number": -number}}):
        results = overdub(Faults(program.fetch, raises=OSError, nth=2), lambda: program.attempts(3))
    assert results == [-1, "OSError", -3]


def test_inherited_methods_are_intercepted_on_every_receiver(program):
    faults = Faults(program.Client.get, corrupt=lambda result: -result)
    assert overdub(faults, program.clients) == (-1, -2)


# ---- reports


def test_the_summary_counts_the_faults_of_each_target(program):
    faults = Faults(program.fetch, "math.floor", raises=OSError, every=2)
    overdub(faults, program.attempts, 30)
    name = program.fetch.__module__
    assert faults.summary() == (
        f"faults:\n  {name}.fetch: 30 calls, 15 faults (calls 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, …)\n"
        "  math.floor: never called"
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([], {"raises": OSError}, "no target is given"),
        (["math.floor"], {}, "no fault is given: give raises=, delay= or corrupt="),
        (["math.floor"], {"raises": OSError, "corrupt": True}, "give raises= or corrupt=, not both"),
        (["math.floor"], {"raises": "Nope"}, "raises is an exception or a type of exceptions, not 'Nope'"),
        (["math.floor"], {"raises": int}, "raises is an exception or a type of exceptions"),
        (["math.floor"], {"raises": UnicodeDecodeError}, "give an instance"),
        (["math.floor"], {"delay": -1}, "delay is a number of seconds, not -1"),
        (["math.floor"], {"delay": "long"}, "delay is a number of seconds, not 'long'"),
        (["math.floor"], {"delay": 1, "nth": 0}, "nth counts calls from 1, and is not 0"),
        (["math.floor"], {"delay": 1, "every": 1.5}, "every counts calls from 1, and is not 1.5"),
        (["math.floor"], {"delay": 1, "probability": 2}, "probability is a number from 0 to 1, not 2"),
        (["math.floor"], {"delay": 1, "nth": 1, "every": 2}, "give one of nth=, every= and probability="),
        (["math.floor"], {"corrupt": 3}, "corrupt is a function"),
        (["math.flor"], {"delay": 1}, "module math has no attribute 'flor'"),
    ],
)
def test_wrong_arguments_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Faults(*arguments, **options)


# ---- on the command line


def test_a_program_runs_with_faults(folder):
    done = cassette("run", "-c", "faults:target=net.fetch,raises=ConnectionResetError,every=2", "app.py", folder=folder)
    assert done.stdout.splitlines() == [
        "[1, 2]",
        "ConnectionResetError injected by faults: call 2 of net.fetch",
        "[1, 2]",
        "ConnectionResetError injected by faults: call 4 of net.fetch",
    ]
    assert (done.status, done.stderr) == (0, "faults: net.fetch: 4 calls, 2 faults (calls 2, 4)\n")


def test_the_results_are_written_as_json(folder):
    options = "run", "-c", "faults:target=net.fetch+json.dumps,corrupt=True,nth=1", "-o", "out.json"
    assert cassette(*options, "app.py", folder=folder).stderr == "faults: json.dumps: never called\n"
    assert json.loads((folder / "out.json").read_text()) == {
        "net.fetch": {"calls": 4, "faults": 1, "first": [1]},
        "json.dumps": {"calls": 0, "faults": 0, "first": []},
    }


def test_the_report_is_there_when_the_program_dies_of_a_fault(folder):
    (folder / "app.py").write_text("from net import fetch\ndef main():\n    fetch()\nmain()\n")
    done = cassette("run", "-c", "faults:target=net.fetch,raises=OSError", "app.py", folder=folder)
    assert done.status == 1
    assert done.stderr.endswith(
        "OSError: injected by faults: call 1 of net.fetch\nfaults: net.fetch: 1 call, 1 fault (call 1)\n"
    )
    assert "contexts" not in done.stderr


def test_the_report_is_there_when_the_program_is_interrupted(folder):
    (folder / "app.py").write_text(
        "import os, signal\nfrom net import fetch\nfetch()\nos.kill(os.getpid(), signal.SIGINT)\nfetch()\n"
    )
    done = cassette("run", "-c", "faults:target=net.fetch,delay=0", "app.py", folder=folder)
    assert done.status in (-signal.SIGINT, 130)
    assert done.stderr.endswith("faults: net.fetch: 1 call, 1 fault (call 1)\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "missing a required .*argument: 'target'; it takes target, raises, delay, corrupt, nth, every, .*"),
        (":target=net.fetch", "no fault is given: .*"),
        (":target=net.fetch,raises=Nope", "raises is an exception or a type of exceptions, not 'Nope'"),
        (":target=net.fetch,raises=OSError,nth=first", "nth counts calls from 1, and is not 'first'"),
        (":target=net.fetch,rises=OSError", "got an unexpected keyword argument 'rises'; it takes target, raises, .*"),
        (":target=net.nope,raises=OSError", "module net has no attribute 'nope'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options, message, folder):
    done = cassette("run", "-c", f"faults{options}", "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: context 'faults.*': {message}\n", done.stderr)
