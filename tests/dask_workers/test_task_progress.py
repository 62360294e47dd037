"""The progress of tasks: a status line says how many have ended, and is gone when output follows."""

import re

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import import overdub
from cassette_import.contexts.parallel import Parallel
from cassette_import.contexts.parallel import context as progress
from cassette_import.contexts.parallel.context import Progress


class Terminal:
    """Notes what is shown; `line` is what the user sees now."""

    def __init__(self, is_terminal=True):
        self.is_terminal = is_terminal
        self.lines = []
        self.line = ""

    def show_status(self, text):
        self.line = text
        self.lines.append(text)
        return True

    def hide_status(self):
        self.line = ""


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    return Terminal()


def _numbers(terminal):
    return [tuple(map(int, re.search(r"(\d+) of (\d+) tasks", line).groups())) for line in terminal.lines]


def test_the_line_counts_the_tasks_that_have_ended(work, client, program, terminal):
    context = Parallel({work.load}, client=client)
    context._progress = Progress(terminal)
    module = program("def main():\n    return [work.load(n) for n in range(3)]")
    assert overdub(context, module.main) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert _numbers(terminal) == [(0, 1), (0, 2), (0, 3), (0, 3), (1, 3), (2, 3)]


def test_the_line_is_hidden_while_the_program_writes(work, client, program, terminal):
    context = Parallel({work.load}, client=client)
    context._progress = Progress(terminal)
    module = program("def main(seen):\n    for n in range(2):\n        work.load(n)\n        seen()")
    seen = []
    overdub(context, module.main, lambda: seen.append(terminal.line))
    assert seen == ["", ""]


def test_counting_begins_again_after_a_failed_task(work, client, program, terminal):
    context = Parallel({work.failing}, client=client)
    context._progress = Progress(terminal)
    module = program("def main(count):\n    return [work.failing(n) for n in range(count)]")
    with pytest.raises(ValueError, match="no 3"):
        overdub(context, module.main, 9)
    assert terminal.line == ""
    terminal.lines.clear()
    overdub(context, module.main, 1)
    assert _numbers(terminal) == [(0, 1), (0, 1)]


@pytest.mark.parametrize("output", [None, Terminal(is_terminal=False)], ids=["not wanted", "no terminal"])
def test_without_a_terminal_nothing_is_shown(output):
    counted = Progress(output)
    counted.submitted()
    counted.waiting()
    counted.ended(failed=False)
    assert output is None or output.lines == []


def test_progress_is_an_option_of_the_command_line(work):
    assert Parallel.from_options(targets="parallel_work.load", progress=True)._progress._output is not None
    assert Parallel({work.load})._progress._output is None
