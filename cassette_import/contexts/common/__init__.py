"""What several ready-made contexts need: options, targets, names of functions, reports.

Knows contexts; must not know any of the ready-made ones.
"""
