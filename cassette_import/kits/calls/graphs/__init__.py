"""Graphs of functions that call each other, as text, pictures and pages."""
