"""Whole programs: recorded with a server and a database, and replayed without them on another day."""

import os
from pathlib import Path

import pytest
from helpers.command_line import CHECKOUT, cassette
from helpers.external_server import serving

PROGRAMS = Path(__file__).parents[2] / "programs" / "recorded"
ANOTHER_DAY = """
import time

time.time = lambda real=time.time: real() + 1_000_000
time.monotonic = lambda real=time.monotonic: real() + 1_000_000
"""


def recorded(name, *arguments, folder, **variables):
    """Record a program while its server runs; return its outcome."""
    with serving() as url:
        return cassette(
            "run", "-c", "record", "-o", "it.cassette", PROGRAMS / name, url, *arguments, folder=folder, **variables
        )


def replayed(folder):
    """Replay it, on another day and with another environment."""
    (folder / "sitecustomize.py").write_text(ANOTHER_DAY)
    return cassette("replay", "it.cassette", folder=folder, PYTHONPATH=os.pathsep.join([str(folder), CHECKOUT]))


def test_a_program_with_requests_and_sqlite_is_replayed_without_either(tmp_path):
    pytest.importorskip("requests")
    before = recorded("shop.py", "shop.db", folder=tmp_path, SHOP="corner")
    (tmp_path / "shop.db").unlink()
    after = replayed(tmp_path)
    assert before.status == after.status == 0, (before, after)
    assert "corner" in before.stdout
    assert after.stdout == before.stdout
    assert not (tmp_path / "shop.db").exists()


def test_a_program_with_tasks_and_httpx_is_replayed_in_the_same_order(tmp_path):
    pytest.importorskip("httpx")
    before = recorded("tasks.py", folder=tmp_path)
    after = replayed(tmp_path)
    assert before.status == after.status == 0, (before, after)
    assert "too slow" in before.stdout
    assert after.stdout == before.stdout


def test_a_program_with_threads_is_replayed(tmp_path):
    before = recorded("threads.py", folder=tmp_path)
    after = replayed(tmp_path)
    assert before.status == after.status == 0, (before, after)
    assert after.stdout == before.stdout
    assert after.stderr == ""
