"""Cassette.jl's own tests, told in Python: each test keeps the number and the name that it has there."""
