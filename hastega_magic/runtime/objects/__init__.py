"""Lists and tuples of Python's numbers, read and made by native code."""
