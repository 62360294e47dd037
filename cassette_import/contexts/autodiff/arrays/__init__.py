"""Derivatives through NumPy, for `autodiff`, which imports `modes` where the program has imported NumPy."""
