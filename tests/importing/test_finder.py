"""The finder and the loaders, with a fake registry that records the calls of its methods.

Names of tests carry the numbers of the checklist of import hooks (F: finding, C: code, S: source, V: what
programs see, P: pytest, D: defects of other hooks).
"""

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.resources
import importlib.util
import inspect
import os
import pkgutil
import runpy
import shutil
import subprocess
import sys
import textwrap
import threading
import warnings
import zipfile
import zipimport
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path

import pytest

from cassette_import.errors import CassetteWarning
from cassette_import.importing import finder as finder_module
from cassette_import.importing.finder import Finder, Loader, locate
from cassette_import.importing.selection import Selection, decide
from cassette_import.interpreter.late_modules import execute_all

ROOT = Path(finder_module.__file__).parents[2]


class Registry:
    """A fake `registry`: the code of a module is the plain code with another name."""

    def __init__(self):
        self.admitted = []
        self.asked = []
        self.active = False
        self.failures = {}

    def add_module(self, module_name, filename):
        self.admitted.append((module_name, filename))

    def wants_module_level(self, filename=None):
        return self.active

    def wants_trampolines(self, filename=None):
        return self.active

    def instrument_active(self):
        pass

    def cached_module_code(self, module_name, filename):
        return None

    def module_code(self, module_name, filename, source, plain):
        if module_name in self.failures:
            raise self.failures[module_name]
        self.asked.append((module_name, filename, source))
        return plain.replace(co_name="<overdubbed>")


@pytest.fixture
def registry(monkeypatch):
    fake = Registry()
    monkeypatch.setattr(finder_module, "registry", fake)
    return fake


@pytest.fixture(autouse=True)
def cleanly(monkeypatch):
    """Write bytecode (C9); restore path entries, finders and modules after the test."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    modules = set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        if name.startswith("made"):
            del sys.modules[name]


@pytest.fixture
def finder(registry, monkeypatch):
    """A finder for `made` and all below it."""
    ours = Finder()
    ours.selections = (Selection(["made"]),)
    monkeypatch.setattr(finder_module, "finder", ours)
    sys.meta_path.insert(0, ours)
    return ours


LEVEL = "import sys\nlevel = sys._getframe().f_code.co_name\n"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A package `made` of several kinds of modules."""
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {
        "made/__init__.py": LEVEL + "from made import sub\n\ndef f():\n    return 1\n",
        "made/sub.py": LEVEL + "\ndef g():\n    return 2\n",
        "made/other.py": LEVEL,
        "made/data.txt": "data",
        "made/bad.py": LEVEL + "x = = 1\n",
        "made/space/inner.py": LEVEL,
        "made/__main__.py": LEVEL,
    }
    return _write(tmp_path, files) / "made"


def _write(folder, files):
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    importlib.invalidate_caches()
    return folder


def _named(*parts):
    return str(Path(*parts))


# ---- which modules are meant


@pytest.mark.parametrize(
    ("names", "covered", "refused"),
    [
        (["made"], ["made", "made.sub", "made.a.b"], ["mad", "made2", "madeup.x", "x.made"]),
        (["made.sub"], ["made.sub", "made.sub.x"], ["made", "made.subway"]),
        (["made.*"], ["made.sub", "made.a.b"], ["made", "made2.x"]),
        (["m?de"], ["made"], ["made.sub", "mde"]),
        (["[mn]ade*"], ["made", "nade.x"], ["fade"]),
        (["made", "other"], ["made", "other.x"], ["another"]),
        ([], [], ["made", ""]),
        (["a.b"], ["a.b"], ["axb", "a-b"]),
    ],
)
def test_F11_names_and_patterns(names, covered, refused):
    selection = Selection(names)
    assert [name for name in covered + refused if selection.covers(name)] == covered


def test_F11_names_and_patterns_are_excluded_alike():
    selection = Selection(["made"], ["made.sub", "made.*test*"])
    names = ["made", "made.sub", "made.sub.x", "made.subway", "made.tests.x", "made.other"]
    assert [name for name in names if selection.covers(name)] == ["made", "made.subway", "made.other"]
    assert all(selection.matches(name) for name in names)


