"""Interval arithmetic: all values of functions of numbers between two ends, rounded outwards.

`contract` computes with ends that are floats, `intervals` with ends of any precision. Needs python-flint, whose balls
have the value at one number.
"""
