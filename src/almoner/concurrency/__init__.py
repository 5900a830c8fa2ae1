"""Locks, process identity and errors of signal handlers, for stores and agents."""
