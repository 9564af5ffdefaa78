"""Passes: Pipeline to Fused to Kernel. Each file's docstring shows what goes in and what comes out."""
