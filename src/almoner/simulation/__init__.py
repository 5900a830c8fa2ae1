"""Simulation: policies played on problems, and the exact values to compare them with."""
