"""Imports in contexts without `module_level`: the module level is plain code, and the import is one event."""

import asyncio
import importlib
import importlib.util
import os
import sys
import threading
import traceback

import pytest
from helpers.contexts import entered_without_source

from cassette_import import Context, Events, callsite, current, install, overdub, recurse
from cassette_import.runtime.module_imports import ModuleImport
from cassette_import.specialization.registry import registry


class Noted(Context):
    """Notes its events by name: calls, results and exceptions."""

    def __init__(self, seen, name=""):
        super().__init__()
        self.seen, self.name = seen, name

    def prehook(self, f, *args, **kwargs):
        self.seen.append(f"{self.name}{f.__name__}")

    def posthook(self, result, f, *args, **kwargs):
        self.seen.append(f"{self.name}/{f.__name__}")

    def errorhook(self, exception, f, *args, **kwargs):
        self.seen.append(f"{self.name}!{f.__name__}")


class Outside(Noted):
    module_level = False


class Inside(Noted):
    pass


FILES = {
    "__init__.py": "from . import first",
    "first.py": """
        import os
        from cassette_import import current

        def decorate(f):
            def decorated(x):
                return f(abs(x))
            return decorated

        def helper(x):
            return len(x)

        @decorate
        def later(x):
            return helper([x])

        def counted():
            for x in (1, 2):
                yield abs(x)

        counting = counted()
        next(counting)
        context = current()
        helper("abc")
        os.getcwd()

        def lazily():
            from . import second
            return second.g()
        """,
    "second.py": """
        from . import third
        def g():
            return abs(-1)
        g()
        """,
    "third.py": "",
    "broken.py": "from . import third\n1 / 0",
}


@pytest.fixture
def name(make_package):
    made = make_package(FILES)
    install(made)
    return made


def imports(seen, name):
    """The events of imports, without the name of the package."""
    return [event.replace(f"{name}.", "").replace(name, "pkg") for event in seen if "import " in event]


def test_an_import_is_one_event_and_nested_imports_nest(name):
    seen = []
    with entered_without_source(Outside(seen)):
        importlib.import_module(name)
    assert [event.replace(name, "pkg") for event in seen] == [
        "import pkg",
        "import pkg.first",
        "/import pkg.first",
        "/import pkg",
    ]


def test_no_context_is_active_in_the_module_level(name):
    with entered_without_source(Outside([])):
        assert importlib.import_module(f"{name}.first").context is None
        assert type(current()) is Outside


def test_functions_that_an_import_calls_are_not_specialised(name):
    with entered_without_source(Outside([])):
        module = importlib.import_module(f"{name}.first")
        called = registry.specialised_functions(module.__name__)
        module.helper("a")
    assert called == {"counted": ["Outside"]}  # a generator may be resumed in a context
    assert set(registry.specialised_functions(module.__name__)) == {"counted", "helper"}


@pytest.mark.parametrize(
    ("call", "events"),
    [
        (lambda module: module.helper("ab"), ["len"]),
        (lambda module: module.later(-2), ["abs", "later", "helper", "len"]),
        (lambda module: next(module.counting), ["abs"]),
        (lambda module: module.lazily(), ["import second", "import third", "g", "abs"]),
    ],
    ids=["function", "decorated during the import", "generator begun during the import", "import in a function"],
)
def test_what_an_import_has_made_is_overdubbed_afterwards(call, events, name):
    seen = []
    with entered_without_source(Outside(seen)):
        module = importlib.import_module(f"{name}.first")
        del seen[:]
        call(module)
    assert [event.replace(f"{name}.", "") for event in seen if event[0] != "/"] == events


def test_a_module_that_was_imported_before_is_no_event(name):
    seen = []
    with entered_without_source(Outside(seen)):
        first = importlib.import_module(f"{name}.first")
        first.lazily()
        del seen[:]
        first.lazily()
    assert seen == ["g", "abs", "/abs", "/g"]


@pytest.mark.parametrize("outermost", [Inside, Outside], ids=["inside it", "outside it"])
def test_the_module_level_is_overdubbed_for_the_contexts_that_have_it(outermost, make_package):
    name = make_package({"mod.py": "import math\ndef f(): return math.sin(0)\nf()\n"})
    install(name)
    innermost = Outside if outermost is Inside else Inside
    seen = []
    with entered_without_source(outermost(seen, outermost.__name__), innermost(seen, innermost.__name__)):
        module = importlib.import_module(f"{name}.mod")
        module.f()
    assert [event for event in seen if event.startswith("Outside")][2:] == [
        f"Outsideimport {name}.mod",
        f"Outside/import {name}.mod",
        "Outsidesin",
        "Outside/sin",
    ]
    assert [event for event in seen if event.startswith("Inside")] == [
        *("Insidef", "Insidesin", "Inside/sin", "Inside/f"),
        *("Insidesin", "Inside/sin"),
    ]


