"""Checklist, P: pytest's rewriting of assertions and cassette_import's on one module, and pytest with other tools.

P1 (a module that is imported earlier), P3 and P5 are also in `test_finder.py` and `test_installation.py`; the options,
the markers and xdist in `test_pytest_plugin.py`.
"""

import functools
import json
import re
import shutil
import textwrap

import pytest
from helpers import contexts
from helpers.command_line import run

HELPERS = """
    def check_all(values, limit):
        for value in values:
            assert double(value) < limit, f"value {value!r}"

    def double(x):
        return x * 2

    class Checker:
        expected = 7

        def check(self, found):
            assert found == self.expected
"""
# Each of them fails, in its own way.
ASSERTIONS = """
    import math
    import pytest
    from shop.checks import Checker, check_all, double

    class Point:
        def __init__(self, x):
            self.x = x
            self.parent = None

        def __repr__(self):
            return f"Point({self.x})"

        def shifted(self, by, *more, **named):
            return Point(self.x + by)

    def test_call_and_comparison():
        assert double(2) == 5

    def test_nested_calls():
        assert abs(double(double(-1))) + len("ab") == math.floor(2.5)

    def test_attributes_and_methods():
        point = Point(1)
        assert point.shifted(2).x == Point(4).x

    def test_splats_and_keywords():
        args, named = [1, 2], {"by_name": 3}
        assert not Point(1).shifted(*args, **named)

    def test_lists():
        assert [double(x) for x in (1, 2)] == [2, 5]

    def test_dicts_and_sets():
        assert {"a": double(1), "b": 2} == {"a": 2, "c": 3}

    def test_long_texts():
        assert "one\\ntwo\\nthree" == "one\\n2\\nthree"

    def test_membership_and_identity():
        assert 3 in [double(1), 4] or Point is None

    def test_boolean_operators():
        assert double(1) == 2 and double(2) == 4 and not (double(3) == 6 or math)

    def test_chained_comparison():
        assert 1 < double(2) < double(1)

    def test_arithmetic_and_unary_operators():
        a, b = 3, 4
        assert -a + b * 2 - a ** b == ~a

    def test_subscripts_and_slices():
        xs = [1, 2, 3]
        assert xs[double(1)] == xs[0:1]

    def test_walrus():
        if found := double(2):
            assert (found := found + 1) == double(found)

    def test_message():
        assert double(1) == 3, f"the message {double(5)}"

    def test_plain_name():
        nothing = []
        assert nothing

    def test_conditional_expression_and_lambda():
        assert (lambda x: double(x))(1) == (3 if double(1) else 4)

    def test_comprehension_with_condition():
        assert all(x > 1 for x in (1, 2) if double(x))

    def test_starred_in_a_display():
        assert [*map(double, [1])] == [*"ab"]

    def test_f_string():
        assert f"{double(1)}" == f"{double(2)!r:>4}"

    def test_raises_inside():
        with pytest.raises(ValueError, match="nope"):
            assert int("x") == 3

    def test_helper_function():
        check_all([1, 2], limit=4)

    def test_helper_method():
        Checker().check(double(4))

    def test_error_in_the_assertion():
        assert double(None) == 1

    class TestInClass:
        value = 3

        def test_method(self):
            assert self.value == double(self.value)

        @pytest.mark.parametrize("x", [1, 2])
        def test_parametrized(self, x):
            assert double(x) == 4

    @pytest.fixture
    def fixture():
        assert double(1) == 3
        yield

    def test_fixture(fixture):
        pass

    def test_passes():
        assert double(2) == 4 != 5

    def test_generator():
        def numbers():
            for x in (1, 2):
                assert double(x) != 4
                yield x
        assert list(numbers())
"""
WAYS = {
    "inactive": [],
    "noop": ["--cassette-context=noop"],
    "reading": ["--cassette-context=contexts:ReadsEverything"],
    "profile": ["--cassette-context=profile"],
}


