"""Rewriting: a function's syntax tree becomes one whose call sites and other events consult the active context."""
