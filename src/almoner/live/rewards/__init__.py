"""Rewards that come late: the window for them, and evidence of decisions by age."""
