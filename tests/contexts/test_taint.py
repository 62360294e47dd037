"""Untrusted values that reach a sink, in unmodified programs."""

import contextlib
import dataclasses
import gc
import importlib
import io
import json
import logging
import operator
import os
import pathlib
import sqlite3
import subprocess
import sys
import textwrap
import threading
import urllib.parse
import urllib.request
from collections import deque

import pytest
from programs import untrusted_flows
from programs.tagging import computing

from cassette_import import Tagged, escapes, install, overdub
from cassette_import.contexts import Taint
from cassette_import.contexts.taint import Sanitizer, Sink, TaintError

ATTACK = "x' OR '1'='1"


# ---- small programs: `given` is the source, `taken` the sink


def given():
    return "abc"


def given_json():
    return json.dumps({"name": "abc", "tags": ["x", "y"], "count": 3})


def taken(value, other=None):
    return value


def escaped(text):
    return text.replace("'", "''")


def shop(**options):
    names = {"sources": ["given", "given_json", "given_list"], "sinks": ["taken"]}
    return Taint(**{kind: [f"{__name__}.{name}" for name in found] for kind, found in names.items()}, **options)


def given_list():
    return [given(), [given()], 3]


def findings(program, taint=None):
    taint = taint or shop()
    overdub(taint, program)
    return taint.findings


@pytest.mark.parametrize(
    "number", range(len(list(computing.of_text("abc")))), ids=[n for n, _ in computing.of_text("abc")]
)
def test_text_that_is_computed_of_text_from_outside_is_from_outside(number):
    def program():
        taken([value for _, value in computing.of_text(given())][number])

    with install([computing.__name__]):
        assert len(findings(program)) == 1


def test_other_text_is_not():
    def program():
        for _, value in computing.without(given()):
            taken(value)

    with install([computing.__name__]):
        assert findings(program) == []


def test_numbers_truth_values_and_none_are_harmless():
    def program():
        text = given()
        for value in (len(text), text == "a", None, float("1" + text[:0]), text.find("b"), text.isdigit()):
            taken(value)

    assert findings(program) == []


def test_parts_of_the_result_of_a_source_are_tainted():
    def program():
        values = given_list()
        taken(values[1][0])

    def harmless():
        taken(given_list()[2])

    assert len(findings(program)) == 1
    assert findings(harmless) == []


def test_json_is_followed_into_its_text():
    def program():
        data = json.loads(given_json())
        taken(data["tags"][1])

    def harmless():
        taken(json.loads(given_json())["count"])

    assert len(findings(program)) == 1
    assert findings(harmless) == []


def test_the_path_has_each_place_from_source_to_sink():
    def quoted(text):
        return "'" + text + "'"

    def program():
        name = given()
        query = f"SELECT {quoted(name)}"
        taken(query)

    (finding,) = findings(program)
    sources = ["given()", '"\'" + text + "\'"', 'f"SELECT {quoted(name)}"', "taken(query)"]
    assert [site.source for site in finding.path] == sources
    assert [site.function.rpartition(".")[2] for site in finding.path] == ["program", "quoted", "program", "program"]
    assert (finding.source, finding.sink) == (f"{__name__}.given", f"{__name__}.taken")
    assert finding.value == "\"SELECT 'abc'\""


def test_a_finding_is_reported_once():
    def program():
        for _ in range(3):
            taken(given())

    assert len(findings(program)) == 1


def test_a_sanitizer_makes_harmless_and_its_argument_stays_what_it_is():
    def program():
        name = given()
        taken(escaped(name))
        taken(name)

    taint = shop(sanitizers=[f"{__name__}.escaped"])
    assert [finding.path[-1].source for finding in findings(program, taint)] == ["taken(name)"]


def test_a_sanitizer_for_one_kind_does_not_help_against_another():
    taint = Taint(
        [f"{__name__}.given"],
        [Sink(f"{__name__}.taken", "SQL")],
        [Sanitizer(f"{__name__}.escaped", frozenset({"HTML"}))],
    )
    assert len(findings(lambda: taken(escaped(given())), taint)) == 1
    other = Taint(
        [f"{__name__}.given"],
        [Sink(f"{__name__}.taken", "SQL")],
        [Sanitizer(f"{__name__}.escaped", frozenset({"SQL"}))],
    )
    assert findings(lambda: taken(escaped(given())), other) == []


def test_only_the_arguments_that_a_sink_names_matter():
    def program():
        taken("a", given())
        taken("a", other=given())

    sink = Sink(f"{__name__}.taken", "SQL", (0, "value"))
    assert findings(program, Taint([f"{__name__}.given"], [sink])) == []
    assert len(findings(program)) == 2


