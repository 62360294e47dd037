"""The function that was called is found without a search of the heap for each function."""

import importlib

from helpers.contexts import Counting

from cassette_import import Events, install
from cassette_import.interpreter import heap


class CountingAll(Counting, events=Events.ALL):
    """Counts events of every kind."""


def test_many_decorators_need_few_searches_of_the_heap(make_package, monkeypatch):
    decorators = "".join(
        f"""
def decorator_{number}(function):
    def wrapper(x):
        return function(x)
    return wrapper

@decorator_{number}
def one_{number}(x): return x

@decorator_{number}
def other_{number}(x): return x

ALL += [one_{number}, other_{number}]
"""
        for number in range(30)
    )
    name = make_package({"__init__.py": f"ALL = []\n{decorators}"})
    install([name])
    searches = []
    functions_of = heap.functions_of

    def counted(files):
        searches.append(files)
        return functions_of(files)

    monkeypatch.setattr(heap, "functions_of", counted)
    with CountingAll():
        searches.clear()
        module = importlib.import_module(name)
        for _ in range(3):
            assert [function(3) for function in module.ALL] == [3] * 60
        assert len(searches) <= 5
