"""Compiled kernels that play eight replications at once, with the same results as one by one."""
