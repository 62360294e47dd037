"""Unmodified programs, run as plain Python runs them."""
