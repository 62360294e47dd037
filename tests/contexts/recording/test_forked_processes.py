"""Processes that a recorded or replayed program forks: what happens in them is neither recorded nor replayed."""

import json
import os
import textwrap

import pytest
from helpers.command_line import cassette, run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


def sorted_output(outcome):
    """An outcome whose lines are sorted: parent and child print at the same time."""
    return outcome._replace(stdout=sorted(outcome.stdout.splitlines()))


@pytest.fixture
def outcomes(tmp_path):
    """What a program prints in a plain run, in a recorded and in a replayed one."""

    def of(source):
        (tmp_path / "program.py").write_text("import os, sys, time\n" + textwrap.dedent(source))
        plain = run("program.py", folder=tmp_path)
        recorded = cassette("run", "-c", "record", "-o", "it.cassette", "program.py", folder=tmp_path)
        summary = recorded.stderr.splitlines(keepends=True)[-1]
        assert summary.startswith("record: ")
        recorded = recorded._replace(stderr=recorded.stderr.removesuffix(summary))
        return plain, recorded, cassette("replay", "it.cassette", folder=tmp_path)

    return of


def recorded_names(folder):
    lines = map(json.loads, (folder / "it.cassette").read_text().splitlines())
    return [line["what"][1] for line in lines if "what" in line]


DAEMONS = {
    "closes the streams": "sys.stdin.close(); sys.stdout.close(); sys.stderr.close()",
    "closes the descriptors": "for number in range(3): os.close(number)",
    "replaces the descriptors": "for number in range(3): os.dup2(os.open(os.devnull, os.O_RDWR), number)",
}


@pytest.mark.parametrize("style", DAEMONS)
def test_a_daemon_that_forks_twice_works_and_prints_nothing(style, outcomes, tmp_path):
    plain, recorded, replayed = outcomes(
        f"""
        from pathlib import Path
        print("time", time.time() > 0, flush=True)
        reader, writer = os.pipe()
        if not os.fork():
            os.setsid()
            if os.fork():
                os._exit(0)
            {DAEMONS[style]}
            with open("daemon.txt", "a") as file:
                file.write(f"{{os.path.exists('program.py')}}\\n")
            os._exit(0)
        print("end")
        """
    )
    assert plain == recorded == replayed
    assert (plain.stdout, plain.stderr) == ("time True\nend\n", "")
    assert (tmp_path / "daemon.txt").read_text() == "True\n" * 3


def test_a_child_gets_no_result_that_was_recorded_for_its_parent(outcomes, tmp_path):
    *_, replayed = outcomes(
        """
        def work():
            print(os.getpid() == PARENT, flush=True)

        PARENT = os.getpid()
        os.fork() or (work(), os._exit(0))
        os.wait()
        print(os.getpid() == PARENT)
        """
    )
    assert replayed.stderr == ""
    assert sorted_output(replayed).stdout == ["False", "True"]
    assert recorded_names(tmp_path) == ["os.getpid", "os.wait", "os.getpid"]


WAITING = """
        import signal
        reader, writer = os.pipe()
        before = time.time()
        child = os.fork()
        if not child:
            if {signal}:
                time.sleep(60)
            os._exit(7)
        if {signal}:
            os.kill(child, signal.SIGTERM)
        ended, status = os.waitpid(child, {options})
        while not ended:
            ended, status = os.waitpid(child, {options})
        print(ended == child, os.WIFSIGNALED(status), os.WEXITSTATUS(status) if os.WIFEXITED(status) else None)
        try:
            os.waitpid(child, 0)
        except ChildProcessError as error:
            print(type(error))
        print(time.time() >= before)
"""


@pytest.mark.parametrize("signal", [False, True])
@pytest.mark.parametrize("options", ["0", "os.WNOHANG"])
def test_a_program_waits_for_its_own_child_by_its_number(outcomes, tmp_path, signal, options):
    plain, recorded, replayed = outcomes(WAITING.format(signal=signal, options=options))
    assert plain == recorded == replayed
    assert replayed.stdout.startswith(f"True {signal} {None if signal else 7}\n")
    assert "os.kill" not in recorded_names(tmp_path)


