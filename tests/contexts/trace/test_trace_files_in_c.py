"""Files of traces that are written in blocks: the same text as without, and complete however the process ends."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
from contexts.trace.test_trace_in_c import OPTIONS, PROGRAM
from helpers.accelerator import ways
from helpers.command_line import CHECKOUT

import cassette_import
from cassette_import import overdub
from cassette_import.contexts import Trace
from cassette_import.contexts.trace import complete
from cassette_import.kits.calls.accelerator import ACCELERATOR

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="traces are written in blocks on POSIX systems only")
MORE = """

    def great(x, *more, größe=None): return x

    class Quiet:
        def __repr__(self): raise AssertionError
        def set(self, **named): vars(self).update(named)

    def texts():
        quiet = Quiet()
        quiet.set(a="it's", b=1.5, größe="é")
        great(1, größe="日本"), great("\\ud800"), great(*range(60)), leaf(1, **{f"n{n}": n for n in range(3)})
        leaf(1, **{f"n{n}": n for n in range(60)})
        great("x" * 300, ["y" * 100] * 9, {"a": {"b": quiet}})
        import types

    def deep(n): return deep(n - 1) if n else leaf(n)

    def all():
        main(), texts(), deep(120)
        return [leaf(number, str(number)) for number in range(3000)]
"""


@pytest.fixture
def program(make_package):
    name = make_package(PROGRAM + MORE)
    with cassette_import.install([name]):
        yield __import__(name)


@pytest.fixture(autouse=True)
def in_c(monkeypatch):
    """Have contexts use the hooks in C."""
    with ways("in C", monkeypatch):
        yield


def written(way, path, function, *arguments, **options):
    """The text of a trace in a file, and its summary."""
    with pytest.MonkeyPatch.context() as patch, ways(way, patch):
        trace = Trace(**options)
        trace.stream(str(path))
        overdub(trace, function, *arguments)
        trace.formats[".txt"](str(path))
    return trace.summary(), re.sub("0x[0-9a-f]+", "0x", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("options", [*OPTIONS.values(), {"limit": 0}], ids=[*OPTIONS, "all calls"])
def test_the_text_is_that_of_the_hooks_in_python(options, program, tmp_path):
    found = written("in C", tmp_path / "trace.txt", program.all, **options)
    assert found == written("in Python", tmp_path / "trace.txt", program.all, **options)
    assert not (tmp_path / "trace.txt.rest").exists()


def test_lines_of_threads_are_whole(program, tmp_path):
    path = tmp_path / "trace.txt"
    trace = Trace(limit=0)
    trace.stream(str(path))

    def work():
        with trace:
            program.many(500)

    work()
    threads = [threading.Thread(target=work, name=f"worker{number}") for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace.formats[".txt"](str(path))
    lines = path.read_text().splitlines()
    for number in range(4):
        own = [line.partition("] ")[2] for line in lines if line.startswith(f"[worker{number}] ")]
        assert sum(line.startswith("leaf([2], a=3)") for line in own) == 500
        assert sum(line.startswith("fib(2)") for line in own) == 500
    assert all(re.match(r"(\[worker\d\] )? *(leaf|fib|range|->)", line) for line in lines)


# ---- how the process ends

SCRIPT = """
import os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
import program
from cassette_import import install
from cassette_import.contexts import Trace
install(["program"])
trace = Trace(limit=0)
trace.stream({path!r})
with trace:
    program.count(3000)
    {end}
