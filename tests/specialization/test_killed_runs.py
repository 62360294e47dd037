"""Runs that do not end by themselves: what a killed run has specialised is cached for the next one."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from helpers.command_line import cassette, environment

from cassette_import.specialization import disk_cache

SHOP = "\n".join(f"def price_{number}(count):\n    return abs(count) * {number}\n" for number in range(30))
MAIN = """
    import shop, sys, time

    total = sum(getattr(shop, f"price_{number}")(2) for number in range(30))
    print(total, flush=True)
    if sys.argv[1:]:
        sys.stdin.read()
"""
COMMAND = "run", "-p", "shop", "-c", "noop", "--report", "report.json", "main.py"
CACHING = {"PYTHONDONTWRITEBYTECODE": ""}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "main.py").write_text(textwrap.dedent(MAIN))
    return tmp_path


def started(folder):
    """A run that has called all functions, and waits for its standard input to end."""
    words = [sys.executable, "-m", "cassette_import", *COMMAND, "wait"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(words, cwd=folder, env=environment(**CACHING), **streams)


def specialised(folder):
    """Run the program once more; return how many functions were specialised."""
    done = cassette(*COMMAND, folder=folder, **CACHING)
    assert (done.status, done.stdout, done.stderr) == (0, "870\n", "")
    return json.loads((folder / "report.json").read_text())["specialising"]["functions"]


def no_unfinished_files(folder):
    return not [name for name in os.listdir(folder / "__pycache__") if name.endswith(".tmp")]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_a_run_that_is_killed_leaves_everything_for_the_next_one(number, folder):
    with started(folder) as run:
        assert run.stdout.readline() == "870\n"
        run.send_signal(number)
    assert run.returncode in (-number, 130)
    assert specialised(folder) == 0
    assert no_unfinished_files(folder)


def test_two_runs_at_once_leave_everything_for_the_next_one(folder):
    with started(folder) as one, started(folder) as other:
        assert [run.stdout.readline() for run in (one, other)] == ["870\n", "870\n"]
        for run in (one, other):
            run.stdin.close()
    assert (one.returncode, other.returncode) == (0, 0)
    assert specialised(folder) == 0
    assert no_unfinished_files(folder)


def test_a_killed_run_does_not_harm_one_that_goes_on(folder):
    with started(folder) as one, started(folder) as other:
        assert [run.stdout.readline() for run in (one, other)] == ["870\n", "870\n"]
        one.kill()
        one.wait()
        other.stdin.close()
    assert other.returncode == 0
    assert specialised(folder) == 0


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_completed_by_the_next_run(share, folder):
    assert specialised(folder) == 30
    (file,) = disk_cache.find(folder / "shop.py")
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    specialised(folder)
    assert specialised(folder) == 0
