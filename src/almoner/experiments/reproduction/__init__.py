"""Reproduction of the paper: its figures, and its claims judged by rows."""
