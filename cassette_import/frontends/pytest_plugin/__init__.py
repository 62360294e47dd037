"""The pytest plugin, which does nothing until an option, a marker or a fixture asks for it.

Knows pytest; must not know how code is rewritten.

PYTEST_DONT_REWRITE: pytest imports the plugin before it rewrites assertions.
"""