def write_project(folder):
    """Write a package with tests inside of it, and a helper module that the conftest makes pytest rewrite."""
    files = {
        "shop/__init__.py": "",
        "shop/checks.py": HELPERS,
        "shop/tests/__init__.py": "",
        "shop/tests/test_shop.py": ASSERTIONS,
        "conftest.py": "import pytest\npytest.register_assert_rewrite('shop.checks')\n",
    }
    for name, source in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source).lstrip("\n"))
    shutil.copy(contexts.__file__, folder)
    return folder


@pytest.fixture
def project(tmp_path):
    """A project for one test, which may change it."""
    return write_project(tmp_path)


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory):
    """A project for all tests that do not change it."""
    return write_project(tmp_path_factory.mktemp("project"))


def run_pytest(project, *words, plugins=(), runner=("-m", "pytest"), **variables):
    loaded = [word for plugin in ("cassette_import.frontends.pytest_plugin.hooks", *plugins) for word in ("-p", plugin)]
    words = *runner, "-p", "no:cacheprovider", *loaded, *words
    return run(*words, folder=project, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **variables)


@functools.cache
def run_plain(project, *words, **more):
    """Run pytest without overdubbing, once for all tests that compare their run with it."""
    return run_pytest(project, *words, **more)


def failures(done):
    """Return pytest's report of the failed tests: their source lines, values and locations."""
    text = done.stdout
    assert "= FAILURES =" in text, text + done.stderr
    text = text[text.index("= FAILURES =") :]
    return re.sub(r"(?s)=+ cassette_import(: \w+)? =+.*?(?==+ short test summary)| in [\d.]+s =*", "", text)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("style", ["long", "native"])
def test_P1_failed_assertions_are_explained_in_an_overdubbed_module_as_in_a_plain_one(way, style, shared_project):
    plain = run_plain(shared_project, "-vv", f"--tb={style}", "shop")
    packages = "--cassette-packages=shop", "--cassette-report=report.json"
    overdubbed = run_pytest(shared_project, "-vv", f"--tb={style}", *packages, *WAYS[way], "shop")
    assert "where 4 = double(2)" in plain.stdout or style == "native"
    assert "At index 1 diff: 4 != 5" in plain.stdout
    assert failures(overdubbed) == failures(plain)


@pytest.mark.parametrize("way", ["noop", "reading", "profile"])
def test_P1_both_rewritings_apply_to_one_module(way, project):
    """The explanations above do not come from functions that were left alone."""
    done = run_pytest(project, "--cassette-packages=shop", "--cassette-report=report.json", *WAYS[way], "shop")
    assert done.status == 1
    modules = json.loads((project / "report.json").read_text())["modules"]
    assert modules["shop.tests.test_shop"]["left_alone"] == modules["shop.checks"]["left_alone"] == {}
    tests = set(modules["shop.tests.test_shop"]["specialised"])
    assert {"test_chained_comparison", "TestInClass.test_method", "Point.shifted", "test_passes"} <= tests
    assert set(modules["shop.checks"]["specialised"]) == {"check_all", "double", "Checker.check"}


def events_of_assertions(project):
    """Return the names of the functions that are events during rewritten assertions."""
    (project / "contexts.py").write_text(
        textwrap.dedent("""
        from cassette_import import Context

        class Seen(Context):
            names = []

            def prehook(self, f, *args, **kwargs):
                self.names.append(f.__name__)
        """)
    )
    (project / "shop/tests/test_shop.py").write_text(
        textwrap.dedent("""
        import math
        from contexts import Seen
        from shop.checks import double

        def assertions():
            assert double(2) == 4, "message"
            assert math.floor(2.5) > 0
            assert abs(-1) and not len("")
            assert double(1) == 3

        def test_events():
            try:
                assertions()
            except AssertionError as error:
                seen = list(Seen.names)
                assert "where 2 = double(1)" in str(error)
            print("SEEN", *seen[seen.index("assertions") + 1 :])
        """)
    )
    words = "-s", "--cassette-packages=shop", "--cassette-context=contexts:Seen", "shop"
    done = run_pytest(project, *words)
    assert "1 passed" in done.stdout, done.stdout
    return re.search("SEEN (.*)", done.stdout)[1].split()


