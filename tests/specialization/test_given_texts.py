"""Functions in texts that installed modules give to `exec`, `eval` and `compile` are overdubbed: templates too."""

import builtins
import traceback

import pytest

from cassette_import import install, uninstall
from cassette_import.contexts import CallGraph, Noop
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.specialization.progress import PROGRESS

needs_extension = pytest.mark.skipif(not DISPATCH.is_used, reason="only the extension is told of texts: see Limits")

FUNCTION = "def f(x):\\n    return abs(x)\\n"
METHOD = "class C:\\n    def f(self, x):\\n        return abs(x)\\n"
CLOSURE = "def g(y):\\n    def f(x):\\n        return abs(x + y)\\n    return f\\n"
EXPRESSION = "def f(x):\\n    return max(abs(y) for y in [x])\\n"
GENERATOR = "def f(x):\\n    yield abs(x)\\n"
MAKERS = {
    "exec": f"    exec('{FUNCTION}', space)\n    return space['f']\n",
    "exec in the module": f"    exec('{FUNCTION}', globals())\n    return f\n",
    "compiled bytes": f"    exec(compile(b'{FUNCTION}', '<text>', 'exec'), space)\n    return space['f']\n",
    "eval": "    return eval('lambda x: abs(x)')\n",
    "eval, with spaces": "    return eval(' \\t lambda x: abs(x)', {})\n",
    "eval of compiled text": "    return eval(compile('lambda x: abs(x)', 'a name', 'eval'))\n",
    "method": f"    exec('{METHOD}', space)\n    return space['C']().f\n",
    "closure": f"    exec('{CLOSURE}', space)\n    return space['g'](0)\n",
    "generator": f"    exec('{GENERATOR}', space)\n    return lambda x: next(space['f'](x))\n",
    "compiled tree": f"    exec(compile(ast.parse('{METHOD}'), '<tree>', 'exec'), space)\n    return space['C']().f\n",
    "expression in a tree": f"    exec(compile(ast.parse('{EXPRESSION}'), '', 'exec'), space)\n    return space['f']\n",
    "future": f"    exec('from __future__ import annotations\\n{FUNCTION}', space)\n    return space['f']\n",
}


@needs_extension
@pytest.mark.parametrize("is_made_inside", [False, True])
@pytest.mark.parametrize("maker", MAKERS)
def test_functions_in_a_text_are_overdubbed(maker, is_made_inside, make_program, Recorder):
    making = f"import ast\ndef make():\n    space = {{}}\n{MAKERS[maker]}\n"
    program = make_program(f"{making}def run(f):\n    return f(-1)\n")
    function = program.make()
    assert function(-1) == 1
    with Recorder() as recorder:
        if is_made_inside:
            function = program.make()
        assert program.run(function) == 1
    assert abs in recorder.functions
    assert function(-2) == 2
    uninstall([program.__name__])
    code = getattr(function, "__func__", function).__code__
    assert "cassette_import.enter" not in code.co_consts


@needs_extension
def test_a_tree_that_is_changed_after_it_was_compiled_is_not_the_source(make_program, Recorder):
    program = make_program("""
        import ast

        def make():
            tree = ast.parse("def f(x):\\n    return abs(x)\\n")
            space = {}
            exec(compile(tree, "<tree>", "exec"), space)
            tree.body[0].body[0].value.func.id = "str"
            return space["f"]

        def run(f):
            return f(-1)
        """)
    function = program.make()
    with Recorder() as recorder:
        assert program.run(function) == 1
    assert abs in recorder.functions


@needs_extension
def test_functions_of_trees_that_no_text_has_are_overdubbed(make_program, Recorder):
    """As those of `werkzeug.routing`: a name in angle brackets, and a call that stands in an f-string as it is."""
    program = make_program("""
        import ast

        def make():
            tree = ast.parse("def f(x): return f'{x}'")
            function, space = tree.body[0], {}
            function.name = "<f: 1>"
            text = function.body[0].value
            text.values[0] = ast.copy_location(ast.Call(ast.Name("str", ast.Load()), [text.values[0].value], []), text)
            exec(compile(ast.fix_missing_locations(tree), "<tree>", "exec"), space)
            return space["<f: 1>"]

        def run(f):
            return f(1)
        """)
    function = program.make()
    with Recorder() as recorder:
        assert program.run(function) == "1"
    assert str in recorder.functions


