"""A server with answers that are all different, and the file of a recording."""

import pytest
from helpers.external_server import serving


@pytest.fixture
def url():
    """The address of a server whose answers are all different."""
    with serving() as url:
        yield url


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "it.cassette")
