"""The program's tools do not observe cassette_import, and specialising collects no garbage."""

import gc

import pytest
from helpers.contexts import Counting

PROGRAM = """
class Node:
    def __init__(self, *below):
        self.below = below

    def size(self):
        return 1 + sum(node.size() for node in self.below)


def work():
    return Node(Node(), Node(Node())).size()
"""


@pytest.fixture
def collections():
    """The generations of the collections that begin, as a list."""
    begun = []

    def note(phase, info):
        if phase == "start":
            begun.append(info["generation"])

    thresholds = gc.get_threshold()
    gc.set_threshold(100, 10, 10)
    gc.callbacks.append(note)
    yield begun
    gc.callbacks.remove(note)
    gc.set_threshold(*thresholds)


def test_to_specialise_collects_no_garbage(make_program, collections):
    program = make_program({"__init__.py": PROGRAM})
    with Counting() as ctx:
        gc.collect()
        collections.clear()
        assert program.work() == 4
        found = list(collections)
    assert ctx.calls > 4
    assert len(found) <= 2  # what has become due meanwhile


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_collections_run_as_before(collects, make_program):
    program = make_program({"__init__.py": PROGRAM})
    was_enabled = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with Counting():
            assert gc.isenabled() is collects
            program.work()
            assert gc.isenabled() is collects
        assert gc.isenabled() is collects
    finally:
        (gc.enable if was_enabled else gc.disable)()
