"""Benchmark of cost against problem size, with fitted exponents."""
