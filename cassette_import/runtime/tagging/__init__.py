"""Tagging: values carry metadata of a context through unaware code.

Dispatch calls `propagation`, entering a context calls `tag_scopes`, rewritten code calls `rewritten_code` and
`handover`; `rules` is the table of functions that move values.
"""
