"""Derivatives through NumPy. `autodiff` imports `modes` if the program has imported NumPy."""
