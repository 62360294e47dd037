"""Runaway recursion: its traceback is the one of plain Python, in whichever hook the limit was reached."""

import re

import pytest
from helpers.command_line import cassette, run

PROGRAM = """
def countdown(n):
    countdown(n - 1)

countdown(10)
"""

HANDLING = """
def countdown(n):
    countdown(n - 1)

def give_up():
    raise RecursionError("too deep")

try:
    countdown(10)
except RecursionError:
    give_up()
"""

CONTEXTS = [
    ["profile"],
    ["profile:sites=true"],
    ["trace", "-o", "out.txt"],
    ["trace:mask=secret"],
    ["trace", "-o", "out.jsonl"],
    ["call-types"],
    ["callgraph"],
    ["trace", "-o", "out.txt", "-c", "profile", "-c", "call-types"],
]


def lines(text):
    """The lines of a traceback, without the number of repetitions, and without the marks below the source lines."""
    traceback = text[text.index("Traceback") :]
    traceback = traceback[: re.search(r"^RecursionError.*\n", traceback, re.MULTILINE).end()]
    shown = [re.sub(r"repeated \d+", "repeated", line) for line in traceback.splitlines() if line.strip(" ~^")]
    return [*shown[:-1], re.sub(" (while|in) .*", "", shown[-1])]


@pytest.mark.parametrize("context", CONTEXTS, ids=" ".join)
def test_runaway_recursion_ends_at_the_line_of_the_program(context, tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM)
    plain = run(tmp_path / "app.py", folder=tmp_path)
    done = cassette("run", "-c", *context, tmp_path / "app.py", folder=tmp_path)
    assert done.status == plain.status == 1
    assert lines(done.stderr) == lines(plain.stderr)
    assert "During handling" not in done.stderr


@pytest.mark.parametrize("context", CONTEXTS, ids=" ".join)
def test_a_recursion_error_that_the_program_raises_while_it_handles_another_is_shown_with_it(context, tmp_path):
    (tmp_path / "app.py").write_text(HANDLING)
    stderr = cassette("run", "-c", *context, "app.py", folder=tmp_path).stderr
    assert stderr.count("During handling") == 1
    assert "RecursionError: too deep\n" in stderr
