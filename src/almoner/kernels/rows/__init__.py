"""Compiled kernels of policies on rows: a market of recent rows, its price, and linear models."""
