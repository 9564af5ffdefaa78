"""The three levels of the intermediate representation, and the scalar graph that they share."""
