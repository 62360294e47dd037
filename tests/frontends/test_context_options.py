"""Each option of each ready-made context on the command line: a sensible value works, a wrong one is one clear line."""

import re
import textwrap

import pytest
from helpers.command_line import cassette

from cassette_import.contexts import READY_MADE
from cassette_import.contexts.lookup import UnknownContext, context_named, context_type_named
from cassette_import.kits.option_descriptions import described_options

FILES = {
    "app.py": "import os, shop\nprint(shop.used(1), shop.used(1))\n",
    "shop.py": """
        def used(x):
            return x
        def wanted(function, args, kwargs):
            return True
        def changed(result):
            return result
        def clean(x):
            return x
        number = 3
    """,
}
REQUIRED = {
    "parallel": {"targets": "shop:used"},
    "faults": {"target": "shop.used", "delay": "0"},
    "memoize": {"functions": "shop.used"},
    "replay": {"file": "kept.cassette"},
}
"""The options without which a context cannot be made; a value of `delay` makes it complete."""
SENSIBLE = {
    "allocations": {"sort": "kept", "limit": "3", "operators": "true", "paths": "100"},
    "call-types": {"limit": "3", "leaves": "true", "module": "shop", "imports": "true"},
    "callgraph": {"leaves": "true", "minimum": "2", "limit": "3", "top": "0", "imports": "true"},
    "faults": {
        "target": "shop.used+time.sleep",
        "raises": "OSError,nth=9",
        "delay": "0.001",
        "corrupt": "shop.changed",
        "nth": "9",
        "every": "9",
        "probability": "0.0",
        "seed": "7",
    },
    "flops": {"limit": "3"},
    "intervals": {"precision": "64", "splits": "1"},
    "memoize": {"functions": "shop.used", "limit": "10", "folder": "2024"},
    "nonan": {"stop": "false", "limit": "3"},
    "noop": {"events": "calls+operators"},
    "parallel": {
        "targets": "shop:used;shop:changed",
        "scheduler": "None",
        "workers": "2",
        "check": "true",
        "progress": "true",
    },
    "precision": {"digits": "30", "limit": "3"},
    "profile": {
        "sort": "cumulative",
        "limit": "3",
        "paths": "100",
        "sites": "true",
        "overhead": "false",
        "imports": "true",
    },
    "provenance": {"limit": "3"},
    "record": {"file": "new.cassette", "boundary": "shop.used", "mask": "*token*", "without": "random"},
    "replay": {"file": "kept.cassette"},
    "substitute": {"shop.used": "shop.clean"},
    "taint": {
        "sources": "shop.used",
        "sinks": "shop.used",
        "sanitizers": "shop.clean",
        "defaults": "false",
        "stop": "true",
    },
    "trace": {
        "limit": "3",
        "last": "3",
        "start": "shop.used",
        "stop": "shop.used",
        "depth": "1",
        "package": "2024",
        "predicate": "shop:wanted",
        "mask": "2024",
        "width": "20",
        "reprs": "true",
        "events": "calls",
        "imports": "true",
    },
}
RECORDINGS = {"record", "replay"}
"""The further options of these have tests of their own."""
WRONG = {"number": "shop.number", "text": "many", "a name": "shop.nope", "a negative number": "-1.5"}
ANY_TEXT = {
    *("call-types module", "faults seed", "memoize folder", "record file", "replay file", "trace package"),
    *(
        "record mask",
        "trace mask",
        "taint sources",
        "taint sinks",
        "taint sanitizers",
        "record boundary",
        "parallel scheduler",
    ),
}
"""Options that take any text: a name, a pattern, a file, or a function that may be defined later."""


def options_of(name):
    return [option.name for option in described_options(context_type_named(name))]


EACH = [(name, option) for name in READY_MADE for option in options_of(name)]
RUN = [
    (name, option)
    for name, option in EACH
    if name not in ("replay", "intervals", "parallel") and (option in SENSIBLE[name] or name == "substitute")
]


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def described(name, **options):
    given = {**REQUIRED.get(name, {}), **options}
    if {"raises", "corrupt"} & options.keys():
        given.pop("delay")
    return f"{name}:{','.join(f'{key}={value}' for key, value in given.items())}"


@pytest.mark.parametrize("name", READY_MADE)
def test_the_options_that_are_listed_are_those_that_are_tested_here(name):
    left = set(options_of(name)) - {"TARGET"} - set(SENSIBLE[name])
    assert not left or name in RECORDINGS


@pytest.mark.parametrize(("name", "option"), RUN)
def test_each_option_works_on_the_command_line(name, option, folder):
    option = "shop.used" if option == "TARGET" else option
    value = SENSIBLE[name][option]
    output = ["-o", "new.cassette"] if name == "record" and option != "file" else []
    done = cassette("run", "-c", described(name, **{option: value}), *output, "app.py", folder=folder)
    assert (done.status, "Traceback" in done.stderr) == (0, False), done.stderr
    assert done.stdout == "1 1\n"


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("name", "option"), [each for each in EACH if each[0] not in RECORDINGS])
def test_a_wrong_value_is_one_clear_line(name, option, kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    if f"{name} {option}" in ANY_TEXT:
        return
    option = "shop.used" if option == "TARGET" else option
    try:
        context_named(described(name, **{option: WRONG[kind]}))
    except UnknownContext as error:
        message = str(error)
        assert "\n" not in message
        said = message.partition("': ")[2]
        assert option in said or WRONG[kind].rpartition(".")[2] in said, message
        assert not re.search(r"\(.*cassette_import.*:\d+\)", message), message
    else:
        pytest.fail(f"{described(name, **{option: WRONG[kind]})} is accepted")


@pytest.mark.parametrize("name", READY_MADE)
def test_an_object_that_no_text_describes_is_neither_listed_nor_accepted(name):
    for option in ("file", "metadata"):
        if option not in options_of(name):
            with pytest.raises(UnknownContext):
                context_named(described(name, **{option: "x.txt"}))