def test_an_instance_may_have_a_module_level_of_its_own(name):
    seen = []
    context = Outside(seen)
    context.module_level = True
    with context:
        importlib.import_module(f"{name}.first")
    assert {"helper", "len", "getcwd"} <= set(seen)
    assert imports(seen, name) == []


def test_a_reload_is_an_event(name):
    seen = []
    with entered_without_source(Outside(seen)):
        module = importlib.import_module(f"{name}.third")
        del seen[:]
        importlib.reload(module)
    assert imports(seen, name) == ["import third", "/import third"]


def test_circular_imports_nest(make_package):
    name = make_package({"one.py": "from . import two\nx = 1", "two.py": "from . import one\ny = 2"})
    install(name)
    seen = []
    with entered_without_source(Outside(seen)):
        importlib.import_module(f"{name}.one")
    assert imports(seen, name)[2:] == ["import one", "import two", "/import two", "/import one"]


def test_an_error_of_the_module_has_pythons_own_traceback(name):
    def lines():
        with pytest.raises(ZeroDivisionError) as raised:
            importlib.import_module(f"{name}.broken")
        return [(frame.filename, frame.lineno, frame.name) for frame in traceback.extract_tb(raised.tb)]

    plain = lines()
    seen = []
    with entered_without_source(Outside(seen)):
        here = lines()
        assert type(current()) is Outside
    assert here == plain
    assert imports(seen, name)[-2:] == ["import broken", "!import broken"]


def test_frames_of_the_module_level_are_those_of_a_plain_import(make_package):
    source = """
        import sys
        frame, frames = sys._getframe(), []
        while frame is not None:
            frames.append(frame.f_code.co_name)
            frame = frame.f_back
        """
    plain, name = make_package({"mod.py": source}), make_package({"mod.py": source})
    install(name)
    for package in plain, name:
        importlib.import_module(package)
    expected = importlib.import_module(f"{plain}.mod").frames
    with entered_without_source(Outside([])):
        assert importlib.import_module(f"{name}.mod").frames == expected


def test_a_module_that_a_loader_makes_later_is_an_event(name):
    seen = []
    with entered_without_source(Outside(seen)):
        importlib.import_module(name)
        spec = importlib.util.find_spec(f"{name}.third")
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        before = imports(seen, name)
        assert module.__file__.endswith("third.py")
        module.__dict__
        vars(module)
        getattr(module, "anything", None)
    assert imports(seen, name)[len(before) :] == ["import third", "/import third"]


def test_a_module_of_another_loader_is_an_event(make_package):
    """Loaders that execute modules by themselves, as pytest's does."""
    name = make_package({"mod.py": "import math\nfrom cassette_import import current\ncontext = current()\n"})
    install(name)

    class Executing(importlib.machinery.SourceFileLoader):
        def exec_module(self, module):
            exec(compile(self.get_data(self.path), self.path, "exec"), vars(module))

    class Finder:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname == f"{name}.mod":
                file = os.path.join(path[0], "mod.py")
                return importlib.util.spec_from_file_location(fullname, file, loader=Executing(fullname, file))
            return None

    sys.meta_path.insert(1, Finder)
    seen = []
    try:
        with entered_without_source(Outside(seen)):
            module = importlib.import_module(f"{name}.mod")
    finally:
        sys.meta_path.remove(Finder)
    assert (module.context, type(module.__loader__), type(module.__spec__.loader)) == (None, Executing, Executing)
    assert imports(seen, name)[-2:] == ["import mod", "/import mod"]


def test_a_thread_and_a_task_of_the_module_level_inherit_nothing(make_package):
    source = """
        import asyncio, threading
        from cassette_import import current
        found = []
        thread = threading.Thread(target=lambda: found.append(current()))
        thread.start()
        thread.join()
        async def main():
            found.append(current())
            await asyncio.create_task(other())
        async def other():
            found.append(current())
        asyncio.run(main())
        """
    name = make_package({"mod.py": source})
    install(name)

    class Inherited(Outside, inherit=True):
        pass

    with Inherited([]):
        assert importlib.import_module(f"{name}.mod").found == [None, None, None]


def test_an_import_in_a_thread_is_an_event_of_its_context(make_package):
    name = make_package({"mod.py": "", "other.py": ""})
    install(name)

    class Inherited(Outside, inherit=True):
        pass

    seen = []
    with Inherited(seen):
        importlib.import_module(f"{name}.other")
        thread = threading.Thread(target=importlib.import_module, args=(f"{name}.mod",))
        thread.start()
        thread.join()
    assert imports(seen, name)[-2:] == ["import mod", "/import mod"]


