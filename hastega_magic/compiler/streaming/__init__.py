"""Loops that hand their elements on piece by piece, so that nobody has all of them."""
