"""What expressions inside a function stand for while it is evaluated over graph nodes."""
