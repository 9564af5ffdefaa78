"""Code generation: pure functions from a Kernel to text."""
