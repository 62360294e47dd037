"""`python -m cassette_import replay`: mismatches, damaged and cut-off recordings, debuggers, wrong usage."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from helpers.command_line import CHECKOUT, cassette, environment, run


@pytest.fixture
def program(tmp_path):
    """Write a program; return the function that runs it recorded."""

    def write(source, *arguments, **variables):
        (tmp_path / "program.py").write_text(textwrap.dedent(source))
        return cassette(
            "run", "-c", "record", "-o", "it.cassette", "program.py", *arguments, folder=tmp_path, **variables
        )

    return write


TWO_CALLS = """
    import os, time
    print(time.time())
    print(os.stat("program.py").st_mtime_ns)
    """


def test_arguments_and_the_folder_are_those_of_the_recorded_run(program, tmp_path):
    before = program("import os, sys; print(sys.argv, os.getcwd(), __file__)", "a", "-b")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    after = cassette("replay", tmp_path / "it.cassette", folder=elsewhere)
    assert after == before._replace(stderr="")


def test_the_exit_status_is_that_of_the_program(program, tmp_path):
    assert program("import time; raise SystemExit(int(time.time()) and 7)").status == 7
    assert cassette("replay", "it.cassette", folder=tmp_path).status == 7


def test_a_program_that_raises_is_recorded_to_its_end(program, tmp_path):
    assert program("import time; time.time(); 1 / 0").status == 1
    lines = (tmp_path / "it.cassette").read_text().splitlines()
    assert json.loads(lines[-1]) == {"finished": 1}
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert after.status == 1
    assert after.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_mismatch_is_shown_and_the_status_is_2(program, tmp_path):
    program("import os\nprint('first', flush=True)\nos.stat('program.py')")
    (tmp_path / "program.py").write_text(
        "import os\nprint('first')\ntry:\n    os.stat('other.py')\nexcept Exception: 0"
    )
    after = cassette("replay", "it.cassette", folder=tmp_path)
    file = tmp_path / "program.py"
    assert after.status == 2
    assert after.stdout == "first\n"
    assert after.stderr.splitlines() == [
        f"{file}:4 in <module>: replay mismatch at call 1 of {tmp_path / 'it.cassette'}",
        f"  recorded: os.stat('program.py')    ({file}:3 in <module>)",
        "  now:      os.stat('other.py')",
    ]


def test_a_mismatch_in_a_thread_ends_the_run(program, tmp_path):
    source = "import time, threading\nt = threading.Thread(target={}); t.start(); t.join()\nprint('end')"
    program(source.format("lambda: time.time()"))
    (tmp_path / "program.py").write_text(source.format("lambda: time.time_ns()"))
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert after.status == 2
    assert "replay mismatch" in after.stderr


@pytest.mark.parametrize(
    ("read", "shown"),
    [
        ("os.environ['PLACE']", "os.environ['PLACE']"),
        ("os.environ.get('PLACE')", "os.environ['PLACE']"),
        ("list(os.environ) and 'here'", "the names of all environment variables"),
    ],
)
def test_a_recording_that_was_cut_short_before_a_variable_is_a_mismatch(read, shown, program, tmp_path):
    before = program(f"import os, time\nprint(time.time() > 0, flush=True)\nprint({read})", PLACE="here")
    file = tmp_path / "it.cassette"
    text = file.read_text()
    file.write_text(text[: text.index('{"environment"', text.index('"call": 1')) + 20])
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert before.stdout == "True\nhere\n"
    assert (after.status, after.stdout) == (2, "True\n")
    assert after.stderr.splitlines() == [
        f"the recording {file} was cut short before this was read",
        f"  now:      {shown}",
    ]


def test_daemon_threads_that_get_further_than_in_the_recording_wait_for_the_end(program, tmp_path):
    before = program(
        """
        import os, threading, time

        begun = threading.Event()

        def ask():
            while True:
                os.stat("program.py")
                begun.set()
                time.sleep(0.001)

        def start():
            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            thread.join()

        threading.Thread(target=start, daemon=True).start()
        begun.wait()
        print(time.time())
        sum(range(10_000_000))
        """
    )
    lines = [json.loads(line) for line in (tmp_path / "it.cassette").read_text().splitlines()]
    assert lines[-1]["running"] == [[0, 1], [1, 1]]
    # In the replay, the daemon comes to what the recording does not have while the program still computes.
    while lines[-2].get("lane") != 0:
        del lines[-2]
    lines[-1]["finished"] = sum("call" in line for line in lines)
    (tmp_path / "it.cassette").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert cassette("replay", "it.cassette", folder=tmp_path) == before._replace(stderr="")


def test_a_run_that_ends_early_is_a_mismatch(program, tmp_path):
    program(TWO_CALLS)
    (tmp_path / "program.py").write_text("import time\nprint(time.time())")
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert after.status == 2
    assert "goes on, with 1 more call\n  recorded: os.stat('program.py')" in after.stderr


def test_a_killed_run_leaves_a_recording_that_can_be_replayed(tmp_path):
    source = (
        "import time\nprint(time.time_ns(), flush=True)\nprint('ready', flush=True)\ninput()\nprint(time.time_ns())\n"
    )
    (tmp_path / "program.py").write_text(source)
    words = [sys.executable, "-m", "cassette_import", "run", "-c", "record", "-o", "it.cassette", "program.py"]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        first = running.stdout.readline()
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGKILL)
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert after.status == 2
    assert after.stdout == first + "ready\n"
    assert "was cut short before this call\n  now:      builtins.input()" in after.stderr


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (b'{"cassette_import recording": 2}\n', "has version 2, but only version 1 can be read here; replay it"),
        (b"", "is not a recording: it is empty"),
        (b"PK\x03\x04\n", "is not a recording"),
        (b'{"cassette_import recording": 1, "python": "3.12"}\nxx\n', "line 2: is damaged"),
        (b'{"cassette_import recording": 1, "python": "3.12"}\n', "does not name a program to run"),
        (None, "No such file or directory"),
    ],
)
def test_bad_recordings_get_one_line_and_status_2(tmp_path, contents, said):
    if contents is not None:
        (tmp_path / "bad.cassette").write_bytes(contents)
    after = cassette("replay", "bad.cassette", folder=tmp_path)
    assert after.status == 2
    assert after.stdout == ""
    assert after.stderr.count("\n") == 1
    assert after.stderr.startswith("python -m cassette_import replay: bad.cassette")
    assert said in after.stderr


def test_recording_to_a_place_that_does_not_exist_gets_one_line_and_status_2(tmp_path):
    (tmp_path / "program.py").write_text("print('not run')")
    after = cassette("run", "-c", "record", "-o", "nowhere/it.cassette", "program.py", folder=tmp_path)
    assert (after.status, after.stdout) == (2, "")
    assert after.stderr.count("\n") == 1
    assert "there is no directory" in after.stderr


def test_recording_to_no_file_gets_one_line_and_status_2(tmp_path):
    (tmp_path / "program.py").write_text("print('not run')")
    after = cassette("run", "-c", "record", "program.py", folder=tmp_path)
    assert (after.status, after.stdout) == (2, "")
    assert after.stderr == "python -m cassette_import run: record needs a file to write to: -o FILE\n"


def test_recording_to_two_files_gets_one_line_and_leaves_both_as_they_are(tmp_path):
    (tmp_path / "program.py").write_text("print(1)")
    (tmp_path / "one.json").write_text("an earlier recording")
    after = cassette("run", "-c", "record:file=one.json", "-o", "two.json", "program.py", folder=tmp_path)
    assert (after.status, after.stdout) == (2, "")
    assert "run: record writes one file, and two are named: file=" in after.stderr
    assert (tmp_path / "one.json").read_text() == "an earlier recording"
    assert not (tmp_path / "two.json").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_ends_the_recording_and_not_the_program(tmp_path):
    (tmp_path / "program.py").write_text("import time\nfor _ in range(3): print(time.time() > 0)")
    after = cassette("run", "-c", "record", "-o", "/dev/full", "program.py", folder=tmp_path)
    assert after.status == 0
    assert after.stdout == "True\n" * 3
    assert after.stderr.count("recording ends after 0 calls: No space left on device") == 1


def test_a_program_that_does_not_exist_any_more_gets_the_message_of_python(program, tmp_path):
    program(TWO_CALLS)
    (tmp_path / "program.py").unlink()
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert after.status == 2
    assert "can't open file" in after.stderr


def test_the_order_of_sets_is_that_of_the_recorded_run_if_the_seed_was_given(program, tmp_path):
    source = "import time\nprint({str(number) for number in range(20)}, time.time())"
    before = program(source, PYTHONHASHSEED="7")
    after = cassette("replay", "it.cassette", folder=tmp_path, PYTHONHASHSEED="8")
    assert after.stdout == before.stdout


def test_standard_input_is_recorded(program, tmp_path):
    source = "import sys\nprint(input('? '), sys.stdin.readline(), sys.stdin.read())"
    (tmp_path / "program.py").write_text(source)
    words = ("run", "-c", "record", "-o", "it.cassette", "program.py")
    before = cassette(*words, folder=tmp_path, stdin="one\ntwo\nthree\nfour\n")
    assert "one two\n three\nfour\n" in before.stdout
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert after.status == 0
    assert after.stdout.endswith(before.stdout.removeprefix("? "))


READERS_OF_STANDARD_INPUT = {
    "loop": "for line in sys.stdin: print(line)",
    "loop after input": "print(input())\nfor line in sys.stdin: print(line)",
    "function": "print(sum(map(len, sys.stdin)), next(sys.stdin, None))",
    "thread": "import threading\none = threading.Thread(target=lambda: print([*sys.stdin]))\none.start(); one.join()",
    "csv": "import csv\nprint([*csv.reader(sys.stdin)])",
    "json": "import json\nprint(json.load(sys.stdin))",
    "fileinput": "import fileinput\nprint([*fileinput.input()])",
    "argparse": "import argparse\nprint([*argparse.FileType()('-')])",
    "loop over bytes": "for line in sys.stdin.buffer: print(line)",
    "bytes": "import io, shutil as s\ns.copyfileobj(sys.stdin.buffer, out := io.BytesIO())\nprint(out.getvalue())",
    "itself": "file = sys.stdin\nprint(file, file is sys.__stdin__, file.mode, type(file).__name__, file.fileno())",
}


@pytest.mark.parametrize("reader", READERS_OF_STANDARD_INPUT)
def test_standard_input_is_recorded_whoever_reads_it(reader, tmp_path):
    (tmp_path / "program.py").write_text("import sys\n" + READERS_OF_STANDARD_INPUT[reader])
    plain = run("program.py", folder=tmp_path, stdin="[1,\n2]\n")
    before = cassette("run", "-c", "record", "-o", "it.cassette", "program.py", folder=tmp_path, stdin="[1,\n2]\n")
    assert before.stdout == plain.stdout
    assert cassette("replay", "it.cassette", folder=tmp_path, stdin="").stdout == plain.stdout


def test_the_prompt_of_input_is_printed_as_in_the_recorded_run(tmp_path):
    (tmp_path / "program.py").write_text("print(input('name? '), input(), input(7))")
    before = cassette("run", "-c", "record", "-o", "it.cassette", "program.py", folder=tmp_path, stdin="a\nb\nc\n")
    assert before.stdout == "name? 7a b c\n"
    assert cassette("replay", "it.cassette", folder=tmp_path).stdout == before.stdout


def test_the_summary_of_a_file_given_as_an_option_is_printed_once(tmp_path):
    (tmp_path / "program.py").write_text("import time\nprint(time.time())")
    before = cassette("run", "-c", "record:file=it.cassette", "program.py", folder=tmp_path)
    assert before.stderr.count("record: 1 call") == 1
    assert cassette("replay", "it.cassette", folder=tmp_path).stdout == before.stdout


def test_a_module_is_recorded_and_replayed(tmp_path):
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "clock.py").write_text("import time\n\n\ndef now():\n    return time.time()\n")
    (package / "__main__.py").write_text("import sys\nfrom shop.clock import now\n\nprint(now(), sys.argv[1:])\n")
    before = cassette("run", "-c", "record", "-o", "it.cassette", "-m", "shop", "x", folder=tmp_path)
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert before.status == after.status == 0, (before, after)
    assert after.stdout == before.stdout


def test_calls_of_any_function_can_be_external(tmp_path):
    (tmp_path / "rates.py").write_text("numbers = iter([3, 5])\n\n\ndef rate(currency):\n    return next(numbers)\n")
    (tmp_path / "program.py").write_text("from rates import rate\n\nprint(rate('EUR'), rate('USD'))\n")
    words = ("run", "-c", "record:boundary=rates.rate", "-o", "it.cassette", "program.py")
    assert cassette(*words, folder=tmp_path).stdout == "3 5\n"
    (tmp_path / "rates.py").write_text("def rate(currency):\n    raise OSError('no network')\n")
    assert cassette("replay", "it.cassette", folder=tmp_path).stdout == "3 5\n"


def test_a_name_in_the_boundary_that_no_function_has_is_printed_at_the_end(tmp_path):
    (tmp_path / "program.py").write_text("import json, time\ntime.time()\n")
    options = "record:boundary=json.nonesuch+json.loads+nonesuch.f"
    done = cassette("run", "-c", options, "-o", "it.cassette", "program.py", folder=tmp_path)
    assert done.status == 0
    *problems, written = done.stderr.splitlines()
    assert problems == [
        "record: boundary=json.nonesuch: the program has not imported such a function",
        "record: boundary=json.loads: never called",
        "record: boundary=nonesuch.f: the program has not imported such a function",
    ]
    size = (tmp_path / "it.cassette").stat().st_size
    assert written == f"record: 1 call, {size} B (most of it: 1 time.time) in {tmp_path / 'it.cassette'}"


def test_a_library_that_is_overdubbed_too_is_replayed_with_its_own_calls(tmp_path):
    source = "import logging, sys\nlogging.basicConfig(stream=sys.stdout, format='%(asctime)s %(created)r')\n"
    (tmp_path / "program.py").write_text(source + "logging.warning('x')\n")
    words = ("run", "-p", "logging", "-c", "record", "-o", "it.cassette", "program.py")
    before = cassette(*words, folder=tmp_path)
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert before.status == after.status == 0, (before, after)
    assert after.stdout == before.stdout


LOOPS = {
    "tasks": """
        async def one(number):
            await asyncio.sleep(0.001 * number)
            return number

        async def main():
            async with asyncio.timeout(5):
                return await asyncio.gather(one(1), asyncio.to_thread(len, "ab"), one(2)), time.time()
    """,
    "processes": """
        async def main():
            made = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(3)", stdout=-1)
            return await made.communicate()
    """,
    "streams": """
        async def answer(reader, writer):
            writer.write((await reader.readline()).upper())
            writer.close()

        async def main():
            server = await asyncio.start_server(answer, "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"hi\\n")
            answered = await reader.read()
            writer.close()
            server.close()
            return answered
    """,
}


@pytest.mark.parametrize("loop", LOOPS)
def test_what_asyncio_does_itself_is_no_external_call_where_it_is_overdubbed(loop, tmp_path):
    source = f"import asyncio, sys, time\n{textwrap.dedent(LOOPS[loop])}\nprint(asyncio.run(main()))\n"
    (tmp_path / "program.py").write_text(source)
    words = ("run", "-p", "program,asyncio,selectors,socket", "-c", "record", "-o", "it.cassette", "program.py")
    before = cassette(*words, folder=tmp_path)
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert before.status == after.status == 0, (before, after)
    assert after.stdout == before.stdout


DEBUGGED = """
    import sqlite3
    import time

    def main():
        db = sqlite3.connect(":memory:")
        db.row_factory = sqlite3.Row
        row = db.execute("select 1 as one, ? as now", [time.time()]).fetchone()
        total = 0
        for value in row:
            total += value
        print(row["one"], row["now"], total)
        print(time.time())

    main()
    """


def test_a_replay_under_pdb_prints_the_same(program, tmp_path):
    before = program(DEBUGGED)
    commands = "b program.py:12\nc\np row['one'] + 1\np db\np row['now'] > 5\np row['unread']\nn\nn\nc\nq\n"
    after = run("-m", "pdb", "-m", "cassette_import", "replay", "it.cassette", folder=tmp_path, stdin=commands)
    said = after.stdout
    assert "(Pdb) 2\n" in said
    assert "(Pdb) True\n" in said
    assert "LookupError: Row.__getitem__('unread') of object 3 is not in the recording" in said
    for line in before.stdout.splitlines():
        assert line in said
    assert "mismatch" not in said + after.stderr


def test_stepping_over_a_loop_that_ends_under_pdb_stays_in_the_function(program, tmp_path):
    program(DEBUGGED)
    commands = "b program.py:9\nc\n" + "n\n" * 8 + "c\nq\n"
    after = run("-m", "pdb", "-m", "cassette_import", "replay", "it.cassette", folder=tmp_path, stdin=commands)
    stepped, reached, _ = after.stdout.partition('-> print(row["one"]')
    assert reached
    assert "--Return--" not in stepped


def test_a_mismatch_makes_no_external_call(program, tmp_path):
    program("import time\nprint(time.time())")
    (tmp_path / "program.py").write_text("open('written', 'w').write('x')")
    assert cassette("replay", "it.cassette", folder=tmp_path).status == 2
    assert not (tmp_path / "written").exists()


def test_recording_is_listed_among_the_contexts(tmp_path):
    said = cassette("contexts", folder=tmp_path, PYTHONPATH=CHECKOUT).stdout
    assert "Records the value or exception of every external call" in said
