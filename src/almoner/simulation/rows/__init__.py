"""Simulation on rows: arrivals that bring scores, features and costs of their own."""