def test_F12_never_ourselves():
    selection = Selection(["*", "cassette_import"])
    assert not selection.covers("cassette_import")
    assert not selection.covers("cassette_import.rewriting.rewriter")
    assert selection.covers("cassette_imported")


def test_F12_finding_and_loading_import_nothing(finder, registry, made, monkeypatch):
    importlib.import_module("made.sub")  # modules that Python itself imports the first time
    for name in ["made", "made.sub"]:
        del sys.modules[name]
    execute_all()  # what late modules import is tested with them
    registry.active = True
    imported = []
    plain = builtins.__import__

    def noticing(name, namespace=None, *rest):
        if (namespace or {}).get("__name__", "").startswith("cassette_import"):
            imported.append(name)
        return plain(name, namespace, *rest)

    monkeypatch.setattr(builtins, "__import__", noticing)
    importlib.import_module("made.sub")
    assert imported == []
    assert sys.modules["made.sub"].level == "<overdubbed>"


def test_F13_names_that_are_not_selected_are_refused_before_other_finders_are_called(finder, registry):
    class Counting:
        asked = []

        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            cls.asked.append(fullname)

    sys.meta_path.insert(1, Counting)
    assert finder.find_spec("other_made") is None
    assert finder.find_spec("mad") is None
    assert Counting.asked == []
    assert finder.find_spec("made.nowhere", []) is None
    assert Counting.asked == ["made.nowhere"]


# ---- finding


