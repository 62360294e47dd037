"""Blocks that enter contexts: they adopt the module around them, and a block that meets nothing warns."""

import contextlib
import importlib
import math
import os
import textwrap
import warnings

import pytest
from helpers.command_line import cassette, run

from cassette_import import CassetteWarning, Context, install, overdub, recurse, uninstall
from cassette_import.activation import adoption
from cassette_import.specialization.registry import registry

LOG = """
    import contextlib, math
    from cassette_import import Context, install, overdub
    import cassette_import

    class Log(Context):
        def prehook(self, f, *args):
            print(f.__name__)

    def g(x):
        return math.sqrt(x)
    """


@pytest.fixture(autouse=True)
def no_wildcards(monkeypatch):
    """Other tests may have made functions that serve every context: no block warns then."""
    monkeypatch.setattr(adoption.wildcard_variant, "any_wildcard_is_met", lambda: False)


def output(source, folder):
    """What a program prints, with what it prints on standard error."""
    (folder / "script.py").write_text(textwrap.dedent(LOG) + textwrap.dedent(source))
    return run("script.py", folder=folder)


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("def main():\n    with Log():\n        g(4)\nmain()", ["sqrt"]),
        ("with Log():\n    g(4)", ["sqrt"]),
        ("def main():\n    def h(x):\n        return g(x)\n    with Log():\n        h(4)\nmain()", ["g", "sqrt"]),
        ("with contextlib.ExitStack() as stack:\n    stack.enter_context(Log())\n    g(4)", ["sqrt"]),
        ("@contextlib.contextmanager\ndef log():\n    with Log():\n        yield\nwith log():\n    g(4)", ["sqrt"]),
        ("class Sub(Log):\n    def __enter__(self):\n        super().__enter__()\nwith Sub():\n    g(4)", ["sqrt"]),
        ("async def main():\n    with Log():\n        g(4)\nimport asyncio\nasyncio.run(main())", ["sqrt"]),
        ("for _ in 1, 2:\n    with Log():\n        g(4)", ["sqrt", "sqrt"]),
        ("def a():\n    with Log(): g(4)\ndef b():\n    with Log(): g(9)\na(); b(); a()", ["sqrt"] * 3),
    ],
    ids="function script closure exit_stack contextmanager overridden coroutine again two_places".split(),
)  # fmt: skip
def test_a_block_adopts_the_module_around_it(source, calls, tmp_path):
    done = output(source, tmp_path)
    assert (done.status, done.stdout.split(), done.stderr) == (0, calls, "")


def test_the_calls_of_the_block_itself_are_no_events(tmp_path):
    assert output("with Log():\n    g(4)\n    abs(-1)", tmp_path).stdout == "sqrt\n"


def test_a_module_that_another_one_enters_for_is_not_adopted(make_package):
    name = make_package({"lib.py": "def run(ctx, f):\n    with ctx:\n        return f()\n"})
    lib = importlib.import_module(f"{name}.lib")
    seen = []

    class Seen(Context):
        def prehook(self, f, *args):
            seen.append(f)

    def program():
        return math.sqrt(4)

    with pytest.warns(CassetteWarning, match=r"no function of lib\.py was called"):
        lib.run(Seen(), program)
    assert seen == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def main():\n    with Log():\n        math.sqrt(4)\nmain()", "    with Log():"),
        ("with Log():\n    math.sqrt(4)", "with Log():"),
        ("with contextlib.ExitStack() as all:\n    all.enter_context(Log())", "with contextlib.ExitStack() as all:"),
    ],
    ids=["function", "script", "exit stack"],
)  # fmt: skip
def test_a_block_in_which_no_function_met_the_context_warns_with_its_line(source, line, tmp_path):
    done = output(source, tmp_path)
    number = len(textwrap.dedent(LOG).splitlines()) + source.splitlines().index(line) + 1
    assert (done.status, done.stdout) == (0, "")
    assert (
        f"script.py:{number}: CassetteWarning: Log met no function in this block: no package is installed, and no "
        in (done.stderr)
    )
    assert 'Call install("package"), or overdub(ctx, function)' in done.stderr


