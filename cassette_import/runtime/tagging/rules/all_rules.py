"""Every rule: importing this module registers all of them.

Knows the modules with rules; must not know what they do.
"""

from typing import Final

from cassette_import.runtime.tagging import propagation
from cassette_import.runtime.tagging.rules import (
    bindings,
    consumers,
    generators,
    inspection,
    iterators,
    mutations,
    object_parts,
)

MODULES: Final = (propagation, bindings, consumers, generators, inspection, iterators, mutations, object_parts)
