"""The residual of an interpreter for a known program is the compiled program: matchers, machines, templates."""

import ast
import importlib
import timeit

import pytest

from cassette_import import install
from cassette_import.contexts.graph import NotRepresentable, graph, residual, unknown
from cassette_import.contexts.graph import residual as residual_function

TEMPLATES = {
    "letter": "Dear {{ name|title }},\n{% for item in items %}{{ loop.index }}. {{ item.name|upper }}: {{ '%.2f' % "
    "item.price }}{% if item.price > 100 %} (insured){% endif %}\n{% endfor %}"
    "{% if items|length > 2 %}Many thanks!{% endif %}",
    "sums": "{% set total = n * 2 %}{{ total }} {{ n|round(1) }} {{ 'tea' if n > 2 else name|default('?') }} "
    "{{ [n, name] }}",
    "rows": "{% for row in [name, n]|batch(2) %}{% for x in row %}<{{ x }}>{{ loop.last }}{% endfor %}{% endfor %}"
    "{{ name|replace('b', 'ß') }}{{ '%5.1f'|format(n) }}{% with m = n - 1 %}{{ m }}{% endwith %}",
}


def matches(pattern, text):
    """Whether a text starts with a pattern of letters, dots and stars."""

    def here(place, start):
        if place == len(pattern):
            return True
        if pattern[place + 1 : place + 2] == "*":
            while not here(place + 2, start):
                if not one(place, start):
                    return False
                start += 1
            return True
        return one(place, start) and here(place + 1, start + 1)

    def one(place, start):
        return start < len(text) and pattern[place] in (".", text[start])

    return here(0, 0)


class Machine:
    """An interpreter of a stack machine."""

    def __init__(self, program):
        self.program = [line.split() for line in program.splitlines()]

    def run(self, x):
        stack, place = [x], 0
        while place < len(self.program):
            name, *operands = self.program[place]
            place += 1
            if name == "push":
                stack.append(float(operands[0]))
            elif name == "copy":
                stack.append(stack[-1 - int(operands[0])])
            elif name == "skip":
                place += int(operands[0]) if stack.pop() > 0 else 0
            else:
                stack.append(getattr(self, name)(stack.pop(), stack.pop()))
        return stack.pop()

    def add(self, one, other):
        return other + one

    def times(self, one, other):
        return other * one


def calls(source):
    """The names of the functions that a program calls."""
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}


def test_a_matcher_and_its_pattern_are_a_program_of_comparisons():
    found = residual(matches, "ab*c", unknown("text", "abbcd"))
    for text in ("abc", "ac", "ab", "abbbbc", "x", "", "abbx", "acc"):
        assert found(text) == matches("ab*c", text)
    assert calls(found.source) == {"LookupError", "len", "type"}


def test_a_machine_and_its_program_are_straight_line_code():
    machine = Machine("copy 0\nskip 2\npush -1\ntimes\ncopy 0\ntimes\npush 0.5\nadd")
    found = residual(machine.run, unknown("x", 3.0))
    assert [found(x) for x in (3.0, -2.5, 0.0)] == [machine.run(x) for x in (3.0, -2.5, 0.0)]
    assert found.paths == 2
    assert found.source.splitlines()[-1].strip().startswith("return ")
    assert calls(found.source) <= {"LookupError", "type"}


@pytest.fixture
def jinja2_installed():
    """jinja2 is overdubbed, and the modules that it makes of templates."""
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    installation = install(["jinja2", "markupsafe", "_jinja2_module_templates_*"])
    yield
    installation.uninstall()


def template(folder, name, autoescape=False):
    """A template, as a module that jinja2 has written."""
    from jinja2 import DictLoader, Environment, ModuleLoader

    Environment(loader=DictLoader(TEMPLATES), autoescape=autoescape).compile_templates(folder, zip=None)
    return Environment(loader=ModuleLoader(folder), autoescape=autoescape).get_template(name)


def test_a_template_of_jinja2_is_a_function_of_the_data(tmp_path, jinja2_installed):
    def render(letter, name, items):
        return letter.render(name=name, items=items)

    letter = template(tmp_path, "letter")
    items = [{"name": name, "price": 40.0} for name in ("tea", "vase", "cup")]
    found = residual(render, letter, unknown("name", "ann"), unknown("items", items))
    for name in ("ann", "bob", "ann (b)", "", "<é>"):
        for price in (1.0, 250.5):
            given = [*items[:2], {"name": name, "price": price}]
            assert found(name, given) == render(letter, name, given)
    assert "jinja2" not in "".join(line for line in found.source.splitlines() if not line.strip().startswith("#"))
    assert found("ann", items[:1]) == render(letter, "ann", items[:1])
    plain = min(timeit.repeat(lambda: render(letter, "bob", items), number=200, repeat=5))
    assert min(timeit.repeat(lambda: found("bob", items), number=200, repeat=5)) < plain