def test_F1_all_finders_behind_are_called_in_order(finder, made):
    class Virtual(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
        def find_spec(self, fullname, path=None, target=None):
            if fullname == "made.other":
                return ModuleSpec(fullname, self, origin="virtual.py")
            return None

        def get_source(self, fullname):
            return "virtual = 1"

    virtual = Virtual()
    sys.meta_path.insert(1, virtual)
    module = importlib.import_module("made.other")
    assert module.virtual == 1
    assert module.__loader__ is virtual
    assert finder.decisions["made.other"].finder.endswith("Virtual")


def test_F1_finders_in_front_are_not_called_again(finder, made):
    asked = []

    class Front:
        def find_spec(self, fullname, path=None, target=None):
            asked.append(fullname)

    sys.meta_path.insert(0, Front())
    importlib.import_module("made.other")
    assert asked == ["made", "made.sub", "made.other"]


def test_F2_two_finders_that_call_all_other_finders(finder, made):
    class Asking:
        """As birdseye and logfire do it."""

        depth = 0

        def find_spec(self, fullname, path=None, target=None):
            self.depth += 1
            assert self.depth < 5
            try:
                for other in sys.meta_path:
                    if other is not self:
                        spec = other.find_spec(fullname, path, target)
                        if spec is not None:
                            return spec
            finally:
                self.depth -= 1

    sys.meta_path.insert(1, Asking())
    module = importlib.import_module("made.other")
    assert type(module.__loader__) is Loader
    assert finder.decisions["made.other"].finder.endswith("Asking")


def test_F2_another_thread_gets_its_answer(finder, made):
    inside, go_on = threading.Event(), threading.Event()

    class Slow:
        def find_spec(self, fullname, path=None, target=None):
            if threading.current_thread() is not threading.main_thread():
                inside.set()
                assert go_on.wait(10)

    sys.meta_path.insert(1, Slow())
    found = []
    thread = threading.Thread(target=lambda: found.append(finder.find_spec("made")))
    thread.start()
    assert inside.wait(10)
    assert finder.find_spec("made") is not None
    go_on.set()
    thread.join()
    assert found[0] is not None


def test_F3_entries_may_be_classes_lack_find_spec_and_change_the_list(finder, made):
    class AsClass:
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            sys.meta_path = [entry for entry in sys.meta_path if entry is not cls]

    sys.meta_path[1:1] = [AsClass, object(), type("Old", (), {"find_module": None})()]
    assert importlib.import_module("made.other").level == "<module>"
    assert AsClass not in sys.meta_path


def test_F3_without_a_place_on_the_list_all_finders_are_called(finder, made):
    sys.meta_path.remove(finder)
    assert type(finder.find_spec("made").loader) is Loader


def test_F4_the_spec_is_reused_and_only_its_loader_is_new(finder, made):
    specs = []

    class Watched:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            spec = PathFinder.find_spec(fullname, path, target)
            spec.loader_state = spec.mark = object()
            specs.append((spec, dict(vars(spec))))
            return spec

    sys.meta_path.insert(1, Watched)
    module = importlib.import_module("made")
    spec, before = specs[0]
    assert module.__spec__ is spec
    after = dict(vars(spec))
    plain, ours = before.pop("loader"), after.pop("loader")
    after.pop("_initializing", None), before.pop("_initializing", None)
    after["_cached"] = before["_cached"] = spec.cached  # computed on first access
    assert after == before
    assert (type(plain), type(ours)) == (SourceFileLoader, Loader)
    assert (ours.name, ours.path) == (plain.name, plain.path)
    assert isinstance(ours, importlib.abc.SourceLoader)


def _loads_with(loader_type):
    """A finder that sets loaders of this type for all modules."""

    class Specialist:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            spec = PathFinder.find_spec(fullname, path, target)
            spec.loader = loader_type(spec.loader.name, spec.loader.path)
            return spec

    return Specialist


@pytest.mark.parametrize("active", [False, True])
def test_F5_a_subclass_of_the_loader_is_not_replaced(finder, registry, made, active):
    class Noting(SourceFileLoader):
        read = []

        def get_data(self, path):
            self.read.append(path)
            return super().get_data(path)

    sys.meta_path.insert(1, _loads_with(Noting))
    registry.active = active
    for _ in ["import", "reload"]:
        sub = importlib.reload(importlib.import_module("made.sub"))
        assert type(sub.__loader__) is type(sub.__spec__.loader) is Noting
        assert sub.level == ("<overdubbed>" if active else "<module>")
    assert ("made.sub", _named(made, "sub.py")) in registry.admitted
    assert _named(made, "sub.py") in Noting.read


@pytest.mark.parametrize("active", [False, True])
def test_F5_what_another_tool_does_to_the_source_is_not_lost(finder, registry, made, active):
    """As typeguard, jaxtyping and beartype do it: bodies made from the source would lack their checks."""

    class Changing(SourceFileLoader):
        def source_to_code(self, data, path, *args, **kwargs):
            return super().source_to_code(data.replace(b"return 2", b"return 3"), path, *args, **kwargs)

    sys.meta_path.insert(1, _loads_with(Changing))
    registry.active = active
    sub = importlib.import_module("made.sub")
    assert (sub.g(), sub.level, type(sub.__loader__)) == (3, "<module>", Changing)
    assert (registry.admitted, registry.asked) == ([], [])
    assert "compiles something else" in finder.decisions["made.sub"].reason


def test_F5_a_loader_whose_code_differs_from_its_source(finder, registry, made):
    """The loader has no attribute that declares a change; its code is compared with that of the source."""

    class Instrumenting(SourceFileLoader):
        def get_code(self, fullname):
            return compile(self.get_data(self.path).replace(b"return 2", b"return 3"), self.path, "exec")

    sys.meta_path.insert(1, _loads_with(Instrumenting))
    registry.active = True
    sub = importlib.import_module("made.sub")
    assert (sub.g(), sub.level, type(sub.__loader__)) == (3, "<module>", Instrumenting)
    assert [name for name, *_ in registry.asked] == ["made"]  # where there was nothing to change


def test_F6_a_wrapper_has_what_the_loader_has_and_nothing_else(finder, registry, made):
    registry.active = True
    seen = []

    class Other(importlib.abc.SourceLoader):
        """Another package's loader that returns the source unchanged."""

        def get_filename(self, fullname):
            return _named(made, "other.py")

        def get_data(self, path):
            return Path(path).read_bytes()

        extra = "extra"

    class OtherFinder:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname == "made.other":
                return importlib.util.spec_from_loader(fullname, Other())

    sys.meta_path.insert(1, OtherFinder)
    importlib.import_module("made")
    (made / "other.py").write_text(LEVEL + "loader_inside = __loader__, __spec__.loader\n")
    loader = finder.find_spec("made.other").loader
    assert type(loader) is not Other
    assert isinstance(loader, Other)
    assert loader.extra == "extra"
    assert not hasattr(loader, "get_resource_reader") or hasattr(Other, "get_resource_reader")
    assert not hasattr(loader, "nonsense")
    seen = importlib.import_module("made.other")
    assert seen.level == "<overdubbed>"
    assert {type(loader) for loader in seen.loader_inside} == {Other}
    assert type(seen.__loader__) is type(seen.__spec__.loader) is Other
    assert registry.asked[-1][2] == (made / "other.py").read_bytes()


def test_F7_namespace_packages_are_untouched_and_what_is_in_them_is_found(finder, registry, made):
    module = importlib.import_module("made.space.inner")
    plain = PathFinder.find_spec("made.space", [str(made)])
    space = sys.modules["made.space"]
    assert type(space.__spec__.loader) is type(space.__loader__) is importlib.machinery.NamespaceLoader
    assert list(space.__path__) == list(plain.submodule_search_locations)
    decision = finder.decisions["made.space"]
    assert (decision.action, decision.reason) == ("left alone", "namespace package")
    assert type(module.__loader__) is Loader
    importlib.reload(space)


@pytest.mark.parametrize("active", [False, True])
def test_F8_a_zip_file(finder, registry, made, tmp_path, active):
    registry.active = active
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", tmp_path, "made")
    sys.path.insert(0, archive)
    importlib.invalidate_caches()
    sub = importlib.import_module("made.sub")
    assert sub.__file__ == _named(archive, "made", "sub.py")
    assert (sub.__name__, sub.__file__) in registry.admitted
    assert type(sub.__loader__) is type(sub.__spec__.loader) is zipimport.zipimporter
    assert sub.level == ("<overdubbed>" if active else "<module>")
    assert finder.decisions["made.sub"].loader == "zipimport.zipimporter"
    assert inspect.getsource(sub.g) == "def g():\n    return 2\n"
    assert importlib.resources.files("made").joinpath("data.txt").read_text() == "data"
    assert registry.asked == (
        [
            (n, _named(archive, *p), (made.parent / Path(*p)).read_bytes())
            for n, p in [("made", ("made", "__init__.py")), ("made.sub", ("made", "sub.py"))]
        ]
        if active
        else []
    )


def test_F8_bytecode_in_a_zip_file(finder, registry, made, tmp_path):
    import py_compile

    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(py_compile.compile(str(made / "other.py"), str(tmp_path / "x.pyc")), "made.pyc")
    sys.path.insert(0, str(archive))
    importlib.import_module("made")
    assert finder.decisions["made"].reason == "no source, only bytecode"
    assert registry.admitted == []


def test_F9_an_editable_install_is_overdubbed(finder, registry, made, tmp_path):
    editable_wheel = pytest.importorskip("setuptools.command.editable_wheel")
    sys.path.remove(str(tmp_path))  # so that setuptools' finder is the only one that knows it
    (tmp_path / "made_editable_finder.py").write_text(
        editable_wheel._finder_template("made_editable", {"made": str(made)}, {})
    )
    namespace = runpy.run_path(str(tmp_path / "made_editable_finder.py"))
    namespace["install"]()
    registry.active = True
    package = importlib.import_module("made")
    assert type(package.__loader__) is type(package.sub.__loader__) is Loader
    assert package.level == package.sub.level == "<overdubbed>"
    assert finder.decisions["made"].finder.endswith("_EditableFinder")


def test_F10_the_path_hooks_and_their_cache_are_not_touched(finder, made):
    hooks, cache = list(sys.path_hooks), dict(sys.path_importer_cache)
    importlib.import_module("made.sub")
    assert sys.path_hooks == hooks
    assert all(sys.path_importer_cache[entry] is cache[entry] for entry in cache)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("sys", "built-in module"), ("_frozen_importlib", "frozen module"), ("json", "")],
)
def test_F14_builtin_and_frozen_modules_are_left_alone(name, reason):
    spec = importlib.util.find_spec(name)
    assert decide(name, spec).reason == reason


