"""`CallGraph`: which function calls which, and how often."""

import itertools
import re
import shutil
import signal
import subprocess
import threading
import xml.etree.ElementTree as ElementTree

import pytest
from helpers.accelerator import ways
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import CallGraph

PROGRAM = """
    import functools

    class Node:
        def __init__(self, name):
            self.name = clean(name)

        def title(self):
            return self.name.title()

    def clean(name):
        return name.strip()

    def nodes(names):
        return [Node(name) for name in names]

    def main():
        return sorted(node.title() for node in nodes([" a", "b ", "c"]))

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    def fail():
        raise ValueError

    def survive():
        for _ in range(3):
            try:
                fail()
            except ValueError:
                pass

    def closures():
        def inner():
            return clean("x")
        return inner()

    def many_closures():
        for _ in range(5):
            closures()

    @functools.lru_cache
    def cached(n):
        return n

    def ask():
        return [cached(1) for _ in range(4)]

    def hand():
        return (clean(name) for name in "ab")

    def use(names):
        return list(names)

    def handed_over():
        return use(hand())

    def ticks():
        for _ in range(500):
            clean("x")
"""


@pytest.fixture(params=["in C", "in Python"], autouse=True)
def hooks(request, monkeypatch):
    """Whether the hook is that of the accelerator."""
    with ways(request.param, monkeypatch):
        yield


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(
        "from beside import double\n\ndef main():\n    return [double(n) for n in range(3)]\n\nprint(main())\n"
    )
    (tmp_path / "beside.py").write_text("def double(x):\n    return abs(x) + x\n")
    return tmp_path


def edges(function, *arguments, **options):
    graph = CallGraph(**options)
    overdub(graph, function, *arguments)
    return {(caller.name, callee.name): count for (caller, callee), count in graph.graph().calls.items()}


def test_each_edge_has_the_number_of_its_calls(program):
    assert edges(program.main) == {
        ("main", "nodes"): 1,
        ("nodes", "Node.__init__"): 3,
        ("Node.__init__", "clean"): 3,
        ("main", "Node.title"): 3,
    }


def test_a_generator_expression_that_is_used_elsewhere_is_a_caller_itself(program):
    assert edges(program.handed_over) == {
        ("handed_over", "use"): 1,
        ("handed_over", "hand"): 1,
        ("hand.<genexpr>", "clean"): 2,
    }


def test_the_option_leaves_shows_functions_that_are_not_python(program):
    found = edges(program.main, leaves=True)
    assert found["clean", "str.strip"] == 3
    assert found["main", "sorted"] == 1


def test_recursion_makes_cycles(program):
    assert edges(program.even, 5) == {("even", "odd"): 3, ("odd", "even"): 2}


def test_calls_that_raise_count(program):
    assert edges(program.survive) == {("survive", "fail"): 3}


def test_closures_of_one_function_are_one_function(program):
    assert edges(program.many_closures) == {
        ("many_closures", "closures"): 5,
        ("closures", "closures.inner"): 5,
        ("closures.inner", "clean"): 5,
    }


def test_a_cached_function_is_the_function_behind_it(program):
    assert edges(program.ask) == {("ask", "cached"): 4}


def test_edges_of_few_calls_can_be_left_out(program):
    assert edges(program.main, minimum=2).keys() == edges(program.main).keys() - {("main", "nodes")}


def test_calls_are_counted_over_all_threads(program):
    graph = CallGraph()

    def work():
        with graph:
            program.ticks()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(graph.graph().calls.values()) == 4000


def test_the_summary_lists_the_edges_with_the_most_calls(program):
    graph = CallGraph(limit=2)
    overdub(graph, program.main)
    name = program.__name__
    assert graph.summary().splitlines() == [
        "callgraph: 5 functions, 4 edges, 10 calls",
        "",
        "       calls  caller -> callee",
        f"           3  {name}.Node.__init__ -> {name}.clean",
        f"           3  {name}.nodes -> {name}.Node.__init__",
        "           …  2 further edges",
    ]


