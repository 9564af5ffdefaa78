"""Measuring this machine, once, in a few seconds: small loops through the ordinary compiler, and bare transfers."""
