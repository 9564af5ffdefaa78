"""What loops run over: sources that are drawn, taken apart, cut into stretches, or looked at first."""