def test_a_condition_decides_whether_a_call_is_dangerous():
    sink = Sink(f"{__name__}.taken", "SQL", None, lambda arguments, keywords: "other" in keywords)
    taint = Taint([f"{__name__}.given"], [sink])
    assert findings(lambda: taken(given()), taint) == []
    assert len(findings(lambda: taken(given(), other=1), taint)) == 1


def test_the_result_of_a_sink_is_not_tainted():
    def program():
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            row = connection.execute("SELECT ?", (given(),)).fetchone()
            connection.execute(f"SELECT '{row[0]}'")

    assert findings(program) == []


def test_code_that_is_evaluated_is_a_sink():
    assert [finding.kind for finding in findings(lambda: eval("1 or " + given()))] == ["code"]


def test_it_can_stop_the_program_before_harm_is_done():
    done = []

    def program():
        taken(given())
        done.append(True)

    with pytest.raises(TaintError, match="given reaches") as caught:
        overdub(shop(stop=True), program)
    assert done == []
    assert caught.value.finding.kind == "code"


def test_modules_that_are_imported_later_are_waited_for(tmp_path, monkeypatch):
    (tmp_path / "later_store.py").write_text("def query(text):\n    return text\n")
    monkeypatch.syspath_prepend(tmp_path)
    taint = Taint([f"{__name__}.given"], ["later_store.query"])

    def program():
        store = importlib.import_module("later_store")
        store.query(given())

    assert [finding.sink for finding in findings(program, taint)] == ["later_store.query"]


def test_no_wrapper_is_left_in_the_programs_objects():
    kept = []

    class Record:
        pass

    def program():
        record = Record()
        record.name = given() + "!"
        record.parts = record.name.split("b")
        record.method = record.name.upper
        record.text = {"key": f"{record.name}", "all": [*record.parts]}
        kept.append(record)
        taken(record.text["all"][0])

    assert len(findings(program)) == 1
    gc.collect()
    record = kept[0]
    held = [record.name, record.method, record.method.__self__]
    held += [*record.parts, *record.text.values(), *record.text["all"]]
    assert [value for value in held if type(value) is Tagged] == []


def test_names_that_are_no_names_are_refused():
    with pytest.raises(TypeError, match="sinks are dotted names"):
        Taint(sinks=[3])


# ---- an application behind a server

# ---- ways from the source to the sink

UNFOLLOWED = {
    "gathered", "asyncio queue", "key of a dict", "keys of a comprehension", "stored key", "evaluated",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in untrusted_flows.FLOWS if name not in UNFOLLOWED])
def test_an_untrusted_text_is_followed(name):
    here = untrusted_flows.__name__
    assert findings(untrusted_flows.FLOWS[name], Taint(sources=[f"{here}.given"], sinks=[f"{here}.taken"]))


@dataclasses.dataclass
class Customer:
    name: str


DEFAULTS = {
    "vars": vars,
    "asdict": dataclasses.asdict,
    "attrgetter": operator.attrgetter("name"),
    "methodcaller": operator.methodcaller("__getstate__"),
    "a lambda": lambda customer: customer.name,
}


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("made", [lambda one: one, lambda one: {"all": [one]}], ids=["alone", "nested"])
def test_a_default_of_json_reads_the_fields_of_objects(made, name):
    def program():
        taken(json.dumps(made(Customer(given())), default=DEFAULTS[name]))

    def to_a_file():
        file = io.StringIO()
        json.dump(made(Customer(given())), file, default=DEFAULTS[name])
        taken(file.getvalue())

    assert len(findings(program)) == len(findings(to_a_file)) == 1


def test_a_default_of_json_reads_no_fields_of_trusted_objects():
    def program():
        other = Customer(given())
        taken(json.dumps(Customer("abc"), default=vars))
        return other

    assert findings(program) == []


def test_what_a_default_of_json_leaves_out_is_not_followed():
    def program():
        taken(json.dumps({"a": 1j}, default=lambda number: [given() and "b"]))
        return [given()]

    assert findings(program) == []


@pytest.mark.parametrize("thread_type", [threading.Thread], ids=["thread"])
def test_trusted_values_in_a_thread_are_no_findings(thread_type):
    def program():
        given()
        thread = thread_type(target=taken, args=("abd",), name="named")
        assert thread.name == "named"
        thread.start()
        thread.join()

    assert findings(program) == []


def test_a_loss_of_metadata_is_reported():
    ctx = shop()
    overdub(ctx, lambda: logging.addLevelName(71, given()))
    assert [(loss.function, loss.reason) for loss in escapes(ctx)] == [("addLevelName", "it has lost metadata")]


