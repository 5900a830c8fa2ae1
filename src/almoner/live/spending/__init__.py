"""Spending rules: what the pace and the default action of a campaign leave to an arrival."""
