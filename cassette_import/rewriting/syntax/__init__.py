"""Syntax: which expressions and statements are events, and how their operands are evaluated.

Knows expressions and statements; must not know what replaces an event.
"""
