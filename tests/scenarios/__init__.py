"""Cassette.jl's tests, translated to Python: each test keeps its number and its name."""
