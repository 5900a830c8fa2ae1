"""Benchmarks of live campaigns on the shop of the trial (`tests/support/shop.py`)."""
