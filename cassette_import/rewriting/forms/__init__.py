"""Forms: the code that replaces an event, one file for each form.

Knows which hooks there are; must not know which syntax an event comes from, calls excepted.
"""
