"""Derivatives of NumPy's functions as data, a file for each kind of rule."""
