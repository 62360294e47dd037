"""IPython and Jupyter.

Knows IPython, which only the extra `notebook` brings; must not know how code is rewritten.
"""
