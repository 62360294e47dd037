"""The markers under pytest: a wrong one fails its test alone; hooks that raise are named; skipped tests are counted."""

import re
import textwrap

import pytest
from helpers.pytest_runs import run_pytest

FILES = {
    "shop.py": "def price(x):\n    return x\ndef main():\n    return price(1) + price(2)\n",
    "own.py": """
        from cassette_import import Context

        class Raises(Context):
            def prehook(self, f, *args, **kwargs):
                if getattr(f, "__name__", "") == "price":
                    raise ValueError("no")

        class Misspelt(Context):
            def prehook(self, f, *args, **kwargs):
                self.cuont += 1

        class Quiet(Context):
            pass

        class NoConstructor(Context):
            def __init__(self):
                raise RuntimeError("no constructor")

        class NoEntry(Context):
            def __enter__(self):
                raise RuntimeError("no entry")

        class NoContext:
            pass
    """,
}


ONCE = """
    import shop, pytest
    profiled = pytest.mark.cassette("profile", packages=["shop"])
    @profiled
    def test_one():
        assert shop.price(2) == 2
    @profiled
    def test_empty():
        pass
    @profiled
    @pytest.mark.parametrize("x", [1])
    def test_with_parameter(x):
        assert [shop.price(y) for y in (1, 2)]
    class TestMethod:
        @profiled
        def test_method(self):
            assert shop.main()
"""


@pytest.mark.parametrize(
    "more", ["", "\n    @pytest.mark.cassette_record\n    def test_recorded():\n        shop.main()\n"]
)
@pytest.mark.parametrize("options", [(), ("--cassette-packages=test_once",)], ids=["plain", "installed"])
def test_a_test_counts_once_whether_its_module_is_overdubbed_or_not(folder, options, more):
    (folder / "test_once.py").write_text(textwrap.dedent(ONCE + more))
    text = run_pytest(*options, "test_once.py", folder=folder).stdout
    rows = [line.split() for line in text.splitlines() if re.search(r"test_once.py:\d+\(test_", line)]
    assert [row[0] for row in rows] == ["1"] * 4, text


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def run(folder, text, *options):
    (folder / "test_shop.py").write_text("import pytest, shop, own\n" + textwrap.dedent(text))
    done = run_pytest(*options, folder=folder)
    return done.stdout + done.stderr


