"""Spending rules: the pace of a campaign, and its default action."""
