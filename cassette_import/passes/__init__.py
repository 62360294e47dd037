"""Ready-made passes, which contexts of any kind can use.

Each pass converts trees only. What the converted code calls are methods of the active context, so the context says
what a branch or a loop means.
"""
