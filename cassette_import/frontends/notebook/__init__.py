"""The magic commands `%overdub` and `%%overdub` of IPython and Jupyter.

Knows IPython, which only the extra `notebook` installs; must not know how code is rewritten.
"""
