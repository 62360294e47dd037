"""The functions of numbers, one row for each, with what all contexts of numbers ask about them.

A row says what a function computes, its partial derivatives, where it is defined, where it increases, what its result
depends on, and what it costs. A context makes its rules of the columns that it needs.
"""
