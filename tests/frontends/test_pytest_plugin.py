"""The pytest plugin: inactive until requested; then packages are overdubbed, and contexts active around each test."""

import json
import os
import re

import pytest
from helpers.command_line import CHECKOUT, PROJECT, run
from helpers.pytest_runs import outcomes, run_pytest, write

SHOP = """
    import math


    def area(radius):
        return math.pi * square(radius)


    def square(x):
        return abs(x * x)
"""
TESTS = """
    import shop


    def test_area():
        assert 3 < shop.area(1) < 4
"""


@pytest.fixture
def project(tmp_path):
    """A package beside its tests, which pytest finds through the conftest."""
    for name, source in {"shop/__init__.py": SHOP, "tests/test_shop.py": TESTS, "conftest.py": ""}.items():
        write(tmp_path, name, source)
    return tmp_path


def without_ours(text):
    """Return pytest's output without cassette_import's line in the header, its section, and the duration."""
    return re.sub(r"cassette_import: .*\n|=+ cassette_import[:\w ]* =+\n([^=].*\n)*|=* .* in [\d.]+s =*", "", text)


def report_of(folder, name="report.json"):
    return json.loads((folder / name).read_text())


def test_the_plugin_does_nothing_and_imports_only_itself_without_an_option(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import sys

        def test_nothing_is_there():
            assert not any(type(finder).__module__.startswith("cassette_import") for finder in sys.meta_path)
            ours = {name for name in sys.modules if name.startswith("cassette_import")}
            packages = {"cassette_import", "cassette_import.frontends", "cassette_import.frontends.pytest_plugin"}
            assert ours == {*packages, "cassette_import.frontends.pytest_plugin.hooks"}
        """,
    )
    done = run_pytest(folder=project)
    assert outcomes(done) == {"passed": 1}
    assert "cassette" not in done.stdout


def test_packages_are_overdubbed_and_listed_in_the_header(project):
    done = run_pytest("--cassette-packages=shop", "--cassette-report=report.json", folder=project)
    assert outcomes(done) == {"passed": 1}
    assert "cassette_import: packages shop; context none\n" in done.stdout
    report = report_of(project)
    assert (report["packages"], report["contexts"]) == (["shop"], [])
    assert report["modules"]["shop"]["action"] == "rewritten"
    assert report["modules"]["shop"]["specialised"] == {}


def test_a_context_is_active_in_each_test_and_its_results_are_printed(project):
    done = run_pytest(
        *("--cassette-packages=shop", "--cassette-context=profile", "--cassette-report=report.json"), folder=project
    )
    assert outcomes(done) == {"passed": 1}
    assert "= cassette_import =" in done.stdout
    assert re.search(r"shop/__init__\.py:9\(square\)", done.stdout)
    assert report_of(project)["modules"]["shop"]["specialised"] == {"area": ["Profile"], "square": ["Profile"]}


def test_a_profile_has_a_row_for_each_test_so_that_the_rest_is_pytest_itself(project):
    done = run_pytest("--cassette-packages=shop", "--cassette-context=profile", folder=project)
    assert re.search(r" 1 .*test_shop\.py:\d+\(test_area\)", done.stdout)


def test_without_packages_the_summary_names_the_option(project):
    hint = "no package was named for the whole run: --cassette-packages=PACKAGE says what is overdubbed\n"
    assert hint in run_pytest("--cassette-context=profile", folder=project).stdout
    assert hint not in run_pytest("--cassette-context=profile", "--cassette-packages=shop", folder=project).stdout


def test_a_context_is_active_in_setup_call_and_teardown_and_not_while_modules_are_imported(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import cassette_import
        import pytest

        at_import = cassette_import.current()

        @pytest.fixture(scope="module")
        def wide():
            yield cassette_import.current()
            assert type(cassette_import.current()).__name__ == "Noop"

        @pytest.fixture
        def narrow():
            yield cassette_import.current()
            assert type(cassette_import.current()).__name__ == "Noop"

        def test_it_is_the_same_everywhere(wide, narrow):
            assert at_import is None
            assert type(wide).__name__ == "Noop"
            assert wide is narrow is cassette_import.current()

        class TestClass:
            def setup_method(self):
                self.context = cassette_import.current()

            def test_method(self):
                assert self.context is cassette_import.current() is not None
        """,
    )
    assert outcomes(run_pytest("--cassette-context=noop", folder=project)) == {"passed": 2}


