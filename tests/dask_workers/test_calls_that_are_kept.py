"""Calls that stay as they are written are named in the summary, with their line and the reason."""

import pytest
from helpers.observed_calls import observed

from cassette_import import overdub
from cassette_import.contexts import Parallel

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

CALLS = {
    "    try:\n        found = work.score({'n': 1})\n    finally:\n        pass": "in a block of try or with",
    "    with open(__file__):\n        found = work.score({'n': 1})": "in a block of try or with",
    "    class Here:\n        found = work.score({'n': 1})\n    found = Here.found": "in a class body",
    "    found = sum(work.score({'n': n}) for n in range(2))": "in a generator expression",
    "    found = {work.score({'n': n}) for n in range(2)}": "in a set comprehension",
    "    function = lambda n: work.score({'n': n})\n    found = function(3)": "in a lambda",
    "    found = work.score(*[{'n': 1}])": "with * or ** arguments",
    "    found = work.score(**{'row': {'n': 1}})": "with * or ** arguments",
    "    found, *more = work.score({'n': 1}), 2": "in a statement that is left as it is written",
    "    found = sorted(locals()), work.score({'n': 1})": "where locals, eval, exec or globals is used",
}


@pytest.fixture
def context(work):
    """A context that starts no workers, because there are no tasks."""
    return Parallel([work.score])


@pytest.fixture
def same(context, program):
    """Checks that a program does the same in the context."""

    def check(source):
        module = program(source)
        assert observed(overdub, context, module.main) == observed(module.main)

    return check


@pytest.mark.parametrize("lines", CALLS)
def test_a_call_that_stays_as_it_is_written_is_named(same, context, lines):
    same(f"def main():\n{lines}\n    return found")
    figures = context.statistics()["parallel_work.score"]
    ((reason, _),) = figures["here"].items()
    assert figures["tasks"] == 0
    assert reason.startswith(f"{CALLS[lines]} (")
    assert reason in context.summary()


def test_calls_of_other_functions_with_the_name_of_a_target_are_not_named(same, context):
    same(
        "class Other:\n    def score(self, n):\n        return n\n"
        "def main():\n    try:\n        return Other().score(3)\n    finally:\n        pass"
    )
    assert context.statistics()["parallel_work.score"]["here"] == {}