@pytest.mark.parametrize("name", ["sums", "rows"])
def test_expressions_and_filters_of_templates_are_compiled_away(tmp_path, jinja2_installed, name):
    def render(page, name, n):
        return page.render(name=name, n=n)

    page = template(tmp_path, name)
    found = residual(render, page, unknown("name", "ann"), unknown("n", 1.25))
    for arguments in (("bob", 2.5), ("", -0.0), ("x<y", 1e300)):
        assert found(*arguments) == render(page, *arguments)


MACROS = {
    "escapes": "{{ name }} {{ name|upper }} {{ name|e }} {{ '<b>'|safe }} {{ name ~ '<' }} {{ items|join(', ') }}",
    "macro": "{% macro row(x, k=2) %}<b>{{ x }}</b> {{ k }}{% endmacro %}{% for x in items %}{{ row(x) }}{% endfor %}",
    "caller": "{% macro box() %}[{{ caller() }}]{% endmacro %}{% call box() %}{{ name }}{% endcall %}",
    "set": "{% set x %}<{{ name }}>{% endset %}{{ x }}{% if name == 'ann' %}!{% endif %}",
}


@pytest.mark.parametrize("autoescape", [False, True])
@pytest.mark.parametrize("name", MACROS)
def test_macros_and_escapes_of_jinja2_are_compiled_away(tmp_path, jinja2_installed, name, autoescape, monkeypatch):
    def render(page, name, items):
        return page.render(name=name, items=items)

    monkeypatch.setitem(TEMPLATES, name, MACROS[name])
    page = template(tmp_path, name, autoescape)
    found = residual(render, page, unknown("name", "ann"), unknown("items", ["tea", "milk"]))
    for given in (("ann", ["tea", "milk"]), ("b<o>b & co", ["'x'", '"&amp;"']), ("", ["", "<"])):
        assert found(*given) == render(page, *given)
        assert type(found(*given)) is str
    assert not any(isinstance(node, ast.Import) for node in ast.walk(ast.parse(found.source)))


MAKO = """<%def name="row(item)"><b>${item['name']|h}</b> ${'%.2f' % item['price']}</%def>Dear ${name | h},
% for item in items:
${loop.index + 1}. ${row(item)}
% endfor
% if len(items) > 1:
Thanks for ${len(items)} orders of ${name.upper()}.
% endif
"""


def test_a_template_of_mako_is_a_function_of_the_data(tmp_path, monkeypatch):
    pytest.importorskip("mako", reason="mako is not installed")
    from mako.template import ModuleTemplate, Template

    def render(letter, name, items):
        return letter.render(name=name, items=items)

    (tmp_path / "letter.txt").write_text(MAKO)
    Template(filename=str(tmp_path / "letter.txt"), uri="mako_letter", module_directory=str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    with install(["mako", "markupsafe", "mako_letter"]):
        letter = ModuleTemplate(importlib.import_module("mako_letter"))
        items = [{"name": "tea", "price": 2.5}, {"name": "salt", "price": 1.0}]
        found = residual(render, letter, unknown("name", "ann"), unknown("items", items))
        for name in ("ann", "b<o>b & co"):
            given = [items[0], {"name": "<ri>", "price": 12.25}]
            assert found(name, given) == render(letter, name, given)
    assert not any(isinstance(node, ast.Import) for node in ast.walk(ast.parse(found.source)))


class Shouted(str):
    """A text of a class of the program."""

    def __str__(self):
        return self.upper() + "!"


def test_texts_of_classes_of_the_program_are_texts_where_only_their_characters_count():
    found = residual(lambda name: "".join([Shouted(name), "?"]) + str(len(Shouted(name))), unknown("name", "ann"))
    assert found("bob") == "bob?3"
    assert "Shouted" not in found.source


@pytest.mark.parametrize(
    "f", [lambda name: "%s" % Shouted(name), lambda name: Shouted(name), lambda x: f"{Shouted(x)}"]
)
def test_texts_of_classes_of_the_program_are_refused_where_their_class_counts(f):
    assert (f("ann"), type(f("ann"))) == (graph(f, "ann").run("ann"), type(graph(f, "ann").run("ann")))
    try:
        found = residual(f, unknown("name", "ann"))
    except NotRepresentable:
        return
    assert (found("bob"), type(found("bob"))) == (f("bob"), str)


def test_arguments_of_another_structure_are_given_to_the_function_itself(monkeypatch):
    found = residual(lambda xs: [x + 1.0 for x in xs], unknown("xs", [1.0, 2.0]))
    module = __import__(residual_function.__module__, fromlist=["trace"])
    monkeypatch.setattr(module, "trace", lambda *_: pytest.fail("it is traced"))
    assert found([3.0]) == [4.0]
    assert found([3, 4]) == [4.0, 5.0]