def test_several_contexts_stack_the_first_one_outermost(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import cassette_import

        def test_the_last_one_is_innermost():
            assert type(cassette_import.current()).__name__ == "Trace"
        """,
    )
    assert outcomes(run_pytest("--cassette-context=noop", "--cassette-context=trace", folder=project)) == {"passed": 1}


def test_a_test_that_fails_fails_as_without(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import shop

        def test_area():
            assert shop.area(2) == {"a": [1, 2]}

        def test_error():
            shop.square("x")
        """,
    )
    plain = run_pytest(folder=project)
    assert outcomes(plain) == {"failed": 2}
    for context in ("none", "noop"):
        done = run_pytest("--cassette-packages=shop", f"--cassette-context={context}", folder=project)
        assert without_ours(done.stdout) == without_ours(plain.stdout)


def test_what_is_excluded_is_left_alone(project):
    write(project, "shop/till.py", "def pay(): return len([])")
    write(project, "tests/test_shop.py", "import shop.till\ndef test_pay(): assert shop.till.pay() == 0")
    run_pytest(
        *("--cassette-packages=shop", "--cassette-exclude=shop.till", "--cassette-report=report.json"), folder=project
    )
    modules = report_of(project)["modules"]
    assert modules["shop"]["action"] == "rewritten"
    assert (modules["shop.till"]["action"], modules["shop.till"]["reason"]) == ("left alone", "excluded")


def test_the_options_may_stand_in_the_ini_file(project):
    write(
        project,
        "pytest.ini",
        """
        [pytest]
        cassette_packages =
            shop
            json, colorsys
        cassette_exclude = json.tool
        cassette_context = noop:events=calls
        cassette_report = report.json
        """,
    )
    done = run_pytest(folder=project)
    assert "cassette_import: packages shop, json, colorsys; context Noop\n" in done.stdout
    report = report_of(project)
    assert (report["packages"], report["exclude"]) == (["shop", "json", "colorsys"], ["json.tool"])
    assert report["contexts"] == ["Noop"]


def test_the_command_line_comes_before_the_environment_and_that_before_the_ini_file(project):
    write(project, "pytest.ini", "[pytest]\ncassette_packages = colorsys\ncassette_context = trace\n")
    variables = {"CASSETTE_IMPORT_PACKAGES": "json"}
    header = re.compile(r"^cassette_import: (.*)$", re.MULTILINE)
    assert header.findall(run_pytest(folder=project).stdout) == ["packages colorsys; context Trace"]
    assert header.findall(run_pytest(folder=project, **variables).stdout) == ["packages json; context Trace"]
    done = run_pytest("--cassette-packages=shop", "--cassette-context=none", folder=project, **variables)
    assert header.findall(done.stdout) == ["packages shop; context none"]


def test_everything_can_be_switched_off_from_outside(project):
    done = run_pytest("--cassette-packages=shop", folder=project, CASSETTE_IMPORT_DISABLE="1")
    assert outcomes(done) == {"passed": 1}
    assert "cassette_import:" not in done.stdout


def test_a_switch_of_the_environment_that_is_neither_on_nor_off_is_wrong_usage(project):
    done = run_pytest("--cassette-packages=shop", folder=project, CASSETTE_IMPORT_DISABLE="maybe")
    assert done.status == pytest.ExitCode.USAGE_ERROR
    assert "CASSETTE_IMPORT_DISABLE must be 1 or 0, and is 'maybe'" in done.stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--cassette-packages=nonesuch", "No module named 'nonesuch'"),
        ("--cassette-packages=math", "math cannot be overdubbed: "),
        ("--cassette-context=nope", "no context is called 'nope'; "),
        ("--cassette-context=trace:deep=3", "got an unexpected keyword argument 'deep'"),
    ],
)
def test_what_cannot_be_had_is_wrong_usage(option, message, project):
    done = run_pytest(option, folder=project)
    assert done.status == 4
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_no_section_counts_the_modules_of_an_unknown_package(project):
    assert "of these packages" not in run_pytest("--cassette-packages=nonesuch", folder=project).stdout


