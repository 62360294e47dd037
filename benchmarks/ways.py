"""The ways to run a program that are compared, as data. Plain Python is the first."""

from __future__ import annotations

from typing import Final, NamedTuple

_CONTEXTS: Final = "benchmarks.contexts"


class Way(NamedTuple):
    """One way to run a program."""

    name: str
    what: str
    """The description of the column."""
    context: str | None = None
    """The argument of `run -c`, by which workers find the context too; None without cassette_import."""
    peer: str | None = None
    """The name of another tool in `peers.py`."""
    needs: str | None = None
    """A module that this way needs."""
    since: tuple[int, int] = (3, 11)
    """The first version of Python with this way."""
    command: str = ""
    """What the driver puts between `python` and `-m MODULE`, without cassette_import."""


def _context(name: str, maker: str, what: str) -> Way:
    return Way(name, what, context=f"{_CONTEXTS}:{maker}" if maker else "none")


def _other_tool(name: str, what: str, needs: str | None = None, **more: object) -> Way:
    return Way(name, what, peer=name, needs=needs, **more)  # type: ignore[arg-type]


WAYS: Final = {
    way.name: way
    for way in (
        Way("plain", "plain Python"),
        _context("inactive", "", "packages installed, no context active"),
        _context("nothing", "Nothing", "a context that replaces a function which no workload calls"),
        _context("three", "Three", "a context that replaces `time.time`, `math.sin` and `list.append`"),
        _context(
            "count", "Count", "`prehook` and `posthook` at every call, each adding one to a counter of the context"
        ),
        _context("count-operators", "CountOperators", "the same at every call, operator and subscript"),
        _context(
            "look", "Look", "`prehook` and `posthook` at every call that store the callee, its arguments and its result"
        ),
        _context("look-twice", f"Outer+{_CONTEXTS}:Look", "two such contexts, one in the other"),
        _context("tagging", "Tagging", "a context with tagging, and neither hooks nor tagged values"),
        _context("trace", "traced", "the context `trace`: all calls with arguments and results, to a file"),
        _context("profile", "Profile", "the context `profile`, with the accelerator if it is built"),
        _context("profile-in-python", "profile_in_python", "the context `profile` with its hooks in Python"),
        _other_tool(
            "setprofile",
            "`sys.setprofile` with a Python function that counts",
            command="-m benchmarks.profilers count",
        ),
        _other_tool("settrace", "`sys.settrace` with a Python function that counts, lines too"),
        _other_tool(
            "monitoring", "`sys.monitoring`, calls and returns, with Python functions that count", since=(3, 12)
        ),
        _other_tool("cprofile", "`cProfile`, which is written in C", command="-m benchmarks.profilers cprofile"),
        _other_tool("viztracer", "viztracer, which is written in C", "viztracer"),
        _other_tool("viztracer-arguments", "viztracer with arguments and results", "viztracer"),
        _other_tool("wrapt", "wrapt: each function of the program in a `FunctionWrapper` that counts", "wrapt"),
        _other_tool("mock", "`unittest.mock.patch` of `time.time` and `math.sin` (`list.append` cannot be patched)"),
        _other_tool(
            "pyccolo-inactive", "pyccolo: rewritten for `before_call` and `after_call`, no tracer active", "pyccolo"
        ),
        _other_tool("pyccolo", "pyccolo: `before_call` and `after_call`, counting", "pyccolo"),
        _other_tool("pyccolo-operators", "the same with operators, comparisons and subscripts", "pyccolo"),
        _other_tool("dynapyt", "DynaPyt: `pre_call` and `post_call`, counting", "dynapyt"),
        _other_tool("dynapyt-operators", "the same with operators, comparisons and subscripts", "dynapyt"),
    )
}


def driver_variant(way: Way) -> str:
    """Return the way as the driver of pyperformance's workloads expects it."""
    contexts = " -c ".join((way.context or "").split("+"))
    before = f"-m cassette_import run -p {{packages}} -c {contexts}" if contexts else way.command
    return f"{way.name}={{python}} {before} -m workloads run {{args}}"
