"""Which syntax is an event, and how its operands are evaluated.

Knows expressions and statements; must not know what takes the place of an event.
"""
