"""Unmodified programs, and tests that run them plain and overdubbed."""
