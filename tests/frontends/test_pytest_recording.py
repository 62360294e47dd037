"""`--cassette-record`: tests are recorded into files beside them, and replayed without their external calls."""

import http.server
import json
import re
import threading

import pytest
from helpers.pytest_runs import outcomes, run_pytest, write

VALUES = re.compile(r"VALUE .*")


@pytest.fixture
def project(tmp_path):
    write(tmp_path, "conftest.py", "")
    write(
        tmp_path,
        "shop.py",
        """
        import random
        import time

        def ticket():
            return time.time_ns(), random.random()
        """,
    )
    write(tmp_path, "tests/test_shop.py", "import shop\n\ndef test_ticket():\n    print('VALUE', shop.ticket())\n")
    return tmp_path


def recordings(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.cassette*"))


def values(done):
    """Return the values that the tests printed."""
    return VALUES.findall(done.stdout)


def both(folder, *options, **variables):
    """Record the tests, and replay them; each test prints its values."""
    recorded = run_pytest("-s", "--cassette-record=once", *options, folder=folder, **variables)
    replayed = run_pytest("-s", "--cassette-record=none", *options, folder=folder, **variables)
    return recorded, replayed


def test_a_test_is_recorded_beside_itself_and_replayed(project):
    recorded, replayed = both(project)
    assert recordings(project) == ["tests/cassettes/test_shop/test_ticket.cassette"]
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 1}
    assert len(values(recorded)) == 1
    assert values(recorded) == values(replayed)
    assert "recordings: 1 recorded\n" in recorded.stdout
    assert "recordings: 1 replayed\n" in replayed.stdout


def test_once_records_new_tests_and_replays_the_others(project):
    first = run_pytest("-s", "--cassette-record=once", folder=project)
    write(project, "tests/test_time.py", "import time\n\ndef test_time():\n    print('VALUE', time.time())\n")
    second = run_pytest("-s", "--cassette-record=once", folder=project)
    assert values(second)[0] == values(first)[0]
    assert "recordings: 1 replayed, 1 recorded\n" in second.stdout


def test_all_records_anew(project):
    first, second = (run_pytest("-s", "--cassette-record=all", folder=project) for _ in range(2))
    assert values(first) != values(second)
    assert values(run_pytest("-s", "--cassette-record=none", folder=project)) == values(second)


def test_with_none_a_call_without_a_recording_fails_its_test_with_the_command_that_records_it(project):
    write(project, "tests/test_shop.py", "import shop\n\ndef test_a(): shop.ticket()\n\ndef test_b(): pass\n")
    done = run_pytest("--cassette-record=none", folder=project)
    assert outcomes(done) == {"failed": 1, "passed": 1}
    assert "test_a.cassette does not exist" in done.stdout
    assert "now:      time.time_ns()" in done.stdout
    assert "pytest --cassette-record=all tests/test_shop.py::test_a" in done.stdout


def test_a_mismatch_fails_its_test_alone_whatever_the_fixtures_do_afterwards(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import os, pytest, shop, time

        @pytest.fixture
        def timed():
            yield time.time()
            time.time()

        def test_a(timed):
            if os.environ.get("CHANGED"):
                time.time()
            shop.ticket()

        def test_b(timed):
            shop.ticket()
        """,
    )
    run_pytest("--cassette-record=once", folder=project)
    done = run_pytest("--cassette-record=none", folder=project, CHANGED="1")
    assert outcomes(done)["passed"] == 1
    assert outcomes(done)["failed"] == 1
    assert "recorded: time.time_ns()    (" in done.stdout
    assert "now:      time.time()" in done.stdout


def test_a_test_that_makes_fewer_calls_than_recorded_fails(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import os, time

        def test_a():
            if not os.environ.get("CHANGED"):
                time.time()
        """,
    )
    run_pytest("--cassette-record=once", folder=project)
    done = run_pytest("--cassette-record=none", folder=project, CHANGED="1")
    assert "goes on, with 1 more call" in done.stdout
    assert done.status == 1