"""
COUNT = "def leaf(n): return n\ndef count(n):\n    for number in range(n):\n        leaf(number)\n"


def run(tmp_path, end, *options):
    """The status of a process that traces 3000 calls, then ends, and the numbers of the calls that are in the file."""
    (tmp_path / "program.py").write_text(COUNT)
    path = tmp_path / "trace.txt"
    script = SCRIPT.format(folder=str(tmp_path), path=str(path), end=textwrap.indent(end, "    ").lstrip())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([CHECKOUT, *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, *options, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    return done, path


def numbers(path):
    return [int(number) for number in re.findall(r"^leaf\((\d+)\) -> \1$", path.read_text(), re.MULTILINE)]


ENDS = {
    "its end": ("pass", 0),
    "an exit": ("sys.exit(3)", 3),
    "an exception": ("1 / 0", 1),
    "a termination": ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", -signal.SIGTERM),
    "an abort": ("os.abort()", -signal.SIGABRT),
    "a fault": ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    "a termination that it handles": (
        "signal.signal(signal.SIGTERM, lambda *a: sys.exit(5)); os.kill(os.getpid(), signal.SIGTERM)",
        5,
    ),
}


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
@pytest.mark.parametrize(("end", "status"), ENDS.values(), ids=ENDS)
def test_a_trace_is_complete_at(end, status, tmp_path):
    done, path = run(tmp_path, end)
    assert done.returncode == status, done.stderr
    assert numbers(path) == [*range(3000)]
    assert not (tmp_path / "trace.txt.rest").exists()
    assert not complete(path)


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
def test_the_rest_of_a_trace_of_a_killed_process_is_beside_it(tmp_path):
    done, path = run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    found = numbers(path)
    assert found == [*range(len(found))]
    assert len(found) < 3000
    assert complete(path)
    assert numbers(path) == [*range(3000)]
    assert "\0" not in path.read_text()
    assert not complete(path)


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
def test_a_block_that_was_written_and_not_emptied_is_not_written_twice(tmp_path):
    _, path = run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    rest = tmp_path / "trace.txt.rest"
    data = rest.read_bytes()
    complete(path)
    rest.write_bytes(data)
    assert complete(path)
    assert numbers(path) == [*range(3000)]


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
def test_a_program_that_waits_has_its_lines_in_the_file(tmp_path):
    end = (
        f"for _ in range(1000):\n    time.sleep(0.01)\n"
        f"    if open({str(tmp_path / 'trace.txt')!r}).read().endswith('leaf(2999) -> 2999\\n'): os._exit(7)"
    )
    done, _ = run(tmp_path, end)
    assert done.returncode == 7


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_does_not_double_or_lose_lines(tmp_path):
    end = textwrap.dedent(
        """
        import warnings
        warnings.simplefilter("error")
        for _ in range(3):
            if not os.fork():
                program.count(300)
                os._exit(0)
            os.wait()
        program.count(3000)
        """
    ).strip()
    done, path = run(tmp_path, end)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert numbers(path) == [*range(3000), *range(300), *range(300), *range(300), *range(3000)]
    assert not (tmp_path / "trace.txt.rest").exists()


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
def test_a_file_that_can_take_no_more_does_not_disturb_the_program(tmp_path):
    resource = pytest.importorskip("resource")
    limit = 200_000
    assert resource.RLIMIT_FSIZE is not None
    end = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); program.count(20000)"
    done, path = run(tmp_path, end)
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size == limit


# ---- other files


def test_a_file_of_the_program_with_the_name_of_the_rest_stays(program, tmp_path):
    other = tmp_path / "trace.txt.rest"
    other.write_text("mine")
    written("in C", tmp_path / "trace.txt", program.many, 2000, limit=0)
    assert other.read_text() == "mine"
    with pytest.raises(ValueError, match="not the rest of a trace"):
        complete(tmp_path / "trace.txt")


@pytest.mark.skipif(bool(ACCELERATOR.reason), reason="the accelerator is not installed")
def test_the_rest_of_an_earlier_trace_is_removed(program, tmp_path):
    run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert (tmp_path / "trace.txt.rest").exists()
    written("in C", tmp_path / "trace.txt", program.fib, 3)
    assert not (tmp_path / "trace.txt.rest").exists()


def test_a_slow_program_has_each_call_in_the_file_at_once_and_no_second_file(program, tmp_path):
    path = tmp_path / "trace.txt"
    trace = Trace(limit=0)
    trace.stream(str(path))
    with trace:
        for _ in range(10):
            assert program.many(1) is None
            assert path.read_text().endswith("  fib(0) -> 0\n  -> 1\n")
            assert not (tmp_path / "trace.txt.rest").exists()
    trace.formats[".txt"](str(path))


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_written_line_by_line(kind, program, tmp_path):
    path = tmp_path / "trace.txt"
    found = []
    if kind == "device":
        path = os.devnull
    else:
        os.mkfifo(path)
        reader = threading.Thread(target=lambda: found.append(path.read_text()))
        reader.start()
    trace = Trace(limit=0)
    trace.stream(str(path))
    overdub(trace, program.many, 500)
    trace.formats[".txt"](str(path))
    if kind == "pipe":
        reader.join()
        assert found[0].count("leaf([2], a=3) -> [2]\n") == 500


def test_a_folder_is_an_error_as_for_other_files(tmp_path):
    with pytest.raises(IsADirectoryError):
        Trace().stream(str(tmp_path))


def test_nothing_is_written_after_the_file_is_closed(program, tmp_path):
    path = tmp_path / "trace.txt"
    trace = Trace(limit=0)
    trace.stream(str(path))
    overdub(trace, program.fib, 3)
    trace.formats[".txt"](str(path))
    before = path.read_text()
    overdub(trace, program.all)
    assert path.read_text() == before


def test_a_trace_can_go_on_in_another_file(program, tmp_path):
    trace = Trace(limit=0)
    for name in ("a.txt", "b.txt", "c.txt"):
        trace.stream(str(tmp_path / name))
        overdub(trace, program.many, 500)
    trace.formats[".txt"](str(tmp_path / "c.txt"))
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "c.txt").read_text()
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()
    assert not [*tmp_path.glob("*.rest")]
