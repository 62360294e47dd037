"""`Replay` where programs come from VCR.py, and what tests find when they go wrong: files, counts, messages."""

import asyncio
import contextlib
import http.client
import inspect
import io
import json
import os
import socketserver
import stat
import sys
import threading
import time
import traceback
import warnings
from http.server import BaseHTTPRequestHandler

import pytest

from cassette_import import CassetteWarning, overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.recording.recording_file import BadRecording, ReplayMismatch
from cassette_import.frontends.command_line import replay as replay_command


def now():
    return time.time()


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "it.cassette")


# ---- which runs leave a file


def nothing():
    return 1


def fails():
    raise LookupError


@pytest.mark.parametrize("mode", ["once", "new_episodes", "all"])
@pytest.mark.parametrize("program", [nothing, fails])
def test_a_run_without_calls_leaves_no_file_and_the_next_one_records(file, mode, program):
    with (
        pytest.raises(LookupError) if program is fails else warnings.catch_warnings(),
        Replay(file, record_mode=mode) as replay,
    ):
        assert not os.path.exists(file)
        overdub(replay, program)
    assert not os.path.exists(file)
    with Replay(file, record_mode=mode) as replay:
        first = overdub(replay, now)
    with Replay(file) as replay:
        assert overdub(replay, now) == first


def test_the_file_is_there_as_soon_as_a_call_has_ended(file):
    def program():
        time.time()
        return os.path.exists(file)

    with Replay(file, record_mode="once", without=["files"]) as replay:
        assert overdub(replay, program)


@pytest.mark.parametrize("contents", ["empty", "header", "finished"])
@pytest.mark.parametrize("mode", ["once", "new_episodes"])
def test_a_recording_without_calls_is_none(file, contents, mode):
    with Record(file) as record:
        overdub(record, nothing)
    with open(file) as opened:
        lines = opened.readlines()
    kept = {"empty": [], "header": lines[:1], "finished": lines}[contents]
    with open(file, "w") as opened:
        opened.writelines(kept)
    with Replay(file, record_mode=mode) as replay:
        first = overdub(replay, now)
    with Replay(file) as replay:
        assert overdub(replay, now) == first


def test_all_keeps_the_file_of_a_run_without_calls(file):
    with Record(file) as record:
        first = overdub(record, now)
    with Replay(file, record_mode="all") as replay:
        overdub(replay, nothing)
    with Replay(file) as replay:
        assert overdub(replay, now) == first


def test_a_folder_that_does_not_exist_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        Replay(str(tmp_path / "none" / "it.cassette"), record_mode="once")


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
@pytest.mark.parametrize("make", [Record, lambda path: Replay(path, record_mode="once")])
def test_a_new_recording_is_for_its_owner_alone(file, make):
    with make(file) as context:
        overdub(context, now)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    os.chmod(file, 0o644)
    with Record(file) as context:
        overdub(context, now)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o644


# ---- as a decorator


def test_a_replay_is_a_decorator_that_replays_each_call(file):
    @Replay(file, record_mode="once")
    def stamp(name, *, loud=False):
        """A stamp."""
        return name, loud, time.time()

    assert not os.path.exists(file)
    assert stamp("a", loud=True)[1:] == stamp("b", loud=True)[1:]
    assert (stamp.__name__, stamp.__doc__) == ("stamp", "A stamp.")


def test_it_decorates_methods_and_coroutine_functions(file):
    class Client:
        @Replay(file, record_mode="once")
        def fetch(self):
            return time.time()

        @Replay(file, record_mode="once")
        async def awaited(self):
            await asyncio.sleep(0)
            return time.time()

    assert Client().fetch() == Client().fetch()
    os.remove(file)
    assert asyncio.run(Client().awaited()) == asyncio.run(Client().awaited())


def as_it_is(function):
    return function


def behind_a_plain_function(function):
    return lambda *given: function(*given)


@pytest.mark.parametrize("decorated", [as_it_is, behind_a_plain_function])
def test_a_decorated_generator_is_replayed_until_its_end(file, decorated):
    @Replay(file, record_mode="once")
    @decorated
    def stamps():
        yield time.time()
        yield time.time()

    first = list(stamps())
    assert list(stamps()) == first
    assert inspect.isgeneratorfunction(stamps) == (decorated is as_it_is)


