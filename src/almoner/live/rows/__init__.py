"""Campaigns on rows: arrivals with scores or features instead of named contexts."""
