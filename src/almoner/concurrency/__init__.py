"""Locks and process identity, for stores and agents."""
