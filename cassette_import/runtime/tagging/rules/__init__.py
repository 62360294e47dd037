"""The rules of leaves, one file for each kind: what happens to the metadata of arguments in a call of a leaf.

`RULES` is the table of all of them; importing this package fills it.
"""

from __future__ import annotations

from cassette_import.runtime.tagging.rule_table import RULES, RULES_OF_TYPES, Rule
from cassette_import.runtime.tagging.rules import (
    attributes,
    averages,
    buffers,
    cached_functions,
    callables,
    concurrency,
    construction,
    container_constructors,
    context_managers,
    conversions,
    copies,
    counts,
    deferred_calls,
    dicts,
    displays,
    format_fields,
    frames,
    getters,
    heaps,
    iteration,
    iterator_methods,
    lazy_iterators,
    lists,
    mapping_proxies,
    module_globals,
    operators,
    partial_objects,
    recorded_iterators,
    records,
    reductions,
    serialisation,
    sets,
    silent_calls,
    sorting,
    special_methods,
    subscripts,
    substitutions,
    waiting_threads,
)

MODULES = (
    attributes, averages, buffers, cached_functions, callables, concurrency, construction, container_constructors,
    context_managers, conversions, copies, counts, deferred_calls, dicts, displays, format_fields, frames, getters,
    heaps, iteration, iterator_methods, lazy_iterators, lists, mapping_proxies, module_globals, operators,
    partial_objects, recorded_iterators, records, reductions, serialisation, sets, silent_calls, sorting,
    special_methods, subscripts, substitutions, waiting_threads,
)  # fmt: skip
"""The files of rules."""

__all__ = ["MODULES", "RULES", "RULES_OF_TYPES", "Rule"]
