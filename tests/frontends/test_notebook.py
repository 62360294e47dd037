"""IPython and Jupyter: `%load_ext cassette_import`, `%%overdub`, `%overdub`, in a shell and in an executed notebook."""

import json
import re
import subprocess
import sys
import textwrap

import pytest
from helpers.command_line import PROJECT, environment, run

pytest.importorskip("IPython")

SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
answers = []
for cell in json.loads(sys.stdin.read()):
    result = shell.run_cell(cell, store_history=True)
    error = result.error_in_exec or result.error_before_exec
    answers.append([repr(result.result), None if error is None else f"{type(error).__name__}: {error}"])
print("ANSWERS", json.dumps(answers))
"""
OWN = """
    from cassette_import import Context

    class Picture(Context):
        '''Draws how often it was asked.'''

        kind = ".svg"

        def __init__(self):
            super().__init__()
            self.count = 0

        def prehook(self, f, *args, **kwargs):
            self.count += 1

        def summary(self):
            return f"counted {self.count}"

        @property
        def formats(self):
            return {self.kind: self.write}

        def write(self, path):
            with open(path, "w") as file:
                if self.kind == ".svg":
                    file.write(f"<?xml version='1.0'?><svg><text>{self.count} & more</text></svg>")
                else:
                    file.write(f"<!DOCTYPE html><title>{self.count}</title><script>alert(1 < 2)</script>")

    class Page(Picture):
        '''Writes a page.'''

        kind = ".html"

    class Doubled(Context):
        '''Doubles.'''

    @Doubled.overdub.register(abs)
    def _(ctx, f, x):
        return 2 * f(x)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shell.py").write_text(SHELL)
    (tmp_path / "own.py").write_text(textwrap.dedent(OWN))
    (tmp_path / "shop.py").write_text("def size(x):\n    return abs(x)\n")
    return tmp_path


@pytest.fixture
def run_cells(folder):
    """Run cells in a new shell; return its output, and the value and the error of each cell."""

    def run_them(*cells):
        stdin = json.dumps(["%load_ext cassette_import", *map(textwrap.dedent, cells)])
        done = run("shell.py", folder=folder, stdin=stdin, IPYTHONDIR=str(folder / "ipython"))
        text, _, answers = done.stdout.rpartition("ANSWERS ")
        assert answers, done.stdout + done.stderr
        return re.sub(r"\x1b\[[\d;]*m", "", text + done.stderr), json.loads(answers)[1:]

    return run_them


def test_a_cell_is_overdubbed_with_its_functions_and_has_its_value(run_cells):
    _, answers = run_cells(
        """\
        %%overdub -c own:Doubled
        def size(x):
            return abs(x)

        total = abs(-1); [size(-2),
          total]
        """,
        "size(-2), total",
    )
    assert answers == [["[4, 2]", None], ["(2, 2)", None]]


def test_functions_of_other_cells_are_overdubbed_and_plain_again_afterwards(run_cells):
    _, answers = run_cells(
        "def size(x):\n    return abs(x)\nclass Sized:\n    def size(self): return size(-3)",
        "%%overdub -c own:Doubled\nsize(-2), Sized().size()",
        "size(-2), Sized().size()",
        "import cassette_import\ncassette_import.installed(), cassette_import.current()",
    )
    assert [answer[0] for answer in answers[1:]] == ["(4, 6)", "(2, 3)", "((), None)"]


def test_options_may_be_quoted(run_cells, folder):
    _, answers = run_cells(
        """%%overdub -c 'own:Picture' -o "of a cell.svg"\nabs(-2)""", "%overdub -c 'own:Doubled' 'text'"
    )
    assert answers == [["2", None], ["'text'", None]]
    assert (folder / "of a cell.svg").exists()


def test_packages_are_overdubbed_if_they_are_named(run_cells):
    _, answers = run_cells(
        "import shop",
        "%%overdub -c own:Doubled\nshop.size(1)",
        "%%overdub -c own:Doubled -p shop\nshop.size(1)",
        "%overdub -c own:Doubled -p shop,own -x shop shop.size(1)",
        "shop.size(1)",
    )
    assert [answer[0] for answer in answers[1:]] == ["1", "2", "1", "1"]