def test_a_block_in_which_no_function_of_the_installed_packages_was_called_warns_too(tmp_path):
    script = "install('colorsys')\ninstall('json.decoder')\nwith Log():\n    abs(-1)"
    done = output(script, tmp_path)
    message = "Log met no function in this block: no function of colorsys, json.decoder was called in it, and no "
    assert message in done.stderr


def test_a_block_of_an_installed_module_is_not_said_to_have_no_source(tmp_path):
    (tmp_path / "own.py").write_text(
        "import math\nfrom cassette_import.contexts import Profile\nwith Profile():\n    math.sqrt(4)\n"
    )
    done = output("install('own')\nimport own", tmp_path)
    assert "no function of own was called in it, and no function of own.py was called in it" in done.stderr


def test_code_without_source_is_told_apart(tmp_path):
    done = output("exec('with Log():\\n    math.sqrt(4)')", tmp_path)
    assert "<string> has no source" in done.stderr


@pytest.mark.parametrize(
    "source",
    [
        "with Log():\n    g(4)",
        "import colorsys\ninstall('colorsys')\nwith Log():\n    colorsys.rgb_to_hls(0.1, 0.2, 0.3)",
        "with Context():\n    abs(-1)",
        "class Other(Log): ...\nwith Log():\n    with Other():\n        g(4)",
        "try:\n    with Log():\n        1 / 0\nexcept ZeroDivisionError:\n    pass",
        "with Log():\n    overdub(Context(), abs, -1)",
    ],
    ids=[
        "met",
        "a function of a package was called",
        "no hooks",
        "met with another context",
        "left by an error",
        "verb",
    ],
)
def test_other_blocks_do_not_warn(source, tmp_path):
    done = output(source, tmp_path)
    assert (done.status, done.stderr) == (0, "")


def test_one_context_type_warns_once(tmp_path):
    done = output("for _ in 1, 2, 3:\n    with Log():\n        pass", tmp_path)
    assert done.stderr.count("CassetteWarning") == 1


def test_commands_that_enter_a_context_do_not_warn(tmp_path):
    (tmp_path / "own.py").write_text(textwrap.dedent(LOG))
    (tmp_path / "app.py").write_text("")
    assert cassette("run", "-c", "own:Log", "app.py", folder=tmp_path).stderr == ""


# ---- functions that were met before their module was installed, or while it was


