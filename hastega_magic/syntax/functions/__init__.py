"""Functions evaluated over graph nodes: expressions, branches, loops and returns."""
