"""How stages join a loop."""