def test_F14_extension_modules_are_left_alone(tmp_path):
    loader = importlib.machinery.ExtensionFileLoader("ext", "ext.so")
    spec = importlib.util.spec_from_file_location("ext", "ext.so", loader=loader)
    decision = decide("ext", spec)
    assert (decision.action, decision.reason) == ("left alone", "extension module")
    assert (decision.origin, decision.loader) == (str(Path.cwd() / "ext.so"), "ExtensionFileLoader")


def test_C13_modules_without_source_are_left_alone(finder, registry, made):
    import py_compile

    py_compile.compile(str(made / "other.py"), str(made / "other.pyc"))
    (made / "other.py").unlink()
    importlib.invalidate_caches()
    module = importlib.import_module("made.other")
    assert type(module.__loader__) is importlib.machinery.SourcelessFileLoader
    assert finder.decisions["made.other"].reason == "no source, only bytecode"
    assert "made.other" not in dict(registry.admitted)


# ---- loading


@pytest.mark.parametrize("active", [False, True], ids=["inactive", "active"])
def test_V1_what_programs_see_of_a_module(finder, registry, made, active):
    registry.active = active
    sub = importlib.import_module("made.sub")
    file = _named(made, "sub.py")
    assert sub.__file__ == sub.__spec__.origin == file
    assert sub.__cached__ if hasattr(sub, "__cached__") else True
    assert sub.__spec__.cached == importlib.util.cache_from_source(file)
    assert sub.__loader__ is sub.__spec__.loader
    assert sub.g.__code__.co_filename == file
    assert inspect.getsource(sub.g) == "def g():\n    return 2\n"
    assert inspect.getsource(sub) == sub.__loader__.get_source("made.sub") == (made / "sub.py").read_text()
    assert pkgutil.get_data("made", "data.txt") == b"data"
    assert importlib.resources.files("made").joinpath("data.txt").read_text() == "data"
    assert [module.name for module in pkgutil.iter_modules(sys.modules["made"].__path__)] == [
        "__main__",
        "bad",
        "other",
        "sub",
    ]
    assert sub.level == ("<overdubbed>" if active else "<module>")


