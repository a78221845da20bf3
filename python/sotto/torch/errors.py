"""The error of this module."""


class ModelError(ValueError):
    """A model, loss or data set that cannot be trained privately; the text says which part, and what to use instead."""
