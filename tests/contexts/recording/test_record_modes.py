"""Record modes: `none`, `once`, `new_episodes` and `all`, with the meaning that they have in VCR.py."""

import http.client
import os
import time
from pathlib import Path

import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.recording.recording_file import BadRecording, ReplayMismatch, read

requests = pytest.importorskip("requests")
httpx = pytest.importorskip("httpx")


def run(file, function, *arguments, **options):
    with Replay(file, **options) as replay:
        return overdub(replay, function, *arguments)


def ask(*addresses):
    return [requests.get(address).text for address in addresses]


def ask_in_a_session(*addresses):
    with requests.Session() as session:
        session.headers.update({"x-tea": "1"})
        session.verify = False
        return [session.get(address).text for address in addresses]


def ask_in_a_client(*addresses):
    with httpx.Client() as client:
        return [client.get(address).text for address in addresses]


def ask_over_a_connection(*addresses):
    connection = http.client.HTTPConnection(addresses[0].split("/")[2])
    answers = []
    for address in addresses:
        connection.request("GET", "/" + address.rpartition("/")[2])
        answers.append(connection.getresponse().read())
    return answers


WAYS = pytest.mark.parametrize("ask", [ask, ask_in_a_session, ask_in_a_client, ask_over_a_connection])


def test_once_records_the_first_run_and_replays_the_others(url, file):
    first = run(file, ask, f"{url}/a", record_mode="once")
    assert run(file, ask, f"{url}/a", record_mode="once") == first
    with pytest.raises(ReplayMismatch, match=r"differs: .*/a' -> "):
        run(file, ask, f"{url}/b", record_mode="once")


def test_a_recording_of_the_mode_once_is_one_of_record(url, file):
    first = run(file, ask_in_a_session, f"{url}/a", record_mode="once")
    assert not read(file).is_extended
    assert run(file, ask_in_a_session, f"{url}/a") == first


@WAYS
def test_new_episodes_replays_what_is_recorded_and_adds_the_rest(url, file, ask):
    [a] = run(file, ask, f"{url}/a", record_mode="new_episodes")
    again, b = run(file, ask, f"{url}/a", f"{url}/b", record_mode="new_episodes")
    assert again == a
    assert b != a
    assert run(file, ask, f"{url}/b", f"{url}/a", match_on="uri+method") == [b, a]


@WAYS
def test_new_episodes_come_before_recorded_ones_too(url, file, ask):
    [a] = run(file, ask, f"{url}/a", record_mode="all")
    b, again = run(file, ask, f"{url}/b", f"{url}/a", record_mode="new_episodes")
    assert again == a
    assert run(file, ask, f"{url}/b", f"{url}/a", record_mode="new_episodes") == [b, a]


def test_new_episodes_leaves_a_complete_recording_as_it_is(url, file):
    run(file, ask, f"{url}/a", record_mode="once")
    before = Path(file).read_bytes()
    run(file, ask, f"{url}/a", record_mode="new_episodes")
    assert Path(file).read_bytes() == before


def test_a_client_of_the_recording_that_sends_a_new_request_has_the_attributes_that_were_assigned(url, file):
    sent = []

    def program(*addresses):
        session = requests.Session()
        session.headers.update({"x-tea": "1"})
        session.hooks["response"].append(lambda response, **more: sent.append(response.request.headers.get("x-tea")))
        session.max_redirects = 7
        return [session.get(address).text for address in addresses]

    run(file, program, f"{url}/a", record_mode="all")
    assert sent == ["1"]
    run(file, program, f"{url}/a", f"{url}/b", record_mode="new_episodes")
    assert sent == ["1", "1"]


def test_all_records_every_run(url, file):
    first = run(file, ask, f"{url}/a", record_mode="all")
    second = run(file, ask, f"{url}/b", record_mode="all")
    assert second != first
    assert run(file, ask, f"{url}/b") == second


def test_none_does_not_record(url, file):
    with pytest.raises(BadRecording, match="No such file"):
        Replay(file)
    assert not os.path.exists(file)


