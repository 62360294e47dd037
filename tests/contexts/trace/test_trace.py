"""`Trace`: each call with its arguments and its result or exception, indented, written while the program runs."""

import io
import json
import os
import re
import sys
import threading

import pytest

from cassette_import import Events, install, overdub
from cassette_import.contexts import Trace

pytestmark = pytest.mark.usefixtures("hooks")

PROGRAM = """
    def parse(text, *, strict=False):
        return int(text)


    def total(texts):
        return sum([parse(text) for text in texts])


    def survive():
        try:
            return parse("x", strict=True)
        except ValueError:
            return None


    class Sulky:
        def __repr__(self):
            raise RuntimeError("no")


    class Endless:
        def __repr__(self):
            return repr(self)


    class Poem:
        def __repr__(self):
            return "roses\\nare red\\x1b"


    def take(value):
        return value


    def show_off():
        take(Sulky())
        take(Endless())
        take(Poem())
        take("x" * 10_000)
        take(list(range(10_000)))
        take(10 ** 10_000)


    def add(a, b):
        return a + b
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


def traced(function, *arguments, **options):
    """The lines of the trace of a call."""
    file = io.StringIO()
    overdub(Trace(file=file, **options), function, *arguments)
    return re.sub(r"\b0x[0-9a-f]+", "0x", file.getvalue()).splitlines()


def test_calls_are_shown_with_their_arguments_and_results_indented(program):
    assert traced(lambda: program.total(["1", "22"])) == [
        "total(['1', '22'])",
        "  parse('1')",
        "    int('1') -> 1",
        "    -> 1",
        "  parse('22')",
        "    int('22') -> 22",
        "    -> 22",
        "  sum([1, 22]) -> 23",
        "  -> 23",
    ]


def test_an_exception_is_shown_where_it_leaves_a_call(program):
    message = "ValueError(\"invalid literal for int() with base 10: 'x'\")"
    assert traced(program.survive) == [
        "parse('x', strict=True)",
        f"  int('x') raised {message}",
        f"  raised {message}",
    ]


def test_the_option_depth_limits_the_levels(program):
    file = io.StringIO()
    trace = Trace(depth=1, file=file)
    overdub(trace, lambda: program.total(["1", "22"]))
    assert file.getvalue() == "total(['1', '22']) -> 23\n"
    assert trace.summary() == "trace: 1 call, 5 deeper ones not shown"


def test_values_are_shortened_to_one_line_and_never_fail(program):
    lines = [line for line in traced(program.show_off, width=40, reprs=True) if line.startswith("take(")]
    assert lines[0] == "take(<Sulky instance at 0x>) -> <Sulky instance at 0x>"
    assert lines[1] == "take(<Endless instance at 0x>) -> <Endless instance at 0x>"
    assert lines[2] == r"take(roses\nare red\x1b) -> roses\nare red\x1b"
    assert all(len(line) < 200 for line in lines)
    assert len(lines) == 6


def test_what_a_repr_calls_is_not_traced(program):
    assert not any("repr" in line for line in traced(program.show_off, reprs=True))


def test_a_repr_is_not_called_while_its_package_is_being_imported(make_package, import_fresh):
    """sympy's symbols import its printers, which need modules that are not complete yet."""
    name = make_package(
        {
            "__init__.py": """
                from . import number
                """,
            "number.py": """
                class Number:
                    def __repr__(self):
                        from .sub import options
                        return options.text

                def check(x):
                    return x

                check(Number())
                half = 2
                from . import sub
                sub.options.text
                """,
            "sub/__init__.py": """
                from .options import text
                from ..number import half
                """,
            "sub/options.py": """
                text = "number"
                """,
        }
    )
    install([name])
    file = io.StringIO()
    with Trace(file=file, reprs=True, imports=True):
        module = import_fresh(name)
        module.number.check(module.number.Number())
    shown = [line.strip() for line in file.getvalue().splitlines() if "check(" in line]
    assert re.fullmatch(r"\S*check\(<Number instance at 0x\w+>\) -> <Number instance at 0x\w+>", shown[0])


def test_a_trace_calls_no_repr_of_the_program(make_program):
    program = make_program(
        {
            "__init__.py": """
                class Rows:
                    asked = 0

                    def __repr__(self):
                        Rows.asked += 1
                        return "rows"

                def first(rows):
                    return rows

                def main():
                    first(Rows())
                    return Rows.asked
                """
        }
    )
    file = io.StringIO()
    assert overdub(Trace(file=file), program.main) == 0
    assert "first(<Rows instance at 0x" in file.getvalue()


def test_the_option_events_shows_other_events(program):
    assert traced(program.add, 1, 2) == []
    assert traced(program.add, 1, 2, events="operators") == ["operator.add(1, 2) -> 3"]
    assert Trace(events=Events.OPERATORS).events == Events.OPERATORS


