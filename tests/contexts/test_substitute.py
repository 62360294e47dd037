"""`Substitute`: replaces functions, however the calling code refers to them."""

import datetime
import random
import re
import threading
import time

import pytest
from helpers.command_line import cassette

from cassette_import import current, disablehooks, overdub, similarcontext
from cassette_import.contexts import Substitute

PROGRAM = """
    import datetime
    import random
    import time
    from time import time as now
    from functools import partial

    class Clock:
        def __init__(self, read=time.time):
            self.read = read

        def twice(self, factor=2):
            return self.read() * factor

    def every_way():
        return [time.time(), now(), Clock().read(), partial(now)(), (lambda: now())(), *(now() for _ in range(1))]

    def twice():
        return Clock().twice(), Clock().twice(factor=3)

    def dice():
        return random.random(), random.Random(1).random()

    def today():
        return datetime.datetime.now(), datetime.date.today()

    def make():
        return Clock()

    def both():
        return [now() for _ in range(200)]
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text("from time import time\nprint(time())\n")
    (tmp_path / "fakes.py").write_text("def noon():\n    return 12.0\nnothing = 3\n")
    return tmp_path


def test_a_function_is_replaced_however_it_was_imported(program):
    assert overdub(Substitute({time.time: lambda: 12.0}), program.every_way) == [12.0] * 6


def test_calls_outside_of_the_context_are_not_replaced(program):
    with Substitute({time.time: lambda: 12.0}):
        assert time.time() > 12.0
    assert program.every_way()[0] > 12.0


CLASS_METHODS = {
    "in Python": """
        class Base:
            @classmethod
            def made(cls):
                return cls.__name__
        class Sub(Base):
            pass
        class Caller(Base):
            @classmethod
            def made(cls):
                return super().made()
        target = Base.made
        def main():
            return [Base.made(), Base().made(), Sub.made(), Sub().made(), Caller.made()]
    """,
    "of a metaclass": """
        class Meta(type):
            def made(cls):
                return cls.__name__
        class Base(metaclass=Meta):
            pass
        class Sub(Base):
            pass
        target = Base.made
        def main():
            return [Base.made(), Base.made(), Sub.made(), Sub.made(), Meta.made(Sub)]
    """,
    "in C": """
        import datetime
        target = datetime.date.today
        def main():
            later = datetime.datetime.today
            return [datetime.date.today(), target(), *(type(x).__name__ for x in (later(), later(), later()))]
    """,
}


@pytest.mark.parametrize("kind", CLASS_METHODS)
def test_a_class_method_of_a_class_is_not_replaced_on_subclasses(kind, make_program):
    program = make_program(CLASS_METHODS[kind])
    expected = ["replaced"] * 2 + program.main()[2:]
    assert overdub(Substitute({program.target: lambda: "replaced"}), program.main) == expected


def test_targets_and_replacements_may_be_text(program):
    (now, _) = overdub(Substitute({"datetime.datetime.now": "time.monotonic"}), program.today)
    assert isinstance(now, float)


def test_the_replacement_of_a_method_gets_the_receiver_and_the_arguments(program):
    substitute = Substitute({program.Clock.twice: lambda clock, factor=2: (type(clock).__name__, factor)})
    assert overdub(substitute, program.twice) == (("Clock", 2), ("Clock", 3))


def test_a_bound_target_matches_its_own_receiver_only(program):
    rolled, other = overdub(Substitute({random.random: lambda: 0.5}), program.dice)
    assert (rolled, other) == (0.5, random.Random(1).random())


def test_a_class_method_is_replaced_on_its_class(program):
    noon = datetime.datetime(2000, 1, 1, 12)
    now, today = overdub(Substitute({datetime.datetime.now: lambda tz=None: noon}), program.today)
    assert now == noon
    assert today != noon.date()


def test_a_class_is_replaced_where_it_is_called(program):
    assert overdub(Substitute({program.Clock: lambda *_: "another"}), program.make) == "another"


def test_a_replacement_that_calls_the_target_calls_the_function_itself(program):
    substitute = Substitute({time.time: lambda: time.time() - 1e9})
    assert abs(overdub(substitute, program.every_way)[0] + 1e9 - time.time()) < 60
    assert substitute.calls == {"time.time": 6}


def test_instances_with_equal_targets_share_their_code_but_not_their_replacements(program):
    one, other = Substitute({time.time: lambda: 1}), Substitute({time.time: lambda: 2})
    assert type(one) is type(other)
    assert overdub(one, program.every_way) == [1] * 6
    assert overdub(other, program.every_way) == [2] * 6


def test_a_changed_copy_substitutes_the_same(program):
    substitute = Substitute({time.time: lambda: 12.0})
    assert overdub(similarcontext(substitute, metadata=1), program.every_way) == [12.0] * 6
    assert overdub(disablehooks(substitute), program.every_way) == [12.0] * 6
    assert substitute.calls == {"time.time": 12}


def test_calls_are_counted_over_all_threads(program):
    substitute = Substitute({time.time: lambda: 0})

    def work():
        with substitute:
            program.both()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert substitute.calls == {"time.time": 1600}


def test_a_substitution_of_a_substitution_calls_the_inner_one(program):
    with Substitute({time.time: lambda: "outer"}), Substitute({time.time: lambda: "inner"}):
        assert overdub(current(), lambda: program.every_way())[0] == "inner"


def test_an_exception_of_the_replacement_is_the_calls(program):
    def fail():
        raise OSError("no clock")

    with pytest.raises(OSError, match="no clock"):
        overdub(Substitute({time.time: fail}), program.every_way)


def test_the_summary_counts_the_calls_of_each_target(program):
    substitute = Substitute({time.time: lambda: 0, random.random: lambda: 0})
    overdub(substitute, program.every_way)
    assert substitute.summary() == "substitute:\n  time.time: 6 calls\n  Random.random: never called"


@pytest.mark.parametrize(
    ("replacements", "message"),
    [
        ({}, "nothing to substitute"),
        ({"time.tiem": len}, "module time has no attribute 'tiem'; did you mean time?"),
        ({"nowhere.f": len}, "there is no module 'nowhere'"),
        ({"time": len}, "'time' is not of the form module.function"),
        ({"math.pi": len}, "math.pi is a float, which is not called"),
        ({time.time: "math.pi"}, "math.pi, given for time.time, is not callable"),
        ({time.time: 3}, "3, given for time.time, is not callable"),
    ],
)
def test_wrong_targets_and_replacements_are_refused(replacements, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Substitute(replacements)


def test_an_argument_that_is_not_a_mapping_is_refused():
    with pytest.raises(TypeError, match="takes a mapping"):
        Substitute(time.time)


# ---- on the command line


def test_a_program_runs_with_a_substitute(folder):
    done = cassette("run", "-c", "substitute:time.time=fakes.noon", "app.py", folder=folder)
    assert done == (0, "12.0\n", "substitute: time.time: 1 call\n")


def test_a_function_of_the_script_itself_is_replaced(folder):
    (folder / "app.py").write_text("def hour():\n    return 3\ndef main():\n    return hour()\nprint(hour(), main())\n")
    for target in ("app.hour", "__main__.hour"):
        done = cassette("run", "-c", f"substitute:{target}=fakes.noon", "app.py", folder=folder)
        assert done == (0, "12.0 12.0\n", "substitute: __main__.hour: 2 calls\n")


def test_a_function_of_a_module_that_is_run_is_replaced(folder):
    (folder / "app.py").write_text("print('begun')\ndef hour():\n    return 3\nprint(hour())\n")
    done = cassette("run", "-c", "substitute:app.hour=fakes.noon", "-m", "app", folder=folder)
    assert done == (0, "begun\n12.0\n", "substitute: __main__.hour: 1 call\n")


def test_several_targets_are_separated_by_commas(folder):
    options = "run", "-c", "substitute:time.time=fakes.noon,random.random=fakes.noon", "-o", "out.txt"
    notice = "substitute: random.random: never called\n"
    assert cassette(*options, "app.py", folder=folder) == (0, "12.0\n", notice)
    assert (folder / "out.txt").read_text() == "substitute:\n  time.time: 1 call\n  random.random: never called\n"


def test_the_report_is_there_when_the_program_raises(folder):
    (folder / "app.py").write_text("import time\ntime.time()\n1 / 0\n")
    done = cassette("run", "-c", "substitute:time.time=fakes.noon", "app.py", folder=folder)
    assert done.status == 1
    assert done.stderr.endswith("ZeroDivisionError: division by zero\nsubstitute: time.time: 1 call\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "nothing to substitute: .*"),
        (":time.tiem=fakes.noon", "module time has no attribute 'tiem'; did you mean time\\?"),
        (":time.time=fakes.nothing", "fakes.nothing, given for time.time, is not callable; .*"),
        (":time.time=fakes.nowhere", "module fakes has no attribute 'nowhere'"),
        (":time.time=app.f", "app.f is in the program itself, which has not begun; put it into another module"),
        (":time.time=3", "3, given for time.time, is not callable; .*"),
        (":time.time=broken.f", "broken cannot be imported: SyntaxError: .*"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options, message, folder):
    (folder / "broken.py").write_text("def f(:\n")
    done = cassette("run", "-c", f"substitute{options}", "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: context 'substitute.*': {message}\n", done.stderr)
