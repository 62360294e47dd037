"""The magic commands `%overdub` and `%%overdub` of IPython and Jupyter."""