def test_it_writes_to_the_original_standard_error(program, capsys):
    trace = Trace()
    with trace:
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            program.parse("1")
        finally:
            replaced, sys.stderr = sys.stderr, stderr
    assert capsys.readouterr().err == "int('1') -> 1\n"
    assert replaced.getvalue() == ""


def test_output_of_the_program_does_not_split_a_line_on_standard_error(make_program, capsys):
    program = make_program("import sys\ndef main():\n    print('mine', file=sys.stderr)\n")
    with Trace():
        program.main()
    assert capsys.readouterr().err.splitlines()[0] == "mine"


def test_a_call_is_in_the_file_before_it_ends(tmp_path):
    path = tmp_path / "trace.txt"
    trace = Trace()
    trace.stream(str(path))
    trace.prehook(parse_like := len, "abc")
    assert path.read_text() == "len('abc')"
    trace.posthook(3, parse_like, "abc")
    assert path.read_text() == "len('abc') -> 3\n"
    trace.formats[".txt"](str(path))


def test_an_incomplete_line_is_completed_at_the_end(tmp_path):
    path = tmp_path / "trace.txt"
    trace = Trace()
    trace.stream(str(path))
    trace.prehook(len, "abc")
    assert trace.summary() == "trace: 1 call"
    assert path.read_text() == "len('abc')\n"
    trace.formats[".txt"](str(path))


def test_json_lines_have_one_object_on_each_line(program, tmp_path):
    path = tmp_path / "trace.jsonl"
    trace = Trace()
    trace.stream(str(path))
    overdub(trace, program.survive)
    trace.formats[".jsonl"](str(path))
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(entry["event"], entry["function"], entry["depth"]) for entry in entries] == [
        ("call", "parse", 0),
        ("call", "int", 1),
        ("exception", "int", 1),
        ("exception", "parse", 0),
    ]
    assert (entries[0]["args"], entries[0]["kwargs"]) == (["'x'"], {"strict": "True"})
    assert entries[2]["value"].startswith("ValueError(")
    assert sorted(entry["at"] for entry in entries) == [entry["at"] for entry in entries]


def chrome_events(path):
    """The events of a trace for Chrome, ended or not."""
    text = path.read_text().rstrip()
    return json.loads(text if text.endswith("\n]") else text + "\n]")


