"""Estimates from a log of past decisions, before a campaign is launched."""