def test_a_line_may_be_an_expression_or_a_statement(run_cells):
    _, answers = run_cells(
        "%overdub -c own:Doubled abs(-3)", "%overdub -c own:Doubled  x = abs(-3) - 1", "x", "y = %overdub abs(-3)", "y"
    )
    assert [answer[0] for answer in answers] == ["6", "None", "5", "None", "3"]


def test_a_semicolon_at_the_end_hides_the_value(run_cells):
    text, _ = run_cells("total = 77", "%%overdub\ntotal;  # hidden", "%overdub total;", "%overdub total")
    assert text.count("Out[") == 1
    assert "Out[5]: 77" in text


def test_braces_and_dollars_in_a_line_are_those_of_the_code(run_cells):
    _, answers = run_cells("x = 5", "%overdub -c own:Doubled {x}", "%overdub '{x} $x'")
    assert [answer[0] for answer in answers[1:]] == ["{5}", "'{x} $x'"]


def test_features_of_the_future_hold_in_all_later_cells(run_cells):
    _, answers = run_cells(
        "from __future__ import annotations\nfrom cassette_import import overdub\nfrom own import Doubled",
        "%%overdub -c own:Doubled\ndef size(x: Unknown): return abs(x)\nsize(-2)",
        "import math\ndef area(x): return abs(math.floor(x))",
        "overdub(Doubled(), area, -3.0)",
    )
    assert [answer[0] for answer in answers[1:]] == ["4", "None", "6"]
    _, answers = run_cells("%%overdub\nfrom __future__ import annotations", "def f(x: Unknown): pass")
    assert answers[1][1] is None


def test_several_contexts_stack_the_first_one_outermost(run_cells):
    _, answers = run_cells(
        "import cassette_import",
        "%%overdub -c noop -c own:Doubled -c own:Picture\ntype(cassette_import.current()).__name__",
    )
    assert answers[1] == ["'Picture'", None]


def test_without_a_context_the_cell_is_profiled(run_cells):
    text, _ = run_cells("%%overdub\nfor i in range(3):\n    abs(i)")
    assert "profile: " in text
    assert "3   0.0" in text
    assert "<built-in method builtins.abs>" in text


def test_a_cell_that_raises_shows_its_own_lines_and_the_results(run_cells):
    text, answers = run_cells("def size(x):\n    return abs(x)", "%%overdub\nx = 1\nsize('text')")
    assert answers[1] == ["None", "TypeError: bad operand type for abs(): 'str'"]
    assert "profile: " in text
    shown = text.partition("Traceback")[2]
    assert "----> 3 size('text')" in shown
    assert "----> 2     return abs(x)" in shown
    assert "cassette_import/" not in shown


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%overdub -c nope\n1", "UsageError: %overdub: no context is called 'nope'; "),
        ("%%overdub -p nonesuch\n1", "UsageError: %overdub: No module named 'nonesuch'"),
        ("%%overdub -p math\n1", "UsageError: %overdub: math cannot be overdubbed: "),
        ("%%overdub loud\n1", "UsageError: %%overdub: 'loud' is no option; "),
        ("%%overdub --loud\n1", "UsageError: option --loud not recognized"),
        ("%overdub -c noop", "UsageError: %overdub: there is no code to run; "),
        ("%%overdub -o out.xyz\n1", "UsageError: %overdub: out.xyz: unknown format; "),
        ("%%overdub\nawait f()", "UsageError: %overdub: a cell cannot await at its top level; "),
        ("%%overdub\n[x async for x in f()]", "UsageError: %overdub: a cell cannot await at its top level; "),
        ("%%overdub\nx = (", "SyntaxError: "),
    ],
)
def test_wrong_usage_is_one_clear_error(cell, message, run_cells):
    text, ((value, error),) = run_cells(cell)
    assert (value, error[: len(message)]) == ("None", message)
    assert "profile: " not in text