def test_a_trace_for_chrome_nests_calls_in_time(program, tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace()
    trace.stream(str(path))
    overdub(trace, program.survive)
    trace.formats[".json"](str(path))
    named, *events = json.loads(path.read_text())
    assert (named["ph"], named["name"], named["args"]) == ("M", "thread_name", {"name": "MainThread"})
    assert [(event["ph"], event.get("name"), event["args"]) for event in events[:2]] == [
        ("B", "parse", {"0": "'x'", "strict": "True"}),
        ("B", "int", {"0": "'x'"}),
    ]
    assert [event["ph"] for event in events] == ["B", "B", "E", "E"]
    assert events[2]["args"]["exception"].startswith("ValueError(")
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
    assert {(event["pid"], event["tid"]) for event in [named, *events]} == {(os.getpid(), 1)}


def test_an_incomplete_trace_for_chrome_can_be_read(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace()
    trace.stream(str(path))
    trace.prehook(len, "abc")
    assert [event["ph"] for event in chrome_events(path)] == ["M", "B"]
    trace.formats[".json"](str(path))
    trace.formats[".json"](str(path))  # a second time changes nothing
    assert len(json.loads(path.read_text())) == 2


def test_a_trace_for_chrome_without_calls_is_an_empty_list(tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace()
    trace.stream(str(path))
    trace.formats[".json"](str(path))
    assert json.loads(path.read_text()) == []


def test_each_thread_has_a_track_in_a_trace_for_chrome(program, tmp_path):
    path = tmp_path / "trace.json"
    trace = Trace()
    trace.stream(str(path))

    def work():
        with trace:
            program.total(["1"])

    work()
    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()
    trace.formats[".json"](str(path))
    events = json.loads(path.read_text())
    assert {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"} == {
        1: "MainThread",
        2: "worker",
    }
    for track in (1, 2):
        phases = [event["ph"] for event in events if event["tid"] == track]
        assert phases == ["M", "B", "B", "E", "E", "B", "E"]


def test_the_option_package_counts_only_shown_calls_as_levels(program):
    assert traced(lambda: program.total(["1", "22"]), package=program.__name__) == [
        "total(['1', '22'])",
        "  parse('1') -> 1",
        "  parse('22') -> 22",
        "  -> 23",
    ]
    assert traced(lambda: program.total(["1", "22"]), package="builtins+nothing") == [
        "int('1') -> 1",
        "int('22') -> 22",
        "sum([1, 22]) -> 23",
    ]
    assert traced(lambda: program.total(["1"]), package=program.__name__[:-1]) == []


def test_depth_counts_the_levels_that_are_shown(program):
    def run():
        return program.total(["1"])

    assert traced(run, package="builtins", depth=1) == ["int('1') -> 1", "sum([1]) -> 1"]


def test_a_predicate_chooses_calls(program):
    file = io.StringIO()
    trace = Trace(file=file, predicate=lambda function, args, kwargs: args[0] == "22")
    overdub(trace, lambda: program.total(["1", "22"]))
    assert file.getvalue().splitlines() == ["parse('22')", "  int('22') -> 22", "  -> 22"]
    assert trace.summary() == "trace: 2 calls, 4 others not shown"


def test_a_predicate_that_raises_shows_the_call_and_is_reported(program):
    file = io.StringIO()
    trace = Trace(file=file, predicate=lambda function, args, kwargs: args[5])
    assert overdub(trace, program.parse, "1") == 1
    assert file.getvalue() == "int('1') -> 1\n"
    assert trace.summary() == "trace: 1 call; the predicate raised in 1 call"


def wants_parse(function, args, kwargs):
    return function.__name__ == "parse"


def test_a_predicate_can_be_named(program):
    lines = traced(lambda: program.total(["1"]), predicate=f"{__name__}:wants_parse")
    assert lines == ["parse('1') -> 1"]


@pytest.mark.parametrize("named", ["no_such_module:f", f"{__name__}:no_such_name", ":f"])
def test_a_predicate_that_does_not_exist_is_an_error(named):
    with pytest.raises(ValueError, match=r"predicate '.*'"):
        Trace(predicate=named)


def test_a_predicate_that_cannot_be_called_is_an_error():
    with pytest.raises(TypeError, match="module:function"):
        Trace(predicate=3)
    with pytest.raises(TypeError, match="module:function"):
        Trace(predicate="no_colon")


def test_secrets_are_masked_by_the_names_of_parameters_keywords_keys_and_functions(make_program):
    program = make_program(
        """
        import os


        class Client:
            def __init__(self, user, password):
                self.user = user

            def get_token(self):
                return "t0k3n-value"


        def connect(settings, **more):
            return Client("me", settings["password"]).get_token()


        def main():
            os.environ["API_TOKEN"] = "from-outside"
            token = connect({"user": "me", "password": "hunter22"}, api_token=b"abcdef")
            len(token)
            len("Bearer " + token)
            len(os.getenv("API_TOKEN"))
            setattr(Client, "password", "also-this")
        """
    )
    text = "\n".join(traced(program.main, mask="*password*|*token"))
    for secret in ("hunter22", "t0k3n", "abcdef", "from-outside", "also-this"):
        assert secret not in text
    assert "connect({'user': 'me', 'password': ***}, api_token=***)" in text
    assert "Client('me', ***)" in text
    assert "get_token(<" in text
    assert "len('***') -> 18" in text
    assert "os.getenv('API_TOKEN') -> ***" in text or "getenv('API_TOKEN') -> ***" in text


def test_each_thread_has_its_own_tree(program):
    file = io.StringIO()
    trace = Trace(file=file)

    def work():
        with trace:
            for _ in range(50):
                program.total(["1"])

    work()
    threads = [threading.Thread(target=work, name=f"worker{number}") for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = file.getvalue().splitlines()
    assert sum(line.lstrip().startswith("parse('1')") for line in lines) == 50
    for number in range(4):
        own = [line for line in lines if line.startswith(f"[worker{number}] ")]
        assert sum("parse('1')" in line for line in own) == 50
        texts = [line.partition("] ")[2] for line in own]
        # A result has a line of its own if another thread has written one meanwhile.
        calls = [text for text in texts if not text.lstrip().startswith("->")]
        assert {len(line) - len(line.lstrip()) for line in calls} == {0, 2}


def test_nothing_is_written_after_the_end(tmp_path):
    path = tmp_path / "trace.txt"
    trace = Trace()
    trace.stream(str(path))
    trace.formats[".txt"](str(path))
    trace.prehook(len, "abc")
    trace.posthook(3, len, "abc")
    assert path.read_text() == ""


def test_a_stream_that_is_closed_does_not_disturb_the_program(program):
    file = io.StringIO()
    trace = Trace(file=file)
    file.close()
    assert overdub(trace, program.total, ["1"]) == 1


def test_a_missing_prehook_or_posthook_does_not_corrupt_the_levels():
    file = io.StringIO()
    trace = Trace(file=file)
    trace.posthook(None, len)  # its prehook is missing, in a new thread
    trace.prehook(sum, [])
    trace.posthook(None, len)  # its prehook is missing
    trace.prehook(len, [])  # its posthook is missing
    trace.posthook(0, sum, [])
    trace.prehook(max, [])
    assert file.getvalue().splitlines() == ["sum([])", "  len([])", "  -> 0", "max([])"]
