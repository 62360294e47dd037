"""The rules of leaves, one file for each kind: what happens to the metadata of arguments in a call of a leaf.

`RULES` is the table of all of them; importing this package fills it.
"""

from __future__ import annotations

from cassette_import.runtime.tagging.rule_table import RULES, RULES_OF_TYPES, Rule
from cassette_import.runtime.tagging.rules import (
    attributes,
    buffers,
    cached_functions,
    callables,
    concurrency,
    construction,
    container_constructors,
    context_managers,
    conversions,
    copies,
    dicts,
    iteration,
    iterator_methods,
    lists,
    operators,
    recorded_iterators,
    reductions,
    sets,
    sorting,
    subscripts,
)
from cassette_import.runtime.tagging.rules import attributes as frames
from cassette_import.runtime.tagging.rules import attributes as getters
from cassette_import.runtime.tagging.rules import attributes as module_globals
from cassette_import.runtime.tagging.rules import callables as partial_objects
from cassette_import.runtime.tagging.rules import callables as silent_calls
from cassette_import.runtime.tagging.rules import concurrency as deferred_calls
from cassette_import.runtime.tagging.rules import concurrency as waiting_threads
from cassette_import.runtime.tagging.rules import container_constructors as displays
from cassette_import.runtime.tagging.rules import conversions as format_fields
from cassette_import.runtime.tagging.rules import conversions as substitutions
from cassette_import.runtime.tagging.rules import copies as records
from cassette_import.runtime.tagging.rules import copies as serialisation
from cassette_import.runtime.tagging.rules import dicts as counts
from cassette_import.runtime.tagging.rules import dicts as mapping_proxies
from cassette_import.runtime.tagging.rules import iteration as lazy_iterators
from cassette_import.runtime.tagging.rules import operators as special_methods
from cassette_import.runtime.tagging.rules import reductions as averages
from cassette_import.runtime.tagging.rules import sorting as heaps

MODULES = (
    attributes, averages, buffers, cached_functions, callables, concurrency, construction, container_constructors,
    context_managers, conversions, copies, counts, deferred_calls, dicts, displays, format_fields, frames, getters,
    heaps, iteration, iterator_methods, lazy_iterators, lists, mapping_proxies, module_globals, operators,
    partial_objects, recorded_iterators, records, reductions, serialisation, sets, silent_calls, sorting,
    special_methods, subscripts, substitutions, waiting_threads,
)  # fmt: skip
"""The files of rules."""

__all__ = ["MODULES", "RULES", "RULES_OF_TYPES", "Rule"]
