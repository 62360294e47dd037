"""Tests code that calls the network from inside a package, without a network and without patching the package.

`urllib.robotparser` fetches a site's robots.txt. In the context `Offline` it gets the response that the test defines.
Outside of this context, and for all other callers, `urlopen` is unchanged.
"""

import io
from urllib.request import urlopen
from urllib.robotparser import RobotFileParser

from cassette_import import Context, install


class Offline(Context):
    """Answers requests from `pages`, and lists the requested addresses."""

    def __init__(self, pages):
        self.pages = pages
        self.requests = []


@Offline.overdub.register(urlopen)
def _(ctx, f, url, *args, **kwargs):
    ctx.requests.append(url)
    return io.BytesIO(ctx.pages[url].encode())


install("urllib.robotparser")


def test_private_pages_are_not_fetched():
    site = "https://example.invalid"  # `.invalid` never exists in a network
    offline = Offline({f"{site}/robots.txt": "User-agent: *\nDisallow: /private\n"})

    with offline:
        robots = RobotFileParser(f"{site}/robots.txt")
        robots.read()

    assert robots.can_fetch("cassette", f"{site}/index.html")
    assert not robots.can_fetch("cassette", f"{site}/private/index.html")
    assert offline.requests == [f"{site}/robots.txt"]
    print("answered without a network:", *offline.requests)


if __name__ == "__main__":
    test_private_pages_are_not_fetched()