def test_texts_of_other_modules_stay_leaves(make_package, make_program, Recorder):
    program = make_program("def run(f):\n    return f(-1)\n")
    space = {}
    exec("def f(x):\n    return abs(x)\n", space)
    with Recorder() as recorder:
        assert program.run(space["f"]) == 1
    assert abs not in recorder.functions


@pytest.mark.parametrize("text", ["1 +", "def f(:\n", "x = = 1"])
@pytest.mark.parametrize("name", ["exec", "eval"])
def test_errors_of_texts_are_those_of_plain_python(name, text, make_program):
    program = make_program(f"def run(text):\n    {name}(text)\n")

    def shown():
        with pytest.raises(SyntaxError) as raised:
            program.run(text)
        return traceback.format_exception_only(raised.value)

    plain = shown()
    with Noop():
        assert shown() == plain


def test_the_builtins_stay_what_they_are(make_program):
    texts = "eval('x + 1'), eval('sorted(locals())'), compile is __builtins__['compile']"
    program = make_program(f"def names():\n    x = 1\n    exec('y = x + 1')\n    return {texts}\n")
    plain = program.names()
    with Noop():
        assert program.names() == plain
    assert builtins.compile.__name__ == "compile"
    assert repr(builtins.exec) == "<built-in function exec>"


@pytest.mark.parametrize("call", ["eval(text)", "eval(text, {})", "eval(*[text])", "eval(text, {}, {})", "f(text)"])
def test_eval_gets_its_arguments_alone_however_the_interpreter_calls_it(call, make_program):
    """The interpreter specialises a call after a few times; `eval` has no keywords before Python 3.13."""
    program = make_program(f"def run(texts, f=eval):\n    return [{call} for text in texts]\n")
    texts = [str(n) for n in range(100)]
    with install([program.__name__]):
        assert program.run(texts) == list(range(100))


@needs_extension
@pytest.mark.parametrize("is_made_inside", [False, True])
@pytest.mark.parametrize("engine", ["jinja2", "mako"])
def test_templates_are_overdubbed(engine, is_made_inside, Recorder):
    pytest.importorskip(engine)

    def make():
        if engine == "mako":
            import mako.template

            return mako.template.Template("hi ${name.upper()}\n")
        import jinja2

        return jinja2.Environment().from_string("hi {{ name.upper() }}\n\n")

    with install([engine]):
        template = make()
        plain = template.render(name="bob")
        graph = CallGraph()
        with graph:
            template = make() if is_made_inside else template
            assert template.render(name="bob") == plain
        assert {function.name for function in graph.graph().functions} & {"root", "render_body"}
        assert template.render(name="bob") == plain


TEXTS = "def make(space):\n    exec('def f(x):\\n    return g(x)', space)\n    return space['f']\n"


@needs_extension
def test_a_text_that_is_compiled_again_is_specialised_once(make_program, Recorder):
    program = make_program(f"{TEXTS}def run():\n    return [make({{'g': abs}})(-1) for _ in range(3)]\n")
    with Recorder() as recorder:
        program.run()
        before = PROGRESS.work().functions
        assert program.run() == [1, 1, 1]
    assert PROGRESS.work().functions == before
    assert recorder.functions.count(abs) == 6


@needs_extension
def test_functions_of_one_text_have_their_own_globals_and_are_told_apart(make_program, Recorder):
    program = make_program(f"import math\n{TEXTS}def run(f):\n    return f(-1)\n")
    first, second = program.make({"g": abs}), program.make({"g": program.math.floor})
    with Recorder() as recorder:
        assert [program.run(first), program.run(second)] == [1, -1]
    assert [f for f in recorder.functions if f in (abs, program.math.floor)] == [abs, program.math.floor]
    assert first.__code__ is not second.__code__
