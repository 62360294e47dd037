"""Passes: callables that rewrite a function's body before it is overdubbed.

A pass is called with a context type and a `Reflection`. It returns the function's new node, or an expression that is
the whole body. `tree_tools` and `name_resolution` are for writing passes, `pass_runner` and the other modules run them.
"""

from cassette_import.specialization.passes.failures import failure_of
from cassette_import.specialization.passes.name_resolution import resolves_to
from cassette_import.specialization.passes.pass_runner import apply
from cassette_import.specialization.passes.tree_tools import contextslot, insert_statements, nooverdub, replace_match

__all__ = ["apply", "contextslot", "failure_of", "insert_statements", "nooverdub", "replace_match", "resolves_to"]
