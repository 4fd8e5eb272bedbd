"""Saved outputs of the vendors' tools, read back: pure parsers from text to typed values.

Every parser takes a Section and returns its value, or None when the section is not of its kind.
What the text does not say is None in the value.
"""