@pytest.mark.parametrize("active", [False, True], ids=["inactive", "active"])
def test_C10_the_bytecode_is_that_of_python_and_in_its_place(finder, registry, made, tmp_path, active):
    registry.active = active
    importlib.import_module("made.sub")
    folder = made / "__pycache__"
    tag = sys.implementation.cache_tag
    level = f".opt-{sys.flags.optimize}" if sys.flags.optimize else ""
    assert sorted(os.listdir(folder)) == [f"{name}.{tag}{level}.pyc" for name in ["__init__", "sub"]]
    ours = (folder / f"sub.{tag}{level}.pyc").read_bytes()
    shutil.rmtree(folder)
    importlib.invalidate_caches()
    SourceFileLoader("made.sub", _named(made, "sub.py")).get_code("made.sub")
    assert (folder / f"sub.{tag}{level}.pyc").read_bytes() == ours


def test_C9_cold_and_warm_are_the_same(finder, registry, made):
    for active in [False, True, True, False]:
        registry.active = active
        importlib.import_module("made.sub")
        assert sys.modules["made.sub"].level == ("<overdubbed>" if active else "<module>")
        for name in ["made", "made.sub"]:
            del sys.modules[name]


def test_C14_code_for_runpy_is_that_of_an_import(finder, registry, made):
    for active in [False, True]:
        registry.active = active
        registry.admitted.clear()
        assert runpy.run_module("made.other")["level"] == ("<overdubbed>" if active else "<module>")
        assert ("made.other", _named(made, "other.py")) in registry.admitted
    assert runpy.run_module("made", run_name="__main__")["level"] == "<overdubbed>"


