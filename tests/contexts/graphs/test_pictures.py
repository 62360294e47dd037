"""Pictures and pages of graphs with many functions: what is drawn, what is left out, and what a browser makes of it."""

import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from random import Random

import pytest
from helpers.browser import Page
from helpers.command_line import cassette

from cassette_import.contexts import CallGraph, Profile
from cassette_import.kits.calls.graphs.graph import Function, Graph, costliest_path, costs_of
from cassette_import.kits.calls.graphs.page import page
from cassette_import.kits.calls.graphs.svg import columns, rows, size_of_box, svg

SPACE = {"s": "http://www.w3.org/2000/svg"}


def large_graph(modules=25, functions=20):
    """A program of many modules: `main` calls a function of each; module 7 is the costliest."""
    main = Function("/p/app.py", 1, "__main__", "main")
    calls = {}
    for module in range(modules):
        names = [Function(f"/p/m{module}.py", n, f"package.m{module}", f"function_{n}") for n in range(functions)]
        calls[main, names[0]] = 1
        for n in range(1, functions):
            calls[names[(n - 1) // 2], names[n]] = n * (100 if module == 7 else 1)
        calls[names[-1], names[0]] = 1
    return Graph(tuple(sorted({function for edge in calls for function in edge})), calls)


def wide_graph(count=420):
    """One function that calls all others."""
    main = Function("/p/app.py", 1, "m", "main")
    return Graph(
        (main,), {(main, Function("/p/app.py", n, f"m{n % 30}", f"f{n}")): n for n in range(1, count)}
    )._replace(functions=(main, *(Function("/p/app.py", n, f"m{n % 30}", f"f{n}") for n in range(1, count))))


# ---- SVG


@pytest.mark.parametrize("make", [large_graph, wide_graph])
def test_a_picture_of_all_functions_is_no_endless_column(make):
    root = ElementTree.fromstring(svg(make()))
    assert float(root.get("height")) < 1500
    assert len(root.findall("s:g[@class='function']", SPACE)) == len(make().functions)


def test_a_picture_has_the_costliest_functions_and_says_how_many_there_are():
    root = ElementTree.fromstring(svg(large_graph(), 50))
    assert len(root.findall("s:g[@class='function']", SPACE)) == 50
    (note,) = root.findall("s:text[@class='note']", SPACE)
    assert note.text == "the 50 costliest of 501 functions; top=0 draws all"


def test_a_picture_of_few_functions_has_no_note():
    assert 'class="note"' not in svg(large_graph(2, 5), 50)


def test_each_module_has_clusters_with_its_name():
    graph = large_graph(5, 6)
    root = ElementTree.fromstring(svg(graph))
    assert {group.get("data-module") for group in root.findall("s:g[@class='clustered']", SPACE)} == {
        function.module for function in graph.functions
    }
    assert all(group.find("s:title", SPACE).text for group in root.findall("s:g", SPACE))


def test_the_costliest_path_is_marked():
    root = ElementTree.fromstring(svg(large_graph(), 50))
    hot = [group.find("s:title", SPACE).text for group in root.findall("s:g[@class='edge hot']", SPACE)]
    assert any(title.startswith("main → package.m7.function_0: ") for title in hot)
    assert all("main" in title or "package.m7." in title for title in hot)


def test_names_that_are_markup_or_no_ascii_are_shown():
    names = ["<lambda>", "größe", "名前", 'a"b', "x\x00y", "a&b", "\ud800"]
    functions = [Function("f.py", n, "m<>&", name) for n, name in enumerate(names)]
    graph = Graph(tuple(sorted(functions)), {(functions[0], other): 1 for other in functions[1:]})
    assert {"größe", "名前", "a&b"} <= {element.text for element in ElementTree.fromstring(svg(graph)).iter()}
    page(graph, 3, "t").encode("utf-8", "backslashreplace")


@pytest.mark.parametrize("arrange", [rows, columns])
@pytest.mark.parametrize("seed", range(6))
def test_no_box_is_in_the_way_of_the_costliest_path_and_none_covers_another(arrange, seed):
    random = Random(seed)
    functions = [Function("f.py", n, f"m{n % 7}", f"f{n}" * random.randrange(1, 5)) for n in range(120)]
    calls = {(functions[random.randrange(n)], functions[n]): random.randrange(1, 99) for n in range(1, 120)}
    calls |= {(random.choice(functions), random.choice(functions)): random.randrange(1, 99) for _ in range(60)}
    graph = Graph(tuple(sorted(functions)), calls)
    costs = costs_of(graph)
    path = costliest_path(graph, costs)
    boxes = arrange(graph, costs, path, size_of_box, 900).boxes
    for one, other in itertools.combinations(boxes.values(), 2):
        assert one.right <= other.x or other.right <= one.x or one.bottom <= other.y or other.bottom <= one.y
    for caller, callee in itertools.pairwise(boxes[function] for function in path):
        if arrange is rows:
            left, right = sorted((caller.middle[0], callee.middle[0]))
            between = (left, caller.bottom, right, callee.y)
        else:
            between = (caller.right, caller.y, callee.x, caller.bottom)
        for box in boxes.values():
            x1, y1, x2, y2 = between
            assert box is caller or box is callee or box.right <= x1 or x2 <= box.x or box.bottom <= y1 or y2 <= box.y


# ---- pages, parsed


class Elements(HTMLParser):
    """All elements of a page with their attributes; checks that tags are balanced."""

    VOID = frozenset(("meta", "link", "input"))

    def __init__(self, text):
        super().__init__()
        self.found, self._open = [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def of_class(self, name):
        return [attributes for _, attributes in self.found if name in (attributes.get("class") or "").split()]


@pytest.mark.parametrize(
    ("graph", "count", "drawn", "buttons"),
    [
        (large_graph(), 50, 50 + 501, ["50 costliest", "all 501"]),
        (large_graph(2, 5), 50, 11, []),
        (large_graph(), 0, 501, []),
        (large_graph(80, 20), 50, 50 + 1000, ["50 costliest", "1000 of 1601"]),
        (Graph((), {}), 50, 0, []),
    ],
    ids=["many", "few", "all", "very many", "none"],
)
def test_a_page_has_pictures_of_the_costliest_and_of_all_functions(graph, count, drawn, buttons):
    text = page(graph, count, "calls")
    elements = Elements(text)
    assert len(elements.of_class("function")) == drawn
    assert re.findall(r"<button[^>]*data-view[^>]*>([^<]*)</button>", text) == buttons
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
    assert len(data["functions"]) == len(graph.functions)
    assert len(data["edges"]) == len(graph.calls)


def test_a_page_loads_nothing_and_names_cannot_end_its_data():
    evil = Function("f.py", 1, "m", "</script><script>alert(1)</script>")
    text = page(Graph((evil,), {(evil, evil): 1}), 50, "<title>")
    assert "default-src 'none'" in text
    assert re.findall(r"(?:src|href)=\"(?!data:)", text) == []
    assert "http" not in text.replace("http-equiv", "")
    assert "<script>alert" not in text
    assert "&lt;title&gt;" in text


def test_all_that_can_be_used_can_be_reached_by_keyboard_and_has_a_name():
    elements = Elements(page(large_graph(), 50, "calls"))
    for attributes in elements.of_class("function"):
        assert attributes["tabindex"] == "0"
        assert attributes["role"] == "button"
        assert attributes["aria-label"]
    (stage,) = [attributes for _, attributes in elements.found if attributes.get("id") == "stage"]
    assert stage["tabindex"] == "0"
    assert "arrow keys" in stage["aria-label"]
    assert all(each.get("aria-label") for tag, each in elements.found if tag == "input")
    assert [each["lang"] for tag, each in elements.found if tag == "html"] == ["en"]


# ---- pages in a browser


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "calls.html").write_text(page(large_graph(), 50, "calls"), encoding="utf-8")
    with Page((folder / "calls.html").as_uri(), folder / "browser", size=(1280, 800)) as made:
        yield made


@pytest.fixture(autouse=True)
def _as_at_first(request):
    if "shown" in request.fixturenames:
        shown = request.getfixturevalue("shown")
        shown.evaluate("search.value = ''; find(); select(-1); if (views.length > 1) show(0)")
        yield
        assert shown.console == []
        assert [url for url in shown.requests if not url.startswith(("file:", "data:"))] == []
    else:
        yield


def texts(shown, selector):
    return shown.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(each => each.textContent)")


def test_the_costliest_path_is_a_list_and_visible_in_the_picture_at_once(shown):
    assert (
        texts(shown, "#path .name")[:3] == ["main", "function_0", "function_1"]
        or texts(shown, "#path .name")[0] == "main"
    )
    visible = shown.evaluate(
        "[...document.querySelectorAll('.view.shown .function')]"
        ".filter(each => each.querySelector('.box').style.stroke)"
        ".filter(each => { const box = each.getBoundingClientRect();"
        " return box.left >= 0 && box.top >= 0 && box.bottom <= innerHeight; }).length"
    )
    assert visible >= 4
    assert shown.evaluate("scale") >= 0.75


def test_the_other_picture_has_all_functions(shown):
    assert shown.evaluate("document.querySelectorAll('.view.shown .function').length") == 50
    shown.click("[data-view='1']")
    assert shown.evaluate("document.querySelectorAll('.view.shown .function').length") == 501
    assert shown.evaluate("document.querySelector(\"[data-view='1']\").getAttribute('aria-pressed')") == "true"


def test_the_search_finds_functions_that_are_not_drawn_yet(shown):
    shown.click("#search")
    shown.type("m20.function_19")
    assert texts(shown, "#found") == ["1 found"]
    shown.key("Enter")
    assert shown.evaluate("document.querySelectorAll('.view.shown .function').length") == 501
    assert len(texts(shown, ".view.shown .function.found")) == 1
    box = shown.evaluate(
        "(() => { const box = document.querySelector('.view.shown .function.selected').getBoundingClientRect();"
        " return [box.x, box.y]; })()"
    )
    assert 0 < box[0] < 940
    assert 0 < box[1] < 800
    shown.key("Escape")
    assert texts(shown, ".function.found") == []


def test_a_selected_function_shows_its_callers_and_callees(shown):
    shown.evaluate("select(data.path[1])")
    assert "Callers" in texts(shown, "#selected h2")[1]
    assert shown.evaluate("document.querySelectorAll('.view.shown .function.near').length") >= 3
    shown.key("Escape")
    assert shown.evaluate("document.getElementById('selected').hidden") is True


@pytest.mark.parametrize(
    ("key", "changed"), [("+", "scale"), ("-", "scale"), ("ArrowLeft", "left"), ("ArrowDown", "top_"), ("0", "scale")]
)
def test_keys_zoom_and_pan(shown, key, changed):
    shown.evaluate("stage.focus()")
    before = shown.evaluate(changed)
    shown.key(key)
    assert shown.evaluate(changed) != before


def test_the_mouse_drags_and_the_wheel_zooms(shown):
    shown.evaluate(
        "stage.dispatchEvent(new WheelEvent('wheel', {deltaY: -200, clientX: 300, clientY: 300, cancelable: true}))"
    )
    assert shown.evaluate("scale") > 1
    before = shown.evaluate("left")
    shown.evaluate(
        "stage.dispatchEvent(new PointerEvent('pointerdown', {pointerId: 1, clientX: 300, clientY: 300}));"
        "window.dispatchEvent(new PointerEvent('pointermove', {pointerId: 1, clientX: 350, clientY: 300}));"
        "window.dispatchEvent(new PointerEvent('pointerup', {pointerId: 1}))"
    )
    assert shown.evaluate("left") == before + 50


def test_modules_are_listed_by_cost_and_a_click_marks_their_functions(shown):
    assert texts(shown, "#modules .name")[0] == "package.m7"
    shown.evaluate("document.querySelector('#modules button').click()")
    found = texts(shown, ".view.shown .function.found text")
    assert found
    assert len(found) <= 40


# ---- from contexts


@pytest.fixture
def folder(tmp_path):
    lines = [f"def f{n}():\n    return {n}\n" for n in range(60)]
    calls = "".join(f"    f{n}()\n" for n in range(60))
    (tmp_path / "app.py").write_text("\n".join(lines) + f"\ndef main():\n{calls}\nmain()\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "name", "functions", "notice"),
    [
        (
            "",
            "out.svg",
            50,
            "callgraph: the picture has the 50 costliest functions, without 12 functions; top=0 draws all\n",
        ),
        (":top=0", "out.svg", 62, ""),
        (":top=10", "out.svg", 10, "callgraph: the picture has the 10 costliest functions, without 52 functions; "),
        ("", "out.html", 50 + 62, ""),
        (":top=0", "out.html", 62, ""),
    ],
)
def test_the_option_top_chooses_how_many_functions_are_drawn(options, name, functions, notice, folder):
    done = cassette("run", "-c", f"callgraph{options}", "-o", name, "app.py", folder=folder)
    assert done.status == 0
    assert done.stderr.startswith(notice) if notice else done.stderr == ""
    text = (folder / name).read_text(encoding="utf-8")
    assert len(re.findall('<g class="function[ "]', text)) == functions


def test_a_number_of_functions_below_0_is_an_error():
    with pytest.raises(ValueError, match="top must not be less than 0, and is -1"):
        CallGraph(top=-1)


def test_a_profile_writes_a_call_graph_with_times(folder):
    done = cassette("run", "-c", "profile", "-o", "out.callgraph.html", "app.py", folder=folder)
    assert (done.status, done.stderr) == (0, "")
    text = (folder / "out.callgraph.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
    assert data["unit"] == "seconds"
    names = [data["functions"][number][0] for number in data["path"]]
    assert names[:3] == ["<MainThread>", "<module>", "main"]
    assert "<title>out</title>" in text


def test_a_profile_without_calls_writes_an_empty_call_graph(tmp_path):
    path = tmp_path / "nothing.callgraph.html"
    Profile().formats[".callgraph.html"](str(path))
    assert "no function called another" in path.read_text()


@pytest.mark.parametrize(
    ("context", "name"),
    [("callgraph", "out.svg"), ("callgraph", "out.html"), ("profile", "out.html"), ("profile", "out.callgraph.html")],
)
def test_an_interrupted_program_ends_as_without_a_picture(context, name, folder):
    with open(folder / "app.py", "a") as file:
        file.write("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nmain()\n")
    plain = cassette("run", "-c", context, "-o", "out.txt", "app.py", folder=folder)
    done = cassette("run", "-c", context, "-o", name, "app.py", folder=folder)
    assert done.status == plain.status
    assert (folder / name).stat().st_size > 1000
