"""Record and replay in rare cases: awaitables with other uses, threads that run at the end, edited files, secrets."""

import asyncio
import base64
import collections.abc
import itertools
import json
import os
import threading
import time
import urllib.parse

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.boundaries import boundary
from cassette_import.contexts.recording.recording_file import BadRecording, ReplayMismatch, read

OUTSIDE = {}
"""The results of the external functions below; empty in a replay."""


class Request(collections.abc.Coroutine):
    """The result of aiohttp's `get`: it can be awaited, entered with `async with`, or made a task."""

    def __init__(self, coroutine):
        self._coroutine = coroutine

    def send(self, value):
        return self._coroutine.send(value)

    def throw(self, *error):
        return self._coroutine.throw(*error)

    def close(self):
        return self._coroutine.close()

    def __await__(self):
        return self._coroutine.__await__()

    async def __aenter__(self):
        self._answer = await self._coroutine
        return self._answer

    async def __aexit__(self, *exception):
        OUTSIDE["left"] += 1


@boundary
def request(name):
    async def answer():
        await asyncio.sleep(0.001)
        return OUTSIDE[name]

    return Request(answer())


@pytest.fixture
def both(tmp_path):
    """Run a function recorded and replayed; return both results and the text of the recording."""

    def run(function, *arguments, mask=(), **answers):
        file = tmp_path / "it.cassette"
        OUTSIDE.clear()
        OUTSIDE.update(answers)
        with Record(str(file), mask=mask) as record:
            before = overdub(record, function, *arguments)
        OUTSIDE.clear()
        replay = Replay(str(file))
        after = overdub(replay, function, *arguments)
        replay.check_end()
        return before, after, file.read_text()

    return run


# ---- awaitables


def waits(how):
    return asyncio.run(how())


async def enters():
    async with request("a") as answer:
        return answer


async def awaits():
    return await request("a")


async def makes_tasks():
    return await asyncio.gather(request("a"), asyncio.create_task(request("b")))


async def is_too_slow():
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(request("a"), 0)
    return "too slow"


async def closes():
    return request("a").close()


@pytest.mark.parametrize(
    ("how", "given"), [(enters, 1), (awaits, 1), (makes_tasks, [1, 2]), (is_too_slow, "too slow"), (closes, None)]
)
def test_an_object_that_is_awaited_or_entered_or_made_a_task_is_replayed(both, how, given):
    before, after, _ = both(waits, how, a=1, b=2, left=0)
    assert before == after == given


@boundary
async def soon(name):
    return OUTSIDE[name]