@pytest.mark.parametrize("decorated", [as_it_is, behind_a_plain_function])
def test_a_decorated_coroutine_is_replayed_until_its_end(file, decorated):
    @Replay(file, record_mode="once")
    @decorated
    async def stamp():
        await asyncio.sleep(0)
        return time.time()

    assert asyncio.run(stamp()) == asyncio.run(stamp())


@pytest.mark.parametrize("decorated", [as_it_is, behind_a_plain_function])
def test_a_decorated_asynchronous_generator_is_replayed_until_its_end(file, decorated):
    seen = []

    @contextlib.asynccontextmanager
    @Replay(file, record_mode="once")
    @decorated
    async def stamps():
        seen.append(time.time())
        try:
            yield
        except LookupError:
            seen.append(time.time())

    async def use():
        async with stamps():
            raise LookupError

    for _ in range(2):
        asyncio.run(use())
    assert seen[:2] == seen[2:]


def test_a_decorated_generator_that_is_closed_early_keeps_its_calls(file):
    @Replay(file, record_mode="once")
    def stamps():
        while True:
            yield time.time()

    def two():
        generator = stamps()
        with contextlib.closing(generator):
            return next(generator), next(generator)

    assert two() == two()


@pytest.mark.parametrize("target", [type("Client", (), {}), classmethod(now)])
def test_what_is_no_function_cannot_be_decorated(file, target):
    with pytest.raises(TypeError, match="decorates functions"):
        Replay(file, record_mode="once")(target)


def test_a_decorated_function_that_differs_raises_a_mismatch(file):
    with Record(file) as record:
        overdub(record, now)
    with pytest.raises(ReplayMismatch):
        Replay(file)(lambda: time.monotonic())()


# ---- requests


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())

    def log_message(self, *arguments):
        """Print nothing."""


@pytest.fixture(scope="module")
def address():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address
        server.shutdown()


def fetched(address, *paths):
    found = []
    for path in paths:
        connection = http.client.HTTPConnection(*address)
        connection.request("GET", path)
        found.append(connection.getresponse().read())
        connection.close()
    return found


def test_play_count_counts_requests_and_not_the_calls_around_them(file, address):
    with Record(file) as record:
        overdub(record, fetched, address, "/a", "/b")
    with Replay(file) as replay:
        overdub(replay, fetched, address, "/a", "/b")
    assert (replay.play_count, replay.all_played) == (2, True)


def test_a_note_on_the_order_names_no_call_with_another_address(file, address):
    def sent(path):
        from urllib.request import Request, urlopen

        made = Request(f"http://{address[0]}:{address[1]}{path}")
        return urlopen(made).read()

    with Record(file) as record:
        overdub(record, sent, "/a")
    with pytest.raises(ReplayMismatch) as caught, Replay(file) as replay:
        overdub(replay, sent, "/b")
    assert "is this one" not in str(caught.value)


# ---- messages


def first_block(file):
    with Replay(file, record_mode="once"):
        time.time()


def second_block(file):
    with Replay(file, record_mode="once"):
        time.time()


def test_each_block_that_meets_no_function_warns(file):
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        for block in (first_block, second_block, first_block):
            block(file)
    lines = [entry.lineno for entry in issued if issubclass(entry.category, CassetteWarning)]
    assert lines == [block.__code__.co_firstlineno + 1 for block in (first_block, second_block)]


def reads(file):
    return file.read()


def reads_a_line(file):
    return file.readline()


def test_the_traceback_of_a_mismatch_has_the_frames_of_the_program(tmp_path, file):
    (tmp_path / "data").write_text("a\n")

    def program(reader):
        with open(tmp_path / "data") as opened:
            return reader(opened)

    with Record(file) as record:
        overdub(record, program, reads)
    with pytest.raises(ReplayMismatch) as caught, Replay(file) as replay:
        overdub(replay, program, reads_a_line)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ["program", "reads_a_line"]


