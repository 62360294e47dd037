"""The page of a graph, as a browser shows it: functions are frames that collapse."""

import json
import math

import pytest
from helpers.browser import Page

from cassette_import.contexts.graph import graph


def squared(x):
    return x * x


def norm(numbers):
    total = 0.0
    for number in numbers:
        total += squared(number)
    return math.sqrt(total) if total > 1.0 else "</script>"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    found = graph(norm, [3.0, 4.0, 5.0])
    found.write(folder / "norm.html")
    with Page((folder / "norm.html").as_uri(), folder / "browser", size=(1280, 800)) as made:
        yield made


@pytest.fixture(autouse=True)
def _as_at_first(shown):
    shown.evaluate("search.value = ''; find(); select(-1); document.getElementById('expand').click()")
    yield
    assert shown.console == []
    assert [url for url in shown.requests if not url.startswith(("file:", "data:"))] == []


def labels(shown):
    return shown.evaluate("[...document.querySelectorAll('#world .node')].map(each => each.getAttribute('aria-label'))")


def heads(shown):
    return shown.evaluate(
        "[...document.querySelectorAll('#world .head')].map(each => "
        "[each.getAttribute('aria-label'), each.getAttribute('aria-expanded')])"
    )


def toggle(shown, name):
    shown.evaluate(
        f"[...document.querySelectorAll('#world .head')].find(each => each.textContent.includes({json.dumps(name)}))"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )


def test_every_operation_is_in_the_frame_of_its_function(shown):
    assert heads(shown) == [
        ["inputs, 3 values", "true"],
        ["squared, 3 operations", "true"],
        ["norm, 5 operations", "true"],
    ]
    outside = shown.evaluate("""[...document.querySelectorAll('#world .node')].filter(each => {
        const box = each.querySelector('.box').getBBox();
        const number = nodes[each.dataset.node].function;
        const frame = document.querySelector(`.cluster[data-function="${number}"] rect`).getBBox();
        return box.x < frame.x || box.x + box.width > frame.x + frame.width
            || box.y < frame.y || box.y + box.height > frame.y + frame.height;
    }).length""")
    assert outside == 0


def test_a_function_collapses_and_expands_at_a_click(shown):
    toggle(shown, "squared")
    assert heads(shown) == [
        ["inputs, 3 values", "true"],
        ["norm, 5 operations", "true"],
        ["squared, 3 operations", "false"],
    ]
    assert labels(shown).count("mul") == 0
    toggle(shown, "squared")
    assert labels(shown).count("mul") == 3


def test_all_functions_collapse_and_their_edges_join(shown):
    shown.evaluate("document.getElementById('collapse').click()")
    assert labels(shown) == []
    assert shown.evaluate("[...document.querySelectorAll('#world .edge')].map(each => each.textContent)") == [
        "6 uses",
        "3 uses",
    ]


def test_an_operation_shows_its_line_operands_and_users(shown):
    shown.evaluate("goTo(nodes.findIndex(each => each.label === 'math.sqrt'))")
    text = shown.evaluate("document.getElementById('selected').textContent")
    assert "math.sqrt(total)" in text
    assert "test_page.py" in text
    assert "Computed from (1)" in text


def test_a_search_opens_the_function_of_what_it_finds(shown):
    shown.evaluate("document.getElementById('collapse').click(); search.value = 'sqrt'; find()")
    assert shown.evaluate("document.getElementById('matches').textContent") == "1 found"
    shown.evaluate("search.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
    assert "math.sqrt" in labels(shown)


def test_guards_are_listed(shown):
    (text,) = shown.evaluate("[...document.querySelectorAll('#guards button')].map(each => each.textContent)")
    assert text.startswith("the truth of gt was True, at ")


def test_a_graph_of_many_operations_begins_collapsed(tmp_path):
    found = graph(norm, [float(number) for number in range(40)])
    found.write(tmp_path / "many.html")
    with Page((tmp_path / "many.html").as_uri(), tmp_path / "browser") as made:
        assert labels(made) == []
        assert len(heads(made)) == 3
        assert made.console == []
