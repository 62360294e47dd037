"""Each fast form of events is reached by a context that ships, and a row of `docs/performance.md` measures it."""

import re

import pytest
from helpers.command_line import PROJECT

from cassette_import.contexts import Intervals, Noop, Profile, Substitute, Taint, Trace
from cassette_import.rewriting import rewriter, untagged_blocks
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import callee, followed_bodies, guarded, inlined, untagged
from cassette_import.runtime.dispatch import accelerated_hooks, direct_events
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.state import ACTIVE

PROGRAM = """
import math
import time

class Total:
    def __init__(self):
        self.value = 0

    def add(self, value):
        self.value = self.value + value

def steps(count):
    for number in range(count):
        yield math.sqrt(number)

def main(count=3):
    total = Total()
    for step in steps(count):
        total.add(step)
    total.add(sum(abs(number) for number in [time.time(), 2.0]))
    while total.value > 100:
        total.value = 100
    return total.value
"""

FORMS = {
    "guards of callees": (guarded.GuardedForm, "call", lambda: Substitute({"time.time": "time.monotonic"}), "nothing"),
    "hooks that read no arguments": (callee.ArgumentFreeForm, "call", Noop, "count"),
    "inlined hooks": (inlined.InlinedCall, "build", Trace, "look"),
    "accelerated calls": (inlined, "accelerated_call", Profile, "profile"),
    "accelerated events": (accelerated_hooks, "make_accelerated_event", Profile, "profile"),
    "bodies that are followed": (followed_bodies, "follow_body", Profile, "profile"),
    "parts between suspensions": (rewriter.ResumedParts, "run", Trace, "trace"),
    "blocks while nothing is tagged": (untagged_blocks.UntaggedBlocks, "build", Taint, "tagging"),
    "repeated tests while nothing is tagged": (untagged.ExpressionSteps, "test_inside", Taint, "tagging"),
    "direct events": (direct_events.DirectEvents, "__missing__", Intervals, "tagging"),
}
"""By form: what builds it, a context that reaches it, and the first cell of the row that it pays for."""


@pytest.mark.parametrize("form", FORMS)
def test_a_context_that_ships_reaches_the_form(form, make_program, monkeypatch):
    owner, name, make_context, _ = FORMS[form]
    calls, builds = [], getattr(owner, name)

    def counting(*arguments, **keywords):
        calls.append(name)
        return builds(*arguments, **keywords)

    monkeypatch.setattr(owner, name, counting)
    for module in (rewriter, inlined):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, counting)
    program = make_program(PROGRAM)
    with make_context():
        program.main()
    assert calls


@pytest.mark.skipif(not DISPATCH.is_used, reason="without the extension there is another form")
@pytest.mark.parametrize(
    ("make_context", "function", "kind"), [(Profile, "event", "AcceleratedEvent"), (Trace, "intercept", "EveryCallee")]
)
def test_a_context_that_ships_uses_the_form_in_c(make_context, function, kind):
    with make_context():
        runner = ACTIVE.get().variant.runners[int(Events.CALLS)]
        assert type(getattr(runner, function)) is getattr(DISPATCH, kind)


@pytest.mark.parametrize("row", sorted({row for *_, row in FORMS.values()}))
def test_a_row_of_the_tables_measures_the_form(row):
    text = (PROJECT / "docs" / "performance.md").read_text()
    assert re.search(rf"^\| {row} \|", text, re.MULTILINE)
