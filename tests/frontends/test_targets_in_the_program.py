"""A context in the file of the program, or one that imports it, reaches the functions of the program in `__main__`."""

import json

import pytest
from helpers.command_line import cassette

CONTEXTS = """
from cassette_import import Context, recurse

class Overload(Context):
    pass

@Overload.overdub.register(price)
def _(ctx, f, x):
    return 10 * recurse(ctx, f, x)

class Before(Context):
    def __init__(self):
        self.seen = []
    def summary(self):
        return f"before {self.seen}"

@Before.prehook.register(price)
def _(ctx, f, x):
    ctx.seen.append(x)

class After(Context):
    def __init__(self):
        self.seen = []
    def summary(self):
        return f"after {self.seen}"

@After.posthook.register(price)
def _(ctx, result, f, x):
    ctx.seen.append(result)

class Method(Context):
    pass

@Method.overdub.register(Order.total)
def _(ctx, f, order):
    return 100
"""
FUNCTIONS = """
def price(x):
    return x * 2

class Order:
    def total(self):
        return price(1)
"""
ENDINGS = {
    "at its module level": "if __name__ == '__main__':\n    print(price(3), Order().total())\n",
    "in a function": "def main():\n    print(price(3), Order().total())\nif __name__ == '__main__':\n    main()\n",
    "in a function that it defines late": "if __name__ == '__main__':\n    def main(p=price):\n"
    "        for x in 3,:\n            print(p(x), Order().total())\n    main()\n",
}
PRINTED = {"Overload": "60 20\n", "Before": "6 2\n", "After": "6 2\n", "Method": "6 100\n"}
SUMMARIES = {"Before": "before [3, 1]\n", "After": "after [6, 2]\n"}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("context", PRINTED)
def test_a_context_in_the_file_of_the_program_has_its_functions_as_targets(context, ending, tmp_path):
    (tmp_path / "shop.py").write_text(FUNCTIONS + CONTEXTS + ENDINGS[ending])
    done = cassette("run", "-c", f"shop:{context}", "shop.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == (PRINTED[context], SUMMARIES.get(context, ""))


@pytest.mark.parametrize("words", [("shop.py",), ("-m", "shop")])
@pytest.mark.parametrize("context", PRINTED)
def test_a_context_that_imports_the_program_has_its_functions_as_targets(context, words, tmp_path):
    (tmp_path / "shop.py").write_text(FUNCTIONS + ENDINGS["at its module level"])
    (tmp_path / "mine.py").write_text("from shop import *\n" + CONTEXTS)
    done = cassette("run", "-c", f"mine:{context}", *words, folder=tmp_path)
    assert (done.stdout, done.stderr) == (PRINTED[context], SUMMARIES.get(context, ""))


def test_a_function_of_another_module_of_that_name_is_no_function_of_the_program(tmp_path):
    (tmp_path / "program").mkdir()
    (tmp_path / "shop.py").write_text("def price(x):\n    return x * 5\n")
    (tmp_path / "mine.py").write_text(
        "import sys\nsys.path.insert(0, '')\nfrom shop import price\n" + CONTEXTS.partition("class Method")[0]
    )
    (tmp_path / "program" / "shop.py").write_text("def price(x):\n    return x\nprint(price(3))\n")
    done = cassette("run", "-c", "mine:Overload", "program/shop.py", folder=tmp_path)
    assert done.stdout.endswith("3\n")


def test_the_report_lists_the_contexts_of_the_user_alone(tmp_path):
    (tmp_path / "shop.py").write_text(FUNCTIONS + CONTEXTS + ENDINGS["in a function"])
    cassette("run", "-c", "shop:Overload", "--report", "report.json", "shop.py", folder=tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["contexts"] == ["Overload"]


PACKAGE = {
    "__init__.py": "def helper():\n    return 'real'\n",
    "sub.py": "def inner():\n    return 'real'\n",
    "__main__.py": """
from pack import helper
from pack.sub import inner

class Request:
    def __init__(self):
        self.text = "real"

def own(text):
    return 'real'

if __name__ == '__main__':
    print(helper(), inner(), own(Request().text))
""",
}
PACKAGE["runner.py"] = PACKAGE["__main__.py"]


@pytest.fixture
def package(tmp_path):
    (tmp_path / "pack").mkdir()
    for name, text in PACKAGE.items():
        (tmp_path / "pack" / name).write_text(text)
    (tmp_path / "fakes.py").write_text("def fake(*values):\n    return 'fake'\n")
    return tmp_path


@pytest.mark.parametrize(
    ("target", "words", "printed"),
    [
        ("pack.helper", ["-m", "pack"], "fake real real\n"),
        ("pack.sub.inner", ["-m", "pack"], "real fake real\n"),
        ("pack.__main__.own", ["-m", "pack"], "real real fake\n"),
        ("__main__.own", ["-m", "pack"], "real real fake\n"),
        ("pack.sub.inner", ["-m", "pack.runner"], "real fake real\n"),
        ("pack.runner.own", ["-m", "pack.runner"], "real real fake\n"),
    ],
)
def test_a_target_in_a_package_that_runs_is_found_by_its_own_name(target, words, printed, package):
    done = cassette("run", "-c", f"substitute:{target}=fakes.fake", *words, folder=package)
    assert done.stdout == printed, done.stderr
    assert done.stderr.endswith(": 1 call\n")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("pack.__main__", ["-m", "pack"]),
        ("pack.runner", ["-m", "pack.runner"]),
        ("main", ["main.py"]),
        ("__main__", ["main.py"]),
    ],
)
def test_attributes_and_functions_of_the_program_are_sources_and_sinks_by_its_name(module, words, package):
    (package / "main.py").write_text(PACKAGE["__main__.py"])
    names = f"taint:sources={module}.Request.text,sinks={module}.own"
    done = cassette("run", "-c", names, *words, folder=package)
    assert done.stderr.startswith(f"taint: 1 finding\ncode: {module}.Request.text reaches {module}.own\n"), done.stderr