def test_a_marker_sets_the_context_and_packages_of_a_test(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import cassette_import
        import pytest
        from cassette_import import Context

        class Doubled(Context):
            pass

        @Doubled.overdub.register(abs)
        def _(ctx, f, x):
            return 2 * x

        mine = Doubled()

        @pytest.mark.cassette(Doubled, packages=["shop"])
        def test_by_type():
            import shop
            assert shop.square(3) == 18

        @pytest.mark.cassette(mine, packages="shop")
        def test_by_instance():
            import shop
            assert cassette_import.current() is mine
            assert shop.square(3) == 18

        @pytest.mark.cassette("noop:events=calls")
        def test_by_name():
            assert type(cassette_import.current()).__name__ == "Noop"

        @pytest.mark.cassette(packages=["shop"])
        def test_packages_alone():
            assert cassette_import.installed() == ("shop",)
            assert cassette_import.current() is None

        def test_without():
            import shop
            assert cassette_import.installed() == ()
            assert cassette_import.current() is None
            assert shop.square(3) == 9

        @pytest.mark.cassette("noop")
        class TestClass:
            @pytest.mark.cassette(Doubled, packages=["shop"])
            def test_the_marker_of_the_method_is_inside_that_of_the_class(self):
                import shop
                assert cassette_import.current().__class__ is Doubled
                assert shop.square(3) == 18
        """,
    )
    assert outcomes(run_pytest("--strict-markers", folder=project)) == {"passed": 6}


def test_a_marker_whose_only_argument_is_a_context_type_marks_the_test(project):
    """Other marks decorate a class that is their only argument: the test would be replaced by it."""
    write(
        project,
        "tests/test_shop.py",
        """
        import cassette_import
        import pytest
        from cassette_import import Context
        from cassette_import.contexts import Profile

        class Mine(Context):
            pass

        @pytest.mark.cassette(Mine)
        def test_function():
            assert type(cassette_import.current()) is Mine

        @pytest.mark.cassette(Profile)
        class TestClass:
            def test_method(self):
                assert isinstance(cassette_import.current(), Profile)

        def test_types_are_not_marked():
            assert not hasattr(Mine, "pytestmark")
        """,
    )
    assert outcomes(run_pytest("--strict-markers", folder=project)) == {"passed": 3}


def test_a_marker_with_an_unknown_context_is_an_error_of_its_test(project):
    write(project, "tests/test_shop.py", "import pytest\n@pytest.mark.cassette('nope')\ndef test(): pass\n")
    done = run_pytest(folder=project)
    assert outcomes(done) == {"error": 1}
    assert "no context is called 'nope'" in done.stdout


def test_a_fixture_runs_part_of_a_test_in_a_context(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import shop
        import cassette_import
        from cassette_import.contexts import Noop, Profile

        def test_fixture(overdubbing):
            for context in (Profile(), Profile, "profile"):
                with overdubbing(context, packages=["shop"]) as active:
                    assert cassette_import.current() is active
                    shop.area(1)
                assert cassette_import.current() is None
                assert cassette_import.installed() == ()
                assert "(square)" in active.summary()
        """,
    )
    assert outcomes(run_pytest(folder=project)) == {"passed": 1}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_report_that_cannot_be_written_is_printed_and_leaves_the_outcome(project):
    done = run_pytest("--cassette-packages=shop", "--cassette-report=/dev/full", folder=project)
    plain = run_pytest(folder=project)
    assert (done.status, outcomes(done)) == (plain.status, outcomes(plain))
    assert "cassette_import: /dev/full was not written: No space left on device" in done.stderr
    assert "report written" not in done.stdout


def test_workers_of_xdist_overdub_too_and_their_reports_are_merged(project):
    pytest.importorskip("xdist")
    write(project, "shop/till.py", "def pay(): return len([])")
    write(
        project,
        "tests/test_till.py",
        "import shop.till\ndef test_pay(worker_id): assert worker_id != 'master' and shop.till.pay() == 0\n",
    )
    options = "--cassette-packages=shop", "--cassette-context=profile", "--cassette-report=report.json"
    done = run_pytest("-n2", "--dist=loadfile", *options, folder=project, plugins=["xdist.plugin"])
    assert outcomes(done) == {"passed": 2}
    assert set(re.findall(r"= cassette_import: \w+ \((\w+)\) =", done.stdout)) == {"gw0", "gw1"}
    modules = report_of(project)["modules"]
    assert modules["shop"]["specialised"] == {"area": ["Profile"], "square": ["Profile"]}
    assert modules["shop.till"]["specialised"] == {"pay": ["Profile"]}


