"""Which back end, or which of several, runs a loop, and with which schedule."""
