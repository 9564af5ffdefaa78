"""What Python does: stages, elements and whole loops that no compiled code computes, and the errors of each."""
