"""The theorems of the paper as numbers."""
