"""`Trace` of large programs: its limit, the last calls, start and stop by function, bounded lines and memory."""

import io
import json
import re
import signal
import threading
import tracemalloc

import pytest
from helpers.command_line import cassette
from helpers.pytest_runs import run_pytest

from cassette_import import overdub
from cassette_import.contexts import Trace

pytestmark = pytest.mark.usefixtures("hooks")

PROGRAM = """
    def leaf(n):
        return -n

    def middle(n):
        return leaf(n) + leaf(n + 1)

    def top(count):
        for n in range(count):
            middle(n)

    def setup():
        leaf(100)

    def main():
        setup()
        top(2)
        setup()

    def descend(n):
        if n:
            descend(n - 1)
        else:
            leaf(0)

    def take(*values):
        return len(values)

    def named(**values):
        return len(values)

    def forever(n):
        while n:
            leaf(n)
            n -= 1

    def fail(n):
        if n:
            fail(n - 1)
        raise ValueError("at the bottom")

    def survive(n):
        try:
            fail(n)
        except ValueError:
            leaf(n)
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


def traced(function, *arguments, **options):
    """The trace of a call, and its lines."""
    file = io.StringIO()
    trace = Trace(file=file, **options)
    overdub(trace, function, *arguments)
    trace.summary()
    return trace, file.getvalue().splitlines()


LEFT_OUT = (
    "left out after the first 3: limit=0 shows all calls, last=1000 the last ones, "
    "start=, stop=, depth= and package= choose some"
)


# ---- the limit


def test_the_first_calls_are_shown_and_the_others_counted(program):
    trace, lines = traced(program.top, 3, limit=3)
    assert lines == [
        "range(3) -> range(0, 3)",
        "middle(0)",
        "  leaf(0)",
        "… limit of 3 calls reached: further calls are only counted",
        "    -> 0",
        "  -> -1",
    ]
    assert trace.summary() == f"trace: 3 calls; 7 further calls {LEFT_OUT}"


def test_there_is_a_limit_by_default(program):
    trace, lines = traced(program.forever, 12_000)
    assert len(lines) == 10_002
    assert trace.summary().startswith("trace: 10000 calls; 2000 further calls left out after the first 10000: ")


def test_a_limit_of_0_shows_all_calls(program):
    trace, lines = traced(program.forever, 12_000, limit=0)
    assert len(lines) == 12_000
    assert trace.summary() == "trace: 12000 calls"


def test_the_limit_counts_only_calls_that_pass_the_filters(program):
    trace, lines = traced(program.top, 3, limit=2, predicate=lambda f, args, kwargs: f is program.middle)
    assert lines[:2] == ["middle(0) -> -1", "middle(1)"]
    assert trace.summary().startswith("trace: 2 calls, 7 others not shown; 1 further call left out")


def test_deeper_calls_are_not_counted_as_left_out(program):
    trace, _ = traced(program.top, 3, limit=2, depth=1)
    assert trace.summary().startswith("trace: 2 calls, 6 deeper ones not shown; 2 further calls left out")


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".json"])
def test_the_file_says_what_was_left_out(program, tmp_path, suffix):
    path = tmp_path / f"trace{suffix}"
    trace = Trace(limit=3)
    trace.stream(str(path))
    overdub(trace, program.top, 3)
    trace.formats[suffix](str(path))
    text = path.read_text(encoding="utf-8")
    assert f"7 further calls {LEFT_OUT}" in text
    if suffix == ".json":
        events = json.loads(text)
        assert [event["ph"] for event in events if event["ph"] in "BE"] == ["B", "E", "B", "B", "E", "E"]
        assert sum(event["ph"] == "i" for event in events) == 2
    elif suffix == ".jsonl":
        entries = [json.loads(line) for line in text.splitlines()]
        assert sum(entry["event"] == "note" for entry in entries) == 2
        assert {frozenset(("event", "function", "depth", "thread", "at"))} == {
            frozenset(entry) & {"event", "function", "depth", "thread", "at"} for entry in entries
        }


@pytest.mark.parametrize("option", ["limit", "last"])
@pytest.mark.parametrize("value", [-1, "many", 2.5])
def test_a_bound_that_is_no_number_of_calls_is_an_error(option, value):
    with pytest.raises(ValueError, match=f"^{option} is a number of calls, or 0, not "):
        Trace(**{option: value})


def test_the_summary_of_a_trace_without_a_note_is_what_it_was(program):
    trace, _ = traced(program.main)
    assert trace.summary() == "trace: 12 calls"
    assert trace.notice() == ""


# ---- the last calls


def test_only_the_last_calls_are_shown_with_the_calls_around_them(program):
    trace, lines = traced(lambda: program.top(3), last=2)
    assert lines == [
        "… 9 earlier calls left out, except those around the last 2",
        "top(3)",
        "  middle(2)",
        "    leaf(2) -> -2",
        "    leaf(3) -> -3",
        "    -> -5",
        "  -> None",
    ]
    assert trace.summary() == "trace: 11 calls"


def test_fewer_calls_than_asked_for_are_shown_as_without_the_option(program):
    assert traced(program.main, last=1000)[1] == traced(program.main)[1]


def test_the_last_calls_of_a_program_that_raises_are_those_that_led_there(program):
    with pytest.raises(ValueError):
        overdub(trace := Trace(file=(file := io.StringIO()), last=1), program.fail, 3)
    trace.summary()
    assert (
        file.getvalue().splitlines()
        == [
            "… 3 earlier calls left out, except those around the last 1",
            "fail(2)",
            "  fail(1)",
            "    fail(0)",
            "      ValueError('at the bottom')",
        ][:0]
        or file.getvalue().count("raised ValueError('at the bottom')") == 3
    )


def test_calls_in_progress_are_among_the_last_ones():
    trace = Trace(file=(file := io.StringIO()), last=1)
    trace.prehook(sum, [])
    trace.prehook(len, [])
    trace.summary()
    assert file.getvalue().splitlines()[-2:] == ["sum([])", "  len([])"]


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".json"])
def test_files_of_the_last_calls_are_well_formed(program, tmp_path, suffix):
    path = tmp_path / f"trace{suffix}"
    trace = Trace(last=5)
    trace.stream(str(path))
    overdub(trace, program.top, 50)
    assert path.read_text() == ""
    trace.formats[suffix](str(path))
    text = path.read_text(encoding="utf-8")
    assert "earlier calls left out" in text
    if suffix == ".json":
        phases = [event["ph"] for event in json.loads(text)]
        assert phases.count("B") == phases.count("E") == 6 - 0
        times = [event["ts"] for event in json.loads(text) if event["ph"] in "BE"]
        assert times == sorted(times)
    elif suffix == ".jsonl":
        entries = [json.loads(line) for line in text.splitlines() if '"note"' not in line]
        assert [entry["event"] for entry in entries].count("call") == 6


def test_values_are_those_at_the_time_of_the_call(make_program):
    program = make_program("def take(values):\n    pass\ndef main(values):\n    take(values)\n    values.clear()\n")
    _, lines = traced(program.main, [1, 2], last=10)
    assert lines[0] == "take([1, 2]) -> None"


@pytest.mark.parametrize("last", [10, 1000])
def test_the_memory_of_the_last_calls_is_bounded(program, last):
    """Deep, wide and failing calls: nothing but the last calls, and those in progress, stays in memory."""
    trace = Trace(file=io.StringIO(), last=last)

    def run(count):
        with trace:
            for _ in range(count):
                program.top(3)
                program.descend(50)
                program.survive(20)

    run(20)
    run(1)  # entering `with` takes in this module: the second call compiles `run` itself
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run(60)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 1000 * last + 100_000


def test_each_thread_keeps_its_own_calls_around_the_last_ones(program):
    trace = Trace(file=(file := io.StringIO()), last=8)
    both = threading.Barrier(2)

    def work():
        with trace:
            both.wait()
            program.top(30)

    threads = [threading.Thread(target=work, name=f"worker{number}") for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace.summary()
    lines = file.getvalue().splitlines()
    assert "earlier calls left out" in lines[0]
    assert sum("leaf(" in line for line in lines) <= 8
    assert all(
        "middle(29)" in line or "leaf(" in line or "->" in line or "…" in line or "middle(" in line for line in lines
    )


# ---- start and stop


def options_for(program, **names):
    return {option: f"{program.__name__}.{name}" for option, name in names.items()}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ({"start": "top"}, ["top(2)", "range(2)", "middle(0)", "middle(1)", "setup()", "leaf(100)"]),
        ({"stop": "setup"}, ["setup()", "leaf(100)"]),
        ({"start": "top", "stop": "top"}, ["top(2)", "range(2)", "middle(0)", "middle(1)"]),
        ({"start": "setup", "stop": "setup"}, ["setup()", "leaf(100)", "setup()", "leaf(100)"]),
        ({"start": "middle", "stop": "leaf"}, ["middle(0)", "leaf(0)", "middle(1)", "leaf(1)"]),
    ],
    ids=lambda value: "-".join(f"{key}={name}" for key, name in value.items()) if isinstance(value, dict) else None,
)
def test_start_and_stop_choose_the_calls_in_between(program, names, shown):
    _, lines = traced(program.main, **options_for(program, **names))
    calls = [line.strip().partition(" ->")[0] for line in lines if not line.strip().startswith("->")]
    assert [call for call in calls if call in shown] == shown
    if names.get("start") != "top" or "stop" in names:
        assert len([call for call in calls if call.startswith(("setup", "top"))]) == len(
            [call for call in shown if call.startswith(("setup", "top"))]
        )


def test_the_levels_begin_with_the_first_call_that_is_shown(program):
    _, lines = traced(lambda: program.main(), **options_for(program, start="middle", stop="middle"))
    assert lines[:4] == ["middle(0)", "  leaf(0) -> 0", "  leaf(1) -> -1", "  -> -1"]


def test_a_recursive_function_stops_with_its_outermost_call(program):
    _, lines = traced(lambda: program.descend(2), **options_for(program, start="descend", stop="descend"))
    assert lines[0] == "descend(2)"
    assert lines[-1] == "  -> None"
    assert sum("descend(" in line for line in lines) == 3


def test_the_trace_stops_when_the_function_raises(program):
    _, lines = traced(lambda: program.survive(1), **options_for(program, start="fail", stop="fail"))
    assert not any("leaf" in line for line in lines)
    assert lines[-1].strip() == "raised ValueError('at the bottom')"


def test_a_method_and_a_builtin_can_start_a_trace(program):
    _, lines = traced(program.survive, 1, start="builtins.ValueError")
    assert lines[0] == "ValueError('at the bottom') -> ValueError('at the bottom')"


@pytest.mark.parametrize("name", ["Thing", "Thing.__init__", "Thing.__call__", "Thing.made", "Thing.method", "cached"])
def test_whatever_can_be_called_can_start_a_trace(name, make_program):
    program = make_program(
        """
        import functools

        class Thing:
            def __init__(self):
                self.method()

            def __call__(self):
                return self.method()

            def method(self):
                return note()

            @classmethod
            def made(cls):
                return note()

        def note():
            return 1

        @functools.lru_cache
        def cached():
            return note()

        def main():
            Thing()()
            Thing.made()
            cached()
        """
    )
    options = options_for(program, start=name, stop=name)
    trace, lines = traced(program.main, **options)
    assert "note() -> 1" in [line.strip() for line in lines]
    assert "never called" not in trace.summary()


def test_a_function_that_was_never_called_is_reported(program):
    trace, lines = traced(program.main, start=f"{program.__name__}.fail", stop=f"{program.__name__}.take")
    assert lines == []
    name = program.__name__
    assert trace.summary() == (
        f"trace: 0 calls, 12 others not shown; start={name}.fail: never called; stop={name}.take: never called"
    )


@pytest.mark.parametrize("option", ["start", "stop"])
def test_a_function_that_does_not_exist_is_an_error(option):
    with pytest.raises(ValueError, match=f"^{option}: .*no_such_name"):
        Trace(**{option: "math.no_such_name"})


# ---- bounded lines


def test_a_call_with_very_many_arguments_is_one_short_line(program):
    _, lines = traced(lambda: program.take(*[7] * 100_000))
    assert len(lines[0]) < 400
    assert lines[0].endswith("7, 7, ... 99950 more)")


@pytest.mark.parametrize("options", [{}, {"last": 5}])
def test_a_deep_recursion_is_not_mostly_indentation(program, options):
    _, lines = traced(program.descend, 600, **options)
    assert max(map(len, lines)) < 260
    assert f"{'  ' * 100}[level 599] descend(0)" in lines
    assert len(lines) < (150 if options else 1300)


def test_a_call_with_very_many_named_arguments_is_one_short_line(program):
    many = {f"n{number}": number for number in range(10_000)}
    _, lines = traced(lambda: program.named(**many))
    assert len(lines[0]) < 1000
    assert lines[0].startswith("named(... 9950 more, n0=0, n1=1, ")


# ---- on the command line and under pytest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(
        "def leaf(n):\n    return n\n\ndef begin():\n    for n in range(5):\n        leaf(n)\n\n"
        "def main():\n    leaf(-1)\n    begin()\n    leaf(-2)\n\nif __name__ == '__main__':\n    main()\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("options", "first", "last"),
    [
        ("limit=2", "main()", "trace: 2 calls; 8 further calls left out after the first 2: limit=0 shows all"),
        ("last=2", "… 8 earlier calls left out, except those around the last 2", "trace: 10 calls"),
        ("start=__main__.begin,stop=__main__.begin", "begin()", "trace: 7 calls, 3 others not shown"),
    ],
)
def test_the_options_work_on_the_command_line(options, first, last, folder):
    done = cassette("run", "-c", f"trace:{options}", "app.py", folder=folder)
    lines = done.stderr.splitlines()
    assert done.status == 0
    assert lines[0] == first
    assert lines[-1].startswith(last)


@pytest.mark.parametrize("options", ["limit=6", "last=6"])
def test_a_forked_process_has_its_own_bounds(options, tmp_path):
    (tmp_path / "app.py").write_text(
        "import os\n\ndef parent(n):\n    return n\n\ndef child(n):\n    return n\n\n"
        "def main():\n    for n in range(20):\n        parent(n)\n    if not os.fork():\n"
        "        for n in range(3):\n            child(n)\n        os._exit(0)\n    os.wait()\n\nmain()\n"
    )
    done = cassette("run", "--subprocesses", "-c", f"trace:{options}", "-o", "out.txt", "app.py", folder=tmp_path)
    assert done.status == 0
    (other,) = [path for path in tmp_path.glob("out*.txt") if path.name != "out.txt"]
    text = other.read_text()
    assert text.count("child(") == 3
    assert "parent(" not in text


def test_what_a_file_leaves_out_is_on_standard_error_too(folder):
    done = cassette("run", "-c", "trace:limit=2", "-o", "out.json", "app.py", folder=folder)
    assert done.stderr.startswith("trace: 2 calls; 8 further calls left out after the first 2: ")
    assert done.stderr.count("\n") == 1
    assert any(event["ph"] == "i" for event in json.loads((folder / "out.json").read_text()))


@pytest.mark.parametrize("ending", ["1 / 0", "import os, signal; os.kill(os.getpid(), signal.SIGINT); main()"])
def test_the_last_calls_are_written_when_the_program_raises_or_is_interrupted(ending, folder):
    with open(folder / "app.py", "a") as file:
        file.write(f"    {ending}\n")
    done = cassette("run", "-c", "trace:last=3", "-o", "out.txt", "app.py", folder=folder)
    assert done.status in (1, -signal.SIGINT, 130)
    assert "left out" in (folder / "out.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "summary"),
    [
        ("limit=2", r"trace: 2 calls; .*; \d+ further calls left out after the first 2: "),
        ("last=2", r"trace: \d+ calls"),
        ("start=shop.leaf,stop=shop.leaf", r"trace: 5 calls, \d+ others not shown"),
        ("start=shop.never", r"trace: 0 calls, \d+ others not shown; start=shop.never: never called"),
    ],
)
def test_the_options_work_under_pytest(options, summary, tmp_path):
    (tmp_path / "shop.py").write_text(
        "def leaf(n):\n    return n\n\ndef never():\n    pass\n\ndef bill():\n    return [leaf(n) for n in range(5)]\n"
    )
    (tmp_path / "test_shop.py").write_text("import shop\n\ndef test_bill():\n    assert shop.bill()\n")
    done = run_pytest("--cassette-packages=shop", f"--cassette-context=trace:{options}", folder=tmp_path)
    assert re.search(summary, done.stdout)


@pytest.mark.parametrize("command", [["shop.py"], ["-m", "shop"]])
def test_the_option_package_takes_the_name_of_the_script(command, tmp_path):
    (tmp_path / "shop.py").write_text("def leaf(n):\n    return n\n\nfor n in range(3):\n    leaf(int(n))\n")
    done = cassette("run", "-c", "trace:package=shop", *command, folder=tmp_path)
    assert re.findall(r"leaf\(\d\) -> \d", done.stderr) == ["leaf(0) -> 0", "leaf(1) -> 1", "leaf(2) -> 2"]
    assert "int(" not in done.stderr
