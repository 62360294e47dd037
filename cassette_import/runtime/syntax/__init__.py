"""The functions that rewritten syntax calls: iteration, blocks, operators, operands.

Knows events; must not know trees.
"""