def test_a_run_without_calls_is_reported(program):
    assert CallGraph().summary() == "callgraph: no function called another"


def written(graph, suffix, tmp_path):
    path = tmp_path / f"graph{suffix}"
    graph.formats[suffix](str(path))
    return path.read_text(encoding="utf-8")


@pytest.fixture
def graph(program):
    graph = CallGraph()
    overdub(graph, program.main)
    overdub(graph, program.even, 3)
    overdub(graph, lambda: program.main())
    return graph


def test_dot_has_a_cluster_for_each_module_and_labels_on_edges(graph, tmp_path):
    text = written(graph, ".dot", tmp_path)
    names = dict(re.findall(r'(f\d+) \[label="([^"]+)"', text))
    found = {(names[a], names[b]): int(count) for a, b, count in re.findall(r"(f\d+) -> (f\d+) \[label=(\d+)\]", text)}
    assert found == {(a.name, b.name): count for (a, b), count in graph.graph().calls.items()}
    assert text.count("subgraph cluster_") == 2
    assert text.count("{") == text.count("}") == 3


def test_graphviz_reads_it(graph, tmp_path):
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not here")
    text = written(graph, ".dot", tmp_path)
    assert subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout


def test_mermaid_has_an_arrow_for_each_edge_and_no_special_characters(graph, tmp_path):
    first, *lines = written(graph, ".mmd", tmp_path).splitlines()
    assert first == "flowchart LR"
    assert sum(bool(re.fullmatch(r"  f\d+ -->\|\d+\| f\d+", line)) for line in lines) == len(graph.graph().calls)
    assert sum(bool(re.fullmatch(r'  f\d+\["[\w.#; ]+"\]', line)) for line in lines) == len(graph.graph().functions)
    assert any("#60;lambda#62;" in line for line in lines)


def test_graphml_is_xml_with_the_same_edges(graph, tmp_path):
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    root = ElementTree.fromstring(written(graph, ".graphml", tmp_path))
    names = {
        node.get("id"): node.find("g:data[@key='label']", space).text for node in root.iterfind(".//g:node", space)
    }
    found = {
        (names[edge.get("source")], names[edge.get("target")]): int(edge.find("g:data", space).text)
        for edge in root.iterfind(".//g:edge", space)
    }
    assert found == {(a.title, b.title): count for (a, b), count in graph.graph().calls.items()}


def test_the_svg_is_self_contained_and_shows_every_function_and_count(graph, tmp_path):
    text = written(graph, ".svg", tmp_path)
    root = ElementTree.fromstring(text)
    shown = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {function.name for function in graph.graph().functions} <= set(shown)
    assert sorted(int(it) for it in shown if it.isdigit()) == sorted(graph.graph().calls.values())
    assert re.findall(r'(?:href|src|@import|url\()[="\']*(?!#)\w', text) == []


def test_a_browser_shows_the_svg_without_errors(graph, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("Chromium is not here")
    written(graph, ".svg", tmp_path)
    switches = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path}/home",
    )
    # A wrapper page reads the boxes of the picture's texts, which only a rendered picture has.
    page = tmp_path / "page.html"
    script = "document.title = [...document.querySelectorAll('text')].filter(it => it.getBBox().width > 0).length"
    page.write_text(f"{(tmp_path / 'graph.svg').read_text()}<script>{script}</script>", encoding="utf-8")
    done = subprocess.run(
        [browser, *switches, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    texts = 2 * len(graph.graph().functions) + len(graph.graph().calls)
    assert f"<title>{texts}</title>" in done.stdout
    assert "CONSOLE" not in done.stderr


def test_callers_are_left_of_their_callees(graph, tmp_path):
    root = ElementTree.fromstring(written(graph, ".svg", tmp_path))
    space = {"s": "http://www.w3.org/2000/svg"}
    left = {
        group.find("s:text", space).text: float(group.find("s:rect", space).get("x"))
        for group in root.iterfind("s:g[@class='function']", space)
    }
    assert left["main"] < left["nodes"] < left["Node.__init__"] < left["clean"]
    assert left["even"] < left["odd"]


def test_boxes_do_not_overlap(graph, tmp_path):
    root = ElementTree.fromstring(written(graph, ".svg", tmp_path))
    boxes = [
        tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))
        for box in root.iterfind(".//{http://www.w3.org/2000/svg}rect[@class='box']")
    ]
    for number, (x1, y1, w1, h1) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[:number]:
            assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