def test_waiting_for_the_process_of_an_external_call_is_external(outcomes, tmp_path):
    plain, recorded, replayed = outcomes(
        """
        import subprocess
        started = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
        print(os.waitstatus_to_exitcode(os.waitpid(started.pid, 0)[1]))
        """
    )
    assert plain.stdout == recorded.stdout == replayed.stdout == "3\n"
    assert "os.waitpid" in recorded_names(tmp_path)


@pytest.mark.parametrize("options", ["", "match_on", "new_episodes"])
def test_a_child_works_in_every_mode_of_a_replay(options, tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent(
            f"""
            import os, sys, time
            from cassette_import import overdub
            from cassette_import.contexts import Record, Replay

            OPTIONS = {{"": {{}}, "match_on": {{"match_on": "uri"}}, "new_episodes": {{"record_mode": "new_episodes"}}}}

            def work():
                before = time.time()
                if not os.fork():
                    os._exit(7 if time.time_ns() > 0 else 8)
                print(os.wait()[1] >> 8, before)

            with Record("it.cassette") as record:
                overdub(record, work)
            before = open("it.cassette").read()
            with Replay("it.cassette", **OPTIONS[{options!r}]) as replay:
                overdub(replay, work)
            assert open("it.cassette").read() == before
            """
        )
    )
    done = run("program.py", folder=tmp_path)
    assert (done.status, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first == second
    assert first.startswith("7 ")


def test_a_child_that_runs_to_the_end_of_the_program_is_no_mismatch(outcomes):
    plain, recorded, replayed = outcomes(
        """
        child = not os.fork()
        if not child:
            os.wait()
            time.time()
        print("child" if child else "parent", flush=True)
        """
    )
    assert sorted_output(plain) == sorted_output(recorded) == sorted_output(replayed) == (0, ["child", "parent"], "")


def test_a_child_of_multiprocessing_makes_its_calls(outcomes):
    plain, recorded, replayed = outcomes(
        """
        import multiprocessing, threading

        def work(queue):
            found = []
            thread = threading.Thread(target=lambda: found.append(os.path.exists("program.py")))
            thread.start()
            thread.join()
            queue.put([time.time() > 0, *found])

        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            queue = context.Queue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            print(queue.get(), time.time() > 0)
            process.join()
            print(process.exitcode)
        """
    )
    assert plain == recorded == replayed
    assert (plain.stdout, plain.stderr) == ("[True, True] True\n0\n", "")


def test_a_child_runs_an_event_loop_of_its_own(outcomes):
    plain, recorded, replayed = outcomes(
        """
        import asyncio

        async def main():
            await asyncio.wait([asyncio.create_task(asyncio.sleep(0.01)), asyncio.create_task(asyncio.sleep(0))])
            return time.time() > 0

        if not os.fork():
            print("child", asyncio.run(main()), flush=True)
            os._exit(0)
        os.wait()
        print("parent", asyncio.run(main()))
        """
    )
    assert plain == recorded
    assert sorted_output(recorded) == sorted_output(replayed) == (0, ["child True", "parent True"], "")


def test_a_child_that_needs_an_object_of_the_recording_says_so(outcomes, tmp_path):
    _, recorded, replayed = outcomes(
        """
        file = open("program.py")
        if not os.fork():
            print(len(file.readline()), flush=True)
            os._exit(0)
        print(os.wait()[1] >> 8)
        """
    )
    assert recorded.stdout == "21\n0\n"
    assert replayed.stdout == "0\n"
    first, second = replayed.stderr.splitlines()
    assert first.startswith(f"{tmp_path / 'program.py'}:")
    assert "in <module>: a forked process makes its calls itself, and it cannot be made: the TextIOWrapper" in first
    assert second == "  now:      TextIOWrapper.readline() of object 1"


def test_a_child_without_a_standard_error_ends_quietly_if_it_needs_an_object_of_the_recording(outcomes):
    _, _, replayed = outcomes(
        """
        file = open("program.py")
        if not os.fork():
            sys.stderr.close()
            file.readline()
            os._exit(0)
        os.wait()
        """
    )
    assert replayed.stderr == ""
