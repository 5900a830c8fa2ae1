"""Live campaigns: agents, the log that they write, and reports on it."""