def test_the_recording_of_a_failed_test_is_not_stored(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import os, pytest, shop

        def test_fails():
            shop.ticket()
            assert "WORKS" in os.environ

        def test_is_skipped():
            shop.ticket()
            pytest.skip("on the way")

        @pytest.mark.xfail
        def test_is_expected_to_fail():
            print("VALUE", shop.ticket())
            assert False
        """,
    )
    done = run_pytest("-s", "--cassette-record=once", folder=project)
    assert recordings(project) == ["tests/cassettes/test_shop/test_is_expected_to_fail.cassette"]
    assert "1 skipped, 1 recorded, 1 not kept, because the test did not pass" in done.stdout
    again = run_pytest("-s", "--cassette-record=once", folder=project, WORKS="1")
    assert values(again) == values(done)
    assert len(recordings(project)) == 2


def test_a_failed_test_leaves_an_earlier_recording_unchanged(project):
    run_pytest("--cassette-record=once", folder=project)
    (path,) = (project / name for name in recordings(project))
    before = path.read_text()
    write(project, "tests/test_shop.py", "import shop\n\ndef test_ticket():\n    shop.ticket()\n    assert 0\n")
    run_pytest("--cassette-record=all", folder=project)
    assert path.read_text() == before
    assert len(recordings(project)) == 1


def test_a_run_that_is_interrupted_leaves_no_half_recordings(project):
    write(
        project, "tests/test_shop.py", "import shop\n\ndef test_a():\n    shop.ticket()\n    raise KeyboardInterrupt\n"
    )
    done = run_pytest("--cassette-record=once", folder=project)
    assert done.status == 2
    assert recordings(project) == []
    assert not (project / "tests" / "cassettes").exists()


def test_a_test_without_external_calls_has_no_recording(project):
    write(project, "tests/test_shop.py", "def test_ticket(): pass\n")
    recorded, replayed = both(project)
    assert recordings(project) == []
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 1}
    assert not (project / "tests" / "cassettes").exists()


def test_every_kind_of_test_has_a_recording_of_its_own(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import unittest

        import pytest
        import shop

        @pytest.mark.parametrize("name", ["a/b", "a:b", "x" * 500, "plain"])
        def test_parameters(name):
            print("VALUE", shop.ticket())

        class TestClass:
            def test_method(self):
                print("VALUE", shop.ticket())

        class Case(unittest.TestCase):
            def setUp(self):
                print("VALUE", shop.ticket())

            def test_case(self):
                print("VALUE", shop.ticket())
        """,
    )
    recorded, replayed = both(project)
    names = [name.rpartition("/")[2] for name in recordings(project)]
    assert len(names) == 6
    assert {"Case.test_case.cassette", "TestClass.test_method.cassette", "test_parameters[plain].cassette"} < {*names}
    assert len(values(recorded)) == 7
    assert values(recorded) == values(replayed)


def test_fixtures_of_the_test_are_recorded_and_those_of_several_tests_are_not(project):
    write(
        project,
        "conftest.py",
        """
        import pytest, time

        @pytest.fixture(scope="session")
        def wide():
            yield time.time()
            time.time()

        @pytest.fixture
        def narrow():
            yield time.time()
            print("VALUE", time.time())
        """,
    )
    write(
        project,
        "tests/test_shop.py",
        """
        def test_a(narrow, wide): print("VALUE", narrow)
        def test_b(wide, narrow): print("VALUE", narrow)
        """,
    )
    recorded, replayed = both(project)
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 2}
    assert len(values(recorded)) == 4
    assert values(recorded) == values(replayed)
    assert outcomes(run_pytest("--cassette-record=none", "-k", "test_b", folder=project))["passed"] == 1


