"""What functions read from around them, and whether it is still what it was."""
