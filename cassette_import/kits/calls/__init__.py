"""Calls counted and measured: hooks in C, and the pictures and pages that show who calls whom."""