def test_files_and_variables_are_not_recorded_in_tests(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import os, shop, subprocess, sqlite3, sys

        def test_files(tmp_path, monkeypatch):
            (tmp_path / "a").write_text("b")
            assert open(tmp_path / "a").read() == "b"
            assert os.listdir(tmp_path) == ["a"]
            monkeypatch.setenv("SHOP", "open")
            assert os.environ["SHOP"] == os.environ["REALLY"]
            assert shop.ticket()

        def test_the_process_is_the_one_that_there_is():
            import logging
            assert os.getpid() == logging.LogRecord("", 0, "", 0, "", (), None).process

        def test_paths_of_files_may_be_others_the_next_time(tmp_path):
            database = sqlite3.connect(tmp_path / "x.db")
            assert database.execute("select 1").fetchall() == [(1,)]
            done = subprocess.run([sys.executable, "-c", "import os; print(os.getcwd())"],
                                  cwd=tmp_path, capture_output=True, text=True)
            assert done.stdout.strip() == str(tmp_path)
        """,
    )
    recorded = run_pytest("--cassette-record=once", "--basetemp=one", folder=project, REALLY="open")
    replayed = run_pytest("--cassette-record=none", "--basetemp=another", folder=project, REALLY="open")
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 3}


def test_the_paths_of_this_machine_are_not_in_a_recording(project):
    run_pytest("--cassette-record=once", folder=project)
    (text,) = ((project / name).read_text() for name in recordings(project))
    assert '"site": ["<project>/shop.py", 6, "ticket"]' in text
    assert str(project) not in text


def test_a_marker_with_arguments_records_one_test(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import os, shop, time, pytest

        def slow(key): return time.time()

        @pytest.mark.cassette_record(boundary=["test_shop.slow"], mask=["key"])
        def test_marked():
            print("VALUE", slow(key="correct horse"))

        def test_other():
            print("VALUE", time.time())

        @pytest.mark.cassette_record("off")
        def test_never():
            print("VALUE", time.time())

        def test_with_the_fixture(cassette_recording):
            print("VALUE", type(cassette_recording).__name__, time.time())
        """,
    )
    first, second = (run_pytest("-s", folder=project) for _ in range(2))
    assert recordings(project) == [
        "tests/cassettes/test_shop/test_marked.cassette",
        "tests/cassettes/test_shop/test_with_the_fixture.cassette",
    ]
    same = [one == other for one, other in zip(values(first), values(second), strict=True)]
    assert same == [True, False, False, False]
    assert "Record" in values(first)[3]
    assert values(second)[3] == values(first)[3].replace("Record", "Replay")
    text = (project / recordings(project)[0]).read_text()
    assert "test_shop.slow" in text
    assert "correct horse" not in text
    everything = run_pytest("-s", "--cassette-record=all", folder=project)
    assert outcomes(everything) == {"passed": 4}
    assert not any("test_never" in name for name in recordings(project))


def test_the_mode_may_be_set_in_the_ini_file(project):
    write(project, "pytest.ini", "[pytest]\ncassette_record = once\n")
    first, second = (run_pytest("-s", folder=project) for _ in range(2))
    assert values(first) == values(second) != []


@pytest.mark.parametrize(
    ("ini", "options", "message"),
    [
        ("", ["--cassette-record=maybe"], "invalid choice: 'maybe'"),
        ("cassette_record = maybe", [], "cassette: there is no mode 'maybe' of recording"),
    ],
)
def test_an_unknown_mode_is_wrong_usage(ini, options, message, project):
    write(project, "pytest.ini", f"[pytest]\n{ini}\n")
    done = run_pytest(*options, folder=project)
    assert done.status == pytest.ExitCode.USAGE_ERROR
    assert message in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("mode='maybe'", "there is no mode 'maybe' of recording; there are once, none, new_episodes, all, off"),
        (
            "'nonee'",
            "there is no mode 'nonee' of recording; there are once, none, new_episodes, all, off; did you mean",
        ),
        ("'none', 'once'", "the marker cassette_record takes one mode, not 2"),
        ("without=['nothing.there']", "leaves nothing out"),
        ("unknown=1", "unexpected keyword argument 'unknown'"),
    ],
)
def test_a_wrong_argument_of_a_marker_is_an_error(marker, message, project):
    write(
        project,
        "tests/test_shop.py",
        f"import pytest\n\n@pytest.mark.cassette_record({marker})\ndef test_a(): pass\n\ndef test_b(): pass\n",
    )
    done = run_pytest(folder=project)
    assert message in done.stdout + done.stderr
    assert outcomes(done) == {"error": 1, "passed": 1}
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_a_damaged_recording_fails_its_test_with_one_line(project):
    run_pytest("--cassette-record=once", folder=project)
    (path,) = (project / name for name in recordings(project))
    path.write_text(path.read_text().replace('"call"', '"kall"'))
    done = run_pytest("--cassette-record=none", folder=project)
    assert "is damaged" in done.stdout
    assert done.status != 0


def test_everything_can_be_switched_off(project):
    done = run_pytest("--cassette-record=once", folder=project, CASSETTE_IMPORT_DISABLE="1")
    assert outcomes(done) == {"passed": 1}
    assert recordings(project) == []


