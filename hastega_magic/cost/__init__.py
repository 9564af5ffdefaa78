"""The cost model: what a loop is made of, what a machine can do, and what follows from both. Pure, knows no machine."""
