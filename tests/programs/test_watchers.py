"""Tools that watch a program see it in a context as they see it plain: balanced events, calls, returns, and lines.

In the first run, whose functions are specialised while they are watched, and in the second one, from the cache.
"""

import functools
import json
import shutil

import pytest
from helpers import contexts
from helpers.command_line import run

from programs import watched

CONTEXTS = ["Noop", "Profile", "CallGraph", "ReadsArguments", "Provenance"]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What the watchers see in a run: plain, or the first or second one in a context."""

    @functools.cache
    def folder_of(context):
        folder = tmp_path_factory.mktemp(context)
        for file in (watched.__file__, contexts.__file__):
            shutil.copy(file, folder)
        watched.write(folder)
        return folder

    @functools.cache
    def outcome(context, number):
        if number > 1:
            outcome(context, number - 1)
        completed = run("watched.py", context, folder=folder_of(context), PYTHONDONTWRITEBYTECODE="")
        assert completed.status == 0, completed
        return json.loads(completed.stdout.splitlines()[-1])

    return outcome


def without_callers(outcome):
    return {**outcome, "events": [[name, calls] for name, (calls, _) in outcome["events"]]}


@pytest.mark.parametrize("number", [1, 2], ids=["first", "second"])
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("watcher", watched.WATCHERS)
def test_watcher_sees_the_plain_program(watcher, context, number, outcomes):
    plain, found = outcomes("plain", 1)[watcher], outcomes(context, number)[watcher]
    assert found["unbalanced"] == plain["unbalanced"]
    if watcher == "cProfile" and context == "Provenance":  # C functions are called from hidden frames there
        plain, found = without_callers(plain), without_callers(found)
    assert found["events"] == plain["events"]
    assert found["lines"] == plain["lines"]
