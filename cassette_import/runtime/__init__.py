"""What rewritten code calls while it runs: events, the meaning of rewritten syntax, tags, and what is active.

Knows hooks and overloads; must not know the source of functions, how it is rewritten, or how contexts are entered.
"""
