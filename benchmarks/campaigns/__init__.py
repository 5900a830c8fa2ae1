"""Campaigns of a simulated shop: what their rules cost and bring."""