SINKS_OF_LIBRARY = {
    "shell in a list": ("shell", lambda text: subprocess.run(["sh", "-c", text], check=False)),
    "shell by its path": ("shell", lambda text: subprocess.call(("/bin/sh", "-c", "true " + text))),
    "shell behind env": ("shell", lambda text: subprocess.check_call(["env", "A=1", "bash", "-c", "true " + text])),
    "shell of os": ("shell", lambda text: os.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", text])),
    "__import__": ("code", lambda text: __import__(text)),
    "import_module": ("code", lambda text: importlib.import_module(text)),
    "read_text": ("path", lambda text: pathlib.Path(text).read_text()),
    "read_text of a part": ("path", lambda text: (pathlib.Path("/tmp") / text).read_text()),
    "open of a path": ("path", lambda text: pathlib.Path("/tmp", text).open()),
    "listdir": ("path", lambda text: os.listdir(text)),
}


@pytest.mark.parametrize("name", SINKS_OF_LIBRARY)
def test_sinks_of_the_standard_library(name):
    kind, call = SINKS_OF_LIBRARY[name]
    taint = shop(stop=True)
    with pytest.raises(TaintError) as caught:
        overdub(taint, lambda: call(given()))
    assert caught.value.finding.kind == kind


@pytest.mark.parametrize(
    "call",
    [
        lambda text: subprocess.run([sys.executable, "-c", "", text], check=True),
        lambda text: subprocess.run(["echo", text], check=True, capture_output=True),
        lambda text: pathlib.Path("/").joinpath(*[]).exists() and str(text),
    ],
    ids=["interpreter", "program", "path"],
)
def test_a_program_that_is_no_shell_is_no_sink(call):
    assert findings(lambda: call(given())) == []


def requested(path, data=None, kind=None, packages=("programs.taint_application",), **query):
    """Return the application's answer to a request over HTTP, and the findings."""
    pytest.importorskip("flask")
    from programs import taint_application
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    taint = Taint(sanitizers=["programs.taint_application.cleaned"])
    with install(packages), taint:
        server = make_server("127.0.0.1", 0, taint_application.app)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.port}{path}?{urllib.parse.urlencode(query)}"
            asked = urllib.request.Request(url, data, {"Content-Type": kind} if kind else {})
            with urllib.request.urlopen(asked) as response:
                answer = response.read().decode().strip()
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
    return answer, taint.findings


ALL = ("programs.taint_application", "flask", "werkzeug")


@pytest.mark.parametrize("packages", [("programs.taint_application",), ALL], ids=["application", "with-framework"])
def test_an_sql_injection_in_a_flask_application_is_found_with_its_path(packages):
    answer, (finding,) = requested("/vulnerable", packages=packages, name=ATTACK)
    assert json.loads(answer) == ["ann", "bob"]  # it works
    assert (finding.kind, finding.sink) == ("SQL", "sqlite3.Connection.execute")
    assert finding.source == "werkzeug.sansio.request.Request.args"  # the last source on the way, as for single texts
    assert finding.value == "\"SELECT name FROM users WHERE name = 'x' OR '1'='1'\""
    own = [(site.function, site.source) for site in finding.path if site.module == "programs.taint_application"]
    assert own[-3:] == [
        ("vulnerable", 'request.args.get("name", "").strip()'),
        ("Store.find", "f\"SELECT name FROM users WHERE name = '{name}'\""),
        ("Store.rows", "self.connection.execute(query, parameters)"),
    ]
    if len(packages) == 1:
        assert own[0] == ("vulnerable", "request.args")


@pytest.mark.parametrize("packages", [("programs.taint_application",), ALL], ids=["application", "with-framework"])
@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("/safe", {"name": ATTACK}, "[]"),
        ("/page", {"number": "1"}, '["bob"]'),
        ("/clean", {"name": "ann'"}, '["ann"]'),
        ("/echo-quoted", {"text": "a; echo b"}, "a; echo b"),
        ("/echo-without-shell", {"text": "a; echo b"}, "a; echo b"),
    ],
)
def test_parameters_numbers_and_sanitized_values_are_no_findings(path, query, expected, packages):
    assert requested(path, packages=packages, **query) == (expected, [])


@pytest.mark.parametrize("packages", [("programs.taint_application",), ALL], ids=["application", "with-framework"])
@pytest.mark.parametrize(
    ("path", "data", "kind", "query", "expected"),
    [
        ("/search", json.dumps({"where": {"name": ATTACK}}).encode(), "application/json", {}, "sqlite3.Cursor.execute"),
        ("/form", urllib.parse.urlencode({"name": ATTACK}).encode(), None, {}, "sqlite3.Cursor.execute"),
        ("/echo", None, None, {"text": "a; echo b"}, "subprocess.run"),
        ("/file", None, None, {"name": "taint_application.py"}, "open"),
    ],
    ids=["json", "form", "shell", "path"],
)
def test_other_ways_into_other_sinks_are_found(path, data, kind, query, expected, packages):
    _, found = requested(path, data, kind, packages, **query)
    assert [finding.sink for finding in found] == [expected]


