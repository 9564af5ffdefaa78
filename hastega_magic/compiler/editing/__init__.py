"""Kernels that the user has edited: rules, and a trial in a process of its own."""