def test_a_chain_of_any_length_is_drawn(tmp_path):
    from cassette_import.kits.calls.graphs.graph import Function, Graph
    from cassette_import.kits.calls.graphs.svg import svg

    chain = [Function("f.py", number, "m", f"f{number}") for number in range(3000)]
    calls = {(one, other): 1 for one, other in itertools.pairwise(chain)}
    assert ElementTree.fromstring(svg(Graph(tuple(chain), calls))).tag.endswith("svg")


# ---- on the command line


def test_a_program_runs_with_a_call_graph(folder):
    done = cassette("run", "-c", "callgraph", "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, "[0, 2, 4]\n")
    assert done.stderr.splitlines() == [
        "callgraph: 4 functions, 3 edges, 5 calls",
        "",
        "       calls  caller -> callee",
        "           3  main -> beside.double",
        "           1  <module> -> main",
        "           1  <module> -> import beside",
    ]


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("out.dot", "digraph calls {"),
        ("out.gv", "digraph calls {"),
        ("out.mmd", "flowchart LR"),
        ("out.mermaid", "flowchart LR"),
        ("out.graphml", "<?xml"),
        ("out.svg", "<svg "),
        ("out.txt", "callgraph: 7 functions"),
    ],
)
def test_the_format_is_that_of_the_files_suffix(name, begins, folder):
    done = cassette("run", "-c", "callgraph:leaves=True", "-o", name, "app.py", folder=folder)
    assert (done.status, done.stderr) == (0, "")
    assert (folder / name).read_text(encoding="utf-8").startswith(begins)


@pytest.mark.parametrize("ending", ["1 / 0", "import os, signal; os.kill(os.getpid(), signal.SIGINT); main()"])
def test_the_picture_is_there_when_the_program_raises_or_is_interrupted(ending, folder):
    with open(folder / "app.py", "a") as file:
        file.write(ending + "\n")
    done = cassette("run", "-c", "callgraph", "-o", "out.txt", "app.py", folder=folder)
    assert done.status in (1, -signal.SIGINT, 130)
    assert "3  main -> beside.double" in (folder / "out.txt").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-c", "callgraph:minimum=few"], "context .*: minimum must be a whole number, not 'few'"),
        (
            ["-c", "callgraph:depth=3"],
            "context .*unexpected keyword argument 'depth'; it takes leaves, minimum, limit, top, imports",
        ),
        (["-c", "callgraph", "-o", "out.png"], "out.png: unknown format; known are .dot, .graphml, .gv, .*"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options, message, folder):
    done = cassette("run", *options, "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: {message}\n", done.stderr)


@pytest.mark.parametrize("context", ["callgraph", "call-types", "profile", "trace"])
def test_no_context_reads_the_class_attribute_of_an_object(context, tmp_path):
    (tmp_path / "app.py").write_text(
        "class Proxy:\n"
        "    asked = 0\n"
        "    @property\n"
        "    def __class__(self):\n"
        "        Proxy.asked += 1\n"
        "        return int\n"
        "    def __call__(self):\n"
        "        return 1\n"
        "def take(proxy, *, other): return proxy\n"
        "proxy = Proxy()\n"
        "proxy(), take(proxy, other=proxy)\n"
        "print('asked', Proxy.asked)\n"
    )
    done = cassette("run", "-c", context, "app.py", folder=tmp_path)
    assert done.stdout.startswith("asked 0\n")
