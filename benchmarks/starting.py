"""The cost of starting: one process, started by `beginning.py`, that imports a package and computes a first result.

``python -m benchmarks.starting WAY PROGRAM`` prints a line of JSON: CPU seconds of the import, of all up to the first
result, and the peak memory of the process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import resource
import sys
from time import process_time
from types import ModuleType
from typing import Any


def _jinja2(modules: list[ModuleType]) -> object:
    template = modules[0].Template("{% for x in items %}<li>{{ x|upper }}{{ loop.index }}</li>{% endfor %}")
    return template.render(items=["a", "b", "c"])


def _django(modules: list[ModuleType]) -> object:
    engine = modules[0].Engine()
    page = engine.from_string("{% for x in items %}<li>{{ x|upper }}{{ forloop.counter }}</li>{% endfor %}")
    return page.render(modules[0].Context({"items": ["a", "b", "c"]}))


def _sympy(modules: list[ModuleType]) -> object:
    sympy = modules[0]
    x = sympy.Symbol("x")
    return str(sympy.expand((x + 1) ** 5)), str(sympy.diff(sympy.sin(x) * x, x))


PROGRAMS = {
    "jinja2": (["jinja2", "jinja2.ext", "jinja2.sandbox"], _jinja2),
    "django": (["django.template", "django.forms", "django.db.models", "django.http", "django.views.generic"], _django),
    "sympy": (["sympy"], _sympy),
}


def start(way: str, program: str) -> dict[str, float]:
    """Import, and compute the first result."""
    names, work = PROGRAMS[program]
    context: Any = contextlib.nullcontext()
    package = names[0].partition(".")[0]
    if way != "bare":  # plain Python too: else it would pay alone for what of the standard library both need
        import cassette_import
        from benchmarks import contexts
    begin = process_time()
    if way not in ("bare", "plain"):
        cassette_import.install([package])
        if way != "inactive":
            context = getattr(contexts, way)()
    modules = [importlib.import_module(name) for name in names]
    imported = process_time() - begin
    if package == "django":
        importlib.import_module("django.conf").settings.configure()
        importlib.import_module("django").setup()
    with context:
        work(modules)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"import": imported, "first": process_time() - begin, "memory": float(most)}


if __name__ == "__main__":
    print(json.dumps(start(*sys.argv[1:])), flush=True)