def test_P1_what_an_assertion_evaluates_is_an_event_once_and_in_order(project):
    seen = [
        name for name in events_of_assertions(project) if name in ("double", "mul", "eq", "floor", "gt", "abs", "len")
    ]
    assert seen == ["double", "mul", "eq", "floor", "gt", "abs", "len", "double", "mul", "eq"]


def test_P1_what_pytest_inserts_is_no_event(project):
    seen = events_of_assertions(project)
    assert seen == ["double", "mul", "eq", "floor", "gt", "neg", "abs", "len", "not_", "double", "mul", "eq"]


@pytest.mark.parametrize("way", ["inactive", "noop"])
def test_P1_assertions_without_rewriting_stay_bare(way, shared_project):
    words = "--assert=plain", "--tb=short", "shop"
    plain = run_plain(shared_project, *words)
    assert "where 4" not in plain.stdout
    assert failures(run_pytest(shared_project, "--cassette-packages=shop", *WAYS[way], *words)) == failures(plain)


@pytest.mark.parametrize("way", ["inactive", "noop"])
def test_P1_the_second_run_explains_too(way, project):
    """Both cache their code objects; neither may read the cache of the other."""
    words = "--tb=short", "shop"
    options = "--cassette-packages=shop", *WAYS[way]
    plain = failures(run_pytest(project, *words, PYTHONDONTWRITEBYTECODE=""))
    for _ in range(2):
        assert failures(run_pytest(project, *options, *words, PYTHONDONTWRITEBYTECODE="")) == plain
        assert failures(run_pytest(project, *words, PYTHONDONTWRITEBYTECODE="")) == plain


def test_P2_a_package_that_the_conftest_imports_is_overdubbed(project):
    (project / "conftest.py").write_text("import shop.checks\nchecks = shop.checks\n")
    (project / "shop/tests/test_shop.py").write_text(
        "import shop.checks\ndef test_it():\n    assert shop.checks.double(1) == 2\n"
    )
    words = "--cassette-packages=shop", "--cassette-context=noop", "--cassette-report=report.json", "shop"
    assert "1 passed" in run_pytest(project, *words).stdout
    modules = json.loads((project / "report.json").read_text())["modules"]
    assert set(modules["shop.checks"]["specialised"]) == {"double"}


P4 = {
    "pytest": (("-m", "pytest"), (), ()),
    "coverage": (("-m", "coverage", "run", "--include=shop/*", "-m", "pytest"), (), ()),
    "xdist": (("-m", "pytest"), ("xdist.plugin",), ("-n2",)),
}


@pytest.mark.parametrize("tools", P4)
@pytest.mark.parametrize("way", ["inactive", "noop"])
def test_P4_together_with_coverage_and_xdist_tests_fail_as_without_a_context(way, tools, shared_project):
    runner, plugins, options = P4[tools]
    if tools != "pytest":
        pytest.importorskip(tools)

    def failed(start, *words):
        done = start(shared_project, *options, *words, "--tb=short", "shop", runner=runner, plugins=plugins)
        assert done.status == 1, done.stderr
        found = failures(done).partition("= short test summary")[0]
        # Workers finish in any order, so that any of them may be the last one.
        parts = re.split(r"(?m)^_{3,}", found.partition("\n")[2])
        return sorted(re.sub(r"\[gw\d\].*\n", "", part).strip(" _=\n") for part in parts)

    assert failed(run_pytest, "--cassette-packages=shop", *WAYS[way]) == failed(run_plain)
