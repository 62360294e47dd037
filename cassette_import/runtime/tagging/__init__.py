"""Tagging: values carry metadata of a context through unaware code.

It knows wrappers, the shadow store and the rules of leaves. It must not know how call sites are rewritten, or which
hooks contexts have. Dispatch calls `propagation`, entering a context calls `tag_scopes`, rewritten code calls
`rewritten_code` and `handover`; `rules` is the table of functions that move values.
"""