def test_workers_of_xdist_record_and_replay(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import pytest, shop

        @pytest.mark.parametrize("number", range(4))
        def test_ticket(number, record_property):
            record_property("ticket", repr(shop.ticket()))
        """,
    )
    found = []
    for mode in ("once", "none"):
        done = run_pytest(
            f"--cassette-record={mode}", "-n2", f"--junit-xml={mode}.xml", folder=project, plugins=["xdist"]
        )
        assert outcomes(done) == {"passed": 4}
        assert f"recordings: 4 {'recorded' if mode == 'once' else 'replayed'}" in done.stdout
        found.append(sorted(re.findall(r'"ticket" value="([^"]*)"', (project / f"{mode}.xml").read_text())))
    assert len(found[0]) == 4
    assert found[0] == found[1]


@pytest.mark.parametrize("scope", ["function", "module"])
def test_coroutines_that_pytest_asyncio_runs_are_recorded_and_replayed(scope, project):
    pytest.importorskip("pytest_asyncio")
    write(
        project,
        "pytest.ini",
        f"""
        [pytest]
        asyncio_mode = auto
        asyncio_default_fixture_loop_scope = {scope}
        asyncio_default_test_loop_scope = {scope}
        """,
    )
    write(
        project,
        "tests/test_shop.py",
        """
        import asyncio, pytest, shop

        @pytest.fixture
        async def ticket():
            await asyncio.sleep(0)
            yield shop.ticket()

        async def other():
            await asyncio.sleep(0.001)
            return shop.ticket()

        async def test_one(ticket):
            print("VALUE", ticket, await asyncio.gather(other(), other()))

        async def test_another(ticket):
            print("VALUE", ticket, await asyncio.create_task(other()))
        """,
    )
    recorded, replayed = (
        run_pytest("-s", f"--cassette-record={mode}", folder=project, plugins=["pytest_asyncio.plugin"])
        for mode in ("once", "none")
    )
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 2}
    assert values(recorded) == values(replayed)


class _Prices(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        type(self).asked += 1
        body = json.dumps({"cents": 480, "asked": self.asked}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_a_server_gets_requests_while_recording_and_not_afterwards(project):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Prices)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write(
        project,
        "shop.py",
        f"""
        import requests, urllib.request, json

        ADDRESS = "http://127.0.0.1:{server.server_port}/tea"

        def by_requests():
            return requests.get(ADDRESS, timeout=5).json()

        def by_urllib():
            with urllib.request.urlopen(ADDRESS) as answer:
                return json.load(answer)
        """,
    )
    write(
        project,
        "tests/test_shop.py",
        """
        import shop

        def test_prices():
            print("VALUE", shop.by_requests(), shop.by_urllib())
        """,
    )
    recorded = run_pytest("-s", "--cassette-record=once", folder=project)
    server.shutdown()
    server.server_close()
    replayed = run_pytest("-s", "--cassette-record=none", folder=project)
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 1}
    assert values(recorded) == values(replayed)
    assert _Prices.asked == 2


def test_calls_that_other_contexts_of_a_test_replace_are_not_recorded(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import pytest, shop, time
        from cassette_import.contexts import Substitute

        SUBSTITUTE = Substitute({time.time_ns: lambda: 5})

        @pytest.mark.cassette(SUBSTITUTE)
        def test_ticket():
            assert shop.ticket()[0] == 5
            assert "1 call" in SUBSTITUTE.summary()
        """,
    )
    recorded, replayed = both(project)
    assert outcomes(recorded) == outcomes(replayed) == {"passed": 1}
    (text,) = ((project / name).read_text() for name in recordings(project))
    assert "random.Random.random" in text
    assert "time.time_ns" not in text


def test_the_file_of_a_test_that_is_skipped_before_it_begins_is_closed(project):
    write(
        project,
        "tests/test_skipped.py",
        """
        import gc
        import random
        import pytest

        @pytest.mark.skip
        def test_first():
            random.random()

        def test_second():
            gc.collect()
        """,
    )
    done = run_pytest("--cassette-record=once", "-W", "error", "tests/test_skipped.py", folder=project)
    assert outcomes(done) == {"passed": 1, "skipped": 1}