WRONG = {
    "a misspelled name": ('"profle"', "no context is called 'profle'; .*; did you mean profile?"),
    "a wrong option": ('"trace:depth=x"', "depth must be a whole number or None, not 'x'"),
    "no context": ('"own:NoContext"', "own:NoContext returned no context, but a NoContext; .*"),
    "a number": ("3", "cassette: 3 is no context, context type or name of one"),
    "a class that is no context": ("own.NoContext, 1", "NoContext.* is no context, context type or name of one"),
    "a constructor that raises": ("own.NoConstructor", "NoConstructor cannot be made: RuntimeError: no constructor"),
    "an entry that raises": ("own.NoEntry", "the contexts of this test cannot be entered: RuntimeError: no entry"),
    "a misspelled keyword": ('package="shop"', "not package=; did you mean packages?"),
    "a keyword of the plugin": ('title="x"', "the marker takes contexts, packages= and exclude=, not title="),
    "a package that is not installed": ('packages="nopkg"', "No module named 'nopkg'"),
    "nothing": ("", "the marker names nothing"),
    "a package that is no name": ("packages=3", "packages are given as names, not 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_marker_is_an_error_of_its_test_alone(name, folder):
    arguments, message = WRONG[name]
    output = run(
        folder,
        f"""
        @pytest.mark.cassette({arguments})
        def test_wrong():
            pass

        @pytest.mark.skip
        @pytest.mark.cassette({arguments})
        def test_skipped():
            pass

        def test_right():
            pass
        """,
    )
    assert "1 passed, 1 skipped, 1 error" in output, output
    assert re.search(message, output)
    assert "INTERNALERROR" not in output


def test_an_option_whose_context_cannot_be_entered_is_an_error_of_the_tests(folder):
    output = run(folder, "def test_one():\n    pass\n", "--cassette-context=own:NoEntry", "--cassette-packages=shop")
    assert "1 error" in output
    assert "RuntimeError: no entry" in output
    assert "INTERNALERROR" not in output


@pytest.mark.parametrize("way", ["a marker", "an option", "a block"])
def test_a_hook_that_raises_is_named_with_context_event_and_call_site(way, folder):
    marker = '@pytest.mark.cassette("own:Raises", packages=["shop"])\n' if way == "a marker" else ""
    block = "    with own.Raises():\n        shop.main()\n" if way == "a block" else "    shop.main()\n"
    options = ["--cassette-packages=shop", *(["--cassette-context=own:Raises"] if way == "an option" else [])]
    output = run(folder, f"{marker}def test_shop():\n{block}", *options)
    assert (
        "This exception was raised by prehook of the context Raises, at shop.py:4 in main, for the call of price."
        in output
    ), output


def test_a_hook_that_uses_no_function_is_named_with_the_event_that_is_written_at_the_call_site(folder):
    text = '@pytest.mark.cassette("own:Misspelt", packages=["shop"])\ndef test_shop():\n    shop.main()\n'
    output = run(folder, text)
    assert "raised by prehook of the context Misspelt, at shop.py:4 in main, for the call of price." in output, output
    assert not re.search(r"\bf = ", output)


def test_a_failure_of_the_program_names_no_hook(folder):
    output = run(folder, '@pytest.mark.cassette("noop")\ndef test_shop():\n    assert shop.main() == 4\n')
    assert "This exception was raised by" not in output


def test_a_test_whose_contexts_met_no_function_because_of_missing_packages_is_named(folder):
    text = """
        from cassette_import import overdub

        @pytest.mark.cassette("noop")
        def test_without_packages():
            assert shop.main() == 3

        @pytest.mark.cassette("call-types")
        def test_that_overdubs_itself():
            assert overdub(own.Quiet(), shop.main) == 3

        @pytest.mark.cassette("flops", packages=["shop"])
        def test_with_packages():
            assert shop.main() == 3
    """
    output = run(folder, text)
    named = re.findall(r"::(\w+): no package is overdubbed: its marker needs packages", output)
    assert named == ["test_without_packages"], output


def test_a_test_without_packages_is_named_though_its_context_met_functions_in_a_test_before(folder):
    text = """
        @pytest.mark.cassette("noop", packages=["shop"])
        def test_with_packages():
            assert shop.main() == 3

        @pytest.mark.cassette("noop")
        def test_without_packages():
            assert shop.main() == 3
    """
    assert "::test_without_packages: no package is overdubbed" in run(folder, text)


def test_each_context_has_a_section_with_its_name(folder):
    text = '@pytest.mark.cassette("memoize:functions=shop.price", "call-types", packages="shop")\ndef test_shop():\n'
    options = ["--cassette-packages=shop", "--cassette-context=profile", "--cassette-context=noop"]
    output = run(folder, f"{text}    shop.main()\n", *options, "--cassette-context=call-types")
    titles = re.findall(r"=+ (cassette_import.*?) =+\n", output)
    assert titles == [
        "cassette_import",
        "cassette_import: Profile",
        "cassette_import: CallTypes",
        "cassette_import: test_shop.py::test_shop: CallTypes",
        "cassette_import: test_shop.py::test_shop: Memoize",
    ]


@pytest.mark.parametrize("mode", ["once", "none"])
@pytest.mark.parametrize("where", ["before its fixtures", "in its body"])
def test_a_skipped_test_is_counted_as_skipped(mode, where, folder):
    body = "pass" if where == "before its fixtures" else "pytest.skip()"
    marker = "@pytest.mark.skip\n" if where == "before its fixtures" else ""
    text = f"import time\ndef test_kept():\n    time.time()\n{marker}def test_skipped():\n    {body}\n"
    run(folder, text, "--cassette-record=once", "-k", "kept")
    output = run(folder, text, f"--cassette-record={mode}")
    counted = re.search(r"recordings: (.*)", output)
    assert counted, output
    assert "did not pass" not in counted[1]
    assert counted[1].split(", ") == ["1 skipped", "1 replayed"]
