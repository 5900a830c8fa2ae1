"""Comparisons with others, in quality and in speed: rows in docs/benchmarks, a page from them."""
