"""Ordinary code that is a pipeline: comprehensions, and calls that consume an iterable."""