def test_C14_a_loader_returns_code_of_its_own_module_only(finder, registry, made):
    loader = finder.find_spec("made").loader
    for registry.active in [False, True]:
        with pytest.raises(ImportError, match="cannot handle"):
            loader.get_code("made.sub")


def test_reload_admits_again(finder, registry, made):
    sub = importlib.import_module("made.sub")
    (made / "sub.py").write_text(LEVEL + "new = True\n")
    registry.admitted.clear()
    registry.active = True
    assert importlib.reload(sub) is sub
    assert sub.new
    assert sub.level == "<overdubbed>"
    assert registry.admitted == [("made.sub", _named(made, "sub.py"))]


def test_V13_a_lazy_module_is_loaded_as_things_are_when_it_is_used(finder, registry, made):
    importlib.import_module("made")
    spec = importlib.util.find_spec("made.other")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["made.other"] = module
    spec.loader.exec_module(module)
    assert "made.other" not in dict(registry.admitted)
    registry.active = True
    assert module.level == "<overdubbed>"
    assert "made.other" in dict(registry.admitted)


def test_uninstalled_between_finding_and_loading(finder, registry, made):
    spec = finder.find_spec("made")
    finder.selections = ()
    registry.active = True
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.level == "<module>"
    assert registry.admitted == []


def test_admitted_when_executed_and_not_when_found(finder, registry, made):
    importlib.import_module("made")
    registry.admitted.clear()
    assert importlib.util.find_spec("made.other") is not None
    assert registry.admitted == []
    importlib.import_module("made.other")
    assert registry.admitted == [("made.other", _named(made, "other.py"))]


def test_S5_what_cannot_be_rewritten_is_imported_plain_with_one_warning(finder, registry, made):
    registry.active = True
    registry.failures["made.sub"] = RecursionError("too deep")
    with pytest.warns(CassetteWarning) as caught:
        sub = importlib.reload(importlib.import_module("made.sub"))
    [warning] = caught
    assert str(warning.message).startswith("made.sub is imported plain: ")
    assert str(warning.message).endswith("RecursionError: too deep")
    assert (warning.filename, warning.lineno) == (_named(made, "sub.py"), 1)
    assert (sub.level, sub.g()) == ("<module>", 2)
    decision = finder.decisions["made.sub"]
    assert decision.action == "rewritten"  # its functions are
    assert "module level" in decision.reason


def test_S5_a_registry_that_fails_does_not_fail_the_import(finder, registry, made, monkeypatch):
    def add_module(*args):
        raise ValueError("no")

    monkeypatch.setattr(registry, "add_module", add_module)
    with pytest.warns(CassetteWarning, match="made.* is imported plain: ValueError: no"):
        assert importlib.import_module("made.other").level == "<module>"
    assert finder.decisions["made.other"].action == "left alone"


def test_S5_the_programs_own_errors_are_not_swallowed(finder, registry, made):
    (made / "sub.py").write_text("raise AttributeError('mine')\n")
    for registry.active in [False, True]:
        with pytest.raises(AttributeError, match="mine"):
            importlib.import_module("made.sub")


