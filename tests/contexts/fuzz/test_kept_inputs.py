"""What a search keeps: a corpus from which later ones go on, findings as tests that fail; and the command `fuzz`."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from helpers.command_line import CHECKOUT, cassette, environment
from helpers.pytest_runs import run_pytest
from programs import fuzzed

from cassette_import.contexts.fuzz import fuzz
from cassette_import.contexts.fuzz.inputs import decoded, encoded, suffix_of

PROGRAM = """
def parse(text: str):
    if text[:4] == "MAGI":
        if text[4:6] == "CK":
            raise RuntimeError("found")
    return int(text or "0")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parsing.py").write_text(PROGRAM)
    return tmp_path


def fuzzing(folder, *words):
    return cassette("fuzz", "parsing:parse", "--allow", "ValueError", "--output", "kept", *words, folder=folder)


def test_the_command_prints_findings_and_writes_a_test_that_fails(folder):
    outcome = fuzzing(folder, "--executions", "1500")
    assert outcome.status == 1
    assert "RuntimeError: found" in outcome.stdout
    assert "fuzz: 1 finding, 1500 executions, " in outcome.stdout
    progress = r"\d+ s, 1500 executions, \d+ tagged, \d+ branches, \d+ inputs kept, 1 finding"
    assert re.fullmatch(progress, outcome.stderr.splitlines()[-1])
    (test,) = (folder / "kept").glob("test_*.py")
    assert "INPUT = 'MAGICK'" in test.read_text()
    failed = run_pytest("-q", str(test), folder=folder, PYTHONPATH=f"{CHECKOUT}:.")
    assert "1 failed" in failed.stdout


def test_a_later_search_goes_on_from_the_corpus(tmp_path):
    first = fuzz(fuzzed.nested_magic, [""], executions=3000, allowed=ValueError, output=tmp_path)
    assert first.corpus
    second = fuzz(fuzzed.nested_magic, [], executions=30, allowed=ValueError, output=tmp_path)
    assert second.branches == first.branches
    assert len(second) == len(first)


def test_a_killed_search_has_kept_its_inputs_and_findings(folder):
    words = ["fuzz", "parsing:parse", "--allow", "ValueError", "--output", "kept", "--seconds", "60"]
    process = subprocess.Popen(
        [sys.executable, "-m", "cassette_import", *words], cwd=folder, env=environment(), stderr=subprocess.DEVNULL
    )
    while not list((folder / "kept").glob("test_*.py")) and process.poll() is None:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = [file.read_text() for file in sorted((folder / "kept" / "corpus").glob("[!.]*"))]
    assert any(text.startswith("MAGI") for text in kept)
    assert [file for file in (folder / "kept" / "findings").glob("[!.]*") if file.read_text()[:6] == "MAGICK"]


def test_ctrl_c_ends_a_search_with_its_findings(folder):
    words = ["fuzz", "parsing:parse", "--allow", "ValueError", "--output", "kept", "--seconds", "60"]
    process = subprocess.Popen(
        [sys.executable, "-m", "cassette_import", *words],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    while not list((folder / "kept").glob("test_*.py")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == 130
    assert "RuntimeError: found" in output


def test_ctrl_c_ends_a_search_whose_function_handles_all_exceptions():
    def swallows(text):
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            return

    before = signal.getsignal(signal.SIGINT)
    found = fuzz(swallows, [""], executions=50)
    assert found.interrupted
    assert found.executions == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_seeds_are_files_of_a_folder(folder):
    (folder / "seeds").mkdir()
    (folder / "seeds" / "one").write_text("MAGICK and more")
    outcome = fuzzing(folder, "--executions", "1", "--seeds", "seeds")
    assert "for 'MAGICK'" in outcome.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["parsing"], "'parsing' is not of the form module:function"),
        (["parsing:none"], "there is no parsing:none"),
        (["parsing:parse", "--allow", "Nothing"], "--allow Nothing: parsing has no exception 'Nothing'"),
        (["parsing:parse", "--allow", "ValueErr"], "no exception 'ValueErr'; did you mean ValueError?"),
        (["parsing:parse", "--allow", "json.JSONDecodeErr"], "json has no exception 'JSONDecodeErr'; did you mean"),
        (["parsing:parse", "--allow", "parsing.parse"], "is no exception"),
        (["parsing:parse", "--seeds", "nowhere"], "--seeds nowhere: No such file or directory"),
        (["parsing:parse", "--output", "parsing.py"], "parsing.py/corpus: Not a directory"),
        (["parsing:parse", "--output", "/proc/kept"], "--output /proc/kept: No such file or directory"),
        (["parsing:parse", "--seconds", "-1"], "seconds is a positive number, not -1.0"),
    ],
)
def test_wrong_usage_is_one_line(folder, words, message):
    outcome = cassette("fuzz", *words, folder=folder)
    assert outcome.status == 2
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [[], ["-p", "whole.outside"]])
def test_without_a_package_the_branches_of_the_whole_package_count(options, tmp_path):
    """As `run` does without `-p`."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "__init__.py").write_text("from whole.outside import parse")
    (tmp_path / "whole" / "outside.py").write_text(
        "from whole.inside import check\ndef parse(text: str):\n    return check(text)"
    )
    (tmp_path / "whole" / "inside.py").write_text("def check(text):\n    if text[:3] == 'ab,':\n        {}[text]")
    done = cassette("fuzz", *options, "whole:parse", "--executions", "300", folder=tmp_path)
    assert ("KeyError: 'ab,'" in done.stdout) is (not options)


def test_a_function_without_python_source_has_no_package_whose_branches_count(folder):
    done = cassette("fuzz", "math:sin", "--executions", "3", folder=folder)
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "it has no Python source; name the packages whose branches count" in done.stderr


@pytest.mark.parametrize("value", ["a\udcffé", b"\0\xff", 3, 2.5, {"a": [1, b"\xff", None]}, []])
def test_inputs_are_the_same_when_they_are_read_again(value):
    assert decoded(encoded(value), suffix_of(value)) == value
