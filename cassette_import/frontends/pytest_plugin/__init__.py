"""The pytest plugin; does nothing until it is asked for.

Knows pytest; must not know how code is rewritten.

PYTEST_DONT_REWRITE: the plugin is imported before pytest rewrites assertions.
"""
