"""`install`, `uninstall`, `installed` and reports, with a fake registry that records the calls of its methods."""

import importlib
import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path

import importlib_metadata  # noqa: F401  # changes sys.meta_path, so not in the middle of a test
import pytest

from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.importing import finder as finder_module
from cassette_import.importing import installation
from cassette_import.importing.installation import Installation, install, installed, uninstall

ROOT = Path(installation.__file__).parents[2]


class Registry:
    """A fake `registry` that records the calls of its methods."""

    def __init__(self):
        self.admitted = {}
        self.dismissed = []
        self.dismissals = 0

    def add_module(self, module_name, filename):
        self.admitted[module_name] = filename

    def remove_modules(self, module_names):
        self.dismissals += 1
        for name in module_names:
            del self.admitted[name]
            self.dismissed.append(name)

    def instrument_active(self):
        pass

    def wants_module_level(self, filename=None):
        return False

    def wants_trampolines(self, filename=None):
        return False

    def specialised_functions(self, module_name):
        return {"f": ["Noop"]} if module_name == "made.a" else {}

    def functions_left_alone(self, module_name):
        return {"g": "compiled by numba"} if module_name == "made.a" else {}


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """A new registry and an empty list of installations, which are replaced by the earlier ones after the test."""
    fake = Registry()
    finder = finder_module.Finder()
    for module in [finder_module, installation]:
        monkeypatch.setattr(module, "registry", fake)
        monkeypatch.setattr(module, "finder", finder)
    monkeypatch.setattr(installation, "_installations", [])
    monkeypatch.setattr(sys, "meta_path", [entry for entry in sys.meta_path if not _is_finder(entry)])
    modules = set(sys.modules)
    yield fake
    for name in set(sys.modules) - modules:
        if name.startswith("made"):
            del sys.modules[name]


def _is_finder(entry):
    return isinstance(entry, finder_module.Finder)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A package `made`, of which nothing is imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {
        "made/__init__.py": "__path__ = list(__path__)\n",
        "made/a.py": "def f(): pass\ndef g(): pass\n",
        "made/b.py": "",
        "made/sub/__init__.py": "",
        "made/sub/c.py": "",
        "made/bad.py": "x = 1\ny = = 2\n",
        "made/raising.py": "1 / 0\n",
        "made/space/d.py": "",
        "made/space/deeper/e.py": "",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    importlib.invalidate_caches()
    return tmp_path / "made"


def load(*names):
    return [importlib.import_module(name) for name in names]


# ---- arguments


def test_F11_one_string_is_a_list_of_one(made):
    assert install("made").packages == ("made",)
    assert install(["made"]).packages == ("made",)
    assert install(iter(["made.a", "made.b", "made.a"]), exclude="x").packages == ("made.a", "made.b")


@pytest.mark.parametrize("verb", [install, uninstall])
@pytest.mark.parametrize(
    ("arguments", "written"),
    [(("a", "b"), '["a", "b"]'), (("json", "os", "re"), '["json", "os", "re"]'), ((["a"], ["b"]), "[...]")],
)
def test_several_names_that_are_no_list_are_an_error_with_the_right_spelling(verb, arguments, written):
    with pytest.raises(TypeError) as caught:
        verb(*arguments)
    assert f": {verb.__name__}({written})" in str(caught.value)
    assert installed() == ()


@pytest.mark.parametrize("wrong", [5, None, b"made", bytearray(b"x"), [5], [b"made"], ["json", None], [["json"]], os])
def test_what_is_no_string_is_a_type_error(wrong):
    for arguments, keywords in [((wrong,), {}), (("json",), {"exclude": wrong})]:
        with pytest.raises(TypeError, match=r"string|by name"):
            install(*arguments, **keywords)
    if wrong is not None:
        with pytest.raises(TypeError, match=r"string|by name"):
            uninstall(wrong)
    assert installed() == ()


@pytest.mark.parametrize(
    "name",
    [
        "made_nowhere",
        "made.nowhere",
        "made.a.x",
        "made_nowhere.x",
        "",
        ".",
        ".made",
        "made.",
        "made..a",
        "a b",
    ],
)
def test_a_name_that_no_finder_finds(made, name):
    with pytest.raises(ModuleNotFoundError) as caught:
        install(name)
    assert caught.value.name == name
    assert str(caught.value).startswith(f"No module named {name!r}")


def test_a_module_that_may_not_be_imported(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "made", None)
    with pytest.raises(ModuleNotFoundError):
        install("made")


def _distribution(folder, name, *modules):
    folder = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "top_level.txt").write_text("\n".join(modules))


