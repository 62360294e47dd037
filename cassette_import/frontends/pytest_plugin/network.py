"""Blocking the network in tests: `--block-network`, `--allowed-hosts` and the marker `block_network`.

The names and the behaviour are those of pytest-recording.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pytest

__all__ = ["allowed", "refused"]

_MARKER: Final = "block_network"
_LOCAL: Final = getattr(socket, "AF_UNIX", None)


class _Block:
    """Whether connections are refused at the moment: fixtures of several tests may open them during a test's setup."""

    is_lifted = False


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Allow all connections in a block."""
    before, _Block.is_lifted = _Block.is_lifted, True
    try:
        yield
    finally:
        _Block.is_lifted = before


@contextlib.contextmanager
def refused(item: pytest.Item) -> Iterator[None]:
    """Refuse the connections that a test opens, except to allowed hosts and within the machine's file system."""
    marker = item.get_closest_marker(_MARKER)
    hosts = marker.kwargs.get("allowed_hosts") if marker is not None else None
    if hosts is None:
        hosts = (item.config.getoption("allowed_hosts", None) or "").split(",")
    patterns = _patterns(hosts)

    def guarded(connect: Any) -> Any:
        def check_and_connect(self: Any, address: Any, *arguments: Any) -> Any:
            if _Block.is_lifted:
                return connect(self, address, *arguments)
            host = address[0] if isinstance(address, tuple) and address else None
            if self.family != _LOCAL and not (isinstance(host, str) and any(one.match(host) for one in patterns)):
                raise RuntimeError(f"Network is disallowed: {item.nodeid} connects to {host}")
            return connect(self, address, *arguments)

        return check_and_connect

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
        yield


def _patterns(allowed: Any) -> list[re.Pattern[str]]:
    """The patterns of allowed hosts; the addresses of names are allowed as well."""
    if (
        isinstance(allowed, str)
        or not isinstance(allowed, Iterable)
        or not all(isinstance(one, str) for one in allowed)
    ):
        raise pytest.UsageError(f"block_network: allowed_hosts must be a list of texts, not {allowed!r}")
    hosts = [one.strip() for one in allowed if one.strip()]
    addresses: list[str] = []
    for host in hosts:
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(host)
            continue
        with contextlib.suppress(OSError, UnicodeError):  # a pattern may be no name that can be looked up
            addresses += [re.escape(str(found[4][0])) for found in socket.getaddrinfo(host, None)]
    try:
        return [re.compile(f"(?:{host})\\Z") for host in [*hosts, *addresses]]
    except re.error as error:
        raise pytest.UsageError(f"block_network: allowed_hosts: {error.pattern!r} is no pattern: {error}") from error
