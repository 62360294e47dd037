"""`Submissions`: tasks go to the workers in few messages, in an order in which each finds what it needs."""

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import import overdub
from cassette_import.contexts.parallel import Parallel, tasks


@pytest.fixture
def messages(client, monkeypatch):
    """The number of tasks in each message."""
    sent = []
    real = client.map

    def counted(function, payloads, *others, **options):
        sent.append(len(payloads))
        return real(function, payloads, *others, **options)

    monkeypatch.setattr(client, "map", counted)
    return sent


def test_many_tasks_go_in_few_messages(work, client, program, messages):
    module = program("def main():\n    return [work.total([n]) for n in range(500)]")
    assert overdub(Parallel({work.total}, client=client), module.main) == list(range(500))
    assert sum(messages) == 500
    assert len(messages) < 250


def test_chains_of_tasks_are_sent_before_what_needs_them(work, client, program, messages):
    source = """
def main():
    rows = []
    for n in range(60):
        row = work.load(n)
        rows.append(work.score(row, factor=work.noisy(n)))
    return rows
"""
    module = program(source)
    context = Parallel({work.load, work.score, work.noisy}, client=client)
    assert overdub(context, module.main) == [n * n for n in range(60)]
    assert sum(messages) == 180
    assert context.statistics()["parallel_work.score"]["here"] == {}


def test_tasks_after_a_failed_one_are_given_up(work, client, program):
    module = program("def main():\n    return [work.failing(n) for n in range(400)]")
    with pytest.raises(ValueError, match="no 3"):
        overdub(Parallel({work.failing}, client=client), module.main)
    other = program("def main():\n    return work.load(1)")
    assert overdub(Parallel({work.load}, client=client), other.main) == {"n": 1}


def test_large_arguments_bring_no_warning(work, client, program, recwarn):
    module = program("def main():\n    return [work.total(bytes(12_000_000)) for n in range(2)]")
    context = Parallel({work.total}, client=client)
    assert overdub(context, module.main) == [0, 0]
    assert context.statistics()["parallel_work.total"] == {"tasks": 2, "here": {}}
    assert [one for one in recwarn if "graph" in str(one.message)] == []


def test_a_message_has_few_bytes(work, client, program, messages, monkeypatch):
    monkeypatch.setattr(tasks, "_BYTES_OF_A_BATCH", 3000)
    module = program("def main():\n    return [work.total(bytes(2000)) for n in range(5)]")
    assert overdub(Parallel({work.total}, client=client), module.main) == [0] * 5
    assert messages == [1] * 5


def test_a_message_that_cannot_be_sent_is_run_in_this_process(work, client, program, monkeypatch):
    monkeypatch.setattr(client, "map", lambda *given, **options: 1 / 0)
    module = program("def main():\n    return [work.score(work.load(n)) for n in range(2)]")
    context = Parallel({work.load, work.score}, client=client)
    assert overdub(context, module.main) == [0, 10]
    assert "2 in this process: ZeroDivisionError: division by zero" in context.summary()
    assert "2 in this process: a task whose result it needs has none" in context.summary()


def test_stores_of_a_long_loop_are_forgotten_once_no_task_can_fail(work, client, program):
    source = """
def main(noted):
    rows = []
    for n in range(20):
        rows.append(work.noisy(n))
        total = len(str(n)) + work.score({"n": n})
        noted(rows)
    return rows
"""
    context = Parallel({work.noisy, work.score}, client=client)
    assert overdub(context, program(source).main, lambda rows: None) == list(range(20))
    assert len(context._state.stored) == 0


@pytest.mark.parametrize("name", ["_step", "__step"])
def test_attributes_are_read_while_tasks_run_and_private_ones_too(name, work, client, program, messages):
    source = f"""
class Report:
    def __init__(self):
        self.{name} = 2

    def rows(self):
        return [work.total([n, self.{name}]) for n in range(60)]

def main():
    return Report().rows()
"""
    module = program(source)
    assert overdub(Parallel({work.total}, client=client), module.main) == [n + 2 for n in range(60)]
    assert sum(messages) == 60
    assert len(messages) < 30
