"""Calls counted and measured: hooks in C, weighted call trees, and the files, pictures and pages that show them."""