@pytest.mark.parametrize("name", ["Made-Distribution", "made_distribution", "made.distribution"])
def test_the_error_for_a_distribution_has_its_import_names(made, name):
    _distribution(made.parent, "Made-Distribution", "made", "_made")
    _distribution(made.parent, "another-distribution", "another")
    with pytest.raises(ModuleNotFoundError, match=f"'{name}'; the distribution {name} is imported as 'made'$"):
        install(name)


def test_importlib_metadata_is_imported_for_that_message_only(made):
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from cassette_import.importing.installation import install
        install("made"), install("colorsys")
        import made.a
        assert "importlib_metadata" not in sys.modules
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(ROOT)]
    subprocess.run(command, check=True, cwd=made.parent)


def test_abstract_base_classes_cache_no_class_of_cassette_import(made):
    program = """
        import collections.abc, sys
        from _abc import _get_dump
        sys.path.insert(0, sys.argv[1])
        from cassette_import import Context, install
        from cassette_import.contexts import Noop
        import made.a

        def remembered():
            classes = {name: vars(collections.abc)[name] for name in collections.abc.__all__}
            return {name: {str(known()) for known in _get_dump(base)[1]} for name, base in classes.items()}

        before = remembered()
        install(["made"], exclude=["made.b"])
        with Noop():
            import made.sub.c
            made.a.f()
        with Context(passes=[lambda context_type, reflection: reflection.tree]):
            pass
        assert remembered() == before
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(ROOT)]
    subprocess.run(command, check=True, cwd=made.parent)


def test_no_class_that_is_no_builtin_has_a_name_in_builtins(made):
    program = """
        import builtins, sys
        known = {id(value) for value in vars(builtins).values()}
        sys.path.insert(0, sys.argv[1])
        from cassette_import import Context, install
        from cassette_import.contexts import Noop, Profile, Substitute
        install(["made"])
        import made.calls
        for ctx in [Noop(), Profile(), Substitute({"math.sin": abs})]:
            with ctx:
                assert made.calls.calls(abs) == (1, 1)
        classes = {name: value for name, value in vars(builtins).items() if isinstance(value, type)}
        assert {name for name, value in classes.items() if id(value) not in known} == set()
    """
    (made / "calls.py").write_text("def calls(f):\n    return f(-1), g(f, -1)\ndef g(f, x):\n    return f(x)\n")
    command = [sys.executable, "-c", textwrap.dedent(program), str(ROOT)]
    subprocess.run(command, check=True, cwd=made.parent)


@pytest.mark.parametrize("name", ["math", "sys", "_frozen_importlib", "made_pyc", "made_ext"])
def test_a_module_without_python_source_is_not_overdubbable(made, name):
    import py_compile

    py_compile.compile(str(made / "a.py"), str(made.parent / "made_pyc.pyc"))
    (made.parent / f"made_ext{importlib.machinery.EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    importlib.invalidate_caches()
    with pytest.raises(NotOverdubbable, match=rf"^{name} cannot be overdubbed: .+ module.* source$|bytecode"):
        install(["made", name])
    assert issubclass(NotOverdubbable, (CassetteError, ValueError))
    assert installed() == ()


@pytest.mark.parametrize(
    "name", ["cassette_import", "cassette_import.specialization.disk_cache", "cassette_import.contexts.*"]
)
def test_F12_never_ourselves(name):
    with pytest.raises(NotOverdubbable, match="is part of cassette_import itself"):
        install(name)
    assert not any(
        reported.name.startswith("cassette_import")
        for reported in install("*").report()
        if reported.action == "rewritten"
    )


def test_nothing_is_installed_if_one_name_is_wrong(made, registry):
    load("made.a")
    meta_path = list(sys.meta_path)
    for wrong in [["made", "made_nowhere"], ["made", "math"], ["made", 5]]:
        with pytest.raises((ModuleNotFoundError, NotOverdubbable, TypeError)):
            install(wrong)
    assert (installed(), registry.admitted, sys.meta_path) == ((), {}, meta_path)


def test_checking_a_name_imports_nothing(made):
    install(["made.a", "made.sub.c", "made.space.deeper.e"])
    assert not any(name.startswith("made") for name in sys.modules)


def test_a_module_that_only_its_package_finds(made):
    """As `six.moves`: it exists once the package has been executed."""
    (made / "__init__.py").write_text(
        "import sys, types\nsys.modules['made.moves'] = moves = types.ModuleType('made.moves')\n"
        f"moves.__file__ = {str(made / 'a.py')!r}\n"
    )
    install("made.moves")
    assert installed() == ("made.moves",)


def test_a_module_in_nested_namespace_packages(made):
    install("made.space.deeper.e")
    load("made.space.deeper.e")
    assert [(reported.name, reported.action) for reported in _reports()] == [("made.space.deeper.e", "rewritten")]


def test_a_package_that_cannot_be_imported_is_named(made):
    (made / "__init__.py").write_text("import made_missing_dependency\n")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'made\.nowhere': .*made_missing_dependency"):
        install("made.nowhere")


def test_patterns_need_not_match_anything_yet():
    install(["made_nowhere.*", "m?de", "[x]"])
    assert installed() == ("made_nowhere.*", "m?de", "[x]")


# ---- what is taken in


def test_modules_imported_later_are_overdubbed(made, registry):
    install("made")
    assert registry.admitted == {}
    load("made.a", "made.sub.c")
    assert registry.admitted == {
        "made": str(made / "__init__.py"),
        "made.a": str(made / "a.py"),
        "made.sub": str(made / "sub" / "__init__.py"),
        "made.sub.c": str(made / "sub" / "c.py"),
    }


def test_P3_modules_imported_already_are_overdubbed_in_place(made, registry):
    a, *_ = load("made.a", "made.b", "made.sub.c")
    install(["made.a", "made.sub"])
    assert set(registry.admitted) == {"made.a", "made.sub", "made.sub.c"}
    assert registry.admitted["made.a"] == a.__file__
    assert sys.modules["made.a"] is a


def test_what_is_excluded_stays_out(made, registry):
    load("made.sub.c")
    installation = install("made", exclude=["made.sub", "*.b"])
    load("made.a", "made.b")
    assert set(registry.admitted) == {"made", "made.a"}
    assert installation.exclude == ("made.sub", "*.b")


def test_V13_a_lazy_module_is_not_loaded_by_installing(made, registry):
    load("made")
    spec = importlib.util.find_spec("made.raising")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    sys.modules["made.raising"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    install("made").report()
    assert registry.admitted["made.raising"] == str(made / "raising.py")


def test_odd_entries_of_sys_modules(made, registry, monkeypatch):
    class Odd:
        def __getattr__(self, name):
            raise RuntimeError("do not touch")

    monkeypatch.setitem(sys.modules, "made.none", None)
    monkeypatch.setitem(sys.modules, "made.odd", Odd())
    monkeypatch.setitem(sys.modules, "made.bare", types.ModuleType("made.bare"))
    installation = install("made")
    assert registry.admitted == {}
    assert [str(reported) for reported in installation.report()] == [
        "made.bare: left alone (made without a file)",
        "made.odd: left alone (made without a file)",
    ]


def test_M2_the_main_module_is_selected_by_its_importable_name(made, registry, monkeypatch):
    main = types.ModuleType("__main__")
    main.__spec__ = importlib.util.spec_from_file_location("made.__main__", str(made / "a.py"))
    monkeypatch.setitem(sys.modules, "__main__", main)
    with install("made"):
        assert registry.admitted == {"made.__main__": str(made / "a.py")}
    with install("__main__"):
        assert registry.admitted == {"__main__": str(made / "a.py")}
    main.__spec__ = None
    main.__file__ = str(made / "b.py")
    with install("__main__"):
        assert registry.admitted == {"__main__": str(made / "b.py")}
    main.__spec__ = importlib.util.spec_from_file_location("cassette_import.__main__", str(made / "a.py"))
    with install("*", exclude="[!_]*"):
        assert "__main__" not in registry.admitted


def test_reloading_goes_through_the_finder(made, registry):
    install("made")
    [a] = load("made.a")
    registry.admitted.clear()
    assert importlib.reload(a) is a
    assert list(registry.admitted) == ["made.a"]


# ---- the finder's place


def test_the_finder_is_in_front_once_and_removed_at_the_end(made):
    before = list(sys.meta_path)
    first = install("made.a")
    assert [_is_finder(entry) for entry in sys.meta_path] == [True] + [False] * len(before)
    second = install("made.b")
    assert sys.meta_path[1:] == before
    first.uninstall()
    assert _is_finder(sys.meta_path[0])
    second.uninstall()
    assert sys.meta_path == before


def test_P1_the_finder_comes_to_the_front_again(made):
    install("made.a")
    other = types.SimpleNamespace(find_spec=lambda *arguments: None)
    sys.meta_path.insert(0, other)
    install("made.b")
    assert [_is_finder(entry) for entry in sys.meta_path].count(True) == 1
    assert _is_finder(sys.meta_path[0])
    assert sys.meta_path[1] is other


def test_F3_a_list_that_was_replaced_gets_the_finder_again(made, registry):
    installation = install("made.a")
    sys.meta_path = [entry for entry in sys.meta_path if not _is_finder(entry)]
    load("made.a")
    [reported] = installation.report()
    assert (reported.action, reported.reason) == ("left alone", "imported without asking the finder")
    install("made.b")
    assert _is_finder(sys.meta_path[0])
    assert list(registry.admitted) == ["made.a"]
    sys.meta_path = [entry for entry in sys.meta_path if not _is_finder(entry)]
    uninstall()
    assert registry.admitted == {}


# ---- undoing


def test_uninstalling_dismisses_exactly_what_was_admitted(made, registry):
    load("made.a")
    installation = install(["made.a", "made.sub"])
    load("made.sub.c", "made.b")
    installation.uninstall()
    assert sorted(registry.dismissed) == ["made.a", "made.sub", "made.sub.c"]
    assert (registry.admitted, installed()) == ({}, ())
    installation.uninstall()
    uninstall(["made.a"])
    assert len(registry.dismissed) == 3
    assert registry.dismissals == 1  # it searches the whole heap


def test_P5_installations_stack(made, registry):
    load("made.a", "made.b", "made.sub")
    outer, inner = install("made", exclude="made.sub"), install(["made.a", "made.sub"])
    assert installed() == ("made", "made.a", "made.sub")
    outer.uninstall()
    assert sorted(registry.dismissed) == ["made", "made.b"]
    assert installed() == ("made.a", "made.sub")
    again = install("made.a")
    inner.uninstall()
    assert list(registry.admitted) == ["made.a"]
    again.uninstall()
    assert registry.admitted == {}


def test_an_installation_is_a_context_manager(made, registry):
    load("made.a")
    with install("made.a") as installation:
        assert isinstance(installation, Installation)
        assert list(registry.admitted) == ["made.a"]
    assert registry.admitted == {}
    with pytest.raises(ZeroDivisionError), install("made.a"):
        assert 1 / 0
    assert installed() == ()


def test_uninstall_by_name(made, registry):
    load("made.a", "made.b")
    both, one = install(["made.a", "made.b"]), install("made.a")
    uninstall("made.a")
    assert (both.packages, installed()) == (("made.b",), ("made.b",))
    assert "undone" in repr(one)
    assert list(registry.admitted) == ["made.b"]
    uninstall(["made.nowhere"])
    assert installed() == ("made.b",)
    uninstall()
    assert (installed(), registry.admitted) == ((), {})


def test_an_installation_shows_what_it_is(made):
    with install(["made"], exclude=["made.sub"]) as installation:
        assert repr(installation) == "<Installation of ['made'], exclude=['made.sub']>"
        assert repr(sys.meta_path[0]) == "<cassette_import finder for made>"
    assert repr(installation) == "<Installation of ['made'], exclude=['made.sub'], undone>"


def test_V11_many_threads_install_and_import(made, registry):
    failures = []

    def work():
        try:
            for _ in range(30):
                with install("made"):
                    importlib.import_module("made.a")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (installed(), registry.admitted) == ((), {})
    assert not any(map(_is_finder, sys.meta_path))


# ---- reports


def _reports():
    return [reported for part in installation._installations for reported in part.report()]


def test_the_report_lists_each_module_with_its_reason(made):
    installation = install("made", exclude="made.b")
    load("made.a", "made.b", "made.space.d")
    for name in ["made.bad", "made.raising", "made.nowhere"]:
        with pytest.raises((SyntaxError, ZeroDivisionError, ImportError)):
            importlib.import_module(name)
    importlib.util.find_spec("made.sub")
    assert [str(reported) for reported in installation.report()] == [
        "made: rewritten",
        "made.a: rewritten",
        "made.b: left alone (excluded)",
        "made.bad: left alone (syntax error in line 2: invalid syntax)",
        "made.raising: rewritten",
        "made.space: left alone (namespace package)",
        "made.space.d: rewritten",
    ]


def test_the_report_lists_functions(made):
    installation = install("made")
    load("made.a")
    [_, a] = installation.report()
    assert a == (
        "made.a",
        "rewritten",
        "",
        str(made / "a.py"),
        "SourceFileLoader",
        {"f": ["Noop"]},
        {"g": "compiled by numba"},
    )


def test_an_undone_installation_reports_its_last_state(made):
    with install("made") as installation:
        load("made.a")
    assert [reported.name for reported in installation.report()] == ["made", "made.a"]
    load("made.b")
    installation.report().clear()
    assert [reported.name for reported in installation.report()] == ["made", "made.a"]


def test_the_report_is_the_same_for_modules_imported_earlier(made):
    load("made.a", "made.space.d")
    earlier = install("made").report()
    uninstall()
    for name in [name for name in sys.modules if name.startswith("made")]:
        del sys.modules[name]
    later = install("made")
    load("made.a", "made.space.d")
    assert later.report() == earlier
