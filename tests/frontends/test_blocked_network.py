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
