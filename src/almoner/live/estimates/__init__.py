"""Estimates: confidence intervals, the plan at given estimates, and the lift."""