def test_a_test_module_may_be_overdubbed_and_keeps_its_explained_assertions(project):
    write(
        project,
        "tests/test_shop.py",
        """
        def helper(x):
            return [1, x]

        def test_fails():
            assert helper(2) == [1, 3]
        """,
    )
    plain = run_pytest(folder=project)
    assert "At index 1 diff: 2 != 3" in plain.stdout
    options = "--cassette-packages=test_shop", "--cassette-context=noop", "--cassette-report=report.json"
    assert without_ours(run_pytest(*options, folder=project).stdout) == without_ours(plain.stdout)
    assert report_of(project)["modules"]["test_shop"]["specialised"] == {"helper": ["Noop"], "test_fails": ["Noop"]}


def test_coverage_sees_the_same_lines_and_branches(project):
    pytest.importorskip("coverage")
    write(project, ".coveragerc", "[run]\nbranch = true\nsource = shop\n")

    def covered(*options):
        words = "-p", "no:cacheprovider", "-p", "cassette_import.frontends.pytest_plugin.hooks", *options
        done = run(
            *("-m", "coverage", "run", "-m", "pytest", *words), folder=project, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
        )
        assert outcomes(done) == {"passed": 1}
        assert run("-m", "coverage", "json", "-o", "coverage.json", folder=project).status == 0
        found = json.loads((project / "coverage.json").read_text())["files"]["shop/__init__.py"]
        return {key: found[key] for key in found if key.startswith(("executed", "missing"))}

    assert covered("--cassette-packages=shop", "--cassette-context=noop") == covered()


def test_the_plugin_can_be_switched_off_by_its_name(project):
    words = "-p", "no:cacheprovider", "-p", "no:cassette_import"
    found = run("-c", "import importlib.metadata as m; print(m.entry_points(group='pytest11').names)", folder=project)
    if "cassette_import" not in found.stdout:
        pytest.skip("needs the entry point of an installed distribution")
    assert outcomes(run("-m", "pytest", *words, folder=project)) == {"passed": 1}
    refused = run("-m", "pytest", *words, "--cassette-packages=shop", folder=project)
    assert refused.status == 4
    assert "unrecognized arguments: --cassette-packages=shop" in refused.stderr


@pytest.mark.parametrize("options", [(), ("--import-mode=importlib",)])
def test_a_package_may_be_imported_earlier_by_a_plugin_or_a_conftest(options, project):
    write(project, "early.py", "import json.scanner")
    write(project, "conftest.py", "import shop\nassert shop.area(1) > 3")
    done = run_pytest(
        *("--cassette-packages=shop,json", "--cassette-context=noop", "--cassette-report=report.json"),
        *options,
        folder=project,
        plugins=["early"],
        PYTHONPATH=os.pathsep.join((CHECKOUT, str(project))),
    )
    assert outcomes(done) == {"passed": 1}
    modules = report_of(project)["modules"]
    assert modules["shop"]["specialised"] == {"area": ["Noop"], "square": ["Noop"]}
    assert modules["json.scanner"]["action"] == "rewritten"


def test_a_conftest_may_put_the_folder_of_a_package_on_the_path(project):
    write(project, "src/till/__init__.py", "def pay(): return len([])")
    write(project, "tests/conftest.py", "import sys; sys.path.insert(0, 'src')")
    write(project, "tests/test_shop.py", "import till\ndef test_pay(): assert till.pay() == 0\n")
    done = run_pytest(
        *("--cassette-packages=till", "--cassette-context=noop", "--cassette-report=report.json"), folder=project
    )
    assert outcomes(done) == {"passed": 1}
    assert report_of(project)["modules"]["till"]["specialised"] == {"pay": ["Noop"]}


