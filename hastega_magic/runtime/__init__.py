"""The only code that touches machines: memory, threads, and the JIT."""
