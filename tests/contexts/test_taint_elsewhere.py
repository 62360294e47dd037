"""Untrusted text in threads, jobs, tasks, futures and queues reaches sinks as such; other text beside it does not."""

import pytest
from programs import untrusted_flows_elsewhere
from programs.untrusted_flows_elsewhere import PROGRAMS

from cassette_import import install, overdub
from cassette_import.contexts import Taint


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_text_is_followed_elsewhere(program):
    name = untrusted_flows_elsewhere.__name__
    taint = Taint(sources=[f"{name}.ask"], sinks=[f"{name}.query"])
    with install([name]):
        overdub(taint, program)
    assert bool(taint.findings) is not program.__name__.startswith("safe")
