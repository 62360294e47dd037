"""Record and replay in one process: recorded values come back, and a run that differs is a replay mismatch."""

import asyncio
import collections
import datetime
import decimal
import io
import json
import os
import random
import socket
import sys
import threading
import time
import types
import uuid

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.boundaries import boundary
from cassette_import.contexts.recording.recording_file import BadRecording, ReplayMismatch, read
from cassette_import.contexts.recording.values import BadValue, Decoder, Encoder

OUTSIDE = {}
"""The results of the external functions below; empty in a replay."""


@boundary
def outside(name, *arguments, **keywords):
    found = OUTSIDE[name]
    return found(*arguments, **keywords) if callable(found) else found


@boundary
def outside_numbers(count):
    for _ in range(count):
        yield OUTSIDE["number"]


@boundary
async def outside_soon(value):
    await asyncio.sleep(0)
    return OUTSIDE[value]


@boundary
async def outside_stream(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield OUTSIDE["number"] + number


@boundary
class Outside:
    def __init__(self, name):
        self.name = OUTSIDE[name]
        self.items = {}

    def shout(self):
        return self.name.upper()

    def itself(self):
        return self

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        self.items[key] = value

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return exception[0] is KeyError

    def __len__(self):
        return len(self.items)


@pytest.fixture
def both(tmp_path):
    """Run a function recorded and replayed; return both results."""

    def run(function, *arguments, mask=(), **answers):
        file = str(tmp_path / "it.cassette")
        OUTSIDE.clear()
        OUTSIDE.update(answers)
        record = Record(file, mask=mask)
        before = overdub(record, function, *arguments)
        record.close()
        OUTSIDE.clear()
        replay = Replay(file)
        after = overdub(replay, function, *arguments)
        replay.check_end()
        return before, after

    return run


@pytest.fixture
def recording(tmp_path):
    """Record a function; return the file."""

    def run(function, *arguments, **answers):
        file = tmp_path / "it.cassette"
        OUTSIDE.clear()
        OUTSIDE.update(answers)
        record = Record(str(file))
        overdub(record, function, *arguments)
        record.close()
        OUTSIDE.clear()
        return file

    return run


class Point(collections.namedtuple("Point", "x y")):
    """A tuple with names."""


VALUES = [
    *(None, True, 0, -1, 1 << 80, 0.1, -0.0, float("inf"), 1e300, 2j, "", "text", "\udc80", b"", b"abc", b"\xff\x00"),
    *([1, [2]], (1,), {"a": 1, 2: [3]}, {1, 2}, frozenset({"a"}), bytearray(b"ab"), slice(1, None), range(3), ...),
    *(int, datetime.timezone.utc, datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.timezone.utc)),
    *(datetime.timedelta(1, 2, 3), decimal.Decimal("1.10"), uuid.UUID(int=5), Point(1, [2]), socket.AF_INET),
    *(collections.OrderedDict(a=1), collections.deque([1], 3), collections.Counter("aab"), types.SimpleNamespace(a=1)),
    *(time.gmtime(0), os.stat(__file__), collections.defaultdict(list, a=[1]), len, os.path.join, json),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_from_json_as_it_was(value):
    encoded, shown = Encoder(pytest.fail)(value)
    back = Decoder(pytest.fail)(json.loads(json.dumps(encoded)))
    assert shown is value
    assert (type(back), repr(back)) == (type(value), repr(value))
    assert back == value


def test_a_value_with_an_unknown_tag_is_refused():
    def refuse(tag, content):
        raise BadValue(tag)

    with pytest.raises(BadValue):
        Decoder(refuse)({"pickle": "…"})


def test_only_classes_are_called_to_make_a_value():
    with pytest.raises(BadValue):
        Decoder(print)({"made": ["os:system", "call", ["true"], None, None, None]})


def uses_values():
    shuffled = [1, 2, 3, 4, 5, 6, 7, 8]
    random.shuffle(shuffled)
    return time.time(), uuid.uuid4(), datetime.datetime.now(), shuffled, random.random(), os.urandom(8)


def test_time_and_random_numbers_are_replayed(both):
    before, after = both(uses_values)
    assert before == after


def uses_seeds():
    random.seed(3)
    mine = random.Random(4)
    numbers = random.random(), mine.random()
    random.seed()
    mine.seed()
    return numbers, random.random(), mine.random(), random.Random().random()


def test_calls_of_a_random_generator_are_external_unless_it_has_a_seed(both, tmp_path):
    before, after = both(uses_seeds)
    assert before == after
    assert before[0] == (random.Random(3).random(), random.Random(4).random())
    assert not [value for value in before[0] if str(value) in (tmp_path / "it.cassette").read_text()]


def uses_an_object():
    it = outside("make", "it")
    it["a"] = 5
    it.name += "!"
    with it as same:
        result = [same is it, it.itself() is it, it["a"], len(it), it.shout(), it.name, isinstance(it, Outside)]
    with it:
        it["missing"]
    return result, type(it).__name__, hasattr(it, "nothing")


def test_an_object_is_replayed_by_a_proxy(both):
    before, after = both(uses_an_object, make=Outside, it="name")
    assert before == after
    assert before[0] == [True, True, 5, 1, "NAME!", "name!", True]


def uses_a_class():
    return Outside("it").shout()


def test_a_class_in_the_boundary_makes_proxies(both):
    before, after = both(uses_a_class, it="name")
    assert before == after == "NAME"


def uses_generators():
    return list(outside_numbers(3)), sum(outside_numbers(2))


def test_a_generator_is_replayed(both):
    before, after = both(uses_generators, number=7)
    assert before == after == ([7, 7, 7], 14)


def counting(count):
    yield from range(count)
    return "end"


def uses_yield_from():
    def delegating():
        result.append((yield from outside("counting", 3)))

    result = []
    return list(delegating()), result


def test_a_generator_of_the_program_delegates_to_an_external_one(both):
    before, after = both(uses_yield_from, counting=counting)
    assert before == after == ([0, 1, 2], ["end"])


def uses_coroutines():
    async def main():
        found = [number async for number in outside_stream(3)]
        return await asyncio.gather(outside_soon("a"), outside_soon("b")), found

    return asyncio.run(main())


def test_coroutines_and_asynchronous_generators_are_replayed(both):
    before, after = both(uses_coroutines, a=1, b=2, number=5)
    assert before == after == ([1, 2], [5, 6, 7])


def uses_its_own_object():
    class Mine:
        pass

    mine = Mine()
    return outside("back", mine) is mine


def test_an_object_of_the_program_comes_back_as_itself(both):
    assert both(uses_its_own_object, back=lambda given: given) == (True, True)


def uses_a_buffer():
    buffer = bytearray(3)
    return outside("fill", buffer), bytes(buffer)


def test_what_a_call_writes_into_a_buffer_is_replayed(both):
    before, after = both(uses_a_buffer, fill=lambda buffer: io.BytesIO(b"abc").readinto(buffer))
    assert before == after == (3, b"abc")


class Refusal(Exception):
    def __init__(self, code, *, reason):
        super().__init__(code)
        self.reason = reason

    def __str__(self):
        return f"{self.args[0]}: {self.reason}"


def refuse():
    try:
        raise FileNotFoundError(2, "gone", "file.txt")
    except FileNotFoundError as error:
        raise Refusal(5, reason=["no"]) from error


def uses_an_exception():
    try:
        outside("refuse")
    except Refusal as error:
        return str(error), error.args, error.reason, repr(error.__cause__), error.__cause__.filename
    return None


def test_an_exception_is_replayed_with_its_attributes_and_cause(both):
    before, after = both(uses_an_exception, refuse=refuse)
    assert before == after
    assert before == ("5: ['no']", (5,), ["no"], "FileNotFoundError(2, 'gone')", "file.txt")


def uses_the_environment():
    os.environ["OWN"] = "set"
    try:
        return os.environ["OUTSIDE"], os.getenv("NOWHERE"), os.environ["OWN"], "OUTSIDE" in os.environ
    finally:
        del os.environ["OWN"]


def test_variables_are_those_of_the_recorded_run(recording, monkeypatch):
    monkeypatch.setenv("OUTSIDE", "then")
    file = recording(uses_the_environment)
    monkeypatch.setenv("OUTSIDE", "now")
    assert overdub(Replay(str(file)), uses_the_environment) == ("then", None, "set", True)
    assert os.environ["OUTSIDE"] == "now"
    assert "OWN" not in os.environ


def uses_secrets(key):
    token = os.environ["SHOP_TOKEN"]
    return outside("ask", f"https://shop/?key={token}", password="open sesame", headers={"Authorization": key})


def test_secrets_are_not_in_the_file(both, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "abcdefgh")
    before, after = both(uses_secrets, "Bearer x", mask="*_TOKEN", ask=lambda url, **more: f"asked {url}")
    text = (tmp_path / "it.cassette").read_text()
    assert not [secret for secret in ("abcdefgh", "open sesame", "Bearer x") if secret in text]
    assert before == "asked https://shop/?key=abcdefgh"
    assert after == "asked https://shop/?key=<SHOP_TOKEN>"


# ---- mismatches


def asks(*names):
    found = []
    for name in names:
        found.append(outside(name))
    return found


def test_another_call_than_the_recorded_one_is_a_mismatch_that_shows_both(recording):
    file = recording(asks, "a", "b", a=1, b=2)
    with pytest.raises(ReplayMismatch) as raised:
        overdub(Replay(str(file)), asks, "a", "c")
    first, then, now = str(raised.value).splitlines()
    line = asks.__code__.co_firstlineno + 3
    assert first == f"{__file__}:{line} in asks: replay mismatch at call 2 of {file}"
    assert then.startswith("  recorded: test_record.outside('b')")
    assert then.endswith(f"({__file__}:{line} in asks)")
    assert now == "  now:      test_record.outside('c')"


def stubborn(*names):
    found = []
    for name in names:
        try:
            found.append(outside(name))
        except Exception as error:
            found.append(error)
    return found


def test_a_mismatch_is_not_swallowed_by_the_programs_handlers(recording):
    file = recording(stubborn, "a", a=1)
    with pytest.raises(ReplayMismatch):
        overdub(Replay(str(file)), stubborn, "b")


def test_a_run_that_continues_after_its_recording_is_a_mismatch(recording):
    file = recording(asks, "a", a=1)
    with pytest.raises(ReplayMismatch, match="has no more calls here"):
        overdub(Replay(str(file)), asks, "a", "a")


def test_a_run_that_ends_before_its_recording_is_a_mismatch(recording):
    file = recording(asks, "a", "b", a=1, b=2)
    replay = Replay(str(file))
    overdub(replay, asks, "a")
    with pytest.raises(ReplayMismatch, match=r"goes on, with 1 more call\n.*outside\('b'\)"):
        replay.check_end()


def asks_in_a_thread(may_go_on, waits):
    began = threading.Event()

    def work():
        outside("a")
        began.set()
        may_go_on.wait(60)
        outside("b")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    began.wait(60)
    if waits:
        thread.join()
    return thread


def test_a_thread_that_still_runs_at_the_end_need_not_have_made_all_its_calls(recording):
    may_go_on = threading.Event()
    may_go_on.set()
    replay = Replay(str(recording(asks_in_a_thread, may_go_on, True, a=1, b=2)))
    may_go_on.clear()
    try:
        thread = overdub(replay, asks_in_a_thread, may_go_on, False)
        replay.check_end()
    finally:
        may_go_on.set()
    thread.join()


def test_after_a_mismatch_no_call_is_answered(recording):
    file = recording(asks, "a", a=1)
    replay = Replay(str(file))
    for _ in range(2):
        with pytest.raises(ReplayMismatch, match=r"now: +test_record.outside\('b'\)"):
            overdub(replay, asks, "b")


# ---- files


def test_a_recording_that_was_cut_off_is_replayed_up_to_there(recording):
    file = recording(asks, "a", "b", a=1, b=2)
    file.write_bytes(file.read_bytes()[:-60])
    assert overdub(Replay(str(file)), asks, "a") == [1]
    with pytest.raises(ReplayMismatch, match="was cut short before this call"):
        overdub(Replay(str(file)), asks, "a", "b")


@pytest.mark.parametrize("kept", range(1, 20))
def test_a_recording_can_be_cut_off_anywhere(recording, kept):
    file = recording(asks, "a", "b", a=1, b=2)
    contents = file.read_bytes()
    header = contents.index(b"\n") + 1
    file.write_bytes(contents[: header + (len(contents) - header) * kept // 20])
    assert not read(str(file)).finished


def changed(file, change):
    lines = file.read_text().splitlines()
    change(lines)
    file.write_text("\n".join(lines) + "\n")


EARLIER_RECORDING = """\
{"cassette_import recording": 1, "python": "3.12.1", "boundary": [], "mask": [], "without": ["chance"]}
{"lane": 0, "kind": "main", "origin": []}
{"class": 0, "name": "io:BytesIO", "methods": ["read"], "special": ["__iter__", "__next__"]}
{"call": 1, "lane": 0, "what": ["call", "MODULE.outside"], "arguments": [["a"], []], "site": ["x.py", 1, "f"], \
"at": 0.1, "value": {"handle": [1, 0]}}
{"call": 2, "lane": 0, "what": ["call", "BytesIO.read", 1], "arguments": [[2], []], "site": ["x.py", 2, "f"], \
"at": 0.2, "value": {"tuple": [1, {"made": ["decimal:Decimal", "call", ["1.5"], null, null, null]}]}}
{"finished": 2}
"""


def test_a_recording_of_an_earlier_release_is_replayed(tmp_path):
    file = tmp_path / "it.cassette"
    file.write_text(EARLIER_RECORDING.replace("MODULE", __name__))
    with Replay(str(file)) as replay:
        assert overdub(replay, lambda: outside("a").read(2)) == (1, decimal.Decimal("1.5"))


def test_an_unknown_version_is_refused(recording):
    file = recording(asks, "a", a=1)
    changed(file, lambda lines: lines.__setitem__(0, '{"cassette_import recording": 99}'))
    with pytest.raises(BadRecording, match="has version 99, but only version 1 can be read here"):
        Replay(str(file))


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"call": 1}', '{"end": 77, "at": 0}', '{"finished": 9}', "ü"])
def test_a_damaged_line_is_named(recording, damage):
    file = recording(asks, "a", a=1)
    changed(file, lambda lines: lines.insert(1, damage))
    with pytest.raises(BadRecording, match=r"it\.cassette, line 2: is damaged"):
        Replay(str(file))


def test_an_invalid_value_is_a_mismatch(recording):
    file = recording(asks, "a", a=1)
    file.write_text(file.read_text().replace('"value": 1', '"value": {"tuple": 5}'))
    with pytest.raises(ReplayMismatch, match="is damaged, or was recorded in another environment"):
        overdub(Replay(str(file)), asks, "a")


@pytest.mark.parametrize("contents", [b"", b"\x00\x01", b"not a recording\n", b"{}\n", b"[]\n"])
def test_a_file_that_is_not_a_recording_is_refused(tmp_path, contents):
    (tmp_path / "other").write_bytes(contents)
    with pytest.raises(BadRecording, match="is not a recording"):
        Replay(str(tmp_path / "other"))


def test_a_missing_recording_is_refused(tmp_path):
    with pytest.raises(BadRecording, match="No such file"):
        Replay(str(tmp_path / "none"))


def test_each_call_is_in_the_file_when_it_has_returned(tmp_path):
    file = tmp_path / "it.cassette"
    seen = []

    def look():
        seen.append(file.read_text().count('{"call"'))

    def program():
        for _ in range(3):
            outside("look")

    OUTSIDE["look"] = look
    record = Record(str(file))
    overdub(record, program)
    record.close()
    assert seen == [0, 1, 2]


# ---- transparency


def test_a_recorded_program_gets_the_objects_themselves_where_they_are_values(tmp_path):
    value = {"a": [1, (2,)]}
    OUTSIDE["it"] = value
    record = Record(str(tmp_path / "it.cassette"))
    assert overdub(record, asks, "it")[0] is value
    record.close()


def fails():
    outside("fail")


def test_tracebacks_show_no_frames_of_cassette_import(tmp_path):
    def fail():
        raise ValueError("no")

    OUTSIDE["fail"] = fail
    record = Record(str(tmp_path / "it.cassette"))
    replay_names = []
    for context in (record, None):
        if context is None:
            record.close()
            context = Replay(str(tmp_path / "it.cassette"))
        try:
            overdub(context, fails)
        except ValueError:
            traceback = sys.exc_info()[2].tb_next
            names = []
            while traceback is not None:
                names.append(traceback.tb_frame.f_code.co_name)
                traceback = traceback.tb_next
            replay_names.append(names)
    assert replay_names == [["fails", "outside", "fail"], ["fails"]]


@pytest.mark.parametrize("group", ["random", "chance"])  # the second one is an earlier name of the group
def test_calls_that_are_left_out_are_made_again_in_a_replay(tmp_path, make_program, group):
    program = make_program("import random, time\n\ndef run():\n    return time.time(), random.random()\n")
    path = str(tmp_path / "without.cassette")
    with Record(path, without=[group, "time.sleep"]) as record:
        before = overdub(record, program.run)
    now = overdub(Replay(path), program.run)
    assert now[0] == before[0]
    assert now[1] != before[1]


def test_only_names_in_the_boundary_can_be_left_out(tmp_path):
    with pytest.raises(ValueError, match="without='tmie' leaves nothing out: there are the groups time, random"):
        Record(str(tmp_path / "x.cassette"), without="tmie")
    assert not (tmp_path / "x.cassette").exists()


def test_folders_may_be_in_another_place_in_a_replay(tmp_path, make_program):
    program = make_program(
        """
        import os, pathlib

        def run(folder):
            return os.path.realpath(folder), pathlib.Path(folder, "a").absolute()
        """
    )
    path = str(tmp_path / "places.cassette")
    with Record(path, places={"here": str(tmp_path)}) as record:
        overdub(record, program.run, str(tmp_path))
    found = overdub(Replay(path, places={"here": "/elsewhere"}), program.run, "/elsewhere")
    assert [str(each) for each in found] == ["/elsewhere", "/elsewhere/a"]
