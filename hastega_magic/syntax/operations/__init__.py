"""What operators, subscripts and calls make of the values inside a function."""