def test_parts_of_the_address_are_from_outside_where_the_framework_is_overdubbed():
    _, (finding,) = requested("/user/" + urllib.parse.quote(ATTACK), packages=ALL)
    assert finding.source == "flask.wrappers.Request.view_args"


# ---- on the command line


PROGRAM = """
    import os
    import sqlite3


    def lookup(name):
        with sqlite3.connect(":memory:") as connection:
            return connection.execute("SELECT '" + name + "'").fetchall()


    def ask():
        return os.environ["NAME"]


    print(lookup(ask()))
"""


def run(tmp_path, *options):
    (tmp_path / "asking.py").write_text(textwrap.dedent(PROGRAM).lstrip())
    command = [sys.executable, "-m", "cassette_import", "run", *options, "asking.py"]
    return subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "NAME": "ann"}, capture_output=True, text=True, timeout=120
    )


def test_the_command_line_prints_the_findings(tmp_path):
    done = run(tmp_path, "-c", "taint:sources=asking.ask")
    assert (done.returncode, done.stdout) == (0, "[('ann',)]\n")
    assert "taint: 1 finding" in done.stderr
    assert "asking.py:14 in <module>: ask()" in done.stderr


def test_findings_are_written_as_json(tmp_path):
    assert run(tmp_path, "-c", "taint:sources=asking.ask", "-o", "found.json").stderr == ""
    (finding,) = json.loads((tmp_path / "found.json").read_text())["findings"]
    assert [step["line"] for step in finding["path"]] == [14, 7, 7]


def test_a_run_without_findings_is_reported(tmp_path):
    assert run(tmp_path, "-c", "taint").stderr.strip() == "taint: no untrusted value reached a sink"


def test_options_that_do_not_exist_are_wrong_usage(tmp_path):
    done = run(tmp_path, "-c", "taint:colour=red")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


# ---- text that is stored by one route and read by another one


def attack():
    return ATTACK


class Box:
    pass


def box(value):
    made = Box()
    made.value = value
    return made


OTHER_ROUTES = {
    "the key of a dict in a list": lambda: taken(list({attack(): 1})[0]),  # noqa: RUF015
    "the first key": lambda: taken(next(iter({attack(): 1}))),
    "keys that are joined": lambda: taken(", ".join({attack(): 1})),
    "the key of a pair": lambda: taken([key for key, _ in {attack(): 1}.items()][0]),  # noqa: RUF015
    "a key in JSON": lambda: taken(json.dumps({attack(): 1})),
    "a key in text": lambda: taken("%s" % {attack(): 1}),
    "the name of a keyword argument": lambda: taken((lambda **named: next(iter(named)))(**{attack(): 1})),
    "an attribute in a format": lambda: taken("{0.value}".format(box(attack()))),
    "an item in a format": lambda: taken("{value[a]}".format_map({"value": {"a": attack()}})),
    "an attribute in an f-string": lambda: taken(f"{box(attack()).value}"),
    "a table of translations": lambda: taken("q".translate({113: attack()})),
    "a default argument": lambda: taken((lambda a=attack(): a).__defaults__[0]),  # noqa: B008
    "a copied object": lambda: taken(__import__("copy").copy(box(attack())).value),
}


@pytest.mark.parametrize("name", OTHER_ROUTES)
def test_text_that_is_read_by_another_route_than_it_was_stored_is_found(name):
    taint = Taint(sources=[f"{__name__}.attack"], sinks=[f"{__name__}.taken"])
    overdub(taint, OTHER_ROUTES[name])
    assert [finding.sink for finding in taint.findings] == [f"{__name__}.taken"]


@pytest.mark.parametrize("kind", [dict, list, deque, set])
def test_a_container_from_a_source_is_searched_without_methods_of_its_class(kind, monkeypatch):
    calls = []

    def noted(name):
        return lambda self: calls.append(name) or getattr(kind, name)(self)

    watched = [name for name in ("items", "values", "__iter__", "__len__") if hasattr(kind, name)]
    made = type("Watched", (kind,), {name: noted(name) for name in watched})([("abc", "xyz")])
    monkeypatch.setitem(globals(), "given", lambda: made)

    def root():
        taken(given())

    assert len(findings(root)) == 1
    assert calls == []
