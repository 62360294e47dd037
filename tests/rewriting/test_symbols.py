"""Names of rewritten code: built and parsed in one place, and spelled nowhere else."""

import ast
import itertools
import marshal
import pathlib
import re

import pytest

import cassette_import
from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.variant_names import Guard, GuardKind, VariantNames, file_digest
from cassette_import.runtime.dispatch.guards import Guards
from cassette_import.runtime.names import cell_attributes, make_cell

NAMES = VariantNames("@7")
PACKAGE = pathlib.Path(cassette_import.__file__).parent
PATHS = [("len",), ("os", "path", "join"), ("12", "4", "run")]
GUARDS = [
    Guard(kind, keywords, anywhere, file_digest("a.py"), path)
    for kind, keywords, anywhere, path in itertools.product(GuardKind, (False, True), (False, True), PATHS)
]
SPELLED_HERE = {"symbols.py", "variant_names.py", "symbol_places.py", "temporaries.py"}
NO_NAMES = {"@decorator", "@hidden"}
"""Strings that look like names: syntax in the table of primitives, and a decorator in source text."""


def test_a_guard_is_parsed_from_its_key():
    assert [Guard.parse(guard.key) for guard in GUARDS] == GUARDS


def attribute_of(name):
    cell, attribute = variant_names.place_of(name)
    assert cell == variant_names.cell_of(NAMES.prefix)
    return attribute


@pytest.mark.parametrize("tagging", [False, True])
def test_a_name_of_a_wildcard_variant_is_in_its_cell(tagging):
    prefix = variant_names.wildcard_prefix(Events.ALL, tagging)
    pick = VariantNames(prefix).pick(Events.CALLS)
    assert variant_names.place_of(pick) == (variant_names.cell_of(prefix), attribute_of(NAMES.pick(Events.CALLS)))


def test_attributes_of_guards_are_provided_by_their_kind():
    make_cell(variant_names.cell_of(NAMES.prefix))
    keys = [attribute_of(NAMES.guard(guard)) for guard in GUARDS]
    assert Guards(NAMES.prefix).provide(keys) == []
    held = cell_attributes(variant_names.cell_of(NAMES.prefix))
    of_types = (GuardKind.TYPES, GuardKind.TYPES_OF_SUPER, GuardKind.INSTANCES, GuardKind.INSTANCES_OF_SUPER)
    assert [held[key] for key in keys] == [() if guard.kind in of_types else None for guard in GUARDS]


def test_no_other_name_of_a_variant_is_that_of_a_guard():
    names = [NAMES.learn, NAMES.failed, NAMES.is_overloaded, NAMES.target_names]
    names += [NAMES.target_functions(flag) for flag in (False, True)] + [NAMES.pick_callee(True)]
    names += [NAMES.function_type(flag) for flag in (False, True)]
    for kind in Events:
        hook = NAMES.hook("pre", 0, kind)
        names += [NAMES.event(kind), NAMES.overload(kind), NAMES.pick(kind), NAMES.is_overloaded_at(kind)]
        names += [hook, variant_names.with_arity(hook, 2), variant_names.without_arguments(hook)]
        names += [NAMES.argument_free_hook("post", 1, kind)]
    make_cell(variant_names.cell_of(NAMES.prefix))
    attributes = [attribute_of(name) for name in names]
    assert Guards(NAMES.prefix).provide(attributes) == attributes
    assert [Guard.parse(attribute) for attribute in attributes] == [None] * len(attributes)
    assert len(set(names)) == len(names)


def test_a_hook_with_an_arity_is_parsed():
    hook = NAMES.hook("post", 3, Events.CALLS)
    assert NAMES.hook_with_arity(variant_names.with_arity(hook, 12)) == (hook, 12)
    assert NAMES.hook_with_arity(hook) is None
    assert NAMES.hook_with_arity(variant_names.without_arguments(hook)) is None
    assert VariantNames("@77").hook_with_arity(variant_names.with_arity(hook, 12)) is None


FLAGS = [symbols.IS_ANY_ACTIVE, symbols.ONLY_ARGUMENT_FREE, symbols.METADATA_EXISTS]


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_is_in_the_cell_of_the_flags(name):
    assert variant_names.place_of(name) == (variant_names.FLAGS, name)


def test_the_names_of_watched_attributes_have_a_cell_of_their_own():
    names = [symbols.ATTRIBUTES_WATCHED, symbols.attribute_watched("path")]
    assert [variant_names.place_of(name) for name in names] == [(variant_names.WATCHES, name) for name in names]


@pytest.mark.parametrize("prefix", ["@7", "@12", "@any31"])
def test_what_belongs_to_a_variant_is_in_its_cell_and_its_family_is_a_constant(prefix):
    assert variant_names.place_of(VariantNames(prefix).learn) == (variant_names.cell_of(prefix), "learn")
    assert variant_names.place_of(prefix) is None


@pytest.mark.parametrize("name", [symbols.AND, symbols.TYPE, symbols.primitive("operator.add"), symbols.KEPT_BELOW])
def test_what_never_changes_is_a_constant(name):
    assert variant_names.place_of(name) is None


def test_a_symbol_is_read_from_its_placeholder():
    placeholder = variant_names.placeholder(symbols.TYPE)
    assert variant_names.symbol_in(placeholder) == symbols.TYPE
    assert marshal.loads(marshal.dumps(placeholder)) == placeholder


@pytest.mark.parametrize(
    "source",
    ["(('@type',),)", "x in {'@type'}", "x in ({'@type'},)", "for x in {'@type'}: pass", "({'@type'},)", "x = ()"],
)
def test_no_constant_of_a_program_is_a_placeholder(source):
    assert not any(map(variant_names.is_placeholder, compile(source, "<program>", "exec").co_consts))


def test_only_temporaries_with_a_depth_are_numbered():
    numbered = [temporaries.callee(0), temporaries.part(temporaries.arguments(12), 3), temporaries.result(1, "_0")]
    others = [symbols.SPLIT, symbols.primitive("operator.add"), NAMES.learn, temporaries.PENDING]
    assert [temporaries.is_numbered_temporary(name) for name in numbered + others] == [True] * 3 + [False] * 4


def test_no_other_file_spells_a_name():
    spelled = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
        for path in PACKAGE.rglob("*.py")
        if path.name not in SPELLED_HERE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"@[a-z~][\w.]*", node.value) and node.value not in NO_NAMES
    ]
    assert spelled == []