def test_S6_a_warning_of_the_compiler_is_issued_once(finder, registry, made):
    registry.active = True
    (made / "sub.py").write_text("x = 1 is 1\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        importlib.import_module("made.sub")
    assert [warning.category for warning in caught] == [SyntaxWarning]


# ---- in a separate process, compared with plain Python

HOOK = """
import sys
sys.path.insert(0, {root!r})
from cassette_import.importing import finder as finder_module
from cassette_import.importing.selection import Selection

class Registry:
    def add_module(self, module_name, filename): pass
    def wants_module_level(self, filename=None): return {active}
    def wants_trampolines(self, filename=None): return {active}
    def cached_module_code(self, module_name, filename): return None
    def module_code(self, module_name, filename, source, plain): return plain.replace()

finder_module.registry = Registry()
finder_module.finder.selections = (Selection(["made"]),)
sys.meta_path.insert(0, finder_module.finder)
"""


def _outcomes(folder, program, *options):
    """Return Python's output plain, with the hook, and with the hook in a context; each twice, cold and warm."""
    program = textwrap.dedent(program)
    outcomes = []
    for hook in ["", HOOK.format(root=str(ROOT), active=False), HOOK.format(root=str(ROOT), active=True)]:
        shutil.rmtree(folder / "made" / "__pycache__", ignore_errors=True)
        (folder / "made_hook.py").write_text(hook)
        (folder / "made_program.py").write_text("import made_hook\n" + program)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHON_COLORS": "0"}
        for _ in ["cold", "warm"]:
            command = [sys.executable, *options, "made_program.py"]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
            outcomes.append((done.returncode, done.stdout, done.stderr))
    return outcomes


PROGRAMS = {
    "D7_an_exception_while_importing": "import made.raising",
    "D7_an_exception_in_a_nested_import": "import made.nested",
    "S4_a_syntax_error": "import made.bad",
    "S4_a_syntax_error_in_a_nested_import": "import made.imports_bad",
    "S4_a_null_byte": "import made.null",
    "S4_a_bad_encoding": "import made.encoding",
    "S4_a_syntax_error_under_reload": """
        import importlib, made.sub, pathlib
        file = pathlib.Path(made.sub.__file__)
        source = file.read_text()
        file.write_text("x = = 1")
        try:
            importlib.reload(made.sub)
        finally:
            file.write_text(source)
    """,
    "D4_runpy_of_a_syntax_error": "import runpy\nrunpy.run_module('made.bad')",
    "D4_runpy_of_an_exception": "import runpy\nrunpy.run_module('made.raising', alter_sys=True)",
    "a_missing_module": "import made.nowhere",
    "a_missing_name": "from made.sub import nothing",
    "warnings_with_stack_levels": "import made.warning",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_tracebacks_are_those_of_python(program, made):
    more = {
        "raising.py": "def f():\n    1 / 0\nf()\n",
        "nested.py": "import made.raising\n",
        "imports_bad.py": "from made import bad\n",
        "null.py": "x = 1\0\n",
        "encoding.py": "# coding: nonsense\n",
        "warning.py": "import warnings\nfor level in 1, 2, 3:\n    warnings.warn('here', stacklevel=level)\n",
    }
    _write(made, more)
    (made / "encoding.py").write_bytes(b"# coding: nonsense\n")
    expected, *others = _outcomes(made.parent, program)
    assert "Error" in expected[2] or "Warning" in expected[2]
    assert "cassette" not in expected[2]
    assert others == [expected] * 5


def test_D1_D4_plain_bytecode_stays_plain(made):
    program = "import runpy, made.sub, os\nrunpy.run_module('made.other')\nprint(*sorted(os.walk('made')))"
    cold, warm, *others = _outcomes(made.parent, program)
    assert "sub." in cold[1]
    assert others == [cold, warm] * 2


def test_D3_options_of_optimisation_are_those_of_python(made):
    (made / "sub.py").write_text('"doc"\nassert False\nprint(__doc__)\n')
    assert [code for code, _, _ in _outcomes(made.parent, "import made.sub")] == [1] * 6
    for option, output in [("-O", "doc"), ("-OO", "None")]:
        assert _outcomes(made.parent, "import made.sub", option) == [(0, output + "\n", "")] * 6


# ---- pytest's own hook


PYTEST_CONFTEST = (
    HOOK
    + """
import pytest

def pytest_collection_finish(session):
    for name, decision in finder_module.finder.decisions.items():
        print("DECISION", name, decision.action, decision.loader)
"""
)


@pytest.mark.parametrize("active", [False, True], ids=["inactive", "active"])
def test_P1_assertion_rewriting_is_kept(tmp_path, active):
    test = """
        import importlib, pytest
        from _pytest.assertion.rewrite import AssertionRewritingHook

        def test_failing():
            left = [1, 2]
            assert left == [1, 3]

        def test_loader():
            assert type(__loader__) is type(__spec__.loader) is AssertionRewritingHook
            pytest.register_assert_rewrite(__name__)
            importlib.resources.files("made.tests")
    """
    files = {
        "made/__init__.py": "",
        "made/tests/__init__.py": "",
        "made/tests/test_inside.py": textwrap.dedent(test),
        "conftest.py": PYTEST_CONFTEST.format(root=str(ROOT), active=active),
        "pytest.ini": "[pytest]\n",
    }
    _write(tmp_path, files)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        "-W",
        "error",
        "made",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "At index 1 diff: 2 != 3" in done.stdout, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    expected = "DECISION made.tests.test_inside rewritten _pytest.assertion.rewrite.AssertionRewritingHook"
    assert expected in done.stdout


# ---- locate


def test_locate_imports_nothing(made):
    spec, found_by = locate("made.sub")
    assert (spec.origin, found_by) == (_named(made, "sub.py"), "PathFinder")
    assert "made" not in sys.modules
    assert locate("made.nowhere") == locate("made.sub.x") == locate("made_nowhere.x") == (None, "")


def test_locate_calls_the_finders_behind_and_records_nothing(finder, registry, made):
    spec, found_by = locate("made.sub")
    assert type(spec.loader) is SourceFileLoader
    assert found_by == "PathFinder"
    assert (finder.decisions, registry.admitted) == ({}, [])
    assert decide("made.sub", spec) == ("made.sub", "rewritten", "", spec.origin, "SourceFileLoader", "")


# ---- with the real registry


SHOUT = """
    import sys

    words = [word.upper() for word in str("a b").split()]

    def shout(text):
        return str(text).upper()

    class Voice:
        level = len("abc")

        def shout(self, text):
            return (lambda: shout(text) * self.level)()
"""


def _context_type():
    from cassette_import import Context

    class Calls(Context):
        def __init__(self):
            self.names = []

        def prehook(self, function, *args, **kwargs):
            self.names.append(getattr(function, "__name__", "?"))

    return Calls


@pytest.mark.parametrize("kind", ["file", "zip", "editable"])
@pytest.mark.parametrize("when", ["before", "inside", "earlier"])
def test_a_package_is_overdubbed_however_it_is_found_and_whenever(make_package, tmp_path, kind, when):
    from cassette_import import install, overdub

    name = make_package({"mod.py": SHOUT})
    if kind == "zip":
        sys.path.insert(0, shutil.make_archive(str(tmp_path / "archive"), "zip", tmp_path, name))
    elif kind == "editable":
        editable_wheel = pytest.importorskip("setuptools.command.editable_wheel")
        sys.path.remove(str(tmp_path))
        found = {}
        exec(editable_wheel._finder_template("editable", {name: str(tmp_path / name)}, {}), found)
        found["install"]()
    importlib.invalidate_caches()
    context = _context_type()()
    if when == "earlier":
        importlib.import_module(f"{name}.mod")
    with install(name):
        if when == "inside":
            with context:
                module = importlib.import_module(f"{name}.mod")
                module.Voice().shout("a")
            assert context.names[0] == "str"  # of the module level
        else:
            module = importlib.import_module(f"{name}.mod")
        codes = module.shout.__code__, module.Voice.shout.__code__
        context.names.clear()
        assert overdub(context, module.Voice().shout, "a") == "AAA"
        assert [seen for seen in context.names if seen in ("shout", "upper")] == ["shout", "upper"]
    if when != "inside":
        assert (module.shout.__code__, module.Voice.shout.__code__) == codes
    context.names.clear()
    assert (module.shout("b"), context.names) == ("B", [])
    assert module.words == ["A", "B"]


def test_what_is_executed_in_a_context_leaves_python_bytecode_alone(make_package, tmp_path):
    from cassette_import import install

    name = make_package({"mod.py": SHOUT})
    with install(name), _context_type()():
        module = importlib.import_module(f"{name}.mod")
    plain = SourceFileLoader(module.__name__, module.__file__)
    cached = Path(importlib.util.cache_from_source(module.__file__))
    before = cached.read_bytes()
    cached.unlink()
    plain.get_code(module.__name__)
    assert cached.read_bytes() == before
    own = [name for name in os.listdir(cached.parent) if "cassette" not in name]
    assert len(own) == 2  # __init__ and mod
