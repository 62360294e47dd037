"""Tagging: values that carry metadata of a context through code that knows nothing of it.

`tags` knows wrappers, `shadow` where the metadata of parts of objects lies, `conduct` how a call is carried out,
`movers` and `sequences` which functions move values, `api` what users see.
"""
