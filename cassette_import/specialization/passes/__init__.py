"""Passes: callables that rewrite a function's body before its events are made.

A pass is given a context type and a `Reflection` and returns the function's new node, or an expression that is the
whole body. This file is the face of it; `pass_tools` and `resolving` are what writers of passes have at hand,
`pass_running` runs passes.
"""

from cassette_import.specialization.passes.failures import failure_of
from cassette_import.specialization.passes.name_resolution import resolves_to
from cassette_import.specialization.passes.pass_runner import apply
from cassette_import.specialization.passes.tree_tools import contextslot, insert_statements, nooverdub, replace_match

__all__ = ["apply", "contextslot", "failure_of", "insert_statements", "nooverdub", "replace_match", "resolves_to"]