def test_the_summary_counts_functions_and_names_the_report(project):
    done = run_pytest(
        *("--cassette-packages=shop", "--cassette-context=noop", "--cassette-report=report.json"), folder=project
    )
    section = re.search(r"= cassette_import =+\n(.*)\n(.*)\n", done.stdout)
    assert section[1] == "1 module overdubbed, 2 functions specialised"
    assert section[2] == f"report written to {project / 'report.json'}"


def test_results_of_a_markers_context_are_printed_unless_it_is_an_instance(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import pytest
        from cassette_import.contexts import Profile

        mine = Profile()

        @pytest.mark.cassette("profile", packages=["shop"])
        def test_by_name():
            import shop
            shop.area(1)

        @pytest.mark.cassette(mine, packages=["shop"])
        def test_in_hand():
            import shop
            shop.area(1)
            assert "(square)" in mine.summary()
        """,
    )
    done = run_pytest(folder=project)
    assert outcomes(done) == {"passed": 2}
    assert re.findall(r"= (cassette_import: .*?) =", done.stdout) == [
        "cassette_import: tests/test_shop.py::test_by_name"
    ]
    assert done.stdout.count("(square)") == 1


def test_a_marker_and_the_fixture_accept_several_contexts_the_first_one_outermost(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import cassette_import
        import pytest
        from cassette_import.contexts import Noop, Profile

        @pytest.mark.cassette(Noop, "profile", packages=["shop"])
        def test_marker():
            assert isinstance(cassette_import.current(), Profile)

        def test_fixture(overdubbing):
            with overdubbing(Profile, "noop", packages="shop", exclude="shop.till") as (profile, noop):
                assert cassette_import.current() is noop
                assert cassette_import.installed() == ("shop",)
                import shop
                shop.area(1)
            assert "(square)" in profile.summary()

        def test_packages_alone(overdubbing):
            with overdubbing(packages=["shop"]) as nothing:
                assert nothing is None
                assert cassette_import.installed() == ("shop",)
            assert cassette_import.installed() == ()
        """,
    )
    assert outcomes(run_pytest(folder=project)) == {"passed": 3}


def test_the_fixture_may_hold_until_the_test_ends_in_one_line(project):
    write(
        project,
        "tests/test_shop.py",
        """
        import cassette_import
        from cassette_import.contexts import Noop

        def test_first(overdubbing):
            context = overdubbing.start(Noop(), packages=["shop"])
            assert cassette_import.current() is context
            assert cassette_import.installed() == ("shop",)

        def test_second():
            assert cassette_import.current() is None
            assert cassette_import.installed() == ()
        """,
    )
    assert outcomes(run_pytest(folder=project)) == {"passed": 2}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("overdubbing(3)", "cassette: 3 is no context, context type or name of one"),
        ("overdubbing('nope')", "cassette: no context is called 'nope'; "),
        ("overdubbing('noop', packages='nonesuch')", "cassette: No module named 'nonesuch'"),
        ("overdubbing('noop', packages='math')", "cassette: math cannot be overdubbed: "),
    ],
)
def test_wrong_arguments_of_the_fixture_fail_that_test(line, message, project):
    write(
        project, "tests/test_shop.py", f"def test(overdubbing):\n    with {line}:\n        pass\n\ndef test_2(): pass"
    )
    done = run_pytest(folder=project)
    assert outcomes(done) == {"failed": 1, "passed": 1}
    assert message in done.stdout


def test_an_unknown_package_is_wrong_usage_with_xdist_too(project):
    pytest.importorskip("xdist")
    done = run_pytest("-n2", "--cassette-packages=nonesuch", folder=project, plugins=["xdist.plugin"])
    assert done.status == 4
    assert "ERROR: cassette: No module named 'nonesuch'" in done.stdout


def test_a_report_that_cannot_be_written_is_wrong_usage(project):
    done = run_pytest("--cassette-packages=shop", "--cassette-report=nowhere/report.json", folder=project)
    assert done.status == 4
    assert re.search("--cassette-report: .*nowhere/report.json: there is no directory", done.stderr)


def test_pytest_cov_counts_the_same(project):
    pytest.importorskip("pytest_cov")

    def counted(*options):
        done = run_pytest("--cov=shop", "--cov-branch", *options, folder=project, plugins=["pytest_cov.plugin"])
        assert outcomes(done) == {"passed": 1}
        return re.findall(r"shop/__init__.py.*", done.stdout)

    plain = counted()
    assert plain
    assert counted("--cassette-packages=shop", "--cassette-context=noop") == plain


