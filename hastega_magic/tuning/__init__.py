"""Searching for the fastest schedule of a loop: which there are, in which order, and for how long. Pure."""