def test_a_mismatch_that_the_program_catches_keeps_its_frames(file):
    with Record(file) as record:
        overdub(record, now)

    def program():
        try:
            return time.monotonic()
        except BaseException:
            return time.time_ns()

    with pytest.raises(ReplayMismatch) as caught, Replay(file) as replay:
        overdub(replay, program)
    lines = [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.name == "program"]
    first = program.__code__.co_firstlineno
    assert lines == [first + 4, first + 2]


WRONG = [None, 1, True, "x", [], [1], ["x"], [["x"]], [["x", 1]], {}, [{}], ["\0"]]


KEYS = (
    *("argv", "program", "packages", "exclude", "folder", "hash seed", "boundary", "mask", "without", "filter_headers"),
    *("ignore_hosts", "ignore_localhost", "match_on", "test"),
)


@pytest.mark.parametrize("key", KEYS)
def test_a_header_with_a_value_of_a_wrong_type_is_read_or_refused_in_one_line(file, key, monkeypatch):
    with Record(file) as record:
        overdub(record, now)
    with open(file) as opened:
        header, *lines = opened.readlines()
    facts = {"argv": ["x.py"], "program": "script", "packages": [], "exclude": [], "folder": ".", "match_on": ["uri"]}
    monkeypatch.setattr(replay_command, "_run", lambda program, context: 0)
    monkeypatch.setattr(replay_command, "_restart_with_recorded_hash_seed", lambda path: None)
    monkeypatch.setattr(replay_command.Script, "prepare", lambda program: None)
    monkeypatch.setattr(replay_command.Module, "prepare", lambda program: None)
    monkeypatch.setattr(replay_command, "install", lambda *packages, exclude=(): None)
    for value in WRONG:
        with open(file, "w") as opened:
            opened.writelines([json.dumps({**json.loads(header), **facts, key: value}) + "\n", *lines])
        for use in (Replay, replay_command.replay):
            problem = problem_of(use, file)
            assert problem is None or "\n" not in problem


def problem_of(use, file):
    try:
        use(file)
    except BadRecording as error:
        return str(error)


# ---- what the program reads


def own_input():
    real, sys.stdin = sys.stdin, io.StringIO("2\nann\nbob\n")
    try:
        return int(input()), [line.strip() for line in sys.stdin]
    finally:
        sys.stdin = real


def wrapped_input():
    real, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b"2\nann\nbob\n"))
    try:
        return int(input()), sys.stdin.readline().strip(), [line.strip() for line in sys.stdin]
    finally:
        sys.stdin = real


def rest_of_input():
    return int(input()), [line.strip() for line in sys.stdin]


@pytest.mark.parametrize("program", [own_input, wrapped_input, rest_of_input])
def test_lines_of_standard_input_come_once(file, program, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("2\nann\nbob\n"))
    with Record(file) as record:
        recorded = overdub(record, program)
    monkeypatch.setattr(sys, "stdin", io.StringIO("2\nann\nbob\n"))
    with Replay(file) as replay:
        assert overdub(replay, program) == recorded


def bytes_of_standard_input():
    stream = sys.stdin.buffer
    first, buffer = stream.peek(1)[:1], bytearray(2)
    count = stream.readinto(buffer)
    return first, count, buffer, stream.readline(), stream.read1(2), stream.readlines(), stream.read()


def test_the_buffer_of_standard_input_is_recorded(file, monkeypatch):
    def standard_input(contents):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(contents))))

    standard_input(b"2ann\nbob\neve\n")
    with Record(file) as record:
        recorded = overdub(record, bytes_of_standard_input)
    assert recorded == (b"2", 2, bytearray(b"2a"), b"nn\n", b"bo", [b"b\n", b"eve\n"], b"")
    standard_input(b"")
    with Replay(file) as replay:
        assert overdub(replay, bytes_of_standard_input) == recorded


def test_vars_of_a_recorded_object_are_replayed(file):
    def program():
        connection = http.client.HTTPConnection("localhost", 1)
        return sorted(vars(connection)), vars(connection)["host"], connection.__dict__["port"]

    with Record(file) as record:
        recorded = overdub(record, program)
    assert recorded == (sorted(vars(http.client.HTTPConnection("localhost", 1))), "localhost", 1)
    with Replay(file) as replay:
        assert overdub(replay, program) == recorded
