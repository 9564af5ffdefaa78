"""From text to trees: the operator, placeholders, names, and the source of functions."""