def test_an_import_in_a_task_is_an_event_of_its_context(name):
    seen = []

    async def main():
        with entered_without_source(Outside(seen)):
            await asyncio.sleep(0)
            importlib.import_module(f"{name}.first")
            await asyncio.sleep(0)
            assert type(current()) is Outside

    asyncio.run(main())
    assert "import first" in imports(seen, name)


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("other.__enter__()", ["context", "other"]),
        ("context.__exit__(None, None, None)", []),
        ("context.__exit__(None, None, None); other.__enter__()", ["other"]),
        ("other.__enter__(); context.__exit__(None, None, None)", ["other"]),
        ("from . import nested", ["context", "other"]),
    ],
    ids=["enters", "leaves", "leaves and enters", "enters and leaves", "enters in a nested import"],
)
def test_what_a_module_level_enters_and_leaves_is_so_afterwards(source, after, make_package):
    begin = "from builtins import shared_context as context, shared_other as other\n"
    name = make_package({"mod.py": begin + source, "nested.py": begin + "other.__enter__()"})
    install(name)
    context, other = Outside([]), Inside([])
    import builtins

    builtins.shared_context, builtins.shared_other = context, other
    try:
        context.__enter__()
        importlib.import_module(f"{name}.mod")
        from cassette_import.activation.entering import active_here

        assert [{context: "context", other: "other"}[active] for active in active_here().contexts] == after
        for active in reversed(active_here().contexts):
            active.__exit__(None, None, None)
        assert current() is None
    finally:
        del builtins.shared_context, builtins.shared_other


def test_a_module_level_may_run_code_in_a_context(make_package):
    source = """
        from cassette_import import overdub
        from builtins import shared_context
        def f(x):
            return abs(x)
        f(1)
        value = overdub(shared_context, f, -1)
        """
    name = make_package({"mod.py": source})
    install(name)
    import builtins

    seen = []
    builtins.shared_context = Inside(seen)
    try:
        with Outside([]) as outside:
            importlib.import_module(f"{name}.mod")
            assert current() is outside
    finally:
        del builtins.shared_context
    assert seen == ["abs", "/abs"]


def test_an_overload_may_take_the_import(name):
    class Overloading(Context):
        module_level = False

        def __init__(self):
            super().__init__()
            self.seen = []

        def overdub(self, f, *args, **kwargs):
            self.seen.append(f.__name__)
            return recurse(self, f, *args, **kwargs)

    context = Overloading()
    with context:
        module = importlib.import_module(f"{name}.first")
    assert (module.context, imports(context.seen, name)) == (None, ["import pkg", "import first"])


def test_the_callee_says_what_is_imported(name):
    found = []

    class Noting(Context):
        module_level = False

        def prehook(self, f, *args):
            found.append((f, args))

    with Noting():
        importlib.import_module(f"{name}.third")
    callee, args = found[-1]
    assert (type(callee), callee.name, callee.__name__) == (ModuleImport, f"{name}.third", f"import {name}.third")
    assert (callee.filename, args) == (sys.modules[callee.name].__file__, ())
    assert repr(callee) == f"<import {name}.third>"


def test_the_call_site_is_that_of_the_import(name):
    sites = []

    class Noting(Context):
        module_level = False

        def prehook(self, f, *args):
            if f.__name__ == f"import {name}.second":
                sites.append(callsite())

    first = importlib.import_module(f"{name}.first")
    with Noting():
        first.lazily()
    (site,) = sites
    assert (site.function, site.source) == ("lazily", "from . import second")


def test_hooks_for_other_events_do_not_get_imports(name):
    seen = []

    class Operators(Outside, events=Events.OPERATORS):
        pass

    with Operators(seen):
        module = importlib.import_module(f"{name}.first")
    assert (seen, module.context) == ([], None)


def test_modules_that_are_not_installed_are_no_events_and_run_as_before(make_package):
    name = make_package({"mod.py": "from cassette_import import current\ncontext = current()\n"})
    seen = []
    with Outside(seen) as context:
        assert importlib.import_module(f"{name}.mod").context is context
    assert seen == []


def test_the_modules_of_an_import_that_are_not_installed_run_outside_of_the_context(make_package):
    other = make_package({"mod.py": "from cassette_import import current\ncontext = current()\n"})
    name = make_package({"mod.py": f"import {other}.mod\n"})
    install(name)
    with entered_without_source(Outside([])):
        importlib.import_module(f"{name}.mod")
    assert sys.modules[f"{other}.mod"].context is None


def test_module_level_is_true_or_false():
    with pytest.raises(TypeError, match=r"Wrong\.module_level must be True or False, not 'no'"):

        class Wrong(Context):
            module_level = "no"


def test_a_root_function_imports_as_a_block_does(name):
    seen = []
    overdub(Outside(seen), lambda: importlib.import_module(f"{name}.third"))
    assert imports(seen, name)[-2:] == ["import third", "/import third"]
