"""`--block-network` and the marker `block_network`, as pytest-recording has them."""

import pytest

pytest_plugins = ["pytester"]
CONNECTS = """
import socket
import threading

import pytest


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()


{marker}
def test_it(server):
    with socket.create_connection(server):
        pass


{marker}
def test_sockets_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listening, connecting = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    with listening, connecting:
        listening.bind("s")
        listening.listen()
        connecting.connect("s")
"""


@pytest.mark.parametrize(
    ("options", "marker", "passed"),
    [
        ([], "", 2),
        (["--block-network"], "", 1),
        (["--block-network", "--allowed-hosts=127.0.0.*,other"], "", 2),
        (["--block-network", "--allowed-hosts=other.invalid"], "", 1),
        (["--block-network", "--allowed-hosts=localhost"], "", 2),
        ([], "@pytest.mark.block_network", 1),
        ([], "@pytest.mark.block_network(allowed_hosts=['127.0.0.1'])", 2),
        (["--allowed-hosts=127.0.0.1"], "@pytest.mark.block_network(allowed_hosts=[])", 1),
    ],
)
def test_connections_are_refused_except_to_allowed_hosts(pytester, options, marker, passed):
    pytester.makepyfile(CONNECTS.format(marker=marker))
    outcome = pytester.runpytest_subprocess("--strict-markers", *options)
    outcome.assert_outcomes(passed=passed, failed=2 - passed)
    if passed < 2:
        outcome.stdout.fnmatch_lines(["E * RuntimeError: Network is disallowed: *::test_it connects to 127.0.0.1*"])


@pytest.mark.parametrize(("hosts", "message"), [("'a'", "must be a list of texts"), ("['(']", "is no pattern")])
def test_allowed_hosts_that_are_none_are_one_line(pytester, hosts, message):
    pytester.makepyfile(CONNECTS.format(marker=f"@pytest.mark.block_network(allowed_hosts={hosts})"))
    outcome = pytester.runpytest_subprocess()
    outcome.stdout.fnmatch_lines([f"*block_network: allowed_hosts*{message}*"])


FIXTURES = """
import socket

import pytest


@pytest.fixture(scope="session")
def server():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with socket.create_connection(listening.getsockname()):
            pass
        yield listening.getsockname()
        with socket.create_connection(listening.getsockname()):
            pass


@pytest.fixture
def connecting(server):
    {before}
    yield
    {after}


def test_it(connecting):
    {inside}
"""
CONNECT = "socket.create_connection(server).close()"


@pytest.mark.parametrize(
    ("phase", "expected"),
    [("before", {"errors": 1}), ("inside", {"failed": 1}), ("after", {"passed": 1, "errors": 1})],
)
def test_connections_are_refused_in_setup_call_and_teardown_but_not_in_fixtures_of_several_tests(
    pytester, phase, expected
):
    lines = {"before": "pass", "inside": "pass", "after": "pass", phase: CONNECT}
    source = FIXTURES.format(**lines).replace("test_it(connecting)", "test_it(connecting, server)")
    pytester.makepyfile(source)
    outcome = pytester.runpytest_subprocess("--block-network", "-p", "no:randomly")
    outcome.assert_outcomes(**expected)
    outcome.stdout.fnmatch_lines(["E * RuntimeError: Network is disallowed: *"])


def test_connections_of_unittest_classes_are_refused(pytester):
    pytester.makepyfile(
        """
        import socket, unittest

        class Tests(unittest.TestCase):
            def setUp(self):
                self.listening = socket.create_server(("127.0.0.1", 0))
                self.addCleanup(self.listening.close)

            def test_it(self):
                with self.assertRaises(RuntimeError):
                    socket.create_connection(self.listening.getsockname())
        """
    )
    pytester.runpytest_subprocess("--block-network").assert_outcomes(passed=1)
