"""Trials of live campaigns in a simulated shop."""
