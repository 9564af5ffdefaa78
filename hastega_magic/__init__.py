"""Hastega for Python notebooks: pipelines fused into one loop, compiled to SIMD code, and shown."""

__version__ = "0.1.0"
