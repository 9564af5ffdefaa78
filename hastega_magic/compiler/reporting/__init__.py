"""What the trace is told of loops: listings, links, pictures, lanes, predictions."""