def test_results_can_be_written_to_a_file(run_cells, folder):
    run_cells("%%overdub -o out.prof\nabs(-1)")
    assert (folder / "out.prof").exists()


def test_the_extension_can_be_unloaded(run_cells):
    text, _ = run_cells("%unload_ext cassette_import", "%overdub abs(-1)")
    assert "`%overdub` not found" in text


def test_the_examples_of_the_documentation_run(run_cells):
    text = (PROJECT / "docs" / "notebook.md").read_text(encoding="utf-8")
    _, answers = run_cells(*re.findall(r"```ipython\n(.*?)```", text, re.DOTALL))
    assert answers == [["None", None], ["None", None], ["14850", None], ["6", None]]


# ---- a real notebook


_CLIENT = """
import json, sys
import jupyter_client, nbclient, nbformat

folder, *cells = json.load(sys.stdin)
notebook = nbformat.v4.new_notebook()
notebook.cells = [nbformat.v4.new_code_cell(text) for text in cells]
kernel = jupyter_client.AsyncKernelManager()
kernel.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
nbclient.NotebookClient(notebook, km=kernel, timeout=120, resources={"metadata": {"path": folder}}).execute()
print(json.dumps([cell.outputs for cell in notebook.cells]))
"""
"""In a separate process: the client leaves sockets behind, which issue warnings when they are collected."""


@pytest.fixture
def executed(folder):
    """Execute a notebook of these cells by a real kernel; return the cells with their outputs."""
    pytest.importorskip("ipykernel")
    pytest.importorskip("nbclient")

    def execute(*cells):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _CLIENT],
            input=json.dumps([str(folder), "%load_ext cassette_import", *cells]),
            env=environment(IPYTHONDIR=str(folder / "ipython"), JUPYTER_RUNTIME_DIR=str(folder)),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return [[_Output(output) for output in outputs] for outputs in json.loads(done.stdout)][1:]

    return execute


class _Output(dict):
    """An output of a cell, with its parts as attributes, as the client has it."""

    def __getattr__(self, name):
        return self[name]


def test_a_notebook_shows_pages_pictures_and_texts(executed):
    page, picture, trace, profile = executed(
        "def size(x):\n    return abs(x)",
        "%%overdub -c own:Page\nsize(-1)",
        "%%overdub -c own:Picture\nsize(-1)",
        "%%overdub -c trace\nsize(-1)",
        "%%overdub\nsize(-1)",
    )[1:]
    assert page[0].data["text/plain"] == "counted 2"
    assert page[0].data["text/html"].startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;&lt;title&gt;2&lt;')
    assert "alert(1 &lt; 2)" in page[0].data["text/html"]
    assert picture[0].data["text/html"] == "<svg><text>2 & more</text></svg>"
    assert "size(-1)\n  abs(-1) -&gt; 1\n  -&gt; 1\n" in trace[0].data["text/html"]
    assert "profile: " in profile[0].data["text/plain"]
    assert "abs" in profile[0].data["text/html"]
    for outputs in (page, picture, trace, profile):
        (value,) = [output for output in outputs if output.output_type == "execute_result"]
        assert value.data["text/plain"] == "1"
        assert not [output for output in outputs if output.output_type == "stream"]


def test_the_notice_of_specialising_is_below_the_cell(run_cells):
    _, answers = run_cells(
        "from cassette_import.specialization.progress import PROGRESS; PROGRESS.patience = 0",
        "import contextlib, io",
        "cell, words = io.StringIO(), ('-c own:Doubled -p shop', 'import shop; shop.size(1)')",
        "with contextlib.redirect_stderr(cell):\n    get_ipython().run_cell_magic('overdub', *words)",
        "cell.getvalue()",
    )
    assert re.search(
        r"cassette_import: \d+ functions?( and \d+ module levels?)? specialised in \d\.\d seconds so far; ",
        answers[-1][0],
    )
