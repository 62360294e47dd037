"""Costs of functions and edges of a graph: measured, or estimated from calls; the costliest functions and path."""

import pytest

from cassette_import.kits.calls.graphs.graph import Function, Graph, Seconds, costliest, costliest_path, costs_of


def graph_of(text, seconds=None):
    """A graph of edges such as `main-load:3`."""
    calls = {}
    for edge in text.split():
        names, _, count = edge.partition(":")
        caller, callee = (Function("f.py", 1, "m", name) for name in names.split("-"))
        calls[caller, callee] = int(count or 1)
    functions = tuple(sorted({function for edge in calls for function in edge}))
    return Graph(functions, calls, seconds)


def costs_by_name(graph):
    return {function.name: round(cost, 6) for function, cost in costs_of(graph).functions.items()}


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ("a-b:2 b-c:6", {"a": 8, "b": 8, "c": 6}),
        ("a-b:1 a-c:3 b-d:10 c-d:30", {"a": 44, "b": 11, "c": 33, "d": 40}),
        ("a-b:1 b-b:9", {"a": 10, "b": 10}),
        ("a-b:1 b-c:5 c-b:4", {"a": 10, "b": 10}),
        ("a-b:1 b-c:1 c-a:1", {}),
    ],
    ids=["a chain", "callers by their calls", "recursion", "a cycle", "only a cycle"],
)
def test_the_cost_of_a_function_is_its_calls_and_those_below(edges, expected):
    found = costs_by_name(graph_of(edges))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "edges",
    [
        "r-a:1 r-b:2 a-c:5 b-c:7 c-d:11",
        "r-a:1 a-b:4 b-a:3 b-c:9 c-b:8 c-d:2",
        "r-a:1 r-b:1 a-b:3 b-a:3 a-x:5 b-y:50 x-z:1 y-z:9",
        "r-a:1 a-a:7 a-b:3 b-b:8",
    ],
)
def test_the_function_that_begins_everything_costs_everything(edges):
    graph = graph_of(edges)
    found = costs_by_name(graph)
    assert found["r"] == pytest.approx(sum(graph.calls.values()))
    assert all(0 < cost <= found["r"] + 1e-6 for cost in found.values())


def test_measured_times_are_the_costs():
    graph = graph_of("a-b:2 a-c:1")
    a, b, c = graph.functions
    seconds = Seconds({a: 3.0, b: 1.0, c: 2.0}, {(a, b): 1.0, (a, c): 2.0}, {a: 0.0, b: 1.0, c: 2.0})
    costs = costs_of(graph._replace(seconds=seconds))
    assert (costs.total, costs.are_seconds, costs.share(1.5)) == (3.0, True, 0.5)
    assert [it.name for it in costliest_path(graph, costs)] == ["a", "c"]


def path(edges):
    graph = graph_of(edges)
    return "".join(function.name for function in costliest_path(graph, costs_of(graph)))


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ("a-b:1 a-c:2 c-d:9 b-e:3", "acd"),
        ("a-b:1 b-c:1 c-b:5 c-d:50", "abcd"),
        ("a-b:1 b-a:1", "ab"),
        ("x-y:1 a-b:5", "ab"),
        ("a-b:1000 a-c:1 b-d:1", "ab"),
    ],
    ids=["a tree", "into a cycle", "only a cycle", "two programs", "not to what costs next to nothing"],
)
def test_the_costliest_path_follows_the_costliest_edges(edges, expected):
    assert path(edges) == expected


def test_the_costliest_functions_are_those_of_the_path_first():
    graph = graph_of("a-b:1 b-c:1 c-d:30 a-e:9 a-f:8 a-g:2")
    costs = costs_of(graph)
    assert [it.name for it in costliest(graph, costs, 5).functions] == ["a", "b", "c", "d", "e"]
    assert costliest(graph, costs, 0) is graph
    assert costliest(graph, costs, 7) is graph


def test_a_chain_and_a_cycle_of_any_length_have_costs():
    count = 5000
    chain = " ".join(f"f{number}-f{number + 1}" for number in range(count))
    assert costs_by_name(graph_of(chain))["f0"] == count
    assert costs_by_name(graph_of(f"r-f0 {chain} f{count}-f0"))["r"] == count + 2


def test_a_graph_without_edges_has_no_path():
    costs = costs_of(Graph((), {}))
    assert (costliest_path(Graph((), {}), costs), costs.total, costs.share(1)) == ([], 0.0, 0.0)
