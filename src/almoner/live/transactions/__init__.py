"""Transactions: commands, group commit, and catching up with the log."""