@pytest.mark.parametrize("times", [1, 2])
def test_a_module_may_be_installed_after_its_function_was_a_root(times, make_package):
    name = make_package("def f(x):\n    return g(x)\n\ndef g(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    seen = []

    class Seen(Context):
        def prehook(self, f, *args):
            seen.append(f.__name__)

    for _ in range(times):
        overdub(Seen(), module.f, -1)
    assert seen == ["g", "abs"] * times
    del seen[:]
    install(name)
    overdub(Seen(), module.f, -1)
    with Seen():
        module.g(-1)
    assert seen == ["g", "abs", "abs"]


def test_a_module_may_be_a_roots_after_it_was_uninstalled(make_package):
    name = make_package("def f(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    seen = []

    class Seen(Context):
        def prehook(self, f, *args):
            seen.append(f.__name__)

    install(name)
    overdub(Seen(), module.f, -1)
    uninstall(name)
    overdub(Seen(), module.f, -1)
    assert seen == ["abs", "abs"]
    del seen[:]
    overdub(Seen(), lambda: module.f(-1))
    assert seen == ["f"]
    with warnings.catch_warnings(), contextlib.suppress(CassetteWarning):
        warnings.simplefilter("error")
        with Seen():
            module.f(-1)
    assert seen == ["f"]


def test_a_root_without_events_does_not_have_all_functions_searched_each_time(make_package, monkeypatch):
    module = importlib.import_module(make_package("def f():\n    return 1\n"))
    searches = []

    class Log(Context):
        def prehook(self, f, *args):
            pass

    ctx = Log()
    overdub(ctx, module.f)
    overdub(ctx, module.f)
    instrument = registry.instrument
    monkeypatch.setattr(registry, "instrument", lambda *arguments: (searches.append(arguments), instrument(*arguments)))
    for _ in range(5):
        overdub(ctx, module.f)
    assert searches == []


def test_roots_without_source_do_not_have_all_functions_searched(monkeypatch):
    class Recursing(Context):
        def overdub(self, f, *args, **kwargs):
            return recurse(self, f, *args, **kwargs)

    searches = []
    instrument = registry.instrument
    monkeypatch.setattr(registry, "instrument", lambda *arguments: (searches.append(arguments), instrument(*arguments)))
    overdub(Recursing(), lambda: [os.path.abspath(".") for _ in range(20)])
    assert len(searches) < 10


LATER_FUNCTIONS = """
    from cassette_import import Context

    class Log(Context):
        def prehook(self, f, *args):
            print(f.__name__, end=" ")

    def first(x): return abs(x)
    with Log(): first(1)
    def second(x): return max(x, 2)
    class Later:
        def method(self): return min(3, 4)
    with Log():
        second(3)
        Later().method()
    for number in range(2):
        def again(x): return divmod(x, 2)
        with Log(): again(number)
    def main():
        def inner(x): return max(x, 2)
        with Log(): inner(1)
        def other(x): return min(x, 2)
        with Log(): other(1)
    main()
"""


def test_functions_that_were_made_after_the_first_block_are_met_too(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(textwrap.dedent(LATER_FUNCTIONS))
    assert run("script.py", folder=tmp_path) == (0, "abs max min divmod divmod max min ", "")


HANDLERS = """
    import asyncio, contextlib
    from cassette_import import Context

    class First(Context):
        def prehook(self, f, *args):
            pass

    class Second(First):
        pass

    def work():
        return abs(-1)

    async def coroutine(context):
        with context:
            return work()

    def generator(context):
        with context:
            yield work()

    async def async_generator(context):
        with context:
            yield work()

    async def items(context):
        return [item async for item in async_generator(context)]

    def handled(kind, context):
        if kind == "generator":
            return list(generator(context))
        return asyncio.run(coroutine(context) if kind == "coroutine" else items(context))
    """


@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "adopted"])
@pytest.mark.parametrize("kind", ["coroutine", "generator", "async generator"])
def test_a_body_that_enters_contexts_over_and_over_does_not_have_all_functions_searched_each_time(
    kind, is_installed, make_package, monkeypatch
):
    name = make_package(HANDLERS)
    if is_installed:
        install(name)
    module = importlib.import_module(name)
    contexts = [module.First(), module.Second()]
    for context in contexts * 6:
        module.handled(kind, context)
    searches = []
    instrument = registry.instrument
    monkeypatch.setattr(registry, "instrument", lambda *arguments: (searches.append(arguments), instrument(*arguments)))
    for context in contexts * 3:
        module.handled(kind, context)
    assert searches == []


IN_TURNS = """
    from cassette_import import Context

    class Seeing(Context):
        def prehook(self, f, *args):
            pass

    class Replacing(Context):
        pass

    def replacement(ctx, f, x):
        return helper(x)

    def helper(x):
        return -x

    Replacing.overdub.register(abs)(replacement)

    def work():
        return abs(-1) + helper(2)
    """


@pytest.mark.parametrize("is_installed", [True, False], ids=["installed", "adopted"])
def test_contexts_of_two_types_in_turns_do_not_have_all_functions_searched_each_time(
    is_installed, make_package, monkeypatch
):
    name = make_package(IN_TURNS)
    if is_installed:
        install(name)
    module = importlib.import_module(name)
    contexts = [module.Seeing(), module.Replacing()]
    for context in contexts * 6:
        overdub(context, module.work)
    searches = []
    instrument = registry.instrument
    monkeypatch.setattr(registry, "instrument", lambda *arguments: (searches.append(arguments), instrument(*arguments)))
    for context in contexts * 3:
        overdub(context, module.work)
    assert searches == []
