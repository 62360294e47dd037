"""The ways to run a program that are compared, as data; plain Python comes first."""

from __future__ import annotations

from typing import Final, NamedTuple

_CONTEXTS: Final = "benchmarks.contexts"


class Way(NamedTuple):
    """One way to run a program."""

    name: str
    context: str | None
    """What `run -c` is given; None where none of ours is in it."""
    command: str
    """What stands between `python` and `-m MODULE` where none of ours is in it."""
    what: str
    """For people."""


WAYS: Final = {
    way.name: way
    for way in (
        Way("plain", None, "", "plain Python"),
        Way("inactive", "none", "", "packages installed, no context active"),
        Way("nothing", f"{_CONTEXTS}:Nothing", "", "a context that intercepts nothing met"),
        Way(
            "three",
            f"{_CONTEXTS}:Three",
            "",
            "a context that replaces `time.time`, `math.sin` and `list.append`",
        ),
        Way(
            "count",
            f"{_CONTEXTS}:Count",
            "",
            "`prehook` and `posthook` at every call, each adding one to a counter of the context",
        ),
        Way("count-operators", f"{_CONTEXTS}:CountOperators", "", "the same at every call, operator and subscript"),
        Way(
            "look",
            f"{_CONTEXTS}:Look",
            "",
            "`prehook` and `posthook` at every call that keep the callee, its arguments and its result",
        ),
        Way("profile", "cassette_import.contexts:Profile", "", "the context `profile`"),
        Way(
            "setprofile",
            None,
            "-m benchmarks.counting_profiler",
            "`sys.setprofile` with a Python function that counts",
        ),
        Way("cprofile", None, "-m cProfile -o /dev/null", "`cProfile`, which is written in C"),
    )
}


def driver_variant(way: Way) -> str:
    """The way as the driver of pyperformance's workloads wants it."""
    before = f"-m cassette_import run -p {{packages}} -c {way.context}" if way.context else way.command
    return f"{way.name}={{python}} {before} -m workloads run {{args}}"
