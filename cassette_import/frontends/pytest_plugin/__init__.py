"""The pytest plugin, which does nothing until an option, a marker or a fixture asks for it.

PYTEST_DONT_REWRITE: pytest imports the plugin before it rewrites assertions.
"""
