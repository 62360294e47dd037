"""Derivatives through NumPy. `autodiff` imports `modes` if the program has imported NumPy.

Knows the modes of `autodiff` for numbers, and NumPy; must not know the public functions.
"""
