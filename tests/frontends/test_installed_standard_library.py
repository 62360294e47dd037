"""Where the standard library is overdubbed, what cassette_import itself does with it is no event."""

import pytest
from helpers.command_line import CHECKOUT, run

PROGRAM = """
import dataclasses, enum, json, re, threading, typing

@dataclasses.dataclass
class Point:
    x: int

class Flag(enum.Flag):
    A = 1
    B = 2

results = []
thread = threading.Thread(target=lambda: results.append(json.dumps(dataclasses.asdict(Point(1)))))
thread.start()
thread.join()
print(typing.cast(int, results), re.sub("a", "b", "banana"), Flag.A | Flag.B)
"""
PRINTED = "['{\"x\": 1}'] bbnbnb Flag.A|B\n"

OWN_CALLS = """
import atexit, sys
from cassette_import import Context

FOLDER = sys.modules["cassette_import"].__path__[0]

class OwnCalls(Context):
    made = []

    def prehook(self, f, *arguments, **keywords):
        frame = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.endswith("program.py"):
            if frame.f_code.co_filename.startswith(FOLDER):
                self.made.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {f}")
                break
            if frame.f_code.co_name == "find_spec":
                break  # another finder, as that of setuptools: imports of the program call it in any case
            frame = frame.f_back

atexit.register(lambda: sys.__stdout__.write(f"{OwnCalls.made}\\n"))
"""

NESTED = """
import collections
from cassette_import import Context, callsite, install, overdub

install("*")
places = collections.Counter()

class Outer(Context):
    def prehook(self, f, *arguments):
        places[callsite().filename] += 1

class Inner(Context):
    def prehook(self, f, *arguments):
        pass

overdub(Outer(), overdub, Inner(), lambda: 1 + len("x"))
print(len(places), sum(places.values()))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "own_calls.py").write_text(OWN_CALLS)
    return tmp_path


@pytest.mark.parametrize("context", ["noop", "profile", "callgraph", "call-types", "nonan"])
@pytest.mark.parametrize("packages", ["*", "typing,enum,dataclasses,threading"])
def test_a_program_runs_with_the_standard_library_overdubbed(context, packages, folder):
    done = run("-m", "cassette_import", "run", "-p", packages, "-c", context, "program.py", folder=folder)
    assert (done.status, done.stdout) == (0, PRINTED), done.stderr


def test_own_calls_are_no_events(folder):
    words = ("-m", "cassette_import", "run", "-p", "*", "-c", "own_calls:OwnCalls", "program.py")
    assert run(*words, folder=folder, PYTHONPATH=f"{CHECKOUT}:{folder}").stdout == PRINTED + "[]\n"


def test_what_the_first_import_needs_is_no_event(folder):
    (folder / "first_import.py").write_text("import colorsys\n")
    done = run("-m", "cassette_import", "run", "-p", "*", "-c", "trace", "first_import.py", folder=folder)
    assert "import colorsys" in done.stderr
    assert "EventPlan" not in done.stderr


def test_what_entering_an_inner_context_needs_is_no_event_of_an_outer_one(folder):
    (folder / "nested.py").write_text(NESTED)
    assert run("nested.py", folder=folder).stdout == "1 2\n"
