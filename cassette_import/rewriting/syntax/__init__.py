"""Syntax: which expressions and statements are events, and how their operands are evaluated."""