def test_a_module_that_pytest_rewrites_is_overdubbed_too(project):
    write(project, "conftest.py", "import pytest; pytest.register_assert_rewrite('shop')")
    write(project, "shop/__init__.py", "def check(x):\n    assert abs(x) == [1, x]\n")
    write(project, "tests/test_shop.py", "import shop\ndef test(): shop.check(2)\n")
    plain = run_pytest(folder=project)
    assert "where 2 = abs(2)" in plain.stdout
    options = "--cassette-packages=shop", "--cassette-context=noop", "--cassette-report=report.json"
    assert without_ours(run_pytest(*options, folder=project).stdout) == without_ours(plain.stdout)
    assert report_of(project)["modules"]["shop"]["specialised"] == {"check": ["Noop"]}


@pytest.mark.parametrize(("page", "tests"), [("pytest", 6), ("contexts-substitute", 1), ("migration-mock", 1)])
def test_the_examples_of_the_documentation_pass_as_tests(page, tests, project):
    text = (PROJECT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    write(project, "tests/test_documented.py", "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)))
    done = run_pytest("--strict-markers", "tests/test_documented.py", folder=project)
    assert outcomes(done) == {"passed": tests}


# ---- the notice of specialising

NOTICE = r"\ncassette_import: \d functions?( and \d module levels?)? specialised in \d\.\d seconds so far; .*\n"
IMPATIENT = "from cassette_import.specialization.progress import PROGRESS; PROGRESS.patience = 0"


@pytest.mark.parametrize("capture", ["fd", "sys", "no"])
def test_the_notice_of_specialising_reaches_the_user_and_no_capture(capture, project):
    write(project, "conftest.py", IMPATIENT)
    for kind in ("capfd", "capsys"):
        write(
            project,
            f"tests/test_{kind}.py",
            f"""
            import shop

            def test_nothing_is_captured({kind}):
                shop.area(1)
                assert {kind}.readouterr() == ("", "")
            """,
        )
    options = "--cassette-packages=shop", "--cassette-context=noop", f"--capture={capture}"
    done = run_pytest(*options, folder=project)
    assert outcomes(done) == {"passed": 3}, done.stdout
    assert re.fullmatch(NOTICE, done.stderr)


@pytest.mark.parametrize("capture", ["fd", "no"])
@pytest.mark.parametrize("asked", ["@pytest.mark.cassette('noop', packages='shop')", "overdubbing"])
def test_markers_and_the_fixture_have_the_notice_of_specialising_too(asked, capture, project):
    write(project, "conftest.py", IMPATIENT)
    is_marker = asked.startswith("@")
    call = "shop.area(1)" if is_marker else "overdubbing.start('noop', packages='shop'); shop.area(1)"
    write(
        project,
        "tests/test_shop.py",
        f"""
        import pytest, shop

        {asked if is_marker else ""}
        def test_nothing_is_captured(capfd{"" if is_marker else ", overdubbing"}):
            {call}
            assert capfd.readouterr() == ("", "")
        """,
    )
    done = run_pytest(f"--capture={capture}", folder=project)
    assert outcomes(done) == {"passed": 1}, done.stdout
    assert re.fullmatch(NOTICE, done.stderr)


def test_one_worker_of_xdist_writes_the_notice_of_specialising(project):
    pytest.importorskip("xdist")
    write(project, "conftest.py", IMPATIENT)
    write(project, "tests/test_other.py", TESTS)
    options = "--cassette-packages=shop", "--cassette-context=noop", "-n2", "--dist=each"
    done = run_pytest(*options, folder=project, plugins=["xdist.plugin"])
    assert outcomes(done) == {"passed": 4}, done.stdout
    assert len(re.findall(NOTICE, done.stderr)) == 1


def test_the_summary_says_how_much_of_the_test_run_specialising_was(project):
    write(project, "conftest.py", "from cassette_import.frontends.pytest_plugin import state; state._WORTH_SHOWING = 0")
    done = run_pytest("--cassette-packages=shop", "--cassette-context=noop", folder=project)
    assert re.search(r"\nspecialising: 2 functions, \d\.\d seconds, \d+% of the run\n", done.stdout)