async def never_begins():
    task = asyncio.create_task(soon("a"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return "cancelled"


async def forgets():
    soon("a")
    return "forgotten"


def test_a_task_that_was_cancelled_before_it_began_gives_no_warning(both):
    before, after, _ = both(waits, never_begins, a=1)
    assert before == after == "cancelled"


def test_a_coroutine_that_is_never_awaited_gives_the_warning_that_it_gives_without_a_context(both):
    with pytest.warns(RuntimeWarning) as warned:
        both(waits, forgets, a=1)
    assert [str(warning.message) for warning in warned] == ["coroutine 'soon' was never awaited"] * 2


# ---- threads that are running at the end


@boundary
def ask(number):
    return OUTSIDE["answer"] + number


def asks_for_ever(asked, enough, daemon):
    """Start a thread that makes external calls repeatedly, and wait until it has made enough of them."""

    def work():
        for number in itertools.count():
            asked.append(ask(number))
            if number == enough:
                reached.set()
            if OUTSIDE.get("stop"):
                break
            time.sleep(0.001)

    reached = threading.Event()
    thread = threading.Thread(target=work, daemon=daemon)
    thread.start()
    reached.wait(60)
    return thread


def recorded_while_running(file, daemon=True):
    """Record a thread that is running when the recording ends."""
    OUTSIDE.clear()
    OUTSIDE.update(answer=10)
    with Record(str(file), without=["time"]) as record:
        thread = overdub(record, asks_for_ever, [], 2, daemon)
    OUTSIDE["stop"] = True
    thread.join()
    OUTSIDE.clear()


def test_the_origins_of_threads_that_are_running_at_the_end_are_recorded(tmp_path):
    recorded_while_running(tmp_path / "it.cassette")
    assert read(str(tmp_path / "it.cassette")).running == {(0, 1)}


@pytest.fixture
def quiet_threads():
    """A thread that ends by SystemExit prints nothing, as without pytest."""
    before, threading.excepthook = threading.excepthook, lambda arguments: None
    yield
    threading.excepthook = before


def test_a_thread_that_the_process_has_to_wait_for_ends_with_the_run(tmp_path, quiet_threads):
    recorded_while_running(tmp_path / "it.cassette", daemon=False)
    replay = Replay(str(tmp_path / "it.cassette"))
    thread = overdub(replay, asks_for_ever, [], 2, False)
    replay.is_ending()
    thread.join()
    assert replay.mismatch is None


def test_a_thread_that_had_ended_is_a_mismatch_if_it_makes_more_calls(tmp_path):
    def asks_once_more(more):
        def work():
            ask(1)
            for _ in range(more):
                with pytest.raises(ReplayMismatch, match="has no more calls here"):
                    ask(2)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    OUTSIDE["answer"] = 1
    with Record(str(tmp_path / "it.cassette")) as record:
        overdub(record, asks_once_more, 0)
    replay = Replay(str(tmp_path / "it.cassette"))
    overdub(replay, asks_once_more, 1)
    assert replay.mismatch is not None


def test_in_a_recording_that_was_cut_short_each_thread_makes_its_recorded_calls(tmp_path, quiet_threads):
    def two_ask(counts):
        def work(index):
            for number in range(counts[index]):
                ask(number)
                if index:
                    time.sleep(0.01)

        threads = [threading.Thread(target=work, args=(index,)) for index in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    file = tmp_path / "it.cassette"
    OUTSIDE["answer"] = 1
    with Record(str(file), without=["time"]) as record:
        overdub(record, two_ask, (1, 5))
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    replay = Replay(str(file))
    overdub(replay, two_ask, (2, 5))
    assert "was cut short before this call" in str(replay.mismatch)
    assert not any(sequence.calls for sequence in replay.recording.sequences.values())


# ---- edited lines


@pytest.mark.parametrize(
    ("key", "contents"),
    [
        ("what", "s"),
        ("what", []),
        ("arguments", None),
        ("arguments", [[], [1]]),
        ("site", ["x"]),
        ("lane", "main"),
        ("origin", 5),
        ("mask", None),
        ("boundary", [[1]]),
        ("finished", "x"),
    ],
)
def test_a_line_with_a_value_of_the_wrong_kind_is_damaged(tmp_path, key, contents):
    file = tmp_path / "it.cassette"
    OUTSIDE["answer"] = 1
    with Record(str(file)) as record:
        overdub(record, lambda: ask(1))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if key in line:
            line[key] = contents
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadRecording, match=r"it\.cassette, line \d: is damaged \(.*; record it again"):
        Replay(str(file))


def test_a_recording_that_leaves_out_an_unknown_name_cannot_be_replayed(tmp_path):
    file = tmp_path / "it.cassette"
    with Record(str(file)):
        pass
    file.write_text(file.read_text().replace('"without": []', '"without": ["nothing.known"]'))
    with pytest.raises(BadRecording, match=r"cannot be replayed here: without='nothing.known' leaves nothing out"):
        Replay(str(file))


@pytest.mark.parametrize("argument", [{"made": []}, {"own": 1}, {"tuple": 5}, {}, {"a": 1, "b": 2}])
def test_a_mismatch_shows_the_recorded_call_even_if_it_is_invalid(tmp_path, argument):
    file = tmp_path / "it.cassette"
    OUTSIDE["answer"] = 1
    with Record(str(file)) as record:
        overdub(record, lambda: ask(1))
    file.write_text(file.read_text().replace('"arguments": [[1], []]', f'"arguments": [[{json.dumps(argument)}], []]'))
    with pytest.raises(ReplayMismatch, match=r"recorded: test_record_corners\.ask"):
        overdub(Replay(str(file)), lambda: ask(1))


# ---- secrets


@boundary
def send(*arguments, **keywords):
    return OUTSIDE["answer"]


@boundary
class Session:
    def __init__(self):
        self.auth = None


def sends(address):
    return send(address)


@pytest.mark.parametrize(
    "argument",
    [
        "https://example.org/?api_key=s3cr3t-value&q=1",
        "q=1&password=s3cr3t-value",
        b"password=s3cr3t-value",
        '{"q": 1, "password": "s3cr3t-value"}',
        "https://user:s3cr3t-value@example.org/",
        [(b"authorization", b"s3cr3t-value")],
    ],
)
def test_secrets_in_texts_of_arguments_are_not_in_the_file(both, argument):
    before, after, text = both(sends, argument, answer=1)
    assert before == after == 1
    assert "s3cr3t-value" not in text


def sets_an_attribute():
    session = Session()
    session.auth = ("user", "s3cr3t-value")


def test_secrets_that_become_attributes_are_not_in_the_file(both):
    assert "s3cr3t-value" not in both(sets_an_attribute)[2]


def spells(name):
    secret = os.environ[name]
    quoted = urllib.parse.quote_plus(secret)
    encoded = base64.b64encode(secret.encode()).decode()
    return send(f"https://example.org/?q={quoted}", data=json.dumps([secret]), header=encoded)


@pytest.mark.parametrize("secret", ["s3cr3t-value", 'odd/s"cr t é'])
def test_secrets_are_found_however_they_are_spelled(both, monkeypatch, secret):
    monkeypatch.setenv("SHOP_TOKEN", secret)
    before, after, text = both(spells, "SHOP_TOKEN", mask=["*_TOKEN"], answer=1)
    assert before == after == 1
    assert json.dumps(secret)[1:-1] not in text
    assert urllib.parse.quote_plus(secret) not in text
    assert base64.b64encode(secret.encode()).decode() not in text


def passes_on(name):
    return send(token=os.environ[name]), send(os.environ[name])


def test_a_secret_with_two_names_keeps_the_first(both, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "s3cr3t-value")
    before, after, text = both(passes_on, "SHOP_TOKEN", mask=["*TOKEN"], answer=1)
    assert before == after == (1, 1)
    assert "s3cr3t-value" not in text


def test_short_secrets_are_hidden_beside_their_names(both, monkeypatch):
    monkeypatch.setenv("SHOP_PIN", "4711")
    before, after, text = both(lambda: (os.environ["SHOP_PIN"], send(pin="4712")), mask=["*PIN"], answer=1)
    assert before == ("4711", 1)
    assert after == ("<SHOP_PIN>", 1)
    assert "4711" not in text
    assert "4712" not in text


@pytest.mark.parametrize("answer", [{"access_token": "s3cr3t-value"}, '{"access_token": "s3cr3t-value"}'])
def test_secrets_in_a_result_are_hidden_if_they_have_a_secret_name(both, answer):
    def asks_and_uses():
        found = send()
        found = json.loads(found) if isinstance(found, str) else found
        return send(f"https://example.org/{found['access_token']}") and found["access_token"]

    before, after, text = both(asks_and_uses, mask=["access_token"], answer=answer)
    assert (before, after) == ("s3cr3t-value", "<access_token>")
    assert "s3cr3t-value" not in text