def test_an_object_of_the_recording_makes_no_new_calls(tmp_path, file):
    import sqlite3

    def program(*statements):
        database = sqlite3.connect(tmp_path / "it.db")
        rows = [database.execute(statement).fetchall() for statement in statements]
        database.close()
        return rows

    run(file, program, "select 1", record_mode="once")
    with pytest.raises(ReplayMismatch, match="the Connection comes from the recording; record it again"):
        run(file, program, "select 1", "select 2", record_mode="new_episodes")


def test_new_calls_of_functions_are_recorded_too(file):
    def program(count):
        return [time.time_ns() for _ in range(count)]

    first = run(file, program, 2, record_mode="once")
    second = run(file, program, 3, record_mode="new_episodes")
    assert second[:2] == first
    assert run(file, program, 3, order="any") == second


def test_a_recording_with_new_episodes_replays_in_any_order_by_itself(url, file):
    run(file, ask, f"{url}/a", record_mode="once")
    a, b = run(file, ask, f"{url}/a", f"{url}/b", record_mode="new_episodes")
    assert run(file, ask, f"{url}/b", f"{url}/a") == [b, a]


def test_environment_variables_of_new_episodes_are_recorded(monkeypatch, file):
    def program(*names):
        return [os.environ.get(name) for name in names]

    monkeypatch.setenv("TEA", "green")
    run(file, program, "TEA", record_mode="once")
    monkeypatch.setenv("TEA", "black")
    assert run(file, program, "TEA") == ["green"]


def test_the_summary_counts_new_calls(file):
    with Record(file) as record:
        overdub(record, time.time)
    replay = Replay(file, record_mode="new_episodes")
    with replay:
        overdub(replay, lambda: [time.time(), time.time(), time.time_ns()])
    assert replay.summary().endswith(f"answered from {file}, 2 recorded")
    assert replay.all_played
    assert replay.play_count == 1


def test_the_modes_work_on_the_command_line(tmp_path):
    (tmp_path / "program.py").write_text("import time\nprint(time.time_ns())")
    words = ("run", "-c", "replay:file=it.cassette,record_mode=once", "program.py")
    before = cassette(*words, folder=tmp_path)
    after = cassette(*words, folder=tmp_path)
    assert before.stdout == after.stdout
    assert after.stderr == "replay: 1 call answered from it.cassette\n"
    assert cassette("replay", "it.cassette", folder=tmp_path).stdout == before.stdout


PROGRAM_WITH_THREADS = """
import random, threading, time

def now():
    return time.perf_counter()

def both(number, found):
    time.sleep(random.random() / 50)
    found[number] = random.random()

def threaded():
    found = {}
    threads = [threading.Thread(target=both, args=(number, found)) for number in range(5)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sorted(found.items())
"""


def test_threads_get_their_own_results_though_calls_may_come_in_any_order(tmp_path, make_program):
    program = make_program(PROGRAM_WITH_THREADS)
    path = str(tmp_path / "threads.cassette")
    recorded = run(path, program.threaded, record_mode="once")
    for _ in range(10):
        assert run(path, program.threaded, record_mode="once") == recorded


def test_a_block_after_the_last_one_of_a_recording_is_an_error(tmp_path, make_program):
    program = make_program(PROGRAM_WITH_THREADS)
    for kind, made in (
        ("Record", Record(str(tmp_path / "a.cassette"))),
        ("Replay", Replay(str(tmp_path / "b.cassette"), record_mode="once")),
    ):
        with made:
            program.now()
        with pytest.raises(RuntimeError, match=f"is complete: it ended with a block; make a {kind} for each block"):
            made.__enter__()


def test_nested_blocks_of_one_recording_are_one_recording(tmp_path, make_program):
    program = make_program(PROGRAM_WITH_THREADS)

    def nested(context):
        with context:
            before = program.now()
            with context:
                inner = program.now()
            return before, inner, program.now()

    path = str(tmp_path / "nested.cassette")
    recorded = nested(Record(path))
    assert nested(Replay(path)) == recorded
    once = str(tmp_path / "once.cassette")
    assert nested(Replay(once, record_mode="once")) == nested(Replay(once, record_mode="once"))
